import Bookplate
import FaultServer
import Foundation
import GRDB
import TestTools
import Testing

@testable import Lookup

/// Interrupted builds that resume, and updates.
@Suite struct OfflineIndexResumeTests: IndexBuilding {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Sizes with which a small dump needs many runs, checkpoints and commits.
    private static let small = OfflineIndexBuilder.Sizes(
        run: 200_000, repeated: 1000, betweenCheckpoints: .zero, group: 60_000, groupsInCommit: 1)

    private var index: String { scratch.file("index.sqlite") }

    /// Returns editions whose texts differ, with and without an ISBN, and authors between them.
    private func rows(_ count: Int) -> [String] {
        (0..<count).map { number in
            if number % 10 == 3 {
                let name = "Author \(number * 7919 % 10_007)" + (number % 20 == 3 ? " of a very long name indeed" : "")
                return row("author", "/authors/OL\(number / 10 + 1)A", #"{"name": "\#(name)"}"#)
            }
            let isbn = number % 3 == 0 ? "" : #", "isbn_13": ["\#(ISBN.sample(numbered: number * 7919 % 1_000_000))"]"#
            let filler = String(repeating: "\(number * 31 % 997) ", count: 40)
            return row(
                "edition", "/books/OL\(number + 1)M",
                #"{"title": "Title \#(number * 104_729 % 99_991) of \#(number)", "notes": "\#(filler)", "authors": [{"key": "/authors/OL\#(number % 100 + 1)A"}]\#(isbn)}"#
            )
        }
    }

    private func goOn(_ files: [String], cutAfter calls: Int? = nil) async throws -> OfflineIndexBuilder.Report {
        let index = index
        return try await Task {
            var seen = 0
            return try OfflineIndexBuilder.build(files, to: index, .everything, Self.small) { _ in
                seen += 1
                if seen == calls { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }.value
    }

    /// Copies what a build that was killed would leave: the files of a cancelled one, without what the cancellation
    /// itself has written.
    private func cut(_ files: [String], after calls: Int) async throws {
        await #expect(throws: OfflineIndexError.cancelled) { try await goOn(files, cutAfter: calls) }
    }

    @Test func `a dump without editions has checkpoints, too`() throws {
        let padding = String(repeating: "x", count: 900)
        let authors = try dump(
            (1...8000).map { row("author", "/authors/OL\($0)A", #"{"name": "Author \#($0)", "bio": "\#(padding)"}"#) },
            "authors.txt")
        let editions = try dump(rows(100), "editions.txt")
        let checkpoint = index + ".checkpoint"
        var isThere: [Bool] = []
        _ = try OfflineIndexBuilder.build([authors, editions], to: index, .everything, Self.small) { progress in
            if progress.stage == .reading { isThere.append(FileManager.default.fileExists(atPath: checkpoint)) }
        }
        // The first batch is reported before the first checkpoint.
        #expect(isThere.count > 3 && isThere.dropFirst().allSatisfy { $0 })
    }

    @Test(arguments: ["txt", "txt.gz", "members.txt.gz"])
    func `a build that is cut again and again gives the same bytes as one that is not`(_ kind: String) async throws {
        let rows = rows(12_000)
        let text = Array(rows.joined().utf8)
        let bytes =
            switch kind {
            case "txt": text
            case "txt.gz": gzip(text)
            default: gzip(Array(text[..<(text.count / 3)])) + gzip([]) + gzip(Array(text[(text.count / 3)...]))
            }
        let file = try scratch.write(bytes, to: "dump.\(kind)")
        var calls = 0
        let whole = try OfflineIndexBuilder.build([file], to: index, .everything, Self.small) { _ in calls += 1 }
        let expected = try indexBytes()
        try FileManager.default.removeItem(atPath: index)
        #expect(calls > 12)
        var cuts = 0
        while true {
            // Each run gets a little further: one more report of progress than what is needed to do anything at all.
            do {
                let report = try await goOn([file], cutAfter: 2)
                #expect(report.isResumed && report.editions == whole.editions && report.rowsRead == whole.rowsRead)
                break
            } catch OfflineIndexError.cancelled {
                cuts += 1
                try #require(cuts < 200)
                #expect(!FileManager.default.fileExists(atPath: index))
            }
        }
        #expect(cuts > 8)
        #expect(try indexBytes() == expected)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(left == ["dump.\(kind)", "index.sqlite"])
    }

    @Test func `a build goes on after a kill between two checkpoints`() async throws {
        let file = try scratch.write(gzip(Array(rows(24_000).joined().utf8)), to: "dump.txt.gz")
        _ = try await goOn([file])
        let expected = try indexBytes()
        try FileManager.default.removeItem(atPath: index)
        try await cut([file], after: 3)
        let checkpoint = try Data(contentsOf: URL(fileURLWithPath: index + ".checkpoint"))
        // What is written after the checkpoint does not count.
        await #expect(throws: OfflineIndexError.cancelled) { try await goOn([file], cutAfter: 4) }
        try checkpoint.write(to: URL(fileURLWithPath: index + ".checkpoint"))
        #expect(try await goOn([file]).isResumed)
        #expect(try indexBytes() == expected)
    }

    @Test(arguments: ["dump", "options", "form", "rows"])
    func `a build does not go on from what belongs to another one`(_ change: String) async throws {
        let file = try dump(rows(12_000))
        try await cut([file], after: 3)
        var options = OfflineIndexOptions.everything
        switch change {
        case "dump": _ = try dump(rows(12_001))
        case "options": options = try OfflineIndexOptions(languages: [], isNumbersOnly: true)
        case "form":
            var bytes = try Data(contentsOf: URL(fileURLWithPath: index + ".checkpoint"))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(fileURLWithPath: index + ".checkpoint"))
        default: try Data().write(to: URL(fileURLWithPath: index + ".rows"))
        }
        let report = try OfflineIndexBuilder.build([file], to: index, options, Self.small) { _ in }
        #expect(!report.isResumed)
        #expect(report.rowsRead == (change == "dump" ? 12_001 : 12_000))
    }

    @Test func `the same record in two dumps counts once, in its highest revision, across runs`() async throws {
        let old = try dump(rows(9000), "old.txt")
        let new = try dump(
            (0..<500).map {
                row(
                    "edition", "/books/OL\($0 * 3 + 2)M", #"{"title": "New \#($0)"}"#,
                    revision: $0.isMultiple(of: 2) ? 3 : 0)
            }, "new.txt")
        var blocks: [[Data]] = []
        for files in [[old, new], [new, old]] {
            _ = try OfflineIndexBuilder.build(files, to: index, .everything, Self.small) { _ in }
            #expect(try await titles("new 4") == ["New 4"])
            #expect(try await titles("new 5") == [])
            blocks.append(
                try await DatabaseQueue(path: index).read { db in
                    try Row.fetchAll(db, sql: "SELECT first, rows FROM block").map { $0["rows"] as Data }
                })
        }
        #expect(blocks[0] == blocks[1])
    }

    @Test func `a dump of all revisions is refused`() throws {
        let rows = rows(2000)
        let file = try dump(rows + rows)
        #expect(throws: OfflineIndexError.repeated) {
            try OfflineIndexBuilder.build([file], to: index, .everything, Self.small) { _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["ol_dump.txt"])
    }

    @Test func `many editions of one ISBN and of neighbouring ones need no more memory`() async throws {
        let filler = String(repeating: "long ", count: 30)
        let one = (0..<3000).map {
            row(
                "edition", "/books/OL\($0 + 1)M",
                #"{"title": "\#(filler)", "isbn_13": ["9780140268867"]\#($0 == 1234 ? #", "publishers": ["P"]"# : "")}"#
            )
        }
        let neighbours = (0..<3000).map { number in
            let isbn = ISBN.sample(numbered: 300_000 + number)
            return row(
                "edition", "/books/OL\(number + 5000)M", #"{"title": "\#(number) \#(filler)", "isbn_13": ["\#(isbn)"]}"#
            )
        }
        let report = try OfflineIndexBuilder.build(
            [dump(one + neighbours)], to: index, .everything, Self.small
        ) { _ in }
        #expect(report.editions == 3001 && report.isbns == 3001)
        #expect(try await record(.odyssey)?.publisher == "P")
        for number in stride(from: 0, to: 3000, by: 97) {
            #expect(try await record(.sample(numbered: 300_000 + number))?.title?.hasPrefix("\(number) ") == true)
        }
        #expect(try await titles("2999 long").first?.hasPrefix("2999 ") == true)
    }

    // Updates

    @Test func `an update takes newer dumps and keeps the options`() async throws {
        let options = try OfflineIndexOptions(languages: ["en"])
        func edition(_ title: String, _ language: String, _ modified: String) -> String {
            row(
                "edition", "/books/OL\(title.count)M",
                #"{"title": "\#(title)", "languages": [{"key": "/languages/\#(language)"}], "isbn_13": ["9780140268867"]}"#,
                modified: modified)
        }
        try build([edition("Old", "eng", "2024-01-01T00:00:00")], options: options)
        let old = try OfflineIndex(path: index)
        let newer = try dump(
            [edition("Newer", "eng", "2025-01-01T00:00:00"), edition("Fremd", "ger", "2025-02-01T00:00:00")], "new.txt")
        let report = try OfflineIndexBuilder.update(index, from: [newer])
        #expect(report.editions == 1 && report.notInSubset == 1)
        #expect(try await record(.odyssey)?.title == "Newer")
        #expect(try OfflineIndex(path: index).info().options == options)
        // Whoever has the old one open still gets its answers.
        guard case .found(let answer)? = await old.lookUp([.odyssey])[.odyssey] else { throw NoAnswer() }
        #expect(answer.title == "Old")
    }

    @Test func `an update is refused if the dumps are not newer or lack what the index has`() async throws {
        let edition = row("edition", "/books/OL1M", #"{"title": "T", "isbn_13": ["9780140268867"]}"#)
        let author = row("author", "/authors/OL1A", #"{"name": "N"}"#)
        try build([edition, author])
        let before = try indexBytes()
        let same = try dump([edition, author], "same.txt")
        #expect(throws: OfflineIndexError.notNewer(path: index, newest: "2020-01-01T00:00:00")) {
            try OfflineIndexBuilder.update(index, from: [same])
        }
        let newer = row(
            "edition", "/books/OL1M", #"{"title": "T2", "isbn_13": ["9780140268867"]}"#, modified: "2025-01-01T00:00:00"
        )
        let alone = try dump([newer], "alone.txt")
        #expect(throws: OfflineIndexError.kindsMissing(path: index, kinds: ["authors"])) {
            try OfflineIndexBuilder.update(index, from: [alone])
        }
        #expect(throws: OfflineIndexError.missing(path: scratch.file("none.sqlite"))) {
            try OfflineIndexBuilder.update(scratch.file("none.sqlite"), from: [alone])
        }
        #expect(try indexBytes() == before)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(left == ["alone.txt", "index.sqlite", "ol_dump.txt", "same.txt"])
    }

    // Damage

    @Test func `a damaged byte never crashes and never hides a book`() async throws {
        try build(rows(3000))
        let bytes = Array(try indexBytes())
        let asked = (0..<3000).filter { $0 % 3 != 0 && $0 % 10 != 3 }.map {
            ISBN.sample(numbered: $0 * 7919 % 1_000_000)
        }
        let sample = stride(from: 0, to: asked.count, by: 150).map { asked[$0] }
        var dice = SplitMix(seed: 5)
        var (damaged, whole) = (0, 0)
        for _ in 0..<150 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                changed[Int.random(in: 0..<bytes.count, using: &dice)] ^= UInt8.random(in: 1...255, using: &dice)
            }
            let path = try scratch.write(changed, to: "changed.sqlite")
            guard let index = Result(catching: { () throws(OfflineIndexError) in try OfflineIndex(path: path) }).value
            else {
                continue
            }
            for (isbn, answer) in await index.lookUp(sample) {
                switch answer {
                case .found: whole += 1
                case .badData: damaged += 1
                default: Issue.record("\(isbn) is answered with \(answer)")
                }
            }
            let query = try #require(TitleQuery(title: "Title of 4"))
            do { _ = try await index.find(query, limit: 5) } catch { damaged += 1 }
        }
        #expect(damaged > 50 && whole > 500)
    }

    @Test func `a broken dump is named, wherever it is broken`() throws {
        let text = Array(rows(6000).joined().utf8)
        let whole = gzip(text)
        for place in [3, whole.count / 2, whole.count - 6, whole.count - 2] {
            var bytes = whole
            bytes[place] ^= 0xFF
            let file = try scratch.write(bytes, to: "broken.txt.gz")
            #expect { try OfflineIndexBuilder.build(dumpFiles: [file], to: index) } throws: {
                if case OfflineIndexError.brokenDump = $0 { true } else { false }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["broken.txt.gz"])
    }

    @Test func `an index of an older version is refused with what to do`() throws {
        try build(rows(20))
        try DatabaseQueue(path: index).write { try $0.execute(sql: "PRAGMA user_version = 1") }
        #expect(throws: OfflineIndexError.older(path: index)) { try OfflineIndex(path: index) }
        #expect(OfflineIndexError.older(path: index).description.contains("scan index build"))
    }
}

extension Result {
    fileprivate var value: Success? { if case .success(let value) = self { value } else { nil } }
}
