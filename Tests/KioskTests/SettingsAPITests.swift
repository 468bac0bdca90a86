import Async
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

    @Test func `stores the program's settings that are safe to change, and no others`() async throws {
        let stored = SharedValue<[String: String]>([:])
        var maintenance = Maintenance()
        maintenance.settings = {
            [
                ProgramSetting(
                    name: "contact", value: "me@example.org", origin: "file", explanation: "", control: .text),
                ProgramSetting(name: "offline", value: "1", origin: "default", explanation: "", control: .toggle),
                ProgramSetting(
                    name: "googleBooksKey", value: "••••", origin: "file", explanation: "", control: .secret),
                ProgramSetting(name: "camera", value: "c920", origin: "environment", explanation: "", control: .text),
                ProgramSetting(name: "library", value: "/library", origin: "file", explanation: "the file"),
            ]
        }
        maintenance.set = { name, value in
            if value == "bad" { throw KioskError(.invalid, "This value is bad.") }
            stored.withLock { $0[name] = value ?? "removed" }
        }
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            let page = try await kiosk.ask("/settings").text
            for name in ["contact", "offline", "googleBooksKey"] {
                #expect(page.contains("PUT /api/program-settings/\(name)\""), "\(name)")
            }
            #expect(page.contains("value=\"me@example.org\"") && !page.contains("value=\"••••\""))
            // The others are shown with their origin.
            for name in ["camera", "library"] { #expect(!page.contains("program-settings/\(name)")) }
            #expect(page.contains("environment") && page.contains("scan settings set"))
            func put(_ name: String, _ value: String) async throws -> Int {
                try await kiosk.ask("PUT", "/api/program-settings/\(name)", "{\"value\": \(value)}").status
            }
            #expect(try await put("contact", "\"you@example.org\"") == 200)
            #expect(try await put("offline", "false") == 200)
            #expect(try await put("googleBooksKey", "null") == 200)
            #expect(stored.value == ["contact": "you@example.org", "offline": "0", "googleBooksKey": "removed"])
            #expect(try await put("contact", "\"bad\"") == 422)
            #expect(try await put("contact", "\"\(String(repeating: "x", count: 2000))\"") == 422)
            // An option or a variable decides, so storing would have no effect.
            #expect(try await put("camera", "\"other\"") == 409)
            #expect(try await put("library", "\"/etc/passwd\"") == 404)
            #expect(try await put("nothing", "1") == 404)
            #expect(stored.value.count == 3 && stored.value["contact"] == "you@example.org")
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
        try await StatsKiosk.run(maintenance) { kiosk async throws in
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
