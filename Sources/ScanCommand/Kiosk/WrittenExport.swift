import Bookplate
import Exchange
import Foundation
import Kiosk
import Library
import Synchronization
import SystemPackage

/// An export that was written to an unlinked temporary file. Because of the file, a slow browser does not hold a
/// transaction open, and nothing is left behind. Only one task at a time may read it.
final class WrittenExport: ExportedFile {
    private let file: FileDescriptor
    private static let chunkSize = 64 << 10

    /// Writes the whole export.
    ///
    /// - Throws: ``CommandError`` if the export cannot be written, or an error from the library.
    init(of library: LibraryFile, as kind: ExportKind) async throws {
        var name = Array((NSTemporaryDirectory() + "/bookplate-export-XXXXXX").utf8CString)
        file = FileDescriptor(rawValue: mkstemp(&name))
        guard file.rawValue >= 0 else { throw Self.error(Errno(rawValue: errno)) }
        unlink(name)
        guard fcntl(file.rawValue, F_SETFD, FD_CLOEXEC) == 0 else { throw Self.error(Errno(rawValue: errno)) }
        let writer = ExportWriter(kind, to: file)
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

    fileprivate static func error(_ error: Errno) -> CommandError {
        CommandError(.inputOutput, "cannot write the export: \(error). Make room on the disk.")
    }
}

/// Writes records to a file, about 64 KB at a time.
private final class ExportWriter: Sendable {
    private struct State {
        var json = JSONWriter()
        var buffer = ""
    }

    private let csv: CSVWriter?
    private let file: FileDescriptor
    // The library exports its records one after the other. The lock only proves this to the compiler.
    private let state: Mutex<State>

    init(_ kind: ExportKind, to file: FileDescriptor) {
        csv = kind == .csv ? CSVWriter() : nil
        self.file = file
        state = Mutex(State(buffer: csv?.header ?? ""))
    }

    func write(_ record: LibraryRecord) throws {
        try state.withLock { state in
            state.buffer += csv?.rows(of: record) ?? state.json.text(of: record)
            if state.buffer.utf8.count > 1 << 16 { try flush(&state) }
        }
    }

    func finish() throws {
        try state.withLock { state in
            if csv == nil { state.buffer += state.json.end }
            try flush(&state)
        }
    }

    private func flush(_ state: inout State) throws {
        defer { state.buffer = "" }
        do { try file.writeAll(state.buffer.utf8) } catch let error as Errno { throw WrittenExport.error(error) }
    }
}
