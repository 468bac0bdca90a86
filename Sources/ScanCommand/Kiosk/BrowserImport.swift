import Bookplate
import Exchange
import Foundation
import Kiosk
import Library
import Synchronization
import SystemCalls
import SystemPackage

/// Imports files that browsers send, with the importer of `scan import`.
struct BrowserImport: FileImport {
    /// The folder of the library, on whose disk the files are kept. The folder for temporary files may be in memory.
    let folder: String

    /// The size limit of what is decoded from JSON at once. It is lower than that of `scan import`, because the service
    /// has little memory, and must not end because of a file.
    private static let jsonLimit = 4 << 20

    func makeFile() throws -> any ReceivedFile { try UnlinkedFile(in: folder) }

    func importRows(
        of file: any ReceivedFile, _ order: ImportOrder, into library: any KioskLibrary,
        deliver: @Sendable (ImportNews) async -> Void
    ) async throws {
        guard let file = file as? UnlinkedFile, let library = library as? LibraryFile else {
            throw KioskError(.fault, "the library or the upload is no file")
        }
        let source = try ImportFile(
            order.name, as: order.format, preset: order.preset, jsonLimit: Self.jsonLimit, next: file.chunks())
        await deliver(.recognised(source.format))
        let target = LibraryImport(
            into: order.isDryRun ? try await library.temporaryCopy() : library, from: order.name)
        var run = ImportRun(source, into: PatientImport(library: target))
        while let results = try await run.next(at: Date()) {
            await deliver(.imported(results, bytesRead: source.bytesRead, change: target.change))
            try Task.checkCancellation()
        }
    }
}

/// A file without a name, which the system removes when it is closed, even if the program is killed.
final class UnlinkedFile: ReceivedFile {
    private let file: FileDescriptor
    private let path: FilePath
    private static let chunkSize = 256 << 10

    init(in folder: String) throws {
        path = FilePath(folder).appending("import-\(UUID().uuidString)")
        do {
            file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch let error as Errno {
            throw Self.error(error, path)
        }
        guard unlink(path.string) == 0 else { throw Self.error(Errno(rawValue: errno), path) }
    }

    // The system closes the descriptor and removes the file even if closing reports an error.
    deinit { try? file.close() }

    func append(_ bytes: [UInt8]) throws {
        do { try file.writeAll(bytes) } catch let error as Errno { throw Self.error(error, path) }
    }

    /// Returns a function that reads the file from its beginning, a chunk at a time; `nil` at the end.
    func chunks() -> () throws -> [UInt8]? {
        var offset: Int64 = 0
        return { [self] in
            do {
                let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
                    count = try file.read(fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(buffer))
                }
                offset += Int64(bytes.count)
                return bytes.isEmpty ? nil : bytes
            } catch let error as Errno {
                throw Self.error(error, path)
            }
        }
    }

    private static func error(_ error: Errno, _ path: FilePath) -> any Error {
        error == .noSpace || error == .diskQuotaExceeded
            ? LibraryError.diskFull(path: path.string)
            : KioskError(.inputOutput, "cannot keep the file at \(path): \(error).", namesFile: true)
    }
}
