import Bookplate
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import ScanCommand

@Suite struct `The watchdog` {
    /// Returns a notice with a short watchdog time: the tests check the order, not the times.
    private func notice(_ socket: NoticeSocket) throws -> ServiceNotice {
        try #require(
            try ServiceNotice(environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "3000"]))
    }

    @Test func `sends no keep-alive while something hangs, reports what, and resumes when it works again`() async throws
    {
        let socket = try NoticeSocket()
        let reports = Mutex<[String]>([])
        let problem = Mutex<String?>("the camera's thread hangs")
        let watchdog = Watchdog(try notice(socket)) { text in reports.withLock { $0.append(text) } }
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let service = Task {
            try await watchdog.guarding({ problem.withLock { $0 } }) { for await _ in ended {} }
        }
        for _ in 0..<5 { #expect(await socket.next() == "STATUS=the camera's thread hangs") }
        problem.withLock { $0 = nil }
        #expect(await socket.receive { $0 == "WATCHDOG=1" }.last == "WATCHDOG=1")
        end.finish()
        try await service.value
        #expect(await socket.receive { $0.hasPrefix("STOPPING=1") }.last?.hasPrefix("STOPPING=1") == true)
        #expect(reports.withLock { $0 } == ["the camera's thread hangs", "The service works again."])
    }

    @Test func `sends nothing while the check itself hangs`() async throws {
        let socket = try NoticeSocket()
        let watchdog = Watchdog(try notice(socket)) { _ in }
        let (checks, checked) = AsyncStream.makeStream(of: Void.self)
        let (never, hold) = AsyncStream.makeStream(of: Void.self)
        let service = Task {
            try await watchdog.guarding({
                checked.yield()
                for await _ in never {}
                return nil
            }) {
                // It ends while the check still waits.
                for await _ in checks { return }
            }
        }
        try await service.value
        #expect(await socket.next()?.hasPrefix("STOPPING=1") == true)
        hold.finish()
    }

    @Test func `passes on the service's error`() async throws {
        let socket = try NoticeSocket()
        let watchdog = Watchdog(try notice(socket)) { _ in }
        await #expect(throws: CommandError.self) {
            try await watchdog.guarding({ nil }) { throw CommandError(.unavailable, "the port is taken") }
        }
    }

    @Test func `just runs the service without systemd`() async throws {
        let served = Mutex(false)
        let watchdog = Watchdog(nil) { _ in }
        watchdog.ready("here")
        try await watchdog.guarding({ "never asked" }) { served.withLock { $0 = true } }
        #expect(served.withLock { $0 })
    }

    @Test func `checks the library and the camera's thread`() async throws {
        let folder = NSTemporaryDirectory() + "watchdog-\(UUID().uuidString)"
        let library = try LibraryFile.open(at: folder + "/library.sqlite")
        let states: [(CameraState?, Bool)] = [
            (nil, true), (.starting, true), (.ended, true), (.failed(CameraError(.unplugged, "unplugged")), true),
            (.failed(CameraError(.stuck, "stuck")), false),
        ]
        for (state, isHealthy) in states {
            let found = try await Watchdog.look(at: library, camera: { state })()
            #expect((found == nil) == isHealthy, "\(String(describing: state))")
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `follows a real service from start to end`() async throws {
        let socket = try NoticeSocket()
        let home = NSTemporaryDirectory() + "service-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.program)
        process.arguments = ["kiosk", "--port", "0"]
        process.environment = [
            "HOME": home, "BOOKPLATE_LIBRARY": home + "/library.sqlite", "BOOKPLATE_OFFLINE": "1",
            "NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "300000",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run(atMost: .seconds(300))
        let start = await socket.receive { $0.hasPrefix("READY=1") }
        #expect(start.last?.contains("STATUS=At http://127.0.0.1:") == true)
        #expect(await socket.receive { $0 == "WATCHDOG=1" }.last == "WATCHDOG=1")
        kill(process.processIdentifier, SIGTERM)
        #expect(await socket.receive { $0.hasPrefix("STOPPING=1") }.last?.hasPrefix("STOPPING=1") == true)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        try FileManager.default.removeItem(atPath: home)
    }
}
