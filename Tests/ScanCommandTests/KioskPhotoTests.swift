import Foundation
import FoundationNetworking
import Synchronization
import TestTools
import Testing

/// Sends photos over HTTP to the program, which reads each in a child process.
@Suite struct `A photo sent to scan kiosk` {
    private func sample(_ name: String) throws -> Data {
        try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/\(name)"))
    }

    /// A JPEG of some hundred kilobytes whose header claims 65500 x 65500 pixels.
    private func giant() throws -> Data {
        var bytes = [UInt8](try sample("bent-cover.jpg"))
        let frame = try #require(
            bytes.indices.dropLast(9).first { bytes[$0] == 0xFF && [0xC0, 0xC2].contains(bytes[$0 + 1]) })
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        return Data(bytes)
    }

    @Test func `captures every book in it`() async throws {
        try await withKiosk { kiosk in
            let answer = try await kiosk.ask("POST", "/api/station/photos", try sample("three-books.jpg"))
            #expect(answer.status == 200)
            let rows = answer.json["rows"] as? [[String: Any]] ?? []
            let there = try String(
                contentsOf: ScanProcess.samples.appendingPathComponent("photos/three-books.txt"), encoding: .utf8)
            let isbns = rows.compactMap { $0["isbn13"] as? String }
            #expect(isbns.count == 3 && isbns.allSatisfy { there.contains($0) })
            #expect(rows.allSatisfy { $0["hasThumbnail"] as? Bool == true })
        }
    }

    @Test func `that is invalid or claims to be huge is refused, and the next is read`() async throws {
        try await withKiosk { kiosk in
            for photo in [try giant(), Data("<svg/>".utf8), Data([0xFF, 0xD8, 0xFF, 0xD9])] {
                let answer = try await kiosk.ask("POST", "/api/station/photos", photo)
                #expect(answer.status == 422)
                #expect(answer.message.contains("photo"))
            }
            #expect(try await kiosk.ask("POST", "/api/station/photos", try sample("frontal.jpg")).status == 200)
        }
    }

    @Test func `whose process is killed is reported as unreadable, and the next is read`() async throws {
        try await withKiosk { kiosk in
            let photo = try sample("twelve-megapixel.jpg")
            // A child ends quickly, so photos are sent until one is killed.
            var wasKilled = false
            for _ in 0..<50 where !wasKilled {
                let killing = Task.detached {
                    while !Task.isCancelled {
                        if kiosk.killChild() { return true }
                        await Task.yield()
                    }
                    return false
                }
                let answer = try await kiosk.ask("POST", "/api/station/photos", photo)
                killing.cancel()
                // A child that was killed after it answered does not count.
                guard await killing.value, answer.status != 200 else { continue }
                wasKilled = true
                #expect(answer.status == 422 && answer.message.contains("could not be read"))
            }
            #expect(wasKilled)
            #expect(try await kiosk.ask("POST", "/api/station/photos", try sample("frontal.jpg")).status == 200)
        }
    }

    /// The unit gives the service and its children 768 MiB.
    @Test func `cannot take the service's memory, even if two large ones arrive at once`() async throws {
        try await withKiosk { kiosk in
            let photo = Data(`A photo's own process`.hostile())
            // The system reports no peak of several processes together, so their memory is read again and again; on a
            // thread of its own, because other tests may keep the threads of tasks busy.
            let peak = Mutex(0)
            let hasEnded = Mutex(false)
            Thread.detachNewThread {
                while !hasEnded.withLock(\.self) {
                    let now = kiosk.memory()
                    peak.withLock { $0 = max($0, now) }
                    // The pictures are in memory for much longer than this, and meanwhile the processor is theirs.
                    usleep(1000)
                }
            }
            defer { hasEnded.withLock { $0 = true } }
            async let first = kiosk.ask("POST", "/api/station/photos", photo)
            async let second = kiosk.ask("POST", "/api/station/photos", photo)
            let answers = try await [first, second]
            // They are read, but contain no bar code.
            #expect(answers.map(\.code) == ["noBarCode", "noBarCode"])
            let most = peak.withLock(\.self)
            print("two photos of 50 megapixels, progressive and in CMYK: \(most >> 20) MiB with the service")
            #expect(most > 400 << 20 && most < 640 << 20)
        }
    }

    @Test func `is checked in the same way as a cover`() async throws {
        try await withKiosk { kiosk in
            let book = try await kiosk.ask(
                "POST", "/api/books", Data(#"{"title":"Dune"}"#.utf8), type: "application/json")
            let path = "/api/books/\(try #require(book.json["id"] as? String))/cover"
            let refused = try await kiosk.ask("PUT", path, try giant())
            #expect(refused.status == 422 && refused.code == "unsoundPicture")
            #expect(try await kiosk.ask("PUT", path, try sample("frontal.jpg")).status == 200)
        }
    }

    private func withKiosk(_ body: (RunningKiosk) async throws -> Void) async throws {
        let scan = try ScanProcess.offline()
        let command = try RunningCommand(scan, ["kiosk", "--no-camera", "--port", "0"])
        defer {
            command.process.terminate()
            command.process.waitUntilExit()
            #expect(command.process.terminationStatus == 0)
            #expect(throws: Never.self) { try scan.remove() }
        }
        let log = try command.read(until: "/\n")
        let port = try #require(log.split(separator: ":").last?.prefix { $0.isNumber })
        try await body(RunningKiosk(home: "http://127.0.0.1:\(port)", process: command.process.processIdentifier))
    }
}

/// The kiosk, running without a camera.
private struct RunningKiosk: Sendable {
    struct Answer {
        let status: Int
        let json: [String: Any]

        private var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }
        var code: String { error["code"] as? String ?? "" }
        var message: String { error["message"] as? String ?? "" }
    }

    let home: String
    let process: Int32

    func ask(_ method: String, _ path: String, _ body: Data, type: String = "image/jpeg") async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: home + path)))
        request.httpMethod = method
        request.httpBody = body
        request.timeoutInterval = 60
        request.setValue(type, forHTTPHeaderField: "Content-Type")
        request.setValue(home, forHTTPHeaderField: "Origin")
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return Answer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, json: json ?? [:])
    }

    /// - Returns: true if there was one.
    func killChild() -> Bool {
        guard let child = children(of: process).first else { return false }
        kill(child, SIGKILL)
        return true
    }

    /// Returns the memory that the kiosk and its children use now, in bytes. Pages that they share count once for each.
    func memory() -> Int {
        ([process] + children(of: process)).reduce(0) { sum, id in
            // The second number of statm is the resident set in pages. The file is missing once the process has ended.
            let sizes = (try? String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8))?.split(separator: " ") ?? []
            return sum + (sizes.count > 1 ? (Int(sizes[1]) ?? 0) * Int(getpagesize()) : 0)
        }
    }
}
