import Bookplate
import FoundationEssentials
import GRDB
import Glibc

/// Who may come in over the network: what a restore takes over from the library that it replaces, so that no door is open afterwards
/// that was closed before. A backup is older than what was revoked and changed since.
struct Doors: Sendable {
    private struct Station: Sendable {
        var selector: String
        var hash: String
        var revoked: Int64?
    }

    private var code: (hash: String, since: Int64)?
    private var wrongCodes: [StatementArguments] = []
    private var stations: [String: Station] = [:]

    /// Those of a library that nobody has open.
    ///
    /// - Returns: `nil` where there is none, or it cannot be read: it is mostly replaced because it is damaged.
    static func read(of path: String) -> Doors? {
        do {
            // A connection that only reads leaves an empty log and its index behind; they are moved aside only where they were before.
            var made: [String] = []
            for suffix in ["-wal", "-shm"] where try fileFacts(path + suffix) == nil { made.append(path + suffix) }
            defer { for file in made { unlink(file) } }
            guard try fileFacts(path) != nil, try LibraryPlace(path).inspect(endedUncleanly: false) == .existing else {
                return nil
            }
            let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
            defer { try? file.close() }
            return try file.read { db in try Doors(db) }
        } catch {
            // The caller closes what it cannot compare, and the report says so.
            return nil
        }
    }

    private init(_ db: Database) throws {
        // Older schemas have no such doors at all.
        if try db.tableExists("accessCode") {
            code = try db.row("SELECT hash, since FROM accessCode").map { ($0["hash"], $0["since"]) }
            wrongCodes = try db.rows("SELECT address, count, last, until FROM wrongCode").map {
                [$0["address"] as String, $0["count"] as Int64, $0["last"] as Int64, $0["until"] as Int64]
            }
        }
        if try db.tableExists("station") {
            for row in try db.rows("SELECT uuid, selector, hash, revoked FROM station") {
                stations[row["uuid"]] = Station(selector: row["selector"], hash: row["hash"], revoked: row["revoked"])
            }
        }
    }

    /// Puts them in place of those of a copy that nobody has open: its sign-ins end, code and wrong codes are these, and of its
    /// stations only those stay in that are let in here, by the token they have here.
    ///
    /// - Parameter doors: `nil` closes all.
    /// - Returns: whether something was closed only because `doors` is `nil`.
    static func put(_ doors: Doors?, in path: String, at now: Date) throws -> Bool {
        let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        defer { try? file.close() }
        let isClosed = try file.write { db in
            var isClosed = false
            if try db.tableExists("accessCode") {
                isClosed = try doors == nil && db.row("SELECT 1 FROM accessCode") != nil
                for table in ["accessCode", "signIn", "wrongCode"] { try db.run("DELETE FROM \(table)") }
                if let code = doors?.code {
                    try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [code.hash, code.since])
                }
                for wrong in doors?.wrongCodes ?? [] {
                    try db.run("INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)", wrong)
                }
            }
            guard try db.tableExists("station") else { return isClosed }
            for row in try db.rows("SELECT uuid, revoked FROM station") {
                let id: String = row["uuid"]
                if let station = doors?.stations[id] {
                    try db.run(
                        "UPDATE station SET selector = ?, hash = ?, revoked = ? WHERE uuid = ?",
                        [station.selector, station.hash, station.revoked, id])
                } else if row["revoked"] as Int64? == nil {
                    try db.run("UPDATE station SET revoked = ? WHERE uuid = ?", [now.milliseconds, id])
                    if doors == nil { isClosed = true }
                }
            }
            return isClosed
        }
        try file.close()
        try syncFile(path)
        return isClosed
    }
}
