import Bookplate
import CZlib
import Glibc
import SystemCalls
import SystemPackage

/// Whole lines of a dump, about 1 MiB.
struct DumpBatch: Sendable {
    var lines: [UInt8] = []
    /// The number of lines in front of the end that were longer than ``DumpReader/maxLength``.
    var tooLong = 0
    /// The position behind these lines, from which another reader can go on.
    var end: DumpPosition
    /// The position in the plain or compressed file on disk, in bytes.
    var offset: Int64
}

/// A position in a dump between two lines.
struct DumpPosition: Sendable, Equatable {
    /// A position at which decompression can begin. For a plain file, this is any position.
    struct Entry: Sendable, Equatable {
        /// The position in the file.
        var offset: Int64 = 0
        /// The number of bits of the byte in front of ``offset`` that are not used yet, or -1 at the header of a gzip
        /// member.
        var bits: Int32 = -1
        /// The position in the decompressed text.
        var output: Int64 = 0
        /// The last 32 KiB of the text, to which the compressed data may refer.
        var window: [UInt8] = []
        /// The CRC-32 and the length of the text of the member so far.
        var checksum: UInt32 = 0
        var length: UInt32 = 0
    }

    var entry = Entry()
    /// The position in the text. The text from the entry to here is read again and dropped.
    var output: Int64 = 0
    /// True in the middle of a line that is too long.
    var isSkipping = false
}

/// Reads the lines of a dump, plain or compressed with gzip (RFC 1952), which is recognised by its first bytes.
///
/// Reading can go on at the end of any batch without decompressing what is in front of it. The method is that of zlib's
/// examples/zran.c: inflate() stops at the blocks of the compressed data, and decompression can begin at a block if the
/// 32 KiB of text in front of it are known. So the checksum and the length in the trailer of each gzip member are
/// compared here, and include what was read before the interruption.
final class DumpReader {
    /// The length limit of a line in bytes. Longer lines are skipped and counted.
    static let maxLength = 1 << 20
    private static let inputSize = 256 << 10

    private enum State { case plain, header, deflated, end }

    private let path: String
    private let file: FileDescriptor
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutablePointer<UInt8>
    private let buffer: UnsafeMutablePointer<UInt8>
    private var state = State.plain
    private var isInputAtEnd = false
    /// The position in the file of the end of the input buffer.
    private var inputEnd: Int64
    private var filled = 0
    private var isSkipping: Bool
    private var output: Int64
    /// The text that was read before the interruption and is still to be dropped.
    private var dropped: Int64
    private var checksum: UInt32
    private var length: UInt32
    /// Positions at which decompression can begin, about 1 MiB apart. Only the last one in front of the end of the
    /// newest batch and those behind it are needed.
    private var entries: [DumpPosition.Entry]

    init(path: String, from position: DumpPosition = DumpPosition()) throws(OfflineIndexError) {
        self.path = path
        let entry = position.entry
        do {
            file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        } catch {
            throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
        }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        input = .allocate(capacity: Self.inputSize)
        buffer = .allocate(capacity: 2 * Self.maxLength)
        (inputEnd, isSkipping) = (0, position.isSkipping)
        (output, dropped) = (entry.output, position.output - entry.output)
        (checksum, length, entries) = (entry.checksum, entry.length, [entry])
        // A negative number of bits means data without zlib's own header.
        guard inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .brokenDump(path: path, cause: "zlib cannot be used")
        }
        try begin(at: entry)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
        buffer.deallocate()
        do { try file.close() } catch {
            // The file was only read.
        }
    }

    /// Finds out whether the file is compressed, and goes to the entry.
    private func begin(at entry: DumpPosition.Entry) throws(OfflineIndexError) {
        let isCompressed = try fill() >= 2 && input[0] == 0x1F && input[1] == 0x8B
        state = isCompressed ? .header : .plain
        guard isCompressed ? entry.offset > 0 : entry.output > 0 else { return }
        let hasBits = isCompressed && entry.bits > 0
        inputEnd = entry.offset - (hasBits ? 1 : 0)
        do { try file.seek(offset: inputEnd, from: .start) } catch { throw unreadable(error) }
        (stream.pointee.avail_in, isInputAtEnd) = (0, false)
        guard isCompressed, entry.bits >= 0 else { return }
        state = .deflated
        inflateReset(stream)
        if hasBits {
            guard let byte = try nextByte() else { throw broken("it is shorter than before") }
            inflatePrime(stream, entry.bits, Int32(byte) >> (8 - entry.bits))
        }
        guard inflateSetDictionary(stream, entry.window, UInt32(entry.window.count)) == Z_OK else {
            throw broken("zlib does not accept the window")
        }
    }

    /// Returns the next whole lines; `nil` at the end.
    ///
    /// - Throws: ``OfflineIndexError/brokenDump(path:cause:)`` if the file is truncated or damaged.
    func next() throws(OfflineIndexError) -> DumpBatch? {
        var batch = DumpBatch(end: DumpPosition(), offset: 0)
        let capacity = 2 * Self.maxLength
        while true {
            let count = try read(into: buffer + filled, capacity - filled)
            filled += count
            let end = lastLineBreak().map { $0 + 1 } ?? 0
            // A batch ends if it is large enough, at the end of the file, and if there is no room for more.
            if count > 0, filled < Self.maxLength { continue }
            var start = 0
            if isSkipping {
                guard let first = lineBreak(from: 0) else {
                    let isAtEnd = count == 0
                    filled = 0
                    if isAtEnd { return try lastBatch(&batch) }
                    continue
                }
                (start, isSkipping) = (first + 1, false)
                batch.tooLong += 1
            }
            if start < end { batch.lines += UnsafeBufferPointer(start: buffer + start, count: end - start) }
            if count == 0 {
                if end < filled, start <= end {
                    batch.lines += UnsafeBufferPointer(start: buffer + end, count: filled - end)
                }
                filled = 0
                return try lastBatch(&batch)
            }
            let rest = filled - max(start, end)
            if rest > Self.maxLength {
                // The line is already too long; the rest is skipped up to its line break.
                (isSkipping, filled) = (true, 0)
            } else {
                memmove(buffer, buffer + filled - rest, rest)
                filled = rest
            }
            guard !batch.lines.isEmpty || batch.tooLong > 0 else { continue }
            finish(&batch)
            return batch
        }
    }

    private func lastBatch(_ batch: inout DumpBatch) throws(OfflineIndexError) -> DumpBatch? {
        if isSkipping {
            batch.tooLong += 1
            isSkipping = false
        }
        guard !batch.lines.isEmpty || batch.tooLong > 0 else { return nil }
        finish(&batch)
        return batch
    }

    private func finish(_ batch: inout DumpBatch) {
        let end = output - Int64(filled)
        let last = entries.lastIndex { $0.output <= end } ?? 0
        entries.removeFirst(last)
        batch.end = DumpPosition(entry: entries[0], output: end, isSkipping: isSkipping)
        if state == .plain { batch.end.entry = DumpPosition.Entry(offset: end, output: end) }
        batch.offset = inputEnd - Int64(stream.pointee.avail_in)
    }

    private func lineBreak(from start: Int) -> Int? {
        guard let found = memchr(buffer + start, 0x0A, filled - start) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(buffer)
    }

    private func lastLineBreak() -> Int? {
        var index = filled
        while index > 0 {
            index -= 1
            if buffer[index] == 0x0A { return index }
        }
        return nil
    }

    // Decompression

    /// Reads text, without what was read before the interruption.
    ///
    /// - Returns: 0 at the end of the file.
    private func read(into target: UnsafeMutablePointer<UInt8>, _ room: Int) throws(OfflineIndexError) -> Int {
        while true {
            let count = try readAny(into: target, room)
            guard count > 0, dropped > 0 else { return count }
            let old = Int(min(dropped, Int64(count)))
            dropped -= Int64(old)
            if old == count { continue }
            memmove(target, target + old, count - old)
            return count - old
        }
    }

    private func readAny(
        into target: UnsafeMutablePointer<UInt8>, _ room: Int
    ) throws(OfflineIndexError) -> Int {
        while true {
            switch state {
            case .end: return 0
            case .plain:
                if stream.pointee.avail_in == 0, try fill() == 0 { return 0 }
                let count = min(room, Int(stream.pointee.avail_in))
                memcpy(target, stream.pointee.next_in, count)
                stream.pointee.next_in += count
                stream.pointee.avail_in -= UInt32(count)
                output += Int64(count)
                return count
            case .header: try readHeader()
            case .deflated:
                let count = try inflateSome(into: target, room)
                if count > 0 { return count }
            }
        }
    }

    private func inflateSome(
        into target: UnsafeMutablePointer<UInt8>, _ room: Int
    ) throws(OfflineIndexError) -> Int {
        if stream.pointee.avail_in == 0, try fill() == 0 { throw broken("unexpected end of file") }
        stream.pointee.next_out = target
        stream.pointee.avail_out = UInt32(room)
        let code = inflate(stream, Z_BLOCK)
        let count = room - Int(stream.pointee.avail_out)
        checksum = UInt32(truncatingIfNeeded: crc32(UInt(checksum), target, UInt32(count)))
        length &+= UInt32(count)
        output += Int64(count)
        switch code {
        case Z_STREAM_END:
            try readTrailer()
        case Z_OK, Z_BUF_ERROR:
            // The bit for 128 is set at the end of a block, and the one for 64 in the last block of a member.
            let flags = stream.pointee.data_type
            if flags & 128 != 0, flags & 64 == 0 { addEntry(bits: flags & 7) }
        default:
            throw broken(stream.pointee.msg.map { String(cString: $0) } ?? "zlib code \(code)")
        }
        return count
    }

    /// Adds an entry here, if the last one is at least 1 MiB away.
    private func addEntry(bits: Int32) {
        guard let last = entries.last, output - last.output >= 1 << 20 else { return }
        var entry = DumpPosition.Entry(
            offset: inputEnd - Int64(stream.pointee.avail_in), bits: bits, output: output, checksum: checksum,
            length: length)
        if bits >= 0 {
            var count: UInt32 = 0
            entry.window = [UInt8](unsafeUninitializedCapacity: 32 << 10) { window, filled in
                filled = inflateGetDictionary(stream, window.baseAddress, &count) == Z_OK ? Int(count) : 0
            }
        }
        entries.append(entry)
    }

    private func readHeader() throws(OfflineIndexError) {
        var fixed: [UInt8] = []
        for _ in 0..<10 { fixed.append(try headerByte()) }
        guard fixed[0] == 0x1F, fixed[1] == 0x8B, fixed[2] == 8, fixed[3] & 0xE0 == 0 else {
            throw broken("incorrect header")
        }
        let flags = fixed[3]
        if flags & 4 != 0 {
            let count = Int(try headerByte()) | Int(try headerByte()) << 8
            for _ in 0..<count { _ = try headerByte() }
        }
        // A file name and a comment, each ended by a zero.
        for flag: UInt8 in [8, 16] where flags & flag != 0 {
            while try headerByte() != 0 {}
        }
        if flags & 2 != 0 { for _ in 0..<2 { _ = try headerByte() } }
        inflateReset(stream)
        (checksum, length, state) = (0, 0, .deflated)
    }

    /// Compares the checksum and the length at the end of a member. Another member may follow, or zeros up to the end
    /// of the file.
    private func readTrailer() throws(OfflineIndexError) {
        var values: [UInt32] = []
        for _ in 0..<2 {
            var value: UInt32 = 0
            for shift: UInt32 in [0, 8, 16, 24] { value |= UInt32(try headerByte()) << shift }
            values.append(value)
        }
        guard values[0] == checksum else { throw broken("incorrect data check") }
        guard values[1] == length else { throw broken("incorrect length check") }
        while true {
            if stream.pointee.avail_in == 0, try fill() == 0 {
                state = .end
                return
            }
            guard stream.pointee.next_in.pointee == 0 else { break }
            _ = try nextByte()
        }
        state = .header
        addEntry(bits: -1)
    }

    private func headerByte() throws(OfflineIndexError) -> UInt8 {
        guard let byte = try nextByte() else { throw broken("unexpected end of file") }
        return byte
    }

    private func nextByte() throws(OfflineIndexError) -> UInt8? {
        if stream.pointee.avail_in == 0, try fill() == 0 { return nil }
        defer {
            stream.pointee.next_in += 1
            stream.pointee.avail_in -= 1
        }
        return stream.pointee.next_in.pointee
    }

    /// Reads more of the file into the empty input buffer.
    private func fill() throws(OfflineIndexError) -> Int {
        guard !isInputAtEnd else { return 0 }
        let count: Int
        do {
            count = try file.read(into: UnsafeMutableRawBufferPointer(start: input, count: Self.inputSize))
        } catch {
            throw unreadable(error)
        }
        isInputAtEnd = count == 0
        inputEnd += Int64(count)
        stream.pointee.next_in = input
        stream.pointee.avail_in = UInt32(count)
        return count
    }

    private func unreadable(_ error: any Error) -> OfflineIndexError {
        .unreadable(path: path, cause: OfflineIndexError.cause(error))
    }

    private func broken(_ cause: String) -> OfflineIndexError { .brokenDump(path: path, cause: cause) }
}
