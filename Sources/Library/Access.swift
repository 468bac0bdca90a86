import Async
import Bookplate
import CCrypt
import Cryptography
import Dispatch
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

extension LibraryFile: Access {
    public func hasAccessCode() async throws -> Bool {
        try await read { db in try storedHash(db) != nil }
    }

    /// Sets or removes the access code. Also ends all sign-ins and forgets all wrong codes.
    public func setAccessCode(_ code: String?, at now: Date) async throws {
        let hash: String? = if let code { try await Self.hash(ofNew: code) } else { nil }
        try await write { db in try store(hash, db, at: now) }
    }

    public func setFirstAccessCode(_ code: String, at now: Date) async throws -> Bool {
        let hash = try await Self.hash(ofNew: code)
        return try await write { db in
            guard try storedHash(db) == nil else { return false }
            try store(hash, db, at: now)
            return true
        }
    }

    public func changeAccessCode(
        from old: String, to new: String, from address: String, device: String, at now: Date
    ) async throws -> CodeCheck {
        let hash = try await Self.hash(ofNew: new)
        return try await checked(old, from: address, device: Self.storable(device: device), at: now) { db in
            try store(hash, db, at: now)
        }.check
    }

    private static func hash(ofNew code: String) async throws -> String {
        try AccessCodeRefusal.check(code)
        return try await CodeHash.make(of: code)
    }

    public func check(code: String, from address: String, device: String, at now: Date) async throws -> CodeCheck {
        try await checked(code, from: address, device: Self.storable(device: device), at: now) { _ in }.check
    }

    public func signIn(
        code: String, from address: String, device: String, at now: Date
    ) async throws -> SignInOutcome {
        let token = Secret.random(bytes: 32)
        let device = Self.storable(device: device)
        let outcome = try await checked(code, from: address, device: device, at: now) { db in
            try insertSignIn(db, token, device: device, at: now)
        }
        guard let signIn = outcome.result else { return .refused(outcome.check) }
        return .signedIn(signIn, token: token)
    }

    public func signIn(invited device: String, at now: Date) async throws -> (signIn: SignIn, token: String)? {
        let token = Secret.random(bytes: 32)
        let device = Self.storable(device: device)
        return try await write { db in
            guard try storedHash(db) != nil else { return nil }
            return (try insertSignIn(db, token, device: device, at: now), token)
        }
    }

    public func signIn(ofToken token: String, at now: Date) async throws -> SignIn? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Secret.hash(of: token)
        let instant = now.milliseconds
        let found = try await read { db in
            try db.row("SELECT * FROM signIn WHERE token = ? AND used >= ?", [hash, instant - Self.unusedFor])
                .map(SignIn.init)
        }
        guard var found else { return nil }
        // The last use is recorded at most once per hour, so that most requests write nothing.
        if instant - found.used.milliseconds >= 3_600_000 {
            try await lastUse.record(log: log) {
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

    public func signInAttempts(limit: Int) async throws -> [SignInAttempt] {
        try await read { db in
            try db.rows("SELECT * FROM signInAttempt ORDER BY id DESC LIMIT ?", [max(0, limit)]).map { row in
                SignInAttempt(
                    at: Date(milliseconds: row["at"]), address: row["address"], device: row["device"],
                    isRight: row["isRight"])
            }
        }
    }

    public func endSignIn(_ id: ID<SignIn>) async throws -> Bool {
        try await write { db in
            try db.run("DELETE FROM signIn WHERE uuid = ?", [id.rawValue])
            return db.changesCount > 0
        }
    }

    private static var unusedFor: Int64 { Int64(SignIn.unusedFor * 1000) }

    /// Returns the name of a device as it is stored. The schema counts Unicode scalars, of which a single emoji can
    /// have many.
    private static func storable(device: String) -> String {
        String(String.UnicodeScalarView(device.cleanedLine.unicodeScalars.prefix(80)))
    }

    /// Checks a code, after the checks of earlier codes from the same address have ended.
    ///
    /// - Parameter accept: the function that runs if the code is right, in the same transaction in which the earlier
    ///   wrong codes are forgotten.
    private func checked<Result: Sendable>(
        _ code: String, from address: String, device: String, at now: Date,
        accept: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (check: CodeCheck, result: Result?) {
        try await codeChecks.run(for: WrongCodes.household.key(of: address)) {
            try await checkedNow(code, from: address, device: device, at: now, accept: accept)
        }
    }

    private func checkedNow<Result: Sendable>(
        _ code: String, from address: String, device: String, at now: Date,
        accept: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (check: CodeCheck, result: Result?) {
        let instant = now.milliseconds
        let (hash, pause, attempt) = try await write { db in
            guard let hash = try storedHash(db) else { return (nil as String?, 0 as Int64, 0 as Int64) }
            let pause = try WrongCodes.household.charge(db, address, at: instant)
            // Like the count, the attempt counts as wrong until the code has been checked.
            return (hash, pause, pause > 0 ? 0 : try recordAttempt(db, from: address, device: device, at: instant))
        }
        guard let hash else { return (.noCode, nil) }
        guard pause == 0 else { return (.throttled(seconds: Int((pause + 999) / 1000)), nil) }
        guard code.utf8.count <= AccessCodeRefusal.longest, try await CodeHash.isHash(hash, of: code) else {
            return (.wrong, nil)
        }
        return try await write { db in
            // Another code may have been set during the check.
            guard try storedHash(db) == hash else { return (.wrong, nil) }
            try WrongCodes.household.uncharge(db, address)
            try db.run("UPDATE signInAttempt SET isRight = 1 WHERE id = ?", [attempt])
            return (.right, try accept(db))
        }
    }
}

/// Stores a new sign-in, and deletes those that have expired.
private func insertSignIn(_ db: Database, _ token: String, device: String, at now: Date) throws -> SignIn {
    let (id, instant) = (ID<SignIn>(), now.milliseconds)
    try db.run("DELETE FROM signIn WHERE used < ?", [instant - Int64(SignIn.unusedFor * 1000)])
    try db.run(
        "INSERT INTO signIn (uuid, token, device, created, used) VALUES (?, ?, ?, ?, ?)",
        [id.rawValue, Secret.hash(of: token), device, instant, instant])
    return SignIn(id: id, device: device, created: now, used: now)
}

/// Records an attempt with a code that has not been checked yet, and forgets the oldest attempts.
///
/// - Returns: the id of its row.
private func recordAttempt(_ db: Database, from address: String, device: String, at instant: Int64) throws -> Int64 {
    try db.run(
        "INSERT INTO signInAttempt (at, address, device, isRight) VALUES (?, ?, ?, 0)",
        [instant, String(address.prefix(64)), device])
    let id = db.lastInsertedRowID
    try db.run("DELETE FROM signInAttempt WHERE id <= ?", [id - Int64(SignInAttempt.kept)])
    return id
}

/// Stores the hash of an access code, or removes the code (`nil`). Ends all sign-ins and forgets all wrong codes.
private func store(_ hash: String?, _ db: Database, at now: Date) throws {
    try db.run("DELETE FROM accessCode")
    try db.run("DELETE FROM signIn")
    try WrongCodes.household.deleteAll(db)
    guard let hash else { return }
    try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [hash, now.milliseconds])
}

private func storedHash(_ db: Database) throws -> String? { try db.value(String.self, "SELECT hash FROM accessCode") }

extension SignIn {
    fileprivate init(_ row: Row) {
        self.init(
            id: ID(rawValue: row["uuid"]), device: row["device"], created: Date(milliseconds: row["created"]),
            used: Date(milliseconds: row["used"]))
    }
}

/// A deliberately slow hash of an access code, made with yescrypt or another method of libcrypt.
///
/// Hashes are made one at a time, on a thread of their own. Each hash takes tens of milliseconds and 16 MiB, so
/// checking many codes at once could use up the memory, or the threads that answer requests.
enum CodeHash {
    private static let queue = DispatchQueue(label: "bookplate.access-code")

    /// - Returns: the method, cost, salt and hash in the format of crypt(5).
    /// - Throws: ``LibraryError`` if libcrypt offers no method that can be used, or if there is not enough memory.
    static func make(of code: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try hash(code, setting: newSetting()) })
            }
        }
    }

    /// - Throws: ``LibraryError`` if there is not enough memory, or if this machine's libcrypt does not know the stored
    ///   method.
    static func isHash(_ stored: String, of code: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { Secret.areEqual(try hash(code, setting: stored), stored) })
            }
        }
    }

    /// Returns a setting for crypt(3): a method, libcrypt's default cost and a new salt. The method is the first of
    /// yescrypt, scrypt and SHA-512 that libcrypt supports.
    private static func newSetting() throws -> String {
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        for method in ["$y$", "$7$", "$6$"]
        where crypt_gensalt_rn(method, 0, nil, 0, &setting, Int32(setting.count)) != nil {
            return text(of: setting)
        }
        throw LibraryError.accessCode(errno: errno)
    }

    private static func hash(_ code: String, setting: String) throws -> String {
        // crypt_data is 32 KiB, which is too much for the stack of a small thread.
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

/// Checks the codes from one address one at a time. A code counts as wrong until it has been checked. Without this
/// queue, several right codes that a household behind one address sends at once would therefore cause a pause.
actor CodeCheckQueue {
    /// For each address with codes to check: the semaphore that admits one check at a time, and the number of these
    /// codes.
    private var checks: [String: (turns: AsyncSemaphore, count: Int)] = [:]

    func run<Result: Sendable>(
        for address: String, _ check: @Sendable () async throws -> Result
    ) async throws -> Result {
        let turns = checks[address]?.turns ?? AsyncSemaphore()
        checks[address, default: (turns, 0)].count += 1
        defer {
            checks[address]?.count -= 1
            if checks[address]?.count == 0 { checks[address] = nil }
        }
        return try await turns.withPermit(check)
    }
}

/// Functions that make random tokens and compare secrets.
enum Secret {
    /// Returns the SHA-256 hash of a random secret, as it is stored. Nobody can guess a secret from its hash. A code
    /// that a person chose is easier to guess, so it needs a slow hash.
    static func hash(of secret: String) -> Data { Data(SHA256.hash(secret.utf8)) }

    /// Returns random bytes from the kernel in hexadecimal, with two digits per byte.
    static func random(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
    }

    /// Compares two texts in a time that does not depend on where they differ.
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

/// Records when sign-ins and stations were last used. These times are only shown in lists, so nobody is kept out if
/// they cannot be stored. If the disk is full or the library is locked, the error is reported once, and the next
/// attempt is made a minute later.
final class LastUseRecorder: Sendable {
    private struct State {
        var isReported = false
        /// The time of the next attempt. It is set before each attempt, so that two attempts never run at once.
        var next: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private static let pause: Duration = .seconds(60)

    /// Runs `write`, unless the last attempt failed less than a minute ago.
    ///
    /// - Parameter log: logs an error. After it has been called once, it is not called again until a write has
    ///   succeeded.
    /// - Throws: an error from `write`, unless it is transient.
    func record(log: (String) -> Void, _ write: () async throws -> Void) async throws {
        let isDue = state.withLock { state in
            if let next = state.next, next > .now { return false }
            state.next = .now + Self.pause
            return true
        }
        guard isDue else { return }
        do {
            try await write()
            state.withLock { ($0.isReported, $0.next) = (false, nil) }
        } catch  where isTransient(error) {
            let isReported = state.withLock { state in
                defer { state.isReported = true }
                return state.isReported
            }
            if !isReported { log("cannot store when sign-ins and stations were last used: \(error)") }
        } catch {
            state.withLock { $0.next = nil }
            throw error
        }
    }
}

/// Counts wrong codes for one secret, for each address and in total.
///
/// A code is counted as wrong before it is checked, and is subtracted again if it was right. Otherwise, sending many
/// codes at the same moment or killing the process during the check would allow extra guesses.
struct WrongCodes {
    /// The counts for the access code.
    static let household = WrongCodes(all: "")

    /// The counts for a reader's PIN.
    init(ofReader row: Int64) { all = "pin \(row) " }

    private init(all: String) { self.all = all }

    /// The key of the row that counts the wrong codes from all addresses together, and with which the other keys begin.
    private let all: String

    /// The number of wrong codes from one address after which the first pause for this address begins.
    static let perAddress = 5
    /// The number of wrong codes from all addresses together after which a pause begins for everybody. During the
    /// pause, even the right code is refused.
    static let inTotal = 20
    /// The first pause, in milliseconds. Each further wrong code doubles the pause.
    static let firstPause: Int64 = 30_000
    static let longestPause: Int64 = 900_000
    /// The time, in milliseconds, from the last wrong code until the wrong codes are forgotten.
    static let forgottenAfter: Int64 = 86_400_000
    private struct Count {
        var count: Int
        var until: Int64
    }

    /// Counts one more wrong code, unless a pause is running.
    ///
    /// - Returns: the remaining time of the pause in milliseconds; 0 if the code may be checked.
    func charge(_ db: Database, _ address: String, at now: Int64) throws -> Int64 {
        // A row with a time in the future was recorded before the clock was set back, so it is deleted too.
        try db.run(
            "DELETE FROM wrongCode WHERE last < ? OR last > ?", [now - Self.forgottenAfter, now + Self.longestPause])
        let limits = [(key(of: address), Self.perAddress), (all, Self.inTotal)]
        let counts = try limits.map { try count(db, $0.0) }
        if let pause = counts.map({ min($0.until - now, Self.longestPause) }).max(), pause > 0 { return pause }
        for ((key, limit), old) in zip(limits, counts) {
            let count = old.count + 1
            let until = count < limit ? 0 : now + min(Self.longestPause, Self.firstPause << min(count - limit, 10))
            try db.run(
                """
                INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)
                ON CONFLICT (address) DO UPDATE SET count = excluded.count, last = excluded.last, until = excluded.until
                """, [key, count, now, until])
        }
        return 0
    }

    /// Corrects the counts after a code that ``charge(_:_:at:)`` had counted as wrong turned out to be right. Forgets
    /// all wrong codes from the address, and subtracts one from the total.
    func uncharge(_ db: Database, _ address: String) throws {
        try db.run("DELETE FROM wrongCode WHERE address = ?", [key(of: address)])
        try db.run("UPDATE wrongCode SET count = max(0, count - 1), until = 0 WHERE address = ?", [all])
    }

    /// Forgets all wrong codes.
    func deleteAll(_ db: Database) throws {
        let isPIN = "address GLOB 'pin *'"
        try db.run(
            "DELETE FROM wrongCode WHERE \(all.isEmpty ? "NOT \(isPIN)" : "substr(address, 1, \(all.count)) = '\(all)'")"
        )
    }

    private func count(_ db: Database, _ key: String) throws -> Count {
        let row = try db.row("SELECT count, until FROM wrongCode WHERE address = ?", [key])
        return row.map { Count(count: $0["count"], until: $0["until"]) } ?? Count(count: 0, until: 0)
    }

    /// Returns the key under which an address is counted. For IPv6, this is its /64 network, because one machine can
    /// use all addresses in it.
    func key(of address: String) -> String { String((all + Self.network(of: address)).prefix(64)) }

    private static func network(of address: String) -> String {
        let plain = String(address.prefix { $0 != "%" })
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, plain, &bytes) == 1 else { return plain.isEmpty ? "?" : String(plain.prefix(64)) }
        let all = withUnsafeBytes(of: &bytes) { Array($0) }
        // On a socket for both families, ::ffff:a.b.c.d is an IPv4 address (RFC 4291, 2.5.5.2).
        if all.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            return all.suffix(4).map { String($0) }.joined(separator: ".")
        }
        return stride(from: 0, to: 8, by: 2).map { String(UInt16(all[$0]) << 8 | UInt16(all[$0 + 1]), radix: 16) }
            .joined(separator: ":") + "::/64"
    }
}
