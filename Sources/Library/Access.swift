import Bookplate
import CCrypt
import Dispatch
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

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

/// The slow hash of an access code: yescrypt, or what libcrypt has in its place.
///
/// One at a time, on a thread that serves nothing else: a hash takes tens of milliseconds and 16 MiB, so that many codes at once take
/// neither the memory nor the threads that answer requests.
enum CodeHash {
    private static let queue = DispatchQueue(label: "bookplate.access-code")

    /// - Returns: method, cost, salt and hash as crypt(5) writes them.
    /// - Throws: ``LibraryError`` when libcrypt has no method or the machine no memory for it.
    static func make(of code: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try hash(code, setting: newSetting()) })
            }
        }
    }

    /// - Throws: ``LibraryError`` when it cannot be told: no memory, or a method that this machine's libcrypt does not know.
    static func isHash(_ stored: String, of code: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { Secret.areEqual(try hash(code, setting: stored), stored) })
            }
        }
    }

    /// yescrypt, scrypt, SHA-512 with rounds: the first that there is, with the cost that libcrypt gives it.
    private static func newSetting() throws -> String {
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        for method in ["$y$", "$7$", "$6$"]
        where crypt_gensalt_rn(method, 0, nil, 0, &setting, Int32(setting.count)) != nil {
            return text(of: setting)
        }
        throw LibraryError.accessCode(errno: errno)
    }

    private static func hash(_ code: String, setting: String) throws -> String {
        // crypt_data is 32 KiB: too much for the stack of a small thread.
        let size = MemoryLayout<crypt_data>.size
        let data = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<crypt_data>.alignment)
        data.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            explicit_bzero(data, size)
            data.deallocate()
        }
        guard let hash = crypt_rn(code, setting, data, Int32(size)) else { throw LibraryError.accessCode(errno: errno) }
        return String(cString: hash)
    }

    private static func text(of characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Codes that come from one address at the same moment, one after the other: each is counted as wrong until it is looked at, and the
/// right ones of a household behind one address are not to make a pause for each other.
actor CodeTurns {
    /// Those who wait, by address; there is an entry while a code is looked at.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    func inTurn<Result: Sendable>(
        _ address: String, _ look: @Sendable () async throws -> Result
    ) async throws -> Result {
        if waiting[address] == nil {
            waiting[address] = []
        } else {
            await withCheckedContinuation { waiting[address, default: []].append($0) }
        }
        defer { next(address) }
        return try await look()
    }

    private func next(_ address: String) {
        if waiting[address]?.isEmpty ?? true {
            waiting[address] = nil
        } else {
            waiting[address]?.removeFirst().resume()
        }
    }
}

/// What tokens and codes have in common.
enum Secret {
    /// So many bytes of the kernel's random numbers, as a text of twice as many hexadecimal digits.
    static func random(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
    }

    /// In the same time wherever they differ.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        return one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// When sign-ins and stations were used last is written for people who look at the lists. Nobody is kept out because the disk is full
/// or the library locked: then it is not written, said once, and tried again a minute later.
final class UseNotes: Sendable {
    private struct State {
        var report: (@Sendable (any Error) -> Void)?
        var isReported = false
        /// Nothing is tried before, nor beside another try.
        var next: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private static let pause: Duration = .seconds(60)

    func report(_ report: @escaping @Sendable (any Error) -> Void) { state.withLock { $0.report = report } }

    /// - Throws: what does not pass by itself.
    func write(_ note: () async throws -> Void) async throws {
        let isDue = state.withLock { state in
            if let next = state.next, next > .now { return false }
            state.next = .now + Self.pause
            return true
        }
        guard isDue else { return }
        do {
            try await note()
            state.withLock { ($0.isReported, $0.next) = (false, nil) }
        } catch  where isTransient(error) {
            let report = state.withLock { state in
                defer { state.isReported = true }
                return state.isReported ? nil : state.report
            }
            report?(error)
        } catch {
            state.withLock { $0.next = nil }
            throw error
        }
    }
}

extension LibraryFile {
    /// - Parameter report: told when the last use of sign-ins and stations cannot be written, once until it can.
    public func onUnwrittenUse(_ report: @escaping @Sendable (any Error) -> Void) { useNotes.report(report) }
}

/// The count of wrong codes, per address and in all.
///
/// A code is counted as wrong before it is looked at, and the count taken back when it was right: many that come at the same moment, or
/// a process that is killed at the right one, gain nothing.
enum WrongCodes {
    /// So many wrong ones of one address bring the first pause.
    static let perAddress = 5
    /// And so many of all addresses together; then the right one has to wait as well.
    static let inAll = 20
    /// Milliseconds; each further wrong code doubles it.
    static let firstPause: Int64 = 30_000
    static let longestPause: Int64 = 900_000
    /// Milliseconds after the last one.
    static let forgottenAfter: Int64 = 86_400_000
    /// The row that counts all.
    private static let all = ""

    private struct Count {
        var count: Int
        var until: Int64
    }

    /// Counts one more, unless a pause is on.
    ///
    /// - Returns: milliseconds of pause that are left; 0 when the code may be looked at.
    static func charge(_ db: Database, _ address: String, at now: Int64) throws -> Int64 {
        // An instant in the future is one of a clock that was set back since.
        try db.run(
            "DELETE FROM wrongCode WHERE last < ? OR last > ?", [now - forgottenAfter, now + longestPause])
        let limits = [(key(of: address), perAddress), (all, inAll)]
        let counts = try limits.map { try count(db, $0.0) }
        if let pause = counts.map({ min($0.until - now, longestPause) }).max(), pause > 0 { return pause }
        for ((key, limit), old) in zip(limits, counts) {
            let count = old.count + 1
            let until = count < limit ? 0 : now + min(longestPause, firstPause << min(count - limit, 10))
            try db.run(
                """
                INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)
                ON CONFLICT (address) DO UPDATE SET count = excluded.count, last = excluded.last, until = excluded.until
                """, [key, count, now, until])
        }
        return 0
    }

    /// Takes back what ``charge(_:_:at:)`` counted, for a code that was right, and forgets the wrong ones of its address.
    static func takeBack(_ db: Database, _ address: String) throws {
        try db.run("DELETE FROM wrongCode WHERE address = ?", [key(of: address)])
        try db.run("UPDATE wrongCode SET count = max(0, count - 1), until = 0 WHERE address = ?", [all])
    }

    static func forgetAll(_ db: Database) throws { try db.run("DELETE FROM wrongCode") }

    private static func count(_ db: Database, _ key: String) throws -> Count {
        let row = try db.row("SELECT count, until FROM wrongCode WHERE address = ?", [key])
        return row.map { Count(count: $0["count"], until: $0["until"]) } ?? Count(count: 0, until: 0)
    }

    /// What counts as one address: of IPv6 the network, because one machine has all addresses of its /64.
    static func key(of address: String) -> String {
        let plain = String(address.prefix { $0 != "%" })
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, plain, &bytes) == 1 else { return plain.isEmpty ? "?" : String(plain.prefix(64)) }
        let all = withUnsafeBytes(of: &bytes) { Array($0) }
        // ::ffff:a.b.c.d, as a socket for both families tells IPv4 (RFC 4291, 2.5.5.2).
        if all.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return all.suffix(4).map { String($0) }.joined(separator: ".")
        }
        return stride(from: 0, to: 8, by: 2).map { String(UInt16(all[$0]) << 8 | UInt16(all[$0 + 1]), radix: 16) }
            .joined(separator: ":") + "::/64"
    }
}
