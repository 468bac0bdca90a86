import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

@Suite struct `Access after a restore` {
    let folder = Folder()
    var path: String { folder("library.sqlite") }

    private func signIn(_ library: LibraryFile, _ code: String) async throws -> String? {
        guard
            case .signedIn(_, let token) = try await library.signIn(
                code: code, from: "10.0.0.1", device: "phone", at: noon)
        else { return nil }
        return token
    }

    /// Makes a library whose backup is older than its access. After the backup, the code was changed, one station was
    /// revoked, and another station was paired again.
    private func backedUp() async throws -> (session: String, tokens: [String]) {
        let library = try LibraryFile.open(at: path)
        try await library.setAccessCode("old code", at: noon)
        let session = try #require(try await signIn(library, "old code"))
        let stations: [ID<PairedStation>] = [ID(), ID(), ID()]
        var tokens: [String] = []
        for (station, name) in zip(stations, ["kept", "revoked", "anew"]) {
            tokens.append(try await library.pair(station, named: name, at: noon).token)
        }
        _ = try await library.backup(to: folder("b.sqlite"))
        try await library.setAccessCode("new code", at: noon)
        _ = try await library.revoke(stations[1], at: noon)
        tokens.append(try await library.pair(stations[2], named: "anew", at: noon).token)
        for _ in 0..<5 { _ = try await library.check(code: "wrong code", from: "10.0.0.9", device: "", at: noon) }
        try await library.close()
        return (session, tokens)
    }

    private func letsIn(_ tokens: [String], _ library: LibraryFile) async throws -> [Bool] {
        var isIn: [Bool] = []
        for token in tokens { isIn.append(try await library.pairedStation(withToken: token, at: noon) != nil) }
        return isIn
    }

    @Test func `is nobody whose access had ended before`() async throws {
        let (session, tokens) = try await backedUp()
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        #expect(!report.isAccessClosed)
        let library = try LibraryFile.open(at: path)
        #expect(try await library.signIn(ofToken: session, at: noon) == nil)
        #expect(try await library.signIns(at: noon).isEmpty)
        #expect(try await letsIn(tokens, library) == [true, false, false, true])
        // The attempts since the backup are still listed.
        #expect(try await library.signInAttempts(limit: 9).map(\.isRight) == [false, false, false, false, false, true])
        #expect(try await signIn(library, "old code") == nil)
        #expect(try await signIn(library, "new code") != nil)
        // The pause after wrong codes continues.
        guard case .throttled = try await library.check(code: "new code", from: "10.0.0.9", device: "", at: noon) else {
            Issue.record("the wrong codes are forgotten")
            return
        }
    }

    @Test(arguments: ["corrupt", "text", "missing"])
    func `is nobody if that cannot be known, and the report says so`(present: String) async throws {
        let (session, tokens) = try await backedUp()
        switch present {
        case "corrupt": try write(Array(bytes(of: path).prefix(5000)), to: path)
        case "text": try write(Array("hello".utf8), to: path)
        default: unlink(path)
        }
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        #expect(report.isAccessClosed)
        let library = try LibraryFile.open(at: path)
        #expect(try await !library.hasAccessCode())
        #expect(try await library.signIn(ofToken: session, at: noon) == nil)
        #expect(try await letsIn(tokens, library) == [false, false, false, false])
    }

    @Test(
        arguments: [
            (backup: "1", since: "0", restored: "0"), ("1", nil, nil), ("1", "damaged", nil), ("0", "1", "1"),
            (nil, "1", "1"),
            ("1", "missing", nil),
        ] as [(String?, String?, String?)])
    func `is open to guests only if it was open to them before`(backup: String?, since: String?, restored: String?)
        async throws
    {
        let library = try LibraryFile.open(at: path)
        let name = LibrarySetting.guestView.rawValue
        try await library.set(name, to: backup, at: noon)
        try await library.set(LibrarySetting.yearlyGoal.rawValue, to: "50", at: noon)
        _ = try await library.backup(to: folder("b.sqlite"))
        let isLost = since == "damaged" || since == "missing"
        if !isLost { try await library.set(name, to: since, at: noon) }
        try await library.close()
        if since == "damaged" { try write(Array(bytes(of: path).prefix(5000)), to: path) }
        if since == "missing" { unlink(path) }
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        #expect(report.isAccessClosed == (isLost && backup == "1"))
        let again = try LibraryFile.open(at: path)
        #expect(try await again.setting(name) == restored)
        #expect(try await again.setting(LibrarySetting.yearlyGoal.rawValue) == "50")
    }

    @Test func `does not include a change that somebody has left open in the backup`() async throws {
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        _ = try await library.backup(to: folder("b.sqlite"))
        try await library.close()
        let prepared = try DatabaseQueue(path: folder("b.sqlite"))
        try await prepared.write { db in try db.execute(sql: "INSERT INTO openChange SELECT id FROM change") }
        try prepared.close()
        _ = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        let again = try LibraryFile.open(at: path)
        try await again.save(odyssey, record("The Odyssey"))
        _ = try await again.undo(try #require(try await again.changes(limit: 2).last).id, at: noon)
        #expect(try await again.find("") == ["The Odyssey"])
    }

    @Test func `is not reported if nobody had access`() async throws {
        let library = try LibraryFile.open(at: path)
        _ = try await library.backup(to: folder("b.sqlite"))
        try await library.close()
        unlink(path)
        #expect(try !LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon).isAccessClosed)
    }

    @Test func `by a wishlist link is what it was before the restore`() async throws {
        let library = try LibraryFile.open(at: path)
        let (revoked, kept) = (
            try await library.makeWishlistLink(at: noon), try await library.makeWishlistLink(at: noon)
        )
        _ = try await library.backup(to: folder("b.sqlite"))
        #expect(try await library.revokeWishlistLink(revoked.link.id))
        let later = try await library.makeWishlistLink(at: noon)
        try await library.close()
        func opened(_ tokens: [String]) async throws -> [Bool] {
            let library = try LibraryFile.open(at: path)
            var results: [Bool] = []
            for token in tokens {
                results.append(try await library.reader(ofWishlistToken: token, at: noon) != nil)
            }
            try await library.close()
            return results
        }
        let tokens = [revoked.token, kept.token, later.token]
        #expect(try await opened(tokens) == [false, true, true])
        #expect(try !LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon).isAccessClosed)
        #expect(try await opened(tokens) == [false, true, true])
        // If it cannot be known which links were revoked, all are.
        try write(Array("hello".utf8), to: path)
        #expect(try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon).isAccessClosed)
        #expect(try await opened(tokens) == [false, false, false])
    }
}
