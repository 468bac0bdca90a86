import Bookplate
import Foundation
import Library
import Testing

@testable import Station

private let dune = "9780441013593"
private let emma = "9780141439587"
private let nobody = "9783161484100"

@Suite(.timeLimit(.minutes(5))) struct `The station` {
    @Test func `reports a capture when it is on disk and before any source is asked`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        try await rig.run {
            let row = try await rig.capture(dune)
            #expect(row.status == .lookingUp)
            let other = try rig.another()
            let waiting = try await other.items(in: [.waiting])
            #expect(waiting.map(\.id) == [row.id])
            let reported = try await rig.next(\.captured)
            #expect(reported == row)
            let known = try await rig.next(\.known)
            #expect(known.status == .found && known.isTicked && known.candidate.metadata.title == "Dune")
        }
    }

    @Test(arguments: [("9780441013594", "should be 3"), ("9771234567003", "periodical"), ("", "no number")])
    func `refuses a number that is no book, and stores nothing`(_ text: String, _ reason: String) async throws {
        let rig = try StationRig()
        let refusal = await #expect(throws: ISBNRefusal.self) { _ = try await rig.capture(text) }
        #expect(refusal?.description.contains(reason) == true)
        #expect(try await rig.library.count(in: [.waiting]) == 0)
    }

    @Test func `reports a line of a handheld scanner that is no book`() async throws {
        let rig = try StationRig()
        try await rig.run {
            rig.station.enqueue(scannedLine: "4006381333931")
            let reason = try await rig.next(\.refusal)
            #expect(reason.contains("product code"))
            rig.station.enqueue(scannedLine: dune)
            let row = try await rig.next(\.captured)
            #expect(row.candidate.item.origin == .scanner)
        }
    }

    @Test func `saves all ticked rows in one change, and undo reopens them`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        try await rig.run {
            for isbn in [dune, emma, nobody] { _ = try await rig.capture(isbn) }
            _ = try await rig.rows { $0.count(where: \.isTicked) == 2 && $0.allSatisfy { $0.status != .lookingUp } }
            let saved = try await rig.saveTicked()
            #expect(saved.saved == 2 && saved.owned == 0 && saved.change != nil)
            #expect(await rig.station.snapshot().counts == Station.Counts(waiting: 1, lookingUp: 0, ticked: 0, open: 1))
            #expect(await rig.station.snapshot().nextUndo?.items.count == 2)
            let act = try await rig.station.undo().acts[0]
            #expect(act.kind == .saved && act.change == saved.change)
            #expect(await rig.station.snapshot().counts.open == 3)
            let left = try await rig.library.books(with: [ISBN(dune), ISBN(emma)])
            #expect(left.values.joined().isEmpty)
            await #expect(throws: Station.Refusal.nothingToUndo) { _ = try await rig.station.undo() }
        }
    }

    @Test func `answers the row of a book that a form saves, and undo reopens it`() async throws {
        let rig = try StationRig()
        try await rig.run {
            let id = try await rig.capture(nobody).id
            _ = try await rig.rows { $0.first?.status == .notFound }
            var metadata = Metadata()
            metadata.title = "Logic"
            let entered = try Confirmed(enteredBy: .form, isbn: ISBN(nobody), metadata: metadata).answering(id)
            let result = try await rig.station.enter(entered) { [library = rig.library] in
                try await library.enter(entered, notes: [], dates: DateEdit(), at: .now) { _ in }
            }
            let row = try #require(await rig.station.row(id))
            #expect(row.status == .saved(result) && row.candidate.metadata.title == "Logic")
            #expect(await rig.station.snapshot().nextUndo?.change == result.change)
            #expect(try await rig.station.undo().acts.map(\.items) == [[id]])
            #expect(await rig.station.row(id)?.status == .notFound)
            #expect(try await rig.library.items(in: [.waiting]).map(\.id) == [id])
        }
    }

    @Test func `makes one copy when two pages save the same at once`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            async let first = Outcome { try await rig.station.save([row.id], anotherCopy: false) }
            async let second = Outcome { try await rig.station.save([row.id], anotherCopy: false) }
            let results = await [first, second]
            #expect(results.compactMap(\.saved?.saved) == [1])
            #expect(results.compactMap(\.refusal) == [.answered])
            let books = try await rig.library.books(with: [ISBN(dune)])
            #expect(books.values.joined().count == 1)
        }
    }

    @Test func `makes no second copy of an item that another process has just saved`() async throws {
        let rig = try StationRig([dune: .found("Dune")], looksUpDue: false)
        try await rig.run {
            let row = try await rig.capture(dune)
            let candidate = try await rig.next(\.known).candidate
            let other = try rig.another()
            _ = try await other.add([candidate.confirm(by: .person)], at: .now)
            let saved = try await rig.station.save([row.id], anotherCopy: false)
            #expect(saved.saved == 1 && saved.change == nil)
            let books = try await other.books(with: [ISBN(dune)])
            #expect(books.values.joined().count == 1)
        }
    }

    @Test func `has the open rows again after a restart, with the preset of the last`() async throws {
        let first = try StationRig([dune: .found("Dune")])
        let preset = Preset(shelf: "Attic", tags: ["sf"])
        try await first.run {
            _ = try await first.capture(emma)
            try await first.station.setPreset(preset)
            _ = try await first.capture(dune)
            _ = try await first.rows { $0.count == 2 && $0.allSatisfy { $0.status != .lookingUp } }
        }
        let second = try StationRig(folder: first.folder)
        try await second.run {
            let rows = try await second.rows { $0.count == 2 }
            #expect(rows.map(\.candidate.metadata.title) == ["Dune", nil])
            #expect(rows.map(\.status) == [.found, .notFound])
            #expect(rows.allSatisfy { $0.candidate.item.preset == preset })
            #expect(await second.station.snapshot().preset == preset)
            #expect(try await second.saveTicked().saved == 1)
        }
    }

    @Test func `looks up items at its start that were never looked up`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        let other = try rig.another()
        let detection = Detection(isbn: try ISBN(dune), raw: dune, origin: .hub)
        _ = try await other.enqueue([detection], preset: Preset(), lease: .zero, at: .now)
        try await rig.run {
            let rows = try await rig.rows { $0.first?.status == .found }
            #expect(rows.count == 1)
        }
    }

    @Test func `keeps a person's edit, also when it looks the book up again`() async throws {
        let rig = try StationRig()
        try await rig.run {
            let row = try await rig.capture(nobody)
            _ = try await rig.next(\.known)
            await #expect(throws: Batch.TickRefusal.needsTitle) { _ = try await rig.station.tick(row.id, true) }
            var edit = MetadataEdit()
            (edit.title, edit.authors, edit.publishedDate, edit.pageCount) = ("Logic", ["A. Nobody"], "2009-03", 12)
            let edited = try await rig.station.edit(row.id, edit)
            #expect(edited.status == .found && edited.candidate.metadata.authorNames == ["A. Nobody"])
            #expect(edited.candidate.metadata.publishedDate == CalendarDay(year: 2009, month: 3))
            rig.lookup.learn(nobody, .found("Something Else"))
            try await rig.station.lookUpAgain([row.id])
            let again = try await rig.next { news in
                news.known.flatMap { $0.candidate.item.outcome == .found ? $0 : nil }
            }
            #expect(again.candidate.metadata.title == "Logic")
            var date = MetadataEdit()
            date.publishedDate = "March 2009"
            let printed = try await rig.station.edit(row.id, date)
            #expect(printed.candidate.metadata.publishedDateText == "March 2009")
            #expect(printed.candidate.metadata.publishedDate == CalendarDay(year: 2009, month: 3))
            let empty = MetadataEdit(title: " ")
            await #expect(throws: TextRefusal.self) { _ = try await rig.station.edit(row.id, empty) }
            date.publishedDate = "2009-02-30"
            let noDay = date
            await #expect(throws: InputRefusal.self) { _ = try await rig.station.edit(row.id, noDay) }
        }
    }

    @Test func `applies a changed preset to its own captures, and not to those of others`() async throws {
        let rig = try StationRig()
        let other = try rig.another()
        let theirs = Preset(shelf: "Cellar")
        let detection = Detection(isbn: try ISBN(emma), raw: emma, origin: .hub)
        _ = try await other.enqueue([detection], preset: theirs, lease: .zero, at: .now)
        try await rig.run {
            _ = try await rig.rows { $0.count == 1 }
            _ = try await rig.capture(dune)
            try await rig.station.setPreset(Preset(shelf: " Attic "))
            let rows = await rig.station.snapshot().rows
            #expect(rows.map(\.candidate.item.preset.shelf) == ["Attic", "Cellar"])
            #expect(await rig.station.snapshot().preset.shelf == "Attic")
        }
    }

    @Test func `keeps what a person gave one book when the preset changes`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        try await rig.run {
            for isbn in [dune, emma] { _ = try await rig.capture(isbn) }
            let rows = try await rig.rows { $0.count == 2 && $0.allSatisfy { $0.status != .lookingUp } }
            var (shelved, rated) = (PresetEdit(), PresetEdit())
            (shelved.shelf, shelved.tags) = ("Cellar", ["sf"])
            (rated.rating, rated.note) = (.set(4), "Ask Ada.")
            // The newest row is the first.
            _ = try await rig.station.edit(rows[1].id, MetadataEdit(title: "Dune!"), preset: shelved)
            _ = try await rig.station.edit(rows[0].id, MetadataEdit(), preset: rated)
            try await rig.station.setPreset(Preset(shelf: "Attic"))
            let now = await rig.station.snapshot().rows.map(\.candidate)
            #expect(now[1].item.preset == Preset(shelf: "Cellar", tags: ["sf"]) && now[1].metadata.title == "Dune!")
            #expect(now[0].item.preset == Preset(shelf: "Attic", rating: 4, note: "Ask Ada."))
        }
    }

    @Test func `refuses a rating that is none, and stores nothing of the edit`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        try await rig.run {
            _ = try await rig.capture(dune)
            let row = try await rig.rows { $0.count == 1 && $0[0].status != .lookingUp }[0]
            var edit = PresetEdit()
            (edit.shelf, edit.rating) = ("Attic", .set(7))
            await #expect(throws: InputRefusal.badRating(7)) {
                try await rig.station.edit(row.id, MetadataEdit(title: "Other"), preset: edit)
            }
            let now = try #require(await rig.station.row(row.id)).candidate
            #expect(now.metadata.title == "Dune" && now.item.preset == Preset())
        }
    }
}

/// The result or refusal of a save.
private struct Outcome: Sendable {
    var saved: Station.Saved?
    var refusal: Station.Refusal?

    init(_ save: () async throws -> Station.Saved) async {
        do { saved = try await save() } catch { refusal = error as? Station.Refusal }
    }
}
