import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Access {
    public func hasAccessCode() async throws -> Bool {
        try await read { db in try storedHash(db) != nil }
    }

    /// Sets the code, or takes it away. Ends all sign-ins and forgets the wrong codes.
    public func setAccessCode(_ code: String?, at now: Date) async throws {
        var hash: String?
        if let code {
            try AccessCodeRefusal.check(code)
            hash = try await CodeHash.make(of: code)
        }
        try await write { [hash] db in
            try db.run("DELETE FROM accessCode")
            try db.run("DELETE FROM signIn")
            try WrongCodes.forgetAll(db)
            guard let hash else { return }
            try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [hash, now.milliseconds])
        }
    }

    public func check(code: String, from address: String, at now: Date) async throws -> CodeCheck {
        try await checked(code, from: address, at: now) { _ in }.check
    }

    public func signIn(
        code: String, from address: String, device: String, at now: Date
    ) async throws -> SignInOutcome {
        let token = Secret.random(bytes: 32)
        let id = ID<SignIn>()
        let device = String(device.cleanedLine.prefix(80))
        let instant = now.milliseconds
        let outcome = try await checked(code, from: address, at: now) { db in
            try db.run("DELETE FROM signIn WHERE used < ?", [instant - Self.unusedFor])
            try db.run(
                "INSERT INTO signIn (uuid, token, device, created, used) VALUES (?, ?, ?, ?, ?)",
                [id.rawValue, Data(SHA256.digest(of: token.utf8)), device, instant, instant])
            return SignIn(id: id, device: device, created: now, used: now)
        }
        guard let signIn = outcome.result else { return .refused(outcome.check) }
        return .signedIn(signIn, token: token)
    }

    public func signIn(ofToken token: String, at now: Date) async throws -> SignIn? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Data(SHA256.digest(of: token.utf8))
        let instant = now.milliseconds
        let found = try await read { db in
            try db.row("SELECT * FROM signIn WHERE token = ? AND used >= ?", [hash, instant - Self.unusedFor])
                .map(SignIn.init)
        }
        guard var found else { return nil }
        // To the hour: not each request is a write.
        if instant - found.used.milliseconds >= 3_600_000 {
            try await useNotes.write {
                try await write { [id = found.id] db in
                    try db.run("UPDATE signIn SET used = ? WHERE uuid = ?", [instant, id.rawValue])
                }
            }
            found.used = now
        }
        return found
    }

    public func signIns(at now: Date) async throws -> [SignIn] {
        let instant = now.milliseconds
        return try await read { db in
            try db.rows("SELECT * FROM signIn WHERE used >= ? ORDER BY used DESC, id DESC", [instant - Self.unusedFor])
                .map(SignIn.init)
        }
    }

    public func endSignIn(_ id: ID<SignIn>) async throws -> Bool {
        try await write { db in
            try db.run("DELETE FROM signIn WHERE uuid = ?", [id.rawValue])
            return db.changesCount > 0
        }
    }

    private static var unusedFor: Int64 { Int64(SignIn.unusedFor * 1000) }

    /// - Parameter accept: what follows from a right code, in the transaction that forgets the wrong ones.
    private func checked<Result: Sendable>(
        _ code: String, from address: String, at now: Date, accept: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (check: CodeCheck, result: Result?) {
        try await codeTurns.inTurn(WrongCodes.key(of: address)) {
            try await checkedInTurn(code, from: address, at: now, accept: accept)
        }
    }

    private func checkedInTurn<Result: Sendable>(
        _ code: String, from address: String, at now: Date, accept: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (check: CodeCheck, result: Result?) {
        let instant = now.milliseconds
        let (hash, pause) = try await write { db in
            guard let hash = try storedHash(db) else { return (nil as String?, 0 as Int64) }
            return (hash, try WrongCodes.charge(db, address, at: instant))
        }
        guard let hash else { return (.noCode, nil) }
        guard pause == 0 else { return (.throttled(seconds: Int((pause + 999) / 1000)), nil) }
        guard code.utf8.count <= AccessCodeRefusal.longest, try await CodeHash.isHash(hash, of: code) else {
            return (.wrong, nil)
        }
        return try await write { db in
            // Another one may have been set while this one was looked at.
            guard try storedHash(db) == hash else { return (.wrong, nil) }
            try WrongCodes.takeBack(db, address)
            return (.right, try accept(db))
        }
    }
}

private func storedHash(_ db: Database) throws -> String? { try db.value(String.self, "SELECT hash FROM accessCode") }

extension SignIn {
    fileprivate init(_ row: Row) {
        self.init(
            id: ID(rawValue: row["uuid"]), device: row["device"], created: Date(milliseconds: row["created"]),
            used: Date(milliseconds: row["used"]))
    }
}
