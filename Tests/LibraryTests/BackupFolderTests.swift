import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

@Suite struct `A folder of backups` {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        library = try LibraryFile.open(at: folder("library.sqlite"), device: "raspi 4/b")
        try await library.save(dune, record("Dune"))
    }

    private func after(days: Int) -> Date { noon.addingTimeInterval(Double(days) * 86_400) }

    @Test func `beside the library keeps backups of seven days and four weeks`() async throws {
        let own = folder("backups")
        var removed = 0
        for day in 0..<30 { removed += try await library.backup(into: own, at: after(days: day)).removed.count }
        // Day 29 is a Sunday, so its week and the three weeks before it end on the days 29, 22, 15 and 8.
        let kept = [8, 15, 22, 23, 24, 25, 26, 27, 28, 29]
        let rotation = BackupRotation(prefix: "library-")
        #expect(names(in: own) == kept.map { rotation.name(at: after(days: $0)) })
        #expect(removed == 30 - kept.count)
    }

    @Test func `beside a group's library is open to the group, and so are covers, else to the owner alone`()
        async throws
    {
        func mode(_ name: String) throws -> mode_t { try #require(try fileFacts(folder(name))).st_mode & 0o777 }
        let own = folder("backups")
        let first = try await library.backup(into: own, at: noon)
        #expect(try mode("backups") == 0o700)
        #expect(try mode("backups/" + name(of: first.path)) == 0o600)
        unlink(first.path)
        rmdir(own)
        chmod(folder.path, 0o770)
        let second = try await library.backup(into: own, at: noon)
        #expect(try mode("backups") == 0o770)
        #expect(try mode("backups/" + name(of: second.path)) == 0o660)
        let book = try #require(try await library.books(with: [dune])[dune]?.first)
        try await library.keepCover([1], of: book.edition.id)
        #expect(try mode("covers") == 0o770)
    }

    @Test func `elsewhere has names with device and library, and a person's copies stay`()
        async throws
    {
        let stick = folder("stick")
        mkdir(stick, 0o700)
        let others = ["library-kitchen-2020-01-01T000000Z.sqlite", "mine.sqlite", "thesis.txt"]
        for name in others { try write(Array("precious".utf8), to: stick + "/" + name) }
        for day in 0..<9 { _ = try await library.backup(into: stick, at: after(days: day)) }
        let own = names(in: stick).filter { !others.contains($0) }
        #expect(own.count == 8)
        let prefix = "library-raspi_4_b-\(try await library.identity())-2026-1"
        #expect(own.allSatisfy { $0.hasPrefix(prefix) })
        #expect(names(in: stick).count == own.count + others.count)
    }

    @Test func `keeps every backup that a person asked for, also those of one day and one second`() async throws {
        for own in [folder("backups"), folder("stick")] {
            mkdir(own, 0o700)
            var manual: [String] = []
            for _ in 0..<3 { manual.append(try await library.backup(into: own, as: .manual, at: noon).path) }
            for hour in 1..<4 {
                let at = noon.addingTimeInterval(Double(hour) * 3600)
                manual.append(try await library.backup(into: own, as: .manual, at: at).path)
            }
            #expect(Set(manual).count == 6)
            #expect(manual.allSatisfy { name(of: $0).contains("-manual-2026-11-21T") })
            // A day of each earlier week, and all days of the last one.
            for day in [1, 8, 15, 22] + (29..<36) { _ = try await library.backup(into: own, at: after(days: day)) }
            #expect(Set(manual.map(name(of:))).isSubset(of: names(in: own)))
            #expect(names(in: own).count == 6 + 9)
            let listed = try LibraryFile.backups(in: own)
            #expect(listed.first { $0.path == manual[0] }?.at == noon)
        }
    }

    @Test func `a backup that fails removes none of the older ones`() async throws {
        struct PowerCut: Error {}
        let own = folder("backups")
        for day in 0..<9 { _ = try await library.backup(into: own, at: after(days: day)) }
        let before = names(in: own)
        await #expect(throws: PowerCut.self) {
            try await library.backup(into: own, at: after(days: 30)) { _ in throw PowerCut() }
        }
        #expect(names(in: own) == before)
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `without enough room is refused before a byte is written, with the size that is needed`() async throws {
        let disk = try SmallDisk(bytes: 64 << 10)
        let error = await #expect(throws: LibraryError.self) { try await library.backup(into: disk.path, at: noon) }
        guard case .noRoom(let path, let needed, let free)? = error else { throw try #require(error) }
        #expect(path.hasPrefix(disk.path) && needed > free && free <= 64 << 10)
        #expect(names(in: disk.path).isEmpty)
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `that cannot be written, or is unplugged during a backup, is an error, and the library stays usable`()
        async throws
    {
        let disk = try SmallDisk(bytes: 8 << 20)
        _ = try await library.backup(into: disk.path, at: noon)
        try disk.remount("ro")
        let error = await #expect(throws: LibraryError.self) {
            try await library.backup(into: disk.path, at: after(days: 1))
        }
        #expect(error?.category == .permission)
        // The backups on the disk can still be listed and restored.
        #expect(try LibraryFile.backups(in: disk.path).map(\.books) == [1])
        try disk.remount("rw")
        mkdir(disk("deep"), 0o700)
        await #expect(throws: LibraryError.self) {
            // MNT_DETACH empties the folder at once, like unplugging a memory stick.
            try await library.backup(into: disk("deep"), at: after(days: 1)) { _ in umount2(disk.path, 2) }
        }
        #expect(names(in: disk.path).isEmpty)
        try await library.save(odyssey, record("The Odyssey"))
    }

    @Test func `is listed newest first, with the content of each backup, whatever its name`() async throws {
        let own = folder("backups")
        _ = try await library.backup(into: own, at: noon)
        try await library.save(odyssey, record("The Odyssey"))
        _ = try await library.backup(into: own, at: after(days: 2))
        _ = try await library.backup(to: own + "/by hand.sqlite")
        var times = [timeval(tv_sec: Int(noon.timeIntervalSince1970) + 90_000, tv_usec: 0)]
        times.append(times[0])
        utimes(own + "/by hand.sqlite", &times)
        try write(Array("hello".utf8), to: own + "/text.sqlite")
        times[0].tv_sec = 0
        times[1].tv_sec = 0
        utimes(own + "/text.sqlite", &times)
        try write([], to: own + "/.bookplate-partial-1.sqlite")
        let list = try LibraryFile.backups(in: own)
        #expect(
            list.map { name(of: $0.path) }.map { $0.prefix(18) } == [
                "library-2026-11-23", "by hand.sqlite", "library-2026-11-21", "text.sqlite",
            ])
        #expect(list.map(\.books) == [2, 2, 1, nil])
        #expect(list[3].problem == .foreign(path: own + "/text.sqlite", what: "a text file"))
        #expect(list[0].bytes == (try bytes(of: list[0].path).count))
        #expect(try LibraryFile.backups(in: folder("nowhere")).isEmpty)
        #expect(LibraryFile.ownBackupFolder(of: folder("library.sqlite")) == own)
    }

    @Test func `unfinished backups are removed at once if a signal ends the program`() async throws {
        let target = folder("b.sqlite")
        await #expect(throws: LibraryError.self) {
            try await library.backup(to: target) { _ in library.abandonBackups() }
        }
        #expect(!names(in: folder.path).contains { $0.hasPrefix(".") || $0.hasPrefix("b") })
        _ = try await library.backup(to: target)
        library.abandonBackups()
        #expect(try bytes(of: target).count > 0)
    }
}

@Suite struct `The backup of the day` {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
    }

    private func after(hours: Int) -> Date { noon.addingTimeInterval(Double(hours) * 3600) }

    @Test func `is made once a day, and not after a manual one`() async throws {
        #expect(try await library.backUpIfDue(at: noon)?.made.count == 1)
        #expect(try await library.backUpIfDue(at: after(hours: 11)) == nil)
        _ = try await library.backup(into: folder("backups"), at: after(hours: 13))
        #expect(try await library.backUpIfDue(at: after(hours: 14)) == nil)
        #expect(try await library.backUpIfDue(at: after(hours: 37))?.made.count == 1)
        #expect(names(in: folder("backups")).count == 3)
        // A copy with another name in another folder does not count as the day's backup.
        _ = try await library.backup(to: folder("b.sqlite"))
        #expect(try await library.backUpIfDue(at: after(hours: 60)) != nil)
    }

    @Test func `is made again after a clock that was far ahead`() async throws {
        #expect(try await library.backUpIfDue(at: after(hours: 100_000)) != nil)
        #expect(try await library.backUpIfDue(at: noon) != nil)
        #expect(names(in: folder("backups")).count == 2)
    }

    @Test func `is made in a second folder too, and reports it if that is missing`() async throws {
        let stick = folder("stick")
        let without = try #require(try await library.backUpIfDue(at: noon, copying: stick))
        #expect(without.made.count == 1)
        guard case LibraryError.noBackupFolder(stick)? = without.secondError else {
            Issue.record("\(String(describing: without.secondError))")
            return
        }
        #expect(names(in: stick).isEmpty, "a folder where a stick belongs is not made")
        mkdir(stick, 0o700)
        let with = try #require(try await library.backUpIfDue(at: after(hours: 24), copying: stick))
        #expect(with.made.count == 2 && with.secondError == nil)
        #expect(names(in: stick).count == 1)
    }

    @Test func `is made by one of several processes at the same moment`() async throws {
        let libraries = try (0..<4).map { _ in try LibraryFile.open(at: folder("library.sqlite")) }
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for library in libraries {
                group.addTask { try await library.backUpIfDue(at: noon)?.made.count ?? 0 }
            }
            return try await group.reduce(0, +)
        }
        #expect(made == 1)
        #expect(names(in: folder("backups")).count == 1)
    }

    @Test func `is due again if it fails, and leaves nothing behind`() async throws {
        struct PowerCut: Error {}
        await #expect(throws: PowerCut.self) { try await library.backUpIfDue(at: noon) { _ in throw PowerCut() } }
        #expect(names(in: folder("backups")).isEmpty)
        #expect(try await library.backUpIfDue(at: noon) != nil)
    }

    @Test func `is due after changes and their undo, not after reading or capturing`() async throws {
        try await library.close()
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        #expect(try await library.find("dune") == ["Dune"])
        _ = try await library.capture([Detection(isbn: odyssey, raw: "", origin: .photo)])
        try await library.set("goal", to: nil, at: noon)
        #expect(!library.hasChanges)
        _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon)
        #expect(library.hasChanges)
        #expect(try await LibraryFile.inMemory().backUpIfDue(at: noon) == nil)
    }
}
