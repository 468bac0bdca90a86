import Bookplate
import FoundationEssentials
import TestTools
import Testing

@testable import Library

/// Tests with random walks through everything that a person can do to a library.
@Suite struct UndoWalkTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(zone: .gmt) }

    @Test(arguments: [1, 2, 3, 5])
    func `any sequence of changes, undone backwards, leaves the library as it was`(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        try await library.save(isbn(0), record("First"))
        let start = try await library.dump()
        let startCount = try await library.changes(limit: 1000).count
        for number in 0..<60 { try await step(&random, number) }

        while try await library.changes(limit: 1000).filter({ $0.undone == nil }).count > startCount {
            let change = try #require(try await library.lastChange())
            _ = try await library.undo(change.id, at: noon)
        }
        #expect(try await library.dump().filter { !$0.hasPrefix("intakeItem") } == start)
        // A capture is not a change, so its item remains. Items that were confirmed or skipped are waiting again.
        #expect(try await library.items(in: [.confirmed, .skipped]).isEmpty)
    }

    @Test(arguments: isLong ? [1, 2, 3, 5] : [3])
    func `changes undone backwards and redone forwards leave every row as it was after each`(seed: UInt64) async throws
    {
        var random = SplitMix(seed: seed)
        try await library.save(isbn(0), record("First"))
        for number in 0..<60 { try await step(&random, number) }
        var states: [[String]] = []
        while let change = try await library.lastChange() {
            states.append(try await library.dump())
            _ = try await library.undo(change.id, at: noon)
        }
        while let change = try await library.redoableChanges(limit: 1).first {
            _ = try await library.redo(change.id, at: noon)
            let state = states.popLast()
            #expect(try await library.dump() == state, "\(change.summary)")
        }
        #expect(states.isEmpty)
        #expect(try await library.changes(limit: 1000).allSatisfy { $0.undone == nil })
        while let change = try await library.lastChange() { _ = try await library.undo(change.id, at: noon) }
        #expect(try await unsound() == 0)
    }

    /// Acts, undos and redos in any order. A refused one has no effect, and a redo right after its undo is exact.
    @Test(arguments: isLong ? [4, 6, 9, 23, 31, 44] : [9, 31])
    func `after changes were undone and redone in any order, all can be undone backwards`(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        try await library.save(isbn(0), record("First"))
        let start = try await library.dump()
        for number in 0..<20 { try await step(&random, number) }
        var (redone, refused) = (0, 0)
        for number in 20..<120 {
            let before = try await library.dump()
            let changes = try await library.changes(limit: 1000).dropLast()
            do {
                switch random.below(5) {
                case 0: try await step(&random, number)
                case 1, 2:
                    guard let change = changes.filter({ $0.undone == nil }).randomElement(using: &random) else { break }
                    _ = try await library.undo(change.id, at: noon)
                    guard random.below(2) == 0 else { break }
                    _ = try await library.redo(change.id, at: noon)
                    #expect(try await library.dump() == before, "\(change.summary)")
                default:
                    guard let change = changes.filter({ $0.undone != nil }).randomElement(using: &random) else { break }
                    let undone = try await library.redo(change.id, at: noon)
                    redone += 1
                    // The redo of a change that was just redone and undone again gives the same rows.
                    let after = try await library.dump()
                    _ = try await library.undo(undone.id, at: noon)
                    #expect(try await library.dump() == before, "\(change.summary)")
                    _ = try await library.redo(undone.id, at: noon)
                    #expect(try await library.dump() == after, "\(change.summary)")
                }
            } catch is UndoRefusal {
                #expect(try await library.dump() == before)
            } catch let refusal as RedoRefusal {
                refused += 1
                guard case .changedSince(_, _?) = refusal else { throw refusal }
                #expect(try await library.dump() == before)
            }
            #expect(try await unsound() == 0)
        }
        #expect(redone > 0)
        if seed == 9 { #expect(refused > 0) }

        try await undoAll()
        #expect(try await rowsOfBooks() == start)
    }

    /// The undo of a change is refused if a later change needs what it would remove, so that the newest change can
    /// always be undone, whatever was undone before.
    @Test(arguments: [4, 6, 9, 23], [false, true])
    func `after changes were undone in any order, all others can be undone backwards`(
        seed: UInt64, withTracker: Bool
    ) async throws {
        var random = SplitMix(seed: seed)
        try await library.save(isbn(0), record("First"))
        let start = try await library.dump()
        for number in 0..<40 { try await step(&random, number, withTracker: withTracker) }
        var refused = 0
        for _ in 0..<60 {
            let before = try await library.dump()
            let changes = try await library.changes(limit: 1000).dropLast()
            guard let change = changes.filter({ $0.undone == nil }).randomElement(using: &random) else { break }
            do {
                _ = try await library.undo(change.id, at: noon)
            } catch is UndoRefusal {
                refused += 1
                #expect(try await library.dump() == before)
            }
            #expect(try await unsound() == 0)
        }
        #expect(refused > 0)

        try await undoAll()
        #expect(try await rowsOfBooks() == start)
    }

    /// Undoes all changes but the first, beginning with the newest.
    private func undoAll() async throws {
        for change in try await library.changes(limit: 1000).dropLast() where change.undone == nil {
            _ = try await library.undo(change.id, at: noon)
        }
        #expect(try await unsound() == 0)
    }

    /// Returns the rows of the library without its queue, and without tags and shelves, which stay if later books also
    /// had them when the changes that added them are undone.
    private func rowsOfBooks() async throws -> [String] {
        try await library.dump().filter { row in
            !["intakeItem", "tag", "shelf"].contains { row.hasPrefix($0 + " ") }
        }
    }

    /// Returns the number of rows that refer to missing rows, plus the number of editions and authors to which neither
    /// a row nor a change that can be undone refers.
    private func unsound() async throws -> Int {
        try await library.read { db in
            try db.rows("PRAGMA foreign_key_check").count
                + db.rows("SELECT 1 FROM edition WHERE id NOT IN (SELECT edition FROM copy)").count
                + db.rows(
                    """
                    SELECT 1 FROM author WHERE id NOT IN (SELECT author FROM editionAuthor)
                        AND NOT EXISTS (
                            SELECT 1 FROM changeRow JOIN change ON change.id = change WHERE undone IS NULL
                                AND (tableName = 'editionAuthor' AND json_extract(before, '$.author') = author.id
                                    OR tableName = 'author' AND key = json_array(author.id)))
                    """
                ).count
        }
    }

    /// Makes one random change, and checks that a refused change has no effect.
    private func step(_ random: inout SplitMix, _ number: Int, withTracker: Bool = true) async throws {
        var query = BookQuery()
        query.inTrash = random.below(3) == 0
        query.limit = 100
        let books = try await library.books(matching: query).books
        let words = ["Zoë", "b'", "東京", "d\"q", "e\\f", "🐛"]
        if withTracker, random.below(3) > 0 {
            return try await track(&random, books, words, at: noon.addingTimeInterval(Double(number) * 100))
        }
        let preset = Preset(
            shelf: random.below(2) == 0 ? words[random.below(6)] : nil, tags: [words[random.below(6)]],
            isWishlist: random.below(4) == 0)
        switch random.below(6) {
        case 0, 1:
            let batch = try (0...random.below(4)).map { _ in
                try confirmed(
                    random.below(5) == 0 ? nil : isbn(random.below(12)),
                    record(words[random.below(6)], by: [words[random.below(6)], words[random.below(6)]]),
                    preset: preset, anotherCopy: random.below(3) == 0)
            }
            _ = try await library.add(batch, at: noon)
        case 2:
            let candidate = try await library.candidate(isbn(random.below(12)), record("C"), preset: preset)
            if random.below(2) == 0 {
                _ = try await library.skip([candidate.item.id], at: noon)
            } else {
                _ = try await library.add([candidate.confirm(by: .person)], at: noon)
            }
        case 3:
            guard var book = books.randomElement(using: &random) else { return }
            book.copy.tags = [words[random.below(6)], words[random.below(6)]]
            book.edition.metadata.authors = [Contributor(name: words[random.below(6)], role: .narrator)]
            book.edition.metadata.title = words[random.below(6)]
            let edited = book
            _ = try await library.update(book.id, at: noon) { $0 = edited }
        case 4: _ = try await library.trash(books.prefix(random.below(3)).map(\.id), at: noon)
        default: _ = try await library.restore(books.prefix(random.below(3)).map(\.id), at: noon)
        }
    }

    /// Runs one random act on readings, labels or annotations, or an import. Checks that a refused act has no effect.
    private func track(_ random: inout SplitMix, _ books: [Book], _ words: [String], at now: Date) async throws {
        guard let book = books.randomElement(using: &random) else { return }
        let before = try await library.read { db in try rowCounts(db) }
        do {
            switch random.below(12) {
            case 0...3: try await library.track(book, &random, at: now)
            case 4, 5: try await library.annotation(book, &random, words, at: now)
            case 6, 7: try await library.relabel(book, &random, words, at: now)
            case 8: try await library.merge(book, books, &random, at: now)
            default: try await library.importFile(&random, words, at: now)
            }
        } catch let error where error.isRefusal {
            // The row counts include the log, because a refused act must not be logged as a change.
            let after = try await library.read { db in try rowCounts(db) }
            #expect(after == before)
        }
    }

    @Test func `the walks include every act`() async throws {
        for seed: UInt64 in [2, 5, 7, 11, 12, 20, 21, 23, 24, 25] {
            var random = SplitMix(seed: seed)
            for number in 0..<100 { try await step(&random, number) }
        }
        let summaries = try await library.changes(limit: 5000).map(\.summary)
        let words = [
            ": Reading", ": To Read", ": page ", "%", ": changed the dates of a reading", ": added a reading",
            ": deleted a reading",
            ": started a session", ": session of", ": added a session", ": edited a", ": deleted a session", "note",
            "quote",
            "tagged ", "removed the tag", "renamed the tag", "merged the tag", "deleted the tag",
            "renamed the author",
            "merged the author", "deleted the author", "imported ", "setting", "merged \"", "made \"",
            "as not the same",
        ]
        #expect(words.filter { word in !summaries.contains { $0.contains(word) } } == [])
    }
}
