import Bookplate
import CZlib
import Glibc
import SystemCalls

/// A state from which a build that was cut goes on: what is staged, and the position in the dumps.
///
/// The file is replaced as a whole, after all that it refers to was synced. It belongs to exactly these dumps, options
/// and this form of the files; otherwise, the build starts over.
struct Checkpoint {
    /// The number of the form of a build's own files. It changes whenever their content does.
    private static let form = 1

    var counts = BuildCounts()
    /// The dump that is read next, by its position among the dumps.
    var file = 0
    var position = DumpPosition()
    /// True if all dumps are read. The second stage keeps its progress in the unfinished index.
    var isRead = false

    /// Returns a text that is different if any of the dumps or the options are.
    static func identity(_ dumpFiles: [String], _ options: OfflineIndexOptions) -> String {
        let files = dumpFiles.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return "\(path) missing" }
            let modified = status.st_mtim
            return "\(path) \(status.st_dev) \(status.st_ino) \(status.st_size) \(modified.tv_sec).\(modified.tv_nsec)"
        }
        return "\(form) \(options)\n" + files.joined(separator: "\n")
    }

    func store(_ path: String, _ identity: String, _ staging: Staging) throws(OfflineIndexError) {
        var bytes: [UInt8] = []
        bytes.append(text: identity)
        counts.append(to: &bytes)
        bytes.append(number: UInt64(file))
        bytes.append(isRead ? 1 : 0)
        bytes.append(position.isSkipping ? 1 : 0)
        bytes.append(number: UInt64(position.output))
        let entry = position.entry
        bytes.append(number: UInt64(entry.offset))
        bytes.append(number: UInt64(entry.bits + 1))
        bytes.append(number: UInt64(entry.output))
        bytes.append(number: UInt64(entry.checksum))
        bytes.append(number: UInt64(entry.length))
        bytes.append(block: entry.window)
        staging.append(to: &bytes)
        let checksum = crc32(0, bytes, UInt32(bytes.count))
        for shift: UInt in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: checksum >> shift)) }
        try staging.sync()
        do throws(FileError) { try replaceFile(path, with: bytes, mode: 0o600) } catch {
            throw .cannotWrite(path: error.path, cause: "\(error.errno)")
        }
    }

    /// Reads the checkpoint of a build, and restores what was staged.
    ///
    /// - Returns: `nil` if there is none for this build.
    static func load(
        _ target: BuildTarget, _ identity: String, _ sizes: OfflineIndexBuilder.Sizes
    ) throws(OfflineIndexError) -> (Checkpoint, Staging)? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try readFile(target.checkpoint, limit: 1 << 29) } catch { return nil }
        guard bytes.count > 4 else { return nil }
        let stored = bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard crc32(0, bytes, UInt32(bytes.count - 4)) == UInt(stored) else { return nil }
        do {
            return try bytes.withUnsafeBufferPointer { bytes -> (Checkpoint, Staging)? in
                var reader = ByteReader(UnsafeBufferPointer(rebasing: bytes.dropLast(4)))
                guard try reader.string() == identity else { return nil }
                var checkpoint = Checkpoint()
                checkpoint.counts = try BuildCounts(&reader)
                checkpoint.file = try reader.count()
                checkpoint.isRead = try reader.byte() == 1
                checkpoint.position.isSkipping = try reader.byte() == 1
                checkpoint.position.output = Int64(try reader.count(upTo: 1 << 50))
                checkpoint.position.entry.offset = Int64(try reader.count(upTo: 1 << 50))
                checkpoint.position.entry.bits = Int32(try reader.count(upTo: 8)) - 1
                checkpoint.position.entry.output = Int64(try reader.count(upTo: 1 << 50))
                checkpoint.position.entry.checksum = UInt32(truncatingIfNeeded: try reader.number())
                checkpoint.position.entry.length = UInt32(truncatingIfNeeded: try reader.number())
                checkpoint.position.entry.window = try reader.block()
                var staging = try Staging(target, sizes, isNew: false)
                try staging.restore(&reader)
                return (checkpoint, staging)
            }
        } catch is DamagedBytes {
            return nil
        } catch {
            throw error as? OfflineIndexError ?? .unreadable(path: target.checkpoint, cause: "\(error)")
        }
    }
}
