import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import LibraryMaker
import Synchronization
import TestTools
import Testing

@testable import Library

/// The daily comparison of the library with its backups, which notices what SQLite's checks cannot.
@Suite struct `The comparison of a library with its backups` {
    let folder = Folder()

    private func open() throws -> LibraryFile {
        try LibraryFile.open(at: folder("library.sqlite"), clock: { noon }, zone: .gmt)
    }

    private func backUp(_ library: LibraryFile, at now: Date) async throws {
        _ = try await library.backup(into: LibraryFile.ownBackupFolder(of: folder("library.sqlite")), at: now)
    }

    /// Writes as a failing disk does: past the library, so that nothing is logged.
    private func rot(_ path: String, _ sql: String) async throws {
        let disk = try DatabaseQueue(path: path)
        try await disk.write { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \"\(trigger["name"] as String)\"") }
            try db.execute(sql: sql)
            // Without its triggers, the library would be refused.
            for trigger in triggers { try db.execute(sql: trigger["sql"]) }
        }
        try disk.close()
    }

    @Test(arguments: isLong ? 1...8 : 1...4 as ClosedRange<UInt64>)
    func `finds nothing after any acts, undone in any order, and after a restore`(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        let words = ["ash", "birch", "cedar", "elm"]
        let library = try open()
        for number in 0..<6 { try await library.save(isbn(number), record("Book \(number)")) }
        for round in 0..<4 {
            let now = noon.addingTimeInterval(Double(round) * 86_400)
            try await backUp(library, at: now)
            for _ in 0..<30 {
                let books = try await library.books(matching: BookQuery()).books
                guard let book = books.randomElement(using: &random) else { continue }
                do {
                    switch random.below(7) {
                    case 0, 1: try await library.track(book, &random, at: now)
                    case 2: try await library.annotation(book, &random, words, at: now)
                    case 3: try await library.relabel(book, &random, words, at: now)
                    case 4: try await library.importFile(&random, words, at: now)
                    case 5:
                        _ = try await library.trash([book.id], at: now)
                        if random.below(2) == 0 { try await library.purge([book.id]) }
                    default:
                        let changes = try await library.changes(limit: 100).filter { $0.undone == nil }
                        guard let change = changes.randomElement(using: &random) else { continue }
                        _ = try await library.undo(change.id, at: now)
                    }
                } catch is UndoRefusal {
                } catch  where error.isRefusal {}
            }
            #expect(try await library.compareWithBackups() == [], "round \(round)")
        }
        let backups = try LibraryFile.backups(in: folder("backups"))
        try await library.close()
        let identity = try #require(backups[0].library)
        _ = try LibraryFile.restore(from: backups[2].path, to: folder("library.sqlite"), keeping: identity, at: noon)
        let restored = try open()
        #expect(try await restored.compareWithBackups() == [])
        try await restored.close()
    }

    @Test(arguments: [
        ("UPDATE edition SET title = 'Eune', folded = 'eune' WHERE title = 'Dune'", "edition", "title"),
        ("UPDATE note SET text = 'Sant.'", "note", "text"),
        ("UPDATE readerCopy SET rating = 4", "readerCopy", "rating"),
        ("UPDATE copy SET added = added + 1", "copy", "added"),
    ])
    func `finds a value that nothing changed, in the library or in the backup`(
        _ damage: String, _ table: String, _ column: String
    ) async throws {
        let library = try open()
        let book = try await library.save(dune, record("Dune"))
        _ = try await library.add(Note(text: "Sand.", created: noon), to: book.id, at: noon)
        try await backUp(library, at: noon)
        try await library.save(odyssey, record("Odyssey"), at: noon.addingTimeInterval(60))
        #expect(try await library.compareWithBackups() == [])
        try await library.close()
        for path in [folder("library.sqlite"), try LibraryFile.backups(in: folder("backups"))[0].path] {
            let sound = try bytes(of: path)
            try await rot(path, damage)
            let opened = try open()
            try await opened.check()
            let found = try await opened.compareWithBackups()
            #expect(found.contains { $0.table == table && $0.column == column }, "\(found)")
            try await opened.close()
            try write(sound, to: path)
        }
    }

    /// The oldest backup shows the damage, or only one in between, because the book was changed after the oldest.
    @Test(arguments: [false, true])
    func `finds damage that is older than the newest backup`(isChangedAfterOldest: Bool) async throws {
        let library = try open()
        let book = try await library.save(dune, record(isChangedAfterOldest ? "The Dune" : "Dune"))
        try await backUp(library, at: noon)
        if isChangedAfterOldest {
            _ = try await library.update(book.id, at: noon) { $0.edition.metadata.title = "Dune" }
            try await backUp(library, at: noon.addingTimeInterval(86_400))
        }
        try await library.close()
        try await rot(folder("library.sqlite"), "UPDATE edition SET title = 'Eune'")
        let damaged = try open()
        try await backUp(damaged, at: noon.addingTimeInterval(2 * 86_400))
        let found = try await damaged.compareWithBackups()
        #expect(found.map(\.value) == ["'Eune'"] && found.map(\.valueInBackup) == ["'Dune'"])
        try await damaged.close()
    }

    /// The damage is in the library, or in a backup, which then cannot be compared.
    @Test(arguments: [false, true])
    func `lets no backup be removed, here or elsewhere, after damage`(isInBackup: Bool) async throws {
        let (own, stick) = (folder("backups"), folder("stick"))
        mkdir(stick, 0o700)
        func backUp(_ days: Range<Int>) async throws -> [String] {
            let library = try open()
            let logged = Mutex<[String]>([])
            library.onError { message in logged.withLock { $0.append(message) } }
            for day in days {
                let now = noon.addingTimeInterval(Double(day) * 86_400)
                let daily = try await library.backUpIfDue(at: now, copying: stick)
                #expect(daily?.made.count == 2)
            }
            try await library.close()
            return logged.withLock(\.self)
        }
        let library = try open()
        try await library.save(dune, record("Dune"))
        try await library.close()
        #expect(try await backUp(0..<9) == [])
        #expect(names(in: own).count == 8 && names(in: stick).count == 8)
        if isInBackup {
            try await rot(try #require(LibraryFile.backups(in: own).first).path, "DROP TABLE changeRow")
        } else {
            try await rot(folder("library.sqlite"), "UPDATE edition SET title = 'Eune'")
        }
        // A damaged value is found each day, but the next day's comparison no longer needs the damaged backup.
        let days = isInBackup ? 9..<10 : 9..<16
        let logged = try await backUp(days)
        #expect(names(in: own).count == 8 + days.count && names(in: stick).count == 8 + days.count)
        #expect(logged.count == (isInBackup ? 1 : 0))
        #expect(logged.allSatisfy { $0.hasPrefix("cannot compare the library with its backups, so none") })
    }

    /// One bit is flipped at a time, as a failing flash card does, in the pages of the compared tables.
    @Test func `finds most of the flipped bits that SQLite does not`() async throws {
        let path = folder("library.sqlite")
        try await makeLibrary(at: path, copies: 200, seed: 7, sessions: 200)
        let library = try open()
        try await backUp(library, at: noon)
        let compared = trackedTables.filter { $0.columns == nil && !["setting", "readerSetting"].contains($0.name) }
            .map(\.name)
        let pages = try await library.read { db in
            try Int.fetchAll(
                db,
                sql: """
                    SELECT pageno FROM dbstat
                    WHERE pagetype = 'leaf' AND name IN (SELECT value FROM json_each(?)) ORDER BY pageno
                    """, arguments: [jsonList(compared)])
        }
        try await library.close()
        let sound = try bytes(of: path)
        var random = SplitMix(seed: 11)
        var (bySQLite, byComparison) = (0, 0)
        for _ in 0..<60 {
            var damaged = sound
            damaged[(pages[random.below(pages.count)] - 1) * 4096 + random.below(4096)] ^= 1 << UInt8(random.below(8))
            try write(damaged, to: path)
            do {
                let opened = try open()
                try await opened.check()
                if try await !opened.compareWithBackups().isEmpty { byComparison += 1 }
            } catch {
                bySQLite += 1
            }
        }
        #expect(byComparison >= 15 && bySQLite + byComparison >= 42, "\(bySQLite) and \(byComparison) of 60")
    }
}
