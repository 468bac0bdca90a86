import Bookplate
import Foundation
import Synchronization
import Testing

@testable import Kiosk

@Suite struct `The Restore page` {
    private static let backups = [
        KeptBackup(path: "/b/library-2.sqlite", at: StatsKiosk.now - 3600, bytes: 1_500_000, books: 3),
        KeptBackup(path: "/b/library-1.sqlite", at: StatsKiosk.now - 86_400, bytes: 4_096, books: 1),
    ]

    private var maintenance: Maintenance {
        var maintenance = Maintenance()
        maintenance.backups = { Self.backups }
        return maintenance
    }

    @Test func `lists the backups, and compares one with the library`() async throws {
        var maintenance = maintenance
        maintenance.restore = { _ in }
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            try await kiosk.book("Dune")
            let list = try await kiosk.ask("/restore").text
            #expect(list.contains("/restore?backup=library-1.sqlite") && list.contains("1.5 MB"))
            #expect(list.contains("3 books") && !list.contains("/b/"))
            let chosen = try await kiosk.ask("/restore?backup=library-1.sqlite").text
            #expect(chosen.contains("1 change has been made since this backup") && chosen.contains("Dune"))
            #expect(chosen.contains("POST /api/backups/library-1.sqlite/restore"))
            let german = try await kiosk.ask("/restore?backup=library-2.sqlite", language: "de").text
            #expect(german.contains("1 Änderung ist seit dieser Sicherung hinzugekommen"))
            #expect(try await kiosk.ask("/restore?backup=..%2Fsecret").status == 404)
            #expect(try await kiosk.ask("/api/backups").value("backups.1.name") == "library-1.sqlite")
        }
    }

    /// The time in the name of a backup is rounded down, so the backup has changes that seem to be newer.
    @Test func `compares with the newest change in the backup, not with the time in its name`() async throws {
        let backup = KeptBackup(
            path: "/b/library-2.sqlite", at: StatsKiosk.now - 1, bytes: 4_096, books: 1, lastChange: StatsKiosk.now)
        var maintenance = Maintenance()
        maintenance.backups = { [backup] }
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            try await kiosk.book("Dune")
            let page = try await kiosk.ask("/restore?backup=library-2.sqlite").text
            #expect(page.contains("Nothing has been changed in the library since this backup"))
        }
    }

    @Test func `asks the program to restore exactly the chosen backup`() async throws {
        let asked = Mutex<[KeptBackup]>([])
        var maintenance = maintenance
        maintenance.restore = { backup in asked.withLock { $0.append(backup) } }
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            let answer = try await kiosk.ask("POST", "/api/backups/library-1.sqlite/restore", "{}")
            #expect(answer.status == 202 && asked.withLock { $0 } == [Self.backups[1]])
            #expect(try await kiosk.ask("POST", "/api/backups/other.sqlite/restore", "{}").status == 404)
            #expect(asked.withLock { $0.count } == 1)
        }
    }

    @Test func `says that another program has the library open, and what came of the last restore`() async throws {
        struct InUse: Refusal {
            var kind: RefusalKind { .locked }
            var code: String { "inUse" }
            var description: String { "/secret is in use" }
        }
        var maintenance = maintenance
        maintenance.restore = { _ in throw InUse() }
        var outcome = RestoreOutcome(backup: Self.backups[1], at: StatsKiosk.now)
        outcome.error = InUse()
        maintenance.restored = outcome
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            let answer = try await kiosk.ask("POST", "/api/backups/library-2.sqlite/restore", "{}")
            #expect(answer.status == 409 && answer.text.contains("Another program") && !answer.text.contains("/secret"))
            let page = try await kiosk.ask("/restore?backup=library-1.sqlite").text
            #expect(page.contains("The library was not changed. Another program on the station"))
            #expect(page.contains("POST /api/backups/library-1.sqlite/restore"))
        }
        maintenance.restored?.error = nil
        maintenance.restored?.books = 2
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            let page = try await kiosk.ask("/restore?backup=library-1.sqlite").text
            #expect(page.contains("Restored: 2 books, as they were on"))
            #expect(!page.contains("POST /api/backups"))
        }
        maintenance.restored?.at = StatsKiosk.now - 60
        try await StatsKiosk.run(maintenance) { kiosk async throws in
            // After a change, the same backup can be restored again.
            try await kiosk.book("Dune")
            let page = try await kiosk.ask("/restore?backup=library-1.sqlite").text
            #expect(page.contains("POST /api/backups/library-1.sqlite/restore") && !page.contains("Restored: 2 books"))
        }
    }

    @Test func `is for the household alone`() async throws {
        try await withWebKiosk {
            $1.maintenance = maintenance
        } _: { kiosk in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            for (method, path) in [("GET", "/api/backups"), ("POST", "/api/backups/library-1.sqlite/restore")] {
                let body = method == "GET" ? nil : "{}"
                #expect(try await kiosk.askAsStranger(method, path, body: body).status == 401, "\(path)")
            }
            #expect(try await kiosk.askAsStranger("GET", "/restore", [("Accept", "text/html")]).status == 303)
        }
    }
}
