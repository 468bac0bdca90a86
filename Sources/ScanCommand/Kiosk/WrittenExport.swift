import Bookplate
import Foundation
import Kiosk
import Library
import SystemPackage

/// An export that was written to an unlinked temporary file. The browser reads from this file, so that a slow browser
/// does not keep a transaction open. The file is unlinked, so that nothing is left behind. Only one task at a time may
/// read the file.
final class WrittenExport: ExportedFile {
    private let file: FileDescriptor
    private static let chunkSize = 64 << 10

    /// Writes the whole export.
    ///
    /// - Throws: ``CommandError`` if the export cannot be written, or an error from the library.
    init(of library: LibraryFile, as kind: ExportKind) async throws {
        let path = FilePath(NSTemporaryDirectory() + "/bookplate-export-\(UUID().uuidString)")
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
        } catch let error as Errno {
            throw Self.error(error)
        }
        self.file = file
        unlink(path.string)
        let writer = try RecordWriter(BookFormat(kind)) { text in
            do { try file.writeAll(text.utf8) } catch let error as Errno { throw Self.error(error) }
        }
        try await library.export { try writer.write($0) }
        try writer.finish()
        do { try file.seek(offset: 0, from: .start) } catch let error as Errno { throw Self.error(error) }
    }

    deinit { try? file.close() }

    func read() throws -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        } catch let error as Errno {
            throw Self.error(error)
        }
    }

    private static func error(_ error: Errno) -> CommandError {
        CommandError(.inputOutput, "cannot write the export: \(error). Check that the disk has free space.")
    }
}
