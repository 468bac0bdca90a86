import Bookplate
import Foundation
import Library
import Logging
import Synchronization

@testable import Kiosk

/// A kiosk with a library of its own in a temporary folder, on a free port.
final class RunningKiosk: Sendable {
    let library: LibraryFile
    let listening: ListeningPorts
    let folder: String
    let log: KeptLog
    private let server: KioskServer
    private let task: Task<Void, any Error>

    /// - Parameters:
    ///   - folder: a folder with the library of an earlier kiosk, or a new folder.
    ///   - station: the device name of the library.
    ///   - more: routes in addition to the service's own.
    init(
        folder: String = "/tmp/bookplate-kiosk-\(UUID().uuidString)", station: String? = nil, more: [Route] = [],
        _ configure: (inout KioskServer.Configuration, inout KioskPorts) throws -> Void = { _, _ in }
    ) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/library.sqlite"
        if !FileManager.default.fileExists(atPath: path) {
            try await EmptyLibrary.bytes.value.write(to: URL(fileURLWithPath: path))
        }
        let library = try LibraryFile.open(at: path, device: station)
        self.library = library
        var configuration = KioskServer.Configuration()
        (configuration.port, configuration.version) = (0, "test")
        var ports = KioskPorts(library: library)
        try configure(&configuration, &ports)
        let log = KeptLog()
        self.log = log
        let (started, port) = AsyncStream.makeStream(of: ListeningPorts.self)
        let server = try KioskServer(configuration, ports: ports, logger: log.logger, more: more) { port.yield($0) }
        self.server = server
        task = Task { try await server.run() }
        listening = await started.first { _ in true } ?? ListeningPorts(http: 0, https: nil)
    }

    var port: Int { listening.http }

    /// Ends the service at once and removes the library.
    func stop() async throws {
        try await end()
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the service; the library stays.
    ///
    /// The server is not cancelled. It would then drop connections that it has accepted but not read yet, which makes
    /// NIO end the process (swift-nio issue 2637).
    func end() async throws {
        await server.stop()
        _ = await task.result
        try await library.close()
    }

    /// Stops the service as a signal does, and removes the library.
    func stopInOrder() async throws {
        await server.stop()
        try await task.value
        try await library.close()
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Runs the body, and then always removes the kiosk.
    func use(_ body: (RunningKiosk) async throws -> Void) async throws {
        do {
            try await body(self)
        } catch {
            try await stop()
            throw error
        }
        try await stop()
    }
}

/// A library without books, whose schema is created once for all tests.
private enum EmptyLibrary {
    static let bytes = Task {
        let folder = NSTemporaryDirectory() + "/bookplate-empty-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let library = try LibraryFile.open(at: folder + "/library.sqlite")
        try await library.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/library.sqlite"))
        try FileManager.default.removeItem(atPath: folder)
        return bytes
    }
}

/// Collects the lines of a log at the program's level. Its loggers keep the metadata of a request, which has the
/// request's id.
final class KeptLog: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }
    var logger: Logger { Logger(label: "kiosk", factory: { _ in Handler(kept: self) }) }

    private struct Handler: LogHandler {
        let kept: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = event.metadata?.map { "\($0.key)=\($0.value)" }.joined(separator: " ") ?? ""
            kept.kept.withLock { $0.append("\(event.level) \(event.message) \(metadata)") }
        }
    }
}
