import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The Settings page` {
    @Test(arguments: [("en", "Pages per day"), ("de", "Seiten am Tag"), ("fr", "Pages par jour")])
    func `shows each setting of the library in the user's language`(_ language: String, _ label: String) async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await kiosk.library.set("dailyGoal", to: "25", at: StatsKiosk.now)
            let html = try await kiosk.ask("/settings", language: language).text
            #expect(html.contains(label) && html.contains("value=\"25\"") && html.contains("aria-checked=\"true\""))
            for setting in LibrarySetting.allCases {
                #expect(html.contains("PUT /api/settings/\(setting.rawValue)\""))
                let name = try WebFolder().texts[.english]?("settings.\(setting.rawValue)") ?? "settings."
                #expect(!name.hasPrefix("settings."), "\(setting) has no text")
            }
        }
    }

    @Test func `shows the program's settings, the newest backup and the available actions`() async throws {
        var maintenance = Maintenance()
        maintenance.settings = {
            // A setting for which the texts have no explanation.
            [ProgramSetting(name: "otherKey", value: "••••••••wxyz", origin: "file", explanation: "a <key>")]
        }
        maintenance.lastBackup = { KeptBackup(path: "/b", at: StatsKiosk.now, bytes: 1, books: 1) }
        maintenance.backUp = { KeptBackup(path: "/b", at: StatsKiosk.now, bytes: 1, books: 1) }
        try await StatsKiosk.run(maintenance) { kiosk in
            let html = try await kiosk.ask("/settings").text
            #expect(html.contains("••••••••wxyz") && html.contains("settings file") && html.contains("a &lt;key&gt;"))
            #expect(html.contains("Last backup: 10 May 2026, 12:00."))
            #expect(html.contains("POST /api/backups") && !html.contains("/export/library.json"))
            #expect(html.contains("Only ISBNs leave this station"))
            #expect(html.contains("They go only to the sources that are on here"))
            #expect(html.contains("A cover is downloaded from the source that listed it."))
        }
    }

    @Test func `switches sources and moves them up with the acts of its rows`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            func acts(_ look: String) async throws -> [String] {
                let html = try await kiosk.ask("/settings").text
                let act = /<button class="(\w+)"[^>]*data-act="PUT \/api\/settings\/sources" data-body="([^"]*)"/
                return html.matches(of: act).filter { $0.1 == look }.map {
                    String($0.2).replacing("&quot;", with: "\"")
                }
            }
            func order() async throws -> String? { try await kiosk.library.settings()["sources"] }
            let switches = try await acts("switch")
            #expect(switches.count == SourceOrder.standard.sources.count)
            #expect(try await kiosk.ask("PUT", "/api/settings/sources", switches[0]).status == 200)
            #expect(try await order() == "bnf, bn, libris, openBD, openLibrary, googleBooks, k10plus, loc, citoid")
            let up = try await acts("quiet")
            #expect(up.count == 8)
            #expect(try await kiosk.ask("PUT", "/api/settings/sources", up[0]).status == 200)
            #expect(try await order()?.hasPrefix("bn, bnf, libris") == true)
            // The source that is off is the last row, and is switched on at its place before those that follow it.
            let on = try #require(try await acts("switch").last)
            #expect(try await kiosk.ask("PUT", "/api/settings/sources", on).status == 200)
            #expect(try await order()?.hasPrefix("dnb, bn, bnf, libris") == true)
        }
    }

    @Test func `shows the sources without acts if this machine decides`() async throws {
        var maintenance = Maintenance()
        maintenance.sourceOrder = SourceOrder([.openLibrary])
        try await StatsKiosk.run(maintenance) { kiosk in
            let html = try await kiosk.ask("/settings").text
            #expect(html.contains("BOOKPLATE_SOURCES") && !html.contains("PUT /api/settings/sources"))
            #expect(html.contains("Deutsche Nationalbibliothek"))
        }
    }

    @Test func `is shown even if the backups cannot be listed`() async throws {
        var maintenance = Maintenance()
        maintenance.lastBackup = { throw KioskError(.unavailable, "cannot read the folder /b.") }
        try await StatsKiosk.run(maintenance) { kiosk in
            for (language, words) in [
                ("en", "The backups cannot be read"), ("de", "Die Sicherungen lassen sich"),
                ("fr", "Les sauvegardes ne peuvent pas"),
            ] {
                let answer = try await kiosk.ask("/settings", language: language)
                #expect(answer.status == 200 && answer.text.contains(words))
                // Paths are for the log only.
                #expect(!answer.text.contains("cannot read the folder"))
            }
            #expect(kiosk.kiosk.log.lines.contains { $0.contains("cannot read the folder /b.") })
        }
    }

    @Test func `describes each setting for screen readers`() async throws {
        try await StatsKiosk.run { kiosk in
            let html = try await kiosk.ask("/settings").text
            let hints = html.matches(of: /<p class="hint faint small" id="(hint-\w+)"/).map(\.output.1)
            #expect(hints.count == LibrarySetting.allCases.count - 1)
            for hint in hints { #expect(html.contains(" aria-describedby=\"\(hint)\""), "\(hint)") }
        }
    }

    @Test(arguments: NameList.allCases) func `has a page for each list of names`(_ list: NameList) async throws {
        try await StatsKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("/settings/\(list.rawValue)").text.contains("class=\"empty\""))
            let id = try await kiosk.book("Emma", by: "Zoë & <b>", shelf: "Zoë & <b>")
            _ = try await kiosk.library.addLabel(.tag, "Zoë & <b>", to: [id], at: StatsKiosk.now)
            let html = try await kiosk.ask("/settings/\(list.rawValue)?q=zo%C3%AB+").text
            #expect(html.contains("Zoë &amp; &lt;b&gt;") && html.contains("=Zo%C3%AB%20%26%20%3Cb%3E\""))
            #expect(html.contains("1 book</a>") && !html.contains("<b>"))
            #expect(try await kiosk.ask("/settings/\(list.rawValue)?q=nobody").text.contains("No matching name."))
        }
    }

    @Test func `leads to the last changes, each of which can be undone`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("/changes").text.contains("No changes in the last"))
            let change = try await kiosk.library.set("dailyGoal", to: "25", at: StatsKiosk.now)
            let body = "{&quot;change&quot;:&quot;\(try #require(change).rawValue)&quot;}"
            #expect(try await kiosk.ask("/changes").text.contains(body))
            _ = try await kiosk.library.undo(try #require(change), at: StatsKiosk.now)
            let html = try await kiosk.ask("/changes").text
            #expect(html.contains("undone 10 May 2026, 12:00") && !html.contains("POST /api/undo"))
            #expect(html.contains("POST /api/redo") && html.contains(body))
        }
    }
}
