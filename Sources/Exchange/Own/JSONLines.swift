import Bookplate
import FoundationEssentials

/// Reads Bookplate's JSON, which is an array with one object per line. The file is read line by line in bounded memory.
/// A file that another tool has reformatted is read as a whole, up to ``limit``.
final class JSONLines {
    private var chunks: TextChunks
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private let file: String
    /// The size limit, in bytes, of a line and of a file that is read as a whole. What is decoded from them takes many
    /// times as much memory.
    private let limit: Int
    /// True from the line that opens the array to the line that closes it.
    private var isOpen = false
    private let decoder = JSONDecoder()
    /// The records of a file that was read as a whole, in reverse order.
    private var whole: [RecordLine]?
    private(set) var row = 0

    /// - Throws: ``ExchangeError`` if the file is not an export that can be read.
    init(_ chunks: TextChunks, file: String, limit: Int) throws {
        self.chunks = chunks
        self.limit = limit
        self.file = file
        // The first object has a line of its own and shows that the file is an export.
        var lines = 0
        while lines < 8, let line = try nextLine(keeping: true) {
            lines += 1
            guard !line.isEmpty else { continue }
            if let first = try? decoder.decode(RecordLine.self, from: Data(line)), first.record == "library" {
                try check(first)
                position = 0
                return
            }
            break
        }
        try readWhole(file)
    }

    private func check(_ library: RecordLine) throws {
        guard let version = library.version, version > LibraryRecord.version else { return }
        throw ExchangeError.newerExport(file: file, version: version)
    }

    /// - Throws: ``ExchangeError/cutShort(file:)`` if the file ends without the line that closes the array.
    func next() throws -> ImportRow? {
        if whole != nil {
            guard let line = whole?.popLast() else { return nil }
            row += 1
            return checked { try line.checked() }
        }
        while true {
            compact()
            guard let line = try nextLine(keeping: false) else {
                guard !isOpen else { throw ExchangeError.cutShort(file: file) }
                return nil
            }
            row += 1
            if line.count > limit {
                return .refused(row: row, reason: "the line is longer than \(limit >> 20) MiB")
            }
            guard !line.isEmpty else { continue }
            return checked { try decoder.decode(RecordLine.self, from: Data(line)).checked() }
        }
    }

    private func checked(_ record: () throws -> LibraryRecord) -> ImportRow {
        do {
            return .record(try record(), row: row)
        } catch let error as LineError {
            return .refused(row: row, reason: error.description)
        } catch {
            return .refused(row: row, reason: "the line is not a valid record: \(Self.reason(error))")
        }
    }

    /// Returns the part of a decoding error that is useful to a person.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "\(key.stringValue) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")) has the wrong type"
        default: "not valid JSON"
        }
    }

    private func readWhole(_ file: String) throws {
        while buffer.count <= limit, try fill() {}
        guard buffer.count <= limit else {
            throw ExchangeError.foreignJSON(
                file: file,
                reason:
                    "it does not begin like an export, and it is too large (over \(limit >> 20) MiB) to be read as a whole"
            )
        }
        do {
            let lines = try decoder.decode([RecordLine].self, from: Data(buffer))
            guard let library = lines.first(where: { $0.record == "library" }) else {
                throw LineError(description: "the record \"library\" is missing")
            }
            try check(library)
            whole = lines.reversed()
        } catch let error as ExchangeError {
            throw error
        } catch let error as LineError {
            throw ExchangeError.foreignJSON(file: file, reason: error.description)
        } catch {
            throw ExchangeError.foreignJSON(file: file, reason: Self.reason(error))
        }
        buffer = []
    }

    /// Returns the next line, without the commas and brackets of the array that contains all lines; `nil` at the end of
    /// the file. A line that is too long is cut just after ``limit``.
    private func nextLine(keeping: Bool) throws -> ArraySlice<UInt8>? {
        let start = position
        var search = position
        var end: Int?
        while end == nil {
            end = search < buffer.count ? buffer[search...].firstIndex(of: UInt8(ascii: "\n")) : nil
            search = buffer.count
            if end == nil {
                if !keeping, buffer.count - start > limit { return try skipLine() }
                guard buffer.count - start <= limit, try fill() else { break }
            }
        }
        guard end != nil || start < buffer.count else { return nil }
        position = end.map { $0 + 1 } ?? buffer.count
        var line = buffer[start..<(end ?? buffer.count)]
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        while let first = line.first, isSpace(first) { line.removeFirst() }
        while let last = line.last, isSpace(last) { line.removeLast() }
        if line.last == UInt8(ascii: ",") { line.removeLast() }
        for (bracket, opens) in [("[", true), ("]", false)] where line.elementsEqual(bracket.utf8) {
            isOpen = opens
            line.removeAll()
        }
        return line
    }

    private func skipLine() throws -> ArraySlice<UInt8> {
        let cut = buffer[position...].prefix(limit + 1)
        buffer = []
        position = 0
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                position = end + 1
                return cut
            }
            buffer.removeAll(keepingCapacity: true)
            guard try fill() else { return cut }
        }
    }

    private func fill() throws -> Bool {
        guard !isAtEnd, let chunk = try chunks.nextChunk() else {
            isAtEnd = true
            return false
        }
        buffer += chunk
        return true
    }

    private func compact() {
        guard position > 1 << 19 || position == buffer.count else { return }
        buffer.removeSubrange(..<position)
        position = 0
    }
}

/// Writes Bookplate's JSON. It is one valid array with exactly one object per line, so that it can also be read line by
/// line.
public struct JSONWriter: Sendable {
    private var isEmpty = true

    public init() {}

    /// Returns the line for a record. The text begins with the separator after the previous line.
    public mutating func text(of record: LibraryRecord) -> String {
        defer { isEmpty = false }
        return (isEmpty ? "[\n" : ",\n") + record.json.text
    }

    /// The text that ends the file.
    public var end: String { isEmpty ? "[]\n" : "\n]\n" }
}
