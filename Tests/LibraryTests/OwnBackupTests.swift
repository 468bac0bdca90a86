import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

private func after(days: Int) -> Date { noon.addingTimeInterval(Double(days) * 86_400) }

/// Two libraries with the same name, on devices with the same name. They share one memory stick.
@Suite struct `The backups of several libraries in one folder` {
    let folder = Folder()
    var stick: String { folder("stick") }
    let mine: LibraryFile
    let other: LibraryFile

    init() async throws {
        for name in ["mine", "other", "stick"] { mkdir(folder(name), 0o700) }
        mine = try LibraryFile.open(at: folder("mine/library.sqlite"), device: "raspi")
        other = try LibraryFile.open(at: folder("other/library.sqlite"), device: "raspi")
        try await mine.save(dune, record("Dune"))
    }

    private func own(_ identity: String?, in folders: String..., of path: String? = nil) throws -> OwnBackups {
        LibraryFile.ownBackups(
            among: try folders.flatMap { try LibraryFile.backups(in: $0) }, of: path ?? folder("mine/library.sqlite"),
            identity: identity, device: "raspi")
    }

    @Test func `do not replace each other`() async throws {
        #expect(try await mine.identity() != other.identity())
        for day in 0..<9 { _ = try await other.backup(into: stick, at: after(days: day)) }
        let others = names(in: stick)
        for day in 21..<30 { _ = try await mine.backup(into: stick, at: after(days: day)) }
        #expect(others.count == 8 && names(in: stick).count == 16)
        #expect(Set(others).isSubset(of: names(in: stick)))
        let prefix = "library-raspi-\(try await mine.identity())-"
        #expect(names(in: stick).filter { $0.hasPrefix(prefix) }.count == 8)
    }

    @Test func `are distinguished by the library's id, whatever their names`() async throws {
        _ = try await mine.backup(into: stick, at: after(days: 0))
        _ = try await other.backup(into: stick, at: after(days: 5))
        _ = try await mine.backup(to: stick + "/by hand.sqlite")
        let found = try own(await mine.identity(), in: stick)
        #expect(found.backups.count == 2 && !found.areMixed)
        let id = try await mine.identity()
        #expect(found.backups.allSatisfy { $0.library == id && $0.books == 1 })
    }

    @Test func `are distinguished by name if the library cannot be read, and a person must choose among several`()
        async throws
    {
        _ = try await mine.backup(into: stick, at: after(days: 0))
        let hall = try LibraryFile.open(at: folder("other/library.sqlite"), device: "hall")
        _ = try await hall.backup(into: stick, at: after(days: 1))
        let alone = try own(nil, in: stick)
        #expect(alone.backups.count == 1 && !alone.areMixed)
        _ = try await other.backup(into: stick, at: after(days: 5))
        let both = try own(nil, in: stick)
        #expect(both.backups.count == 2 && both.areMixed)
        #expect(both.backups[0].at == after(days: 5))
        // The backup beside the library belongs to it, but the other backups may belong to it too.
        let beside = folder("mine/backups")
        _ = try await mine.backup(into: beside, at: after(days: 2))
        #expect(try own(nil, in: beside, stick).areMixed)
        #expect(try !own(nil, in: beside).areMixed)
        #expect(try own(nil, in: beside).backups.count == 1)
    }

    @Test func `still belong to the library after a restore, also of another's backup`() async throws {
        let id = try await mine.identity()
        let path = folder("mine/library.sqlite")
        let report = try await other.backup(into: stick, at: noon)
        try await mine.close()
        _ = try LibraryFile.restore(from: report.path, to: path, keeping: id, at: noon)
        let restored = try LibraryFile.open(at: path, device: "raspi")
        #expect(try await restored.identity() == id)
        try await restored.close()
        // If there is no previous library, the restored library has the id of the backup.
        _ = try LibraryFile.restore(from: report.path, to: folder("new.sqlite"), at: noon)
        let new = try LibraryFile.open(at: folder("new.sqlite"))
        #expect(try await new.identity() == other.identity())
    }

    @Test func `are never removed by a library that was begun in the place of a lost one`() async throws {
        let (path, beside) = (folder("mine/library.sqlite"), folder("mine/backups"))
        for day in 0..<9 { _ = try await mine.backup(into: beside, at: after(days: day)) }
        let lost = names(in: beside)
        let id = try await mine.identity()
        #expect(try await mine.newestOtherBackup() == nil)
        try await mine.close()
        unlink(path)
        // The id cannot be read any more, but all backups are of one library.
        let found = try own(nil, in: beside)
        #expect(found.backups.count == 8 && !found.areMixed && found.backups[0].library == id)

        let new = try LibraryFile.open(at: path, device: "raspi")
        #expect(new.isNew)
        #expect(try await new.newestOtherBackup()?.at == after(days: 8))
        try await new.save(odyssey, record("The Odyssey"))
        // The first backup is made in the same second as the last one of the lost library.
        for day in 8..<46 { _ = try await new.backup(into: beside, at: after(days: day)) }
        #expect(Set(lost).isSubset(of: names(in: beside)))
        #expect(names(in: beside).count == 8 + 9)
        let mixed = try own(await new.identity(), in: beside)
        #expect(mixed.backups.count == 9 && mixed.others.count == 8 && mixed.others[0].library == id)
        #expect(try own(nil, in: beside).areMixed)
        try await new.close()
        #expect(try !LibraryFile.open(at: path).isNew)
    }

    @Test func `are no sign of a lost library if they have the name of another one in the folder`() async throws {
        for kind in BackupKind.allCases {
            _ = try await mine.backup(into: folder("mine/backups"), as: kind, at: noon)
        }
        for name in ["outbox", "library-2"] {
            let neighbour = try LibraryFile.open(at: folder("mine/\(name).sqlite"))
            #expect(try LibraryFile.newestBackup(besideLibraryAt: folder("mine/\(name).sqlite")) == nil)
            #expect(try await neighbour.newestOtherBackup() == nil)
            try await neighbour.save(odyssey, record("The Odyssey"))
            _ = try await neighbour.backup(into: folder("mine/backups"), at: noon)
            #expect(try await mine.newestOtherBackup() == nil)
        }
        #expect(names(in: folder("mine/backups")).count == 5)
    }

    @Test func `beside the library bring the id of a lost library back`() async throws {
        let (path, beside) = (folder("mine/library.sqlite"), folder("mine/backups"))
        let backup = try await mine.backup(into: beside, at: noon).path
        let id = try await mine.identity()
        try await mine.close()
        unlink(path)
        let new = try LibraryFile.open(at: path)
        let other = try await new.identity()
        try await new.close()
        _ = try LibraryFile.restore(from: backup, to: path, keeping: other, at: noon)
        #expect(try LibraryFile.identity(at: path) == id)
    }

    @Test func `are not removed if they are not known to belong to the library`() async throws {
        let beside = folder("mine/backups")
        for day in 0..<3 { _ = try await mine.backup(into: beside, at: after(days: day)) }
        // One without an id, one that is damaged, and one that is another library's.
        let kept = names(in: beside)
        let first = try DatabaseQueue(path: beside + "/" + kept[0])
        try await first.writeWithoutTransaction { db in try db.execute(sql: "DROP TABLE identity") }
        try first.close()
        try write(Array("damaged".utf8), to: beside + "/" + kept[1])
        unlink(beside + "/" + kept[2])
        _ = try await other.backup(to: beside + "/" + kept[2])
        for day in 3..<39 { _ = try await mine.backup(into: beside, at: after(days: day)) }
        #expect(Set(kept).isSubset(of: names(in: beside)))
        #expect(names(in: beside).count == 3 + 9)
    }

    @Test(arguments: ["missing", "empty", "another's"])
    func `are found by an id that is read without changing the library`(kind: String) async throws {
        let path = folder("new.sqlite")
        switch kind {
        case "empty": try write([], to: path)
        case "another's": try write(Array("hello".utf8), to: path)
        default: break
        }
        let before = try snapshot(folder.path)
        if kind == "another's" {
            #expect(throws: LibraryError.self) { try LibraryFile.identity(at: path) }
        } else {
            #expect(try LibraryFile.identity(at: path) == nil)
        }
        #expect(try LibraryFile.identity(at: folder("mine/library.sqlite")) == (try await mine.identity()))
        #expect(try snapshot(folder.path) == before)
    }

    @Test func `have an id that undo, settings and exports leave out`() async throws {
        let id = try await mine.identity()
        #expect(id.count == 8 && id.allSatisfy(\.isHexDigit))
        #expect(try await mine.settings().isEmpty)
        while let change = try await mine.lastChange() { _ = try await mine.undo(change.id, at: noon) }
        #expect(try await mine.identity() == id)
        try await mine.close()
        #expect(try await LibraryFile.open(at: folder("mine/library.sqlite")).identity() == id)
    }
}
