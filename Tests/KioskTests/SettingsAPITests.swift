import Bookplate
import Foundation
import Synchronization
import Testing

@testable import Kiosk

@Suite struct `The settings' API` {
    @Test(arguments: [
        ("dailyGoal", "30", "30"), ("dailyGoal", "\"30\"", "30"), ("yearlyGoal", "100000", "100000"),
        ("automaticDates", "false", "0"), ("automaticDates", "true", "1"), ("automaticDates", "\"off\"", "0"),
        ("dailyGoal", "null", "null"), ("dailyGoal", "\"\"", "null"),
        ("sources", "\"OPENLIBRARY,dnb\"", "openLibrary, dnb"),
    ])
    func `accepts a value as forms send it, and undo restores the old one`(
        _ name: String, _ value: String, _ stored: String
    ) async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await kiosk.library.set("dailyGoal", to: "11", at: StatsKiosk.now)
            let before = try await kiosk.library.settings()
            let answer = try await kiosk.ask("PUT", "/api/settings/\(name)", "{\"value\":\(value)}")
            #expect(answer.status == 200)
            #expect(try answer.value("value") == stored)
            #expect(try await kiosk.library.settings()[name] ?? "null" == stored)
            let change = ID<Change>(rawValue: try answer.value("change"))
            _ = try await kiosk.library.undo(change, at: StatsKiosk.now)
            #expect(try await kiosk.library.settings() == before)
        }
    }

    @Test(arguments: [
        ("dailyGoal", "{\"value\":0}", 422), ("dailyGoal", "{\"value\":\"many\"}", 422),
        ("dailyGoal", "{\"value\":1.5}", 400), ("sources", "{\"value\":\"amazon\"}", 422),
        ("dailyGoal", "{}", 400), ("dailyGoal", "[]", 400), ("googleBooksKey", "{\"value\":\"x\"}", 404),
        ("../library", "{\"value\":1}", 404),
    ])
    func `refuses invalid values and unknown settings`(
        _ name: String, _ body: String, _ status: Int
    ) async throws {
        try await StatsKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("PUT", "/api/settings/\(name)", body).status == status)
            #expect(try await kiosk.library.settings().isEmpty)
        }
    }

    @Test func `answers no change if nothing changed`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            for expected in [false, true] {
                let answer = try await kiosk.ask("PUT", "/api/settings/dailyGoal", "{\"value\":30}")
                #expect(try (answer.value("change") == "null") == expected)
            }
        }
    }

    /// An export of two pieces.
    private final class Written: ExportedFile {
        let rest = Mutex(["{\"a\":1,", "\"b\":2}"])
        func read() throws -> [UInt8] { rest.withLock { $0.isEmpty ? [] : Array($0.removeFirst().utf8) } }
    }

    @Test func `answers the program's exports, backups and checks of sources`() async throws {
        var maintenance = Maintenance()
        maintenance.export = { _, _ in Written() }
        maintenance.backUp = { KeptBackup(path: "/secret/place", at: StatsKiosk.now, bytes: 4_096, books: 3) }
        maintenance.sources = { [SourceStatus(name: "openLibrary", isFine: false, fact: "no answer", next: "Wait.")] }
        try await StatsKiosk.run(maintenance) { kiosk in
            #expect(try await kiosk.ask("/export/library.json").text == "{\"a\":1,\"b\":2}")
            #expect(try await kiosk.ask("/export/library.csv").status == 200)
            let backup = try await kiosk.ask("POST", "/api/backups", "{}")
            #expect(try backup.value("books") == "3" && !backup.text.contains("/secret/place"))
            #expect(try await kiosk.ask("/api/sources").value("sources.0.fact") == "no answer")
        }
    }

    @Test func `answers 404 for exports and backups that the program does not offer`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("/export/library.json").status == 404)
            #expect(try await kiosk.ask("POST", "/api/backups", "{}").status == 404)
            #expect(try await kiosk.ask("/api/sources").text == "{\"sources\":[]}")
        }
    }
}
