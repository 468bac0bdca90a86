import FaultServer
import Foundation
import Glibc
import TestTools

/// The pauses that set the pace of a day. They stand for people and cameras, and wait for nothing.
enum Pace {
    /// The pause between two frames. Two cameras at this rate use about half of a small machine.
    static let frame: Duration = .milliseconds(25)
    /// The pause between two numbers that a person types.
    static let typing: Duration = .milliseconds(200)
    /// The pause between two looks of a person at a page, and before a failed request is sent again.
    static let looking: Duration = .milliseconds(400)
}

/// Holds books up to a service's camera, one after another, and again those that no screen has shown as captured,
/// because the service was killed meanwhile.
struct Shelver: Sendable {
    let service: Service
    let ledger: Ledger

    func show(_ books: [String]) async throws {
        var open = books
        for round in 0..<40 where !open.isEmpty {
            if round > 0 { ledger.count("shown again", open.count) }
            for book in open {
                let picture = frame(of: book)
                for _ in 0..<4 {
                    try await Task.sleep(for: Pace.frame)
                    try await wait(for: "\(service.name) to run again", within: .seconds(300)) {
                        await service.show(picture)
                    }
                }
            }
            // A service that was just killed needs no empty frame.
            for _ in 0..<4 { _ = await service.show(emptyFrame()) }
            do {
                try await wait(for: "the last books on the screens", within: .seconds(20), every: Pace.looking) {
                    ledger.captured.isSuperset(of: open)
                }
            } catch is NeverHappened {
                // The books that are missing are shown again.
            }
            let captured = ledger.captured
            open.removeAll { captured.contains($0) }
        }
        if !open.isEmpty { throw Unexpected("never captured by \(service.name): \(open.prefix(5)) of \(open.count)") }
    }
}

/// A person at a browser: types numbers, uploads photos, saves, skips and undoes, and looks at other pages.
struct Reader: Sendable {
    let service: Service
    let ledger: Ledger
    let photos: [Data]

    /// Types numbers until all are captured. A number is sent again with the same id if no answer came, as a page does.
    func type(_ numbers: [String]) async throws {
        for number in numbers {
            let request = UUID().uuidString
            try await wait(for: "an answer to \(number)", within: .seconds(300), every: Pace.looking) {
                let (status, answer) = try await service.ask(
                    "POST", "/api/station/captures", ["text": number, "origin": "typed", "request": request])
                // Captured before the service was killed, and saved by somebody else since.
                let isAnswered = status == 422 && (answer["error"] as? [String: Any])?["code"] as? String == "answered"
                guard [200, 0, 503].contains(status) || isAnswered else {
                    throw Unexpected("typed \(number): \(status)")
                }
                return status == 200 || isAnswered
            }
            ledger.addCaptured([number])
            try await Task.sleep(for: Pace.typing)
        }
    }

    private struct Row {
        var id, isbn, status: String
    }

    private func rows() async throws -> [Row]? {
        let (status, station) = try await service.ask("GET", "/api/station")
        guard status == 200 else { return nil }
        let rows = (station["rows"] as? [[String: Any]] ?? []).compactMap { row -> Row? in
            guard let id = row["id"] as? String, let isbn = row["isbn13"] as? String,
                let status = row["standing"] as? String
            else { return nil }
            return Row(id: id, isbn: isbn, status: status)
        }
        ledger.addCaptured(rows.map(\.isbn))
        return rows
    }

    /// Works through the rows until the household closes.
    func work(until closing: Closing, seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        var round = 0
        while !closing.isOver {
            round += 1
            try await Task.sleep(for: Pace.looking)
            guard let rows = try await rows() else { continue }
            try await save(rows.filter { $0.status == "found" })
            try await skip(rows.filter { ["owned", "again"].contains($0.status) })
            if round % 9 == 0 { try await undo() }
            if round % 5 == 0 { try await look(at: Self.pages[random.below(Self.pages.count)]) }
            if round % 12 == 0, let photo = photos.randomElement(using: &random) {
                let (status, _) = await service.answer("POST", "/api/station/photos", photo, type: "image/jpeg")
                if status == 200 { ledger.count("photos") }
            }
        }
    }

    private func save(_ rows: [Row]) async throws {
        guard !rows.isEmpty else { return }
        let (status, answer) = try await service.ask("POST", "/api/station/rows/save", ["ids": rows.map(\.id)])
        guard status == 200 else { return ledger.count("saves refused or cut") }
        ledger.addSaved(rows.map(\.isbn), by: answer["change"] as? String)
        ledger.count("saved", answer["saved"] as? Int ?? 0)
    }

    private func skip(_ rows: [Row]) async throws {
        guard !rows.isEmpty else { return }
        let (status, _) = try await service.ask("POST", "/api/station/rows/skip", ["ids": rows.map(\.id)])
        ledger.count(status == 200 ? "skipped" : "skips refused or cut", rows.count)
    }

    /// Undoes this station's newest act. Its books are open again, and are saved or skipped once more.
    private func undo() async throws {
        // Nobody may rely on these saves from the moment at which the undo is sent.
        let (status, station) = try await service.ask("GET", "/api/station")
        guard status == 200, let undo = station["undo"] as? [String: Any], let change = undo["change"] as? String
        else { return }
        let rows = station["rows"] as? [[String: Any]] ?? []
        let saved = Set(rows.filter { $0["standing"] as? String == "saved" }.compactMap { $0["isbn13"] as? String })
        let addAgain = ledger.removeSaved(saved, undoing: change)
        let (answer, _) = try await service.ask("POST", "/api/station/undo", ["change": change])
        ledger.count(answer == 200 ? "undone" : "undos refused or cut")
        // What is still shown as saved was not part of the act.
        let (later, after) = try await service.ask("GET", "/api/station")
        guard later == 200 else { return }
        let still = (after["rows"] as? [[String: Any]] ?? []).filter { $0["standing"] as? String == "saved" }
        addAgain(Set(still.compactMap { $0["isbn13"] as? String }))
    }

    private static let pages = [
        "/", "/scan", "/library?q=book", "/intake", "/stats", "/settings", "/api/books?limit=20",
    ]

    /// Opens all pages at the same time, as everyone in the house may. Happens every day, so that the service has all
    /// the connections and threads that it can need from the first minutes.
    func lookTogether() async throws {
        for _ in 0..<10 {
            try await withThrowingTaskGroup { group in
                for page in Self.pages { group.addTask { try await look(at: page) } }
                try await group.waitForAll()
            }
        }
    }

    private func look(at page: String) async throws {
        let (status, _) = await service.answer("GET", page)
        guard status == 200 || status == 0 else { throw Unexpected("GET \(page): \(status)") }
        ledger.count("pages")
    }

    /// Answers everything that is still open at the end of the day: saves the books that were found, and skips those
    /// whose title no source knows in time.
    func finish(patience: Duration) async throws {
        let end = ContinuousClock.now + patience
        try await wait(for: "the end of the day at \(service.name)", within: .seconds(900), every: Pace.looking) {
            guard let rows = try await rows() else { return false }
            let open = rows.filter { !["saved", "skipped"].contains($0.status) }
            try await save(open.filter { $0.status == "found" })
            let isLate = ContinuousClock.now > end
            try await skip(open.filter { $0.status != "found" && ($0.status != "lookingUp" || isLate) })
            return open.isEmpty
        }
    }
}

/// A station in another room, which delivers to the hub through a bad connection and is killed now and then.
struct Attic: Sendable {
    let household: Household
    let hub: String
    let ledger: Ledger

    /// Captures the numbers, and delivers them until the hub has them all.
    func capture(_ numbers: [String], killing random: SplitMix) async throws {
        var random = random
        var open = numbers
        while !open.isEmpty {
            let batch = Array(open.prefix(20 + random.below(20)))
            let output = household.folder.appendingPathComponent("attic-\(UUID().uuidString)")
            let process = try household.process(
                ["--hub", hub, "--stdin", "--yes", "--json"], output: output,
                errors: household.folder.appendingPathComponent("attic.log"))
            let pipe = Pipe()
            process.standardInput = pipe
            try process.run(atMost: .seconds(600))
            for number in batch {
                try pipe.fileHandleForWriting.write(contentsOf: Data((number + "\n").utf8))
                try await Task.sleep(for: Pace.typing)
            }
            let isKilled = random.below(2) == 0
            if isKilled {
                kill(process.processIdentifier, SIGKILL)
                ledger.count("station killed")
            }
            try pipe.fileHandleForWriting.close()
            try await wait(for: "the end of the station", within: .seconds(600)) { !process.isRunning }
            guard isKilled || process.terminationReason == .exit else { throw Unexpected("the station crashed") }
            let text = try String(contentsOf: output, encoding: .utf8)
            try FileManager.default.removeItem(at: output)
            ledger.addCaptured(try ScanProcess.isbns(of: "captured", in: text))
            ledger.addSaved(try ScanProcess.isbns(of: "saved", in: text))
            let captured = ledger.captured
            open.removeAll { captured.contains($0) }
        }
        // The connection may be cut at each attempt.
        try await wait(for: "the delivery of everything", within: .seconds(900), every: Pace.looking) {
            try await household.scan("hub", "send").status == 0
        }
    }
}

/// Kills a service at random moments, and starts it again.
struct Killer: Sendable {
    let service: Service
    let ledger: Ledger

    func work(until closing: Closing, seed: UInt64, every pause: ClosedRange<Int>) async throws {
        var random = SplitMix(seed: seed)
        while !closing.isOver {
            let next = ContinuousClock.now + .seconds(pause.lowerBound + random.below(pause.count))
            try await wait(for: "the next kill") { closing.isOver || ContinuousClock.now >= next }
            guard !closing.isOver else { return }
            try await service.kill()
            ledger.count("services killed")
            try await service.start()
        }
    }
}

/// A real browser on the Scan page, which follows the events and shows the camera's picture.
final class Browser: Sendable {
    private let process: Process

    init(on service: Service) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chromium")
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
            "--user-data-dir=" + service.household.folder.appendingPathComponent("browser-" + service.name).path,
            service.address + "/scan",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run(atMost: .seconds(3 * 3600))
    }

    /// No browser outlives its test.
    deinit { if process.isRunning { process.terminate() } }

    func close() async throws {
        guard process.isRunning else { throw Unexpected("a browser ended before the soak did") }
        process.terminate()
        try await wait(for: "the end of a browser") { !self.process.isRunning }
    }
}

/// Plays all online sources: some books are unknown to them, and every third request fails in one of many ways.
func unreliableSources() throws -> FaultServer {
    let server = try FaultServer()
    let faults: [Reply] = [
        .status(500), .status(503, headers: ["Retry-After": "1"]), .status(429, headers: ["Retry-After": "2"]),
        .reset, .cut("{\"a\":", length: 500), .page("<html>Sign in</html>"), .json("[1,"), .status(403),
        .redirect(to: "http://127.0.0.1:1/"), .json("{\"ISBN:9780000000002\": 7}"),
    ]
    server.onOtherPaths(
        Reply { connection, request in
            // The same request fails at the first attempt only by chance, not by its content.
            if UInt8.random(in: 0..<3) == 0 { return faults.randomElement()!.send(connection, request) }
            guard request.path == "/api/books", let keys = request.query("bibkeys") else {
                return Reply.json(#"{"totalItems":0}"#).send(connection, request)
            }
            let records = keys.split(separator: ",").map { $0.replacingOccurrences(of: "ISBN:", with: "") }
                .filter { $0.last != "3" }
                .map { isbn in
                    "\"ISBN:\(isbn)\":{\"title\":\"Record \(isbn)\",\"identifiers\":{\"isbn_13\":[\"\(isbn)\"]}}"
                }
            Reply.json("{" + records.joined(separator: ",") + "}").send(connection, request)
        })
    return server
}
