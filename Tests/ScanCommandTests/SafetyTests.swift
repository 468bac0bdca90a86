import Foundation
import GRDB
import TestTools
import Testing

@Suite struct `The library file` {
    private func original(_ scan: ScanProcess) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: scan.library))
    }

    @Test(arguments: [
        ("a text file", 65), ("another program's database", 65), ("half of a library", 65), ("a newer schema", 78),
    ])
    func `is refused and left unchanged if it is`(what: String, status: Int32) throws {
        try withScan { scan in
            switch what {
            case "a text file":
                try Data(String(repeating: "Dear diary\n", count: 500).utf8).write(
                    to: URL(fileURLWithPath: scan.library))
            case "another program's database":
                try sqlite(scan.library, "CREATE TABLE bookmark(id INTEGER); PRAGMA user_version=3")
            case "half of a library":
                try scan.run(
                    "--stdin", "--yes", input: Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt"))
                )
                try sqlite(scan.library, "PRAGMA wal_checkpoint(TRUNCATE)")
                let whole = try original(scan)
                try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: scan.library))
            default:
                try scan.run("--isbn", "9780441478125", "--yes")
                try sqlite(scan.library, "PRAGMA user_version=999; PRAGMA wal_checkpoint(TRUNCATE)")
            }
            let before = try original(scan)
            let ending = try scan.run("--isbn", "9780441478125", "--yes")
            #expect(ending.status == status, "\(ending.err)")
            #expect(ending.err.contains("library.sqlite"))
            #expect(try original(scan) == before)
        }
    }

    @Test func `of 0 bytes is a new library`() throws {
        try withScan { scan in
            try Data().write(to: URL(fileURLWithPath: scan.library))
            #expect(try scan.run("--isbn", "9780441478125", "--yes").status == 0)
        }
    }

    @Test func `that cannot be examined is not called missing`() throws {
        try withScan { scan in
            try FileManager.default.createSymbolicLink(atPath: scan.library, withDestinationPath: scan.library)
            for arguments in [["library", "list"], ["stats"], ["backup"]] {
                let ending = try scan.run(arguments)
                #expect(ending.status == 74, "\(ending.err)")
                #expect(ending.err.contains("library.sqlite") && !ending.err.contains("no library"), "\(ending.err)")
            }
        }
    }

    @Test func `is backed up, damaged, and restored with its books; the damaged file is kept`() throws {
        try withScan { scan in
            try scan.run(
                "--stdin", "--yes", input: Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt")))
            let books = try scan.run("library", "list", "--json", "--limit", "1000").out
            let backup = try #require(scan.run("backup").lines.last)
            #expect(FileManager.default.fileExists(atPath: backup))
            try Data(repeating: 0x58, count: 10_000).write(to: URL(fileURLWithPath: scan.library))
            #expect(try scan.run("library", "list").status == 65)
            let restored = try scan.run("restore", backup)
            #expect(restored.status == 0, "\(restored.err)")
            #expect(try scan.run("library", "list", "--json", "--limit", "1000").out == books)
            let kept = try FileManager.default.contentsOfDirectory(atPath: scan.home.path).filter {
                $0 != "library.sqlite" && $0.hasPrefix("library")
                    && (try? Data(contentsOf: scan.home.appendingPathComponent($0)))?.first == 0x58
            }
            #expect(kept.count == 1)
        }
    }

    @Test func `is never overwritten by its own backup, nor is any file but a backup`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let precious = scan.home.appendingPathComponent("precious.txt")
            try Data("mine".utf8).write(to: precious)
            let link = scan.home.appendingPathComponent("link.sqlite").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scan.library)
            for target in [scan.library, link, precious.path] {
                #expect(try scan.run("backup", target).status != 0, "\(target)")
            }
            #expect(try Data(contentsOf: precious) == Data("mine".utf8))
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `waits for a lock that another process holds, and loses nothing`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: scan.library, configuration: configuration)
            let running = try other.writeWithoutTransaction { db in
                // The commit leaves a write-ahead log; without one, opening the library would wait instead.
                try db.execute(sql: "INSERT INTO chore VALUES ('x', 1); BEGIN IMMEDIATE")
                let running = try scan.start(["--stdin", "--yes", "--json"], input: Data("9780441013593\n".utf8))
                // Waits until it reports that it retries.
                try waitBlocking(for: "the message") { try running.error().contains("Trying again") }
                try db.execute(sql: "ROLLBACK")
                return running
            }
            let ending = try running.wait()
            #expect(try ending.events("saved").count == 1)
            #expect(ending.status == 0)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM], [["--json"], []])
    func `that stays locked leaves a list of the numbers that were not captured when a signal ends the wait`(
        signal: Int32, options: [String]
    ) throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: scan.library, configuration: configuration)
            let numbers = ["9780441013593", "9780547928227", "9783161484100"]
            let ending = try other.writeWithoutTransaction { db in
                // The commit leaves a write-ahead log; without one, opening the library would wait instead.
                try db.execute(sql: "INSERT INTO chore VALUES ('x', 1); BEGIN IMMEDIATE")
                let input = Data(numbers.map { $0 + "\n" }.joined().utf8)
                let running = try scan.start(["--stdin", "--yes"] + options, input: input)
                try waitBlocking(for: "the message") { try running.error().contains("Trying again") }
                killProgram(below: running.process.processIdentifier, by: signal)
                defer { #expect(throws: Never.self) { try db.execute(sql: "ROLLBACK") } }
                return try running.wait()
            }
            // setsid ends with the number of the signal that ended the program, and reports it.
            #expect(ending.status == signal)
            #expect(ending.err.contains("These ISBNs were not captured"), "\(ending.err)")
            let lines = ending.err.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("setsid:") }
            #expect(lines.suffix(3) == numbers[...])
            #expect(!ending.out.contains("captured"))
        }
    }

    @Test func `is created once by eight processes that open it at the same time`() throws {
        try withScan { scan in
            let running = try (0..<8).map { _ in try scan.start(["--isbn", "9780441478125", "--yes", "--json"]) }
            let endings = try running.map { try $0.wait() }
            #expect(endings.allSatisfy { $0.status == 0 }, "\(endings.map(\.err))")
            #expect(try endings.flatMap { try $0.events("saved") }.count == 1)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    /// Kills two writers of the same books at random moments, repeatedly; every acknowledged book must be there exactly
    /// once.
    @Test func `loses nothing acknowledged when its writers are killed`() throws {
        let rounds = ProcessInfo.processInfo.environment["BOOKPLATE_LONG_TESTS"] == nil ? 12 : 200
        let booksARound = 150
        try withScan { scan in
            var scan = scan
            let numbers = try indexOfBooks(rounds * booksARound, &scan)
            var acknowledged: [String: String] = [:]
            for round in 0..<rounds {
                let batch = numbers[(round * booksARound)..<((round + 1) * booksARound)]
                let writers = try [Array(batch), batch.reversed()].map { numbers in
                    try scan.start(["--stdin", "--yes", "--json"], input: Data(numbers.joined(separator: "\n").utf8))
                }
                // A random amount of output determines the moment: three lines per book, about 270 bytes each.
                let moment = Int.random(in: 1...(booksARound * 3 * 270 * 2))
                try waitBlocking(for: "the moment") {
                    try writers.reduce(0) { try $0 + $1.bytesSoFar() } >= moment
                        || writers.allSatisfy { !$0.process.isRunning }
                }
                for writer in writers { killProgram(below: writer.process.processIdentifier) }
                for writer in writers {
                    // A line cut short by the kill acknowledges nothing.
                    let lines = try writer.wait().out.split(separator: "\n", omittingEmptySubsequences: false)
                        .dropLast()
                    for line in lines where line.hasPrefix(#"{"event":"saved""#) {
                        let event = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                        let isbn = try #require(event["isbn13"] as? String)
                        #expect(acknowledged.updateValue(try #require(event["copyId"] as? String), forKey: isbn) == nil)
                    }
                }
            }
            #expect(acknowledged.count > rounds)
            let books = try scan.run("library", "list", "--json", "--limit", "1000000").objects()
            let there = Dictionary(
                uniqueKeysWithValues: books.compactMap { book in
                    (book["isbn13"] as? String).map { ($0, book["id"] as? String) }
                })
            for (isbn, copy) in acknowledged { #expect(there[isbn] == copy, "\(isbn) was acknowledged but is lost") }
            #expect(books.allSatisfy { $0["title"] is String }, "no book is incomplete")
            #expect(try sqlite(scan.library, "PRAGMA integrity_check") == "ok")
            #expect(try sqlite(scan.library, "PRAGMA foreign_key_check").isEmpty)
        }
    }
}

/// Builds an offline index of made-up books for the program.
///
/// - Returns: the ISBNs of the books.
private func indexOfBooks(_ count: Int, _ scan: inout ScanProcess) throws -> [String] {
    let numbers = (0..<count).map { number in
        let body = "978" + String(1_000_000_000 + number * 7919).suffix(9)
        let sum = body.utf8.enumerated().reduce(0) { $0 + Int($1.element - 48) * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return body + String((10 - sum % 10) % 10)
    }
    let rows = numbers.enumerated().map { index, isbn in
        "/type/edition\t/books/OL\(index)M\t1\t2020-01-01T00:00:00\t"
            + #"{"key":"/books/OL\#(index)M","title":"Book \#(index)","isbn_13":["\#(isbn)"],"by_statement":"Nobody"}"#
    }
    let dump = scan.home.appendingPathComponent("dump.txt")
    try Data(rows.joined(separator: "\n").utf8).write(to: dump)
    let index = scan.home.appendingPathComponent("index.sqlite").path
    let built = try scan.run("index", "build", dump.path, "--out", index)
    try #require(built.status == 0, "\(built.err)")
    scan.environment["BOOKPLATE_INDEX"] = index
    return numbers
}

/// Runs SQL on a file from outside the program and returns the first column of the last statement, line by line.
@discardableResult
func sqlite(_ path: String, _ sql: String) throws -> String {
    try DatabaseQueue(path: path).writeWithoutTransaction { db in
        try db.allStatements(sql: sql).reduce(into: "") { answer, statement in
            answer = try String.fetchAll(statement).joined(separator: "\n")
        }
    }
}

/// A folder that is mounted read-only in the mount namespace of one program. Needs root.
private enum ReadOnlyMedium {
    static let isPossible = (try? run("/tmp", ["true"]).status) == 0

    static func run(
        _ folder: String, _ words: [String], _ environment: [String: String] = ["PATH": "/usr/bin:/bin"]
    ) throws -> (status: Int32, out: String) {
        let process = Process()
        let out = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        let mount = #"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@""#
        process.arguments = ["-m", "--propagation", "private", "sh", "-c", mount, "sh", folder] + words
        process.environment = environment
        (process.standardOutput, process.standardError) = (out, out)
        try process.run()
        let text = String(decoding: try out.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}

@Suite(.enabled(if: ReadOnlyMedium.isPossible, "a read-only mount needs root"))
struct `A library on a read-only medium` {
    @Test func `is listed and searched, and no write is reported as saved`() throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        let medium = scan.home.path + "/a medium? 100%"
        try FileManager.default.createDirectory(atPath: medium, withIntermediateDirectories: false)
        scan.environment["BOOKPLATE_LIBRARY"] = medium + "/library.sqlite"
        #expect(try scan.run("library", "add", "--title", "Dune").status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: scan.library))
        func run(_ arguments: String...) throws -> (status: Int32, out: String) {
            try ReadOnlyMedium.run(medium, [ScanProcess.program.path] + arguments, scan.environment)
        }
        for arguments in [["library", "list"], ["library", "search", "dune"], ["stats"]] {
            let ending = try ReadOnlyMedium.run(medium, [ScanProcess.program.path] + arguments, scan.environment)
            #expect(ending.status == 0, "\(arguments): \(ending.out)")
        }
        #expect(try run("library", "list").out.contains("Dune"))
        let refused = try run("library", "add", "--title", "Emma")
        #expect(refused.status == 77, "\(refused.out)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scan.library)) == before)
    }
}

@Suite struct `A library without write permission` {
    /// The part of the library that cannot be written.
    enum Protected: CaseIterable { case file, folder, both }

    /// Runs the program without the rights by which root may write everywhere.
    private static let unprivileged = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []

    @Test(arguments: Protected.allCases, [false, true])
    func `is listed with a notice, and refuses to be changed`(_ protected: Protected, isInUse: Bool) throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        let folder = scan.home.path + "/books"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        scan.environment["BOOKPLATE_LIBRARY"] = folder + "/library.sqlite"
        #expect(try scan.run("library", "add", "--title", "Dune").status == 0)
        // A program that has the library open has written to the log.
        let other = isInUse ? try DatabaseQueue(path: scan.library) : nil
        try other?.write { db in try db.execute(sql: "UPDATE edition SET title = 'Dune Messiah'") }
        #expect(FileManager.default.fileExists(atPath: scan.library + "-shm") == isInUse)
        if protected != .folder { for suffix in ["", "-wal", "-shm"] { chmod(scan.library + suffix, 0o444) } }
        if protected != .file { chmod(folder, 0o555) }
        defer { chmod(folder, 0o755) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        scan.prefix = Self.unprivileged
        for arguments in [["library", "list"], ["library", "search", "dune"]] {
            let ending = try scan.run(arguments)
            #expect(ending.status == 0 && ending.out.contains(isInUse ? "Dune Messiah" : "Dune"), "\(ending)")
            #expect(ending.err.contains("is read-only here"), "\(ending.err)")
        }
        for arguments in [
            ["tag", "add", "sf", "dune"], ["library", "add", "--title", "Emma"], ["--isbn", "9780441478125"],
        ] {
            let refused = try scan.run(arguments)
            #expect(refused.status == 77 && refused.err.contains("Give yourself write permission"), "\(refused)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names, "no side file is made")
        try other?.close()
    }
}
