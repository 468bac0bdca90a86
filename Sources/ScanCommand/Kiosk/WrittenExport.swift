import Bookplate
import Exchange
import Foundation
import Kiosk
import Library
import Synchronization

/// An export in an unlinked temporary file, so that a slow browser holds no transaction open and nothing is left behind. To be
/// read by one task at a time.
final class WrittenExport: ExportedFile {
    private let descriptor: Int32
    private static let chunkSize = 64 << 10

    /// Writes the whole export.
    ///
    /// - Throws: ``CommandError`` if it cannot be written, or the library's error.
    init(of library: LibraryFile, as kind: ExportKind) async throws {
        var name = Array((NSTemporaryDirectory() + "/bookplate-export-XXXXXX").utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Self.error(errno) }
        unlink(name)
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw Self.error(errno) }
        let writer = ExportWriter(kind, to: descriptor)
        try await library.export { try writer.write($0) }
        try writer.finish()
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.error(errno) }
    }

    deinit { close(descriptor) }

    func read() throws -> [UInt8] {
        let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
            repeat {
                count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            guard count >= 0 else {
                count = 0
                throw Self.error(errno)
            }
        }
        return bytes
    }

    fileprivate static func error(_ code: Int32) -> CommandError {
        CommandError(
            .inputOutput, "cannot write the export: \(String(cString: strerror(code))). Make room on the disk.")
    }
}

/// Writes records to a file, about 64 KB at a time.
private final class ExportWriter: Sendable {
    private struct State {
        var json = JSONWriter()
        var buffer = ""
    }

    private let csv: CSVWriter?
    private let descriptor: Int32
    // The library exports its records one after the other; the lock only proves that to the compiler.
    private let state: Mutex<State>

    init(_ kind: ExportKind, to descriptor: Int32) {
        csv = kind == .csv ? CSVWriter() : nil
        self.descriptor = descriptor
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
        var rest = Array(state.buffer.utf8)[...]
        state.buffer = ""
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw WrittenExport.error(errno) }
            rest = rest.dropFirst(count)
        }
    }
}
