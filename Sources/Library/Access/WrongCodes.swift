import Bookplate
import GRDB
import Glibc

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
