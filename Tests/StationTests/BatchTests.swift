import Bookplate
import FoundationEssentials
@testable import Station
import Testing

private let dune = "9780441013593"
private let emma = "9780141439587"

@Suite struct `A batch` {
    @Test(
        arguments: [
            (nil, nil, .lookingUp, false, false), (.found, "Dune", .found, true, true),
            (.found, nil, .needsTitle, false, false), (.notFound, nil, .notFound, false, false),
            (.temporary, nil, .unavailable, false, false), (.blocked, nil, .unavailable, false, false),
            (.badData, nil, .unavailable, false, false),
            // A book that an earlier lookup found can be saved, but only if a person ticks it.
            (.temporary, "Dune", .unavailable, false, true),
        ] as [(LookupOutcome.Name?, String?, Batch.Status, Bool, Bool)])
    func `reports the status of a row, and ticks only sure ones`(
        outcome: LookupOutcome.Name?, title: String?, status: Batch.Status, isTicked: Bool, canBeTicked: Bool
    ) throws {
        var batch = Batch()
        let row = try batch.capture(dune, outcome, title)
        #expect(batch.status(of: row) == status)
        #expect(batch.isTicked(row) == isTicked)
        let refusal = batch.refusal(toToggle: row.id)
        #expect(refusal == (canBeTicked ? nil : .needsTitle))
        if canBeTicked { #expect(batch.ticked.isEmpty == isTicked) }
    }

    @Test func `does not tick a record that may be another book`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Something") { $0.isWeakMatch = true }
        #expect(batch.status(of: row) == .weakMatch)
        #expect(!batch.isTicked(row))
    }

    @Test func `ticks a book to which a person gave a title, whatever the sources say`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .notFound, "By hand") { $0.sources[.title] = .person }
        #expect(batch.status(of: row) == .found)
        #expect(batch.isTicked(row))
    }

    @Test func `reports an owned book, does not tick it, and saves another copy when a person does`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Dune", owned: true)
        guard case .owned = batch.status(of: row) else { return #expect(Bool(false)) }
        #expect(!batch.isTicked(row))
        try batch.toggle(row.id)
        #expect(batch.ticked.map(\.id) == [row.id])
        #expect(batch.isAnotherCopy(row))
    }

    @Test func `asks about the same number shown again, and neither drops nor doubles it`() throws {
        var batch = Batch()
        let first = try batch.capture(dune, .found, "Dune")
        let second = try batch.capture(dune, .found, "Dune")
        #expect(batch.status(of: second) == .again)
        #expect(batch.ticked.map(\.id) == [first.id])
        #expect(batch.counts.again == 1)
        try batch.toggle(second.id)
        #expect(batch.ticked.count == 2)
        #expect(batch.isAnotherCopy(second) && !batch.isAnotherCopy(first))
    }

    @Test func `forgets that it was shown before when the first was skipped`() throws {
        var batch = Batch()
        let first = try batch.capture(dune, .found, "Dune")
        let second = try batch.capture(dune, .found, "Dune")
        batch.applySkip([first.id], change: ID())
        #expect(batch.status(of: second) == .found)
        #expect(batch.ticked.map(\.id) == [second.id])
    }

    @Test func `keeps asking about a second copy after the first was saved`() throws {
        var batch = Batch()
        let first = try batch.capture(dune, .found, "Dune")
        let copy = ID<Copy>()
        batch.applySave([(first.id, .saved(copy, change: ID()))])
        // The sources answer for the second row after the first row has been saved in the library.
        let second = try batch.capture(dune, .found, "Dune", owned: true, copy: copy)
        #expect(batch.status(of: second) == .again)
    }

    @Test(arguments: [0, 1]) func `lets a person clear a number shown twice once one of the two is saved`(_ saved: Int)
        throws
    {
        var batch = Batch()
        let rows = [try batch.capture(dune, .found, "Dune"), try batch.capture(dune, .found, "Dune")]
        let (one, other) = (rows[saved], rows[1 - saved])
        let copy = ID<Copy>()
        batch.applySave([(one.id, .saved(copy, change: ID()))])
        let before = try #require(batch[other.id])
        #expect(batch.status(of: before) == .again && batch.ticked.isEmpty)
        #expect(!batch.isClearable(before), "the library has not reported yet that it holds the book")
        let item = other.candidate.item
        let book = Book(
            edition: Edition(isbn: item.isbn, metadata: other.candidate.metadata), copy: Copy(id: copy, added: .now))
        batch.replace([Candidate(item: item, existing: [book])])
        let now = try #require(batch[other.id])
        #expect(batch.status(of: now) == .again && batch.ticked.isEmpty)
        #expect(
            batch.isClearable(now) && batch.settledRows.isEmpty,
            "there may be two copies: it does not leave automatically")
        try batch.toggle(other.id)
        #expect(!batch.isClearable(try #require(batch[other.id])) && batch.isAnotherCopy(now))
    }

    @Test func `keeps a person's tick through later answers`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Dune")
        try batch.toggle(row.id)
        batch.update(with: row.candidate)
        #expect(batch.ticked.isEmpty)
    }

    @Test func `keeps a preset and a person's edits when an answer arrives that was read before them`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Dune")
        var item = row.candidate.item
        item.preset = Preset(shelf: "Attic")
        var edited = Candidate(item: item)
        edited.metadata.title = "Dune, my copy"
        edited.metadata.sources[.title] = .person
        batch.replace([edited])
        batch.update(with: row.candidate)
        let now = try #require(batch[row.id]?.candidate)
        #expect(now.item.preset.shelf == "Attic" && now.metadata.title == "Dune, my copy")
    }

    @Test(arguments: [true, false])
    func `does not count a book as owned whose copy was undone`(isRead: Bool) throws {
        var batch = Batch()
        let first = try batch.capture(dune, .found, "Dune")
        let (copy, change) = (ID<Copy>(), ID<Change>())
        batch.applySave([(first.id, .saved(copy, change: change))])
        let second = try batch.capture(dune, .found, "Dune", owned: true, copy: copy)
        batch.applyUndo(of: change, now: isRead ? [first.candidate] : nil)
        #expect(batch.open.map(\.id) == [first.id, second.id])
        #expect(batch.settledRows.isEmpty && batch[second.id]?.candidate.owned == nil)
    }

    @Test func `settles an owned book, unless a person ticked another copy of it`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Dune", owned: true)
        #expect(batch.settledRows.map(\.id) == [row.id])
        #expect(
            batch.savableInAdvance(anotherCopy: false).isEmpty
                && batch.savableInAdvance(anotherCopy: true).map(\.id) == [row.id])
        try batch.toggle(row.id)
        #expect(batch.settledRows.isEmpty)
        try batch.toggle(row.id)
        #expect(batch.savableInAdvance(anotherCopy: true).isEmpty, "the person said no")
    }

    @Test func `saves in the order of capture and undoes acts one by one`() throws {
        var batch = Batch()
        let one = try batch.capture(dune, .found, "Dune")
        let two = try batch.capture(emma, .found, "Emma")
        #expect(batch.ticked.map(\.id) == [one.id, two.id])
        let change = ID<Change>()
        batch.applySave([(one.id, .saved(ID(), change: change)), (two.id, .saved(ID(), change: change))])
        #expect(batch.acts.map(\.items) == [[one.id, two.id]], "one act, one change")
        #expect(batch.open.isEmpty && batch.counts.saved == 2)
        batch.applyUndo(of: change, now: [one.candidate, two.candidate])
        #expect(batch.acts.isEmpty && batch.ticked.count == 2)
    }

    @Test func `keeps a row open whose book another process saved meanwhile`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, .found, "Dune")
        let book = Book(edition: Edition(isbn: row.candidate.item.isbn, metadata: Metadata()), copy: Copy(added: .now))
        batch.applySave([(row.id, .owned(book))])
        #expect(batch.acts.isEmpty)
        #expect(batch.status(of: try #require(batch[row.id])) == .owned(book))
        #expect(batch.ticked.isEmpty)
    }

    @Test func `ignores results for answered rows and for items of others`() throws {
        var batch = Batch()
        let row = try batch.capture(dune, nil, nil)
        batch.postpone(row.id)
        var other = Batch()
        let isUpdated = [batch.update(with: row.candidate), other.update(with: row.candidate)]
        #expect(isUpdated == [false, false])
        let refusal = batch.refusal(toToggle: row.id)
        #expect(refusal == .answered)
    }

    @Test func `counts every row once, and those without a title whose source has not answered`() throws {
        var batch = Batch()
        for (outcome, title) in [(.found, "A"), (.notFound, nil), (.temporary, nil)] as [(LookupOutcome.Name, String?)]
        {
            _ = try batch.capture(
                outcome == .found ? dune : outcome == .notFound ? emma : "9780441478125", outcome, title)
        }
        var expected = Batch.Counts()
        (expected.found, expected.notFound, expected.unavailable) = (1, 1, 1)
        (expected.ticked, expected.untitled) = (1, 1)
        #expect(batch.counts == expected)
    }
}

@Suite struct `A batch in the workflow` {
    @Test func `gives waiting books another preset, and skips those that are saved`() async throws {
        let bench = try Workbench([dune: .found("Dune"), emma: .found("Emma")])
        let candidates = try await bench.candidates(for: bench.capture(dune, emma))
        _ = try await bench.flow.save([candidates[0].confirm(by: .person)])
        let preset = Preset(shelf: "Attic", tags: ["sf"])
        let given = try await bench.flow.setPreset(preset, of: candidates.map(\.item.id))
        #expect(given.map(\.item.isbn.digits) == [emma])
        let saved = try await bench.flow.save([given[0].confirm(by: .person)])
        guard case .saved(let copy, _) = saved[0] else { return #expect(Bool(false)) }
        #expect(try await bench.library.book(copy)?.copy.shelf == "Attic")
    }

    @Test func `asks the sources again for one item, due or not`() async throws {
        let bench = try Workbench([dune: .offline])
        let candidates = try await bench.candidates(for: bench.capture(dune))
        #expect(candidates[0].item.outcome == .temporary)
        bench.lookup.learn(dune, .found("Dune"))
        let ids = candidates.map(\.item.id)
        let again = try await bench.delivered { try await bench.flow.lookUpAgain(ids, deliver: $0) }
        #expect(again.map(\.metadata.title) == ["Dune"])
    }

    @Test func `recognises an owned book before any source is asked`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let first = try await bench.candidates(for: bench.capture(dune))
        _ = try await bench.flow.save([first[0].confirm(by: .person)])
        let questions = bench.lookup.questions.count
        let second = try await bench.flow.recognise(bench.capture(dune))
        #expect(second[0].owned?.displayTitle == "Dune")
        #expect(bench.lookup.questions.count == questions)
    }
}

extension Batch {
    /// Captures a number and applies the sources' answer, if there is one.
    fileprivate mutating func capture(
        _ number: String, _ outcome: LookupOutcome.Name?, _ title: String?, owned: Bool = false, copy: ID<Copy> = ID(),
        _ change: (inout Metadata) -> Void = { _ in }
    ) throws -> Row {
        var metadata = Metadata()
        metadata.title = title
        change(&metadata)
        let isbn = try ISBN(number)
        var existing: [Book] = []
        if owned {
            existing = [Book(edition: Edition(isbn: isbn, metadata: metadata), copy: Copy(id: copy, added: .now))]
        }
        let item = QueueItem(
            isbn: isbn, raw: number, origin: .camera, device: "desk", captured: .now, preset: preset, outcome: outcome,
            metadata: metadata)
        add([Candidate(item: item, existing: existing)])
        if outcome != nil { update(with: Candidate(item: item, existing: existing)) }
        return try #require(self[item.id])
    }

    fileprivate mutating func refusal(toToggle id: ID<QueueItem>) -> TickRefusal? {
        do throws(TickRefusal) {
            try toggle(id)
            return nil
        } catch {
            return error
        }
    }
}
