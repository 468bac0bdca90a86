import Bookplate
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import Kiosk
@testable import Station

/// A kiosk with a station for tests.
struct StationRig: Sendable {
    let kiosk: RunningKiosk
    let preview: PreviewFeed

    /// - Parameter shutdownTime: the time that clients get when the service stops, which takes a while on a busy
    ///   machine.
    init(
        live: LiveScan? = nil, shutdownTime: Duration = .seconds(120), search: (any TitleSearch)? = nil,
        readPhoto: (@Sendable ([UInt8]) async throws -> DecodedPhoto)? = nil,
        readPrint: (@Sendable ([UInt8]) async throws -> PrintedPage)? = nil
    ) async throws {
        let preview = PreviewFeed()
        self.preview = preview
        kiosk = try await RunningKiosk(station: "kiosk") { configuration, ports in
            configuration.shutdownTime = shutdownTime
            let library = ports.library
            var options = Station.Options()
            (options.isOffline, options.followsQueue, options.looksUpDue) = (true, true, true)
            ports.station = Station(
                flow: CaptureFlow(queue: library, shelf: library, lookup: KnownBooks()), history: library,
                options: options, live: live,
                titles: search.map { TitleFinder(search: $0, lookup: KnownBooks(), shelf: library) })
            ports.preview = preview
            ports.readPhoto = readPhoto
            ports.readPrint = readPrint
        }
    }

    var port: Int { kiosk.port }

    /// Ends the service as a signal does, and removes the library.
    func stop() async throws { try await kiosk.stopInOrder() }

    /// Opens the same library like another process.
    func another() throws -> LibraryFile {
        try LibraryFile.open(at: kiosk.folder + "/library.sqlite", device: "terminal")
    }

    /// Waits until the camera streams.
    func isStreaming() async throws {
        let events = try await open("/api/events")
        defer { events.close() }
        try await events.read(until: "event: hello")
        while try await ask("GET", "/api/station").text("camera.state") != "streaming" {
            try await events.read(until: "event: camera")
        }
    }

    /// Sends one request like a page.
    func ask(
        _ method: String, _ path: String, _ body: String? = nil, type: String = "application/json"
    ) async throws -> Answer {
        try await ask(method, path, Array((body ?? "").utf8), type: type)
    }

    func ask(_ method: String, _ path: String, _ body: [UInt8], type: String) async throws -> Answer {
        let connection = try RawConnection(port: port)
        defer { connection.close() }
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nOrigin: http://127.0.0.1:\(port)\r\n"
        head += "Connection: close\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
        try await connection.send(Array(head.utf8) + body)
        return try Answer(await connection.rest())
    }

    /// Opens a stream.
    func open(_ path: String, room: Int32? = nil) async throws -> RawConnection {
        let connection = try RawConnection(port: port, room: room)
        try await connection.send(Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8))
        return connection
    }

    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: [UInt8]

        init(_ bytes: [UInt8]) throws {
            let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            body = Array(bytes[end.upperBound...])
            status = try #require(Int(head.split(separator: " ")[1]))
        }

        /// A member of the JSON by its path: "row.title", "rows.0.id".
        subscript(_ path: String) -> Any? {
            var value: Any? = try? JSONSerialization.jsonObject(with: Data(body))
            for key in path.split(separator: ".") {
                if let index = Int(key), let list = value as? [Any] {
                    value = list.indices.contains(index) ? list[index] : nil
                } else {
                    value = (value as? [String: Any])?[String(key)]
                }
            }
            return value is NSNull ? nil : value
        }

        func text(_ path: String) -> String? { self[path] as? String }
        func number(_ path: String) -> Int? { (self[path] as? NSNumber)?.intValue }
    }
}

/// Knows two books. The title of the second contains its series. The lookup of a third times out.
private struct KnownBooks: MetadataLookup {
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { continuation in
            for isbn in isbns {
                var metadata = Metadata()
                metadata.title =
                    ["9780441013593": "Dune", "9780425073957": "Slocum and the Gunmen (Slocum Series #47)"][isbn.digits]
                metadata.attribute(to: .openLibrary)
                let outcome: LookupOutcome =
                    if isbn.digits == "9780306406157" {
                        .temporary(SourceError(source: .openLibrary, reason: "timed out"))
                    } else if metadata.title == nil {
                        .notFound(asked: [.openLibrary])
                    } else {
                        .found(metadata, from: .openLibrary)
                    }
                continuation.yield(LookupAnswer(isbn: isbn, outcome: outcome))
            }
            continuation.finish()
        }
    }
}

/// A camera without pictures, whose states a test sets.
final class ShownCamera: FrameSource {
    private let states = Mutex<[CameraState]>([
        .streaming(name: "Test", format: CaptureFormat(width: 64, height: 48, pixelFormat: .mjpg))
    ])
    private let isOver = Atomic(false)
    /// Starts at 0 and is signalled once: libdispatch traps if a semaphore is released below its initial value.
    private let signal = DispatchSemaphore(value: 0)

    init() { signal.signal() }

    var counts: FrameCounts { FrameCounts() }

    func say(_ state: CameraState) {
        states.withLock { $0.append(state) }
        signal.signal()
    }

    func stop() {
        isOver.store(true, ordering: .relaxed)
        signal.signal()
    }

    func run(state tell: (CameraState) -> Void, frame: (Frame) -> Void) {
        while !isOver.load(ordering: .relaxed) {
            signal.wait()
            let new = states.withLock { states in
                defer { states = [] }
                return states
            }
            for state in new { tell(state) }
        }
        tell(.ended)
    }
}

private struct Blind: FrameDecoder {
    mutating func read(_ frame: Frame, into reading: inout FrameResult) {}
}

extension LiveScan {
    /// The time stands still, because a camera without frames would count as stuck after a while.
    static func showing(_ camera: ShownCamera = ShownCamera()) -> LiveScan {
        LiveScan(source: camera, makeDecoder: { Blind() }, now: { .zero })
    }
}

/// A socket to the service, for what a client library does not show.
final class RawConnection: Sendable {
    private let descriptor: Int32
    /// The bytes behind the text that ``read(until:)`` sought last.
    private let left = Mutex<[UInt8]>([])

    struct Failure: Error { let what: String }

    /// - Parameter room: the size of the receive buffer in bytes; small for a slow client.
    init(port: Int, room: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var room { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(what: "connect: errno \(errno)") }
    }

    deinit { Foundation.close(descriptor) }

    /// Shuts down both directions.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func send(_ bytes: [UInt8]) async throws {
        try await onThread { [descriptor] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                // A service that answers before it has read everything closes early.
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    /// Reads some bytes; empty at the end.
    func some() async throws -> [UInt8] {
        let kept = left.withLock { left in
            defer { left = [] }
            return left
        }
        if !kept.isEmpty { return kept }
        return try await onThread { [descriptor] in
            // So that a test fails instead of hanging.
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 120_000) > 0 else { throw Failure(what: "nothing came for two minutes") }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &piece, piece.count, 0)
            return count > 0 ? Array(piece[..<count]) : []
        }
    }

    /// Reads to the end.
    func rest() async throws -> [UInt8] {
        var all: [UInt8] = []
        while case let piece = try await some(), !piece.isEmpty { all += piece }
        return all
    }

    /// Reads a chunked body to its end (RFC 9112, 7.1), the connection stays open.
    func untilEndOfBody() async throws -> [UInt8] {
        var all: [UInt8] = []
        let end = Array("0\r\n\r\n".utf8)
        while Array(all.suffix(end.count)) != end {
            let piece = try await some()
            if piece.isEmpty { throw Failure(what: "the stream broke off") }
            all += piece
        }
        return all
    }

    /// Reads until the bytes hold the text, and returns them up to its end. The bytes behind it are read next.
    @discardableResult
    func read(until text: String) async throws -> String {
        var all = Data()
        while true {
            if let found = all.range(of: Data(text.utf8)) {
                left.withLock { [behind = Array(all[found.upperBound...])] in $0 = behind }
                return String(decoding: all[..<found.upperBound], as: UTF8.self)
            }
            let piece = try await some()
            if piece.isEmpty { throw Failure(what: "the stream ended before \(text)") }
            all += piece
        }
    }
}
