import FoundationEssentials
import Testing

@testable import Bookplate

private let start = Date(timeIntervalSince1970: 1_000_000)

@Suite struct `The values of two copies, merged` {
    private func merged(_ set: (inout Copy, inout Copy) -> Void) -> (copy: Copy, lost: [LostValue]) {
        var (kept, other) = (Copy(added: start), Copy(added: start))
        set(&kept, &other)
        let lost = kept.merge(other)
        return (kept, lost)
    }

    @Test func `fill what the kept copy lacks`() {
        let (copy, lost) = merged { _, other in
            (other.shelf, other.rating, other.recommendedBy, other.dailyGoal) = ("Attic", 4.5, "Ann", 20)
            (other.wouldRecommend, other.culturalGoalCategory, other.countsForCulturalGoal) = (false, "Africa", true)
            other.isFavourite = true
            other.tags = ["sf"]
        }
        #expect(lost.isEmpty)
        #expect((copy.shelf, copy.rating, copy.recommendedBy, copy.dailyGoal) == ("Attic", 4.5, "Ann", 20))
        #expect(copy.wouldRecommend == false && copy.culturalGoalCategory == "Africa" && copy.countsForCulturalGoal)
        #expect(copy.isFavourite && copy.tags == ["sf"])
    }

    @Test func `never replace a value of the kept copy, and what is lost is listed`() {
        let (copy, lost) = merged { kept, other in
            (kept.shelf, kept.rating, kept.recommendedBy, kept.dailyGoal) = ("Hall", 5, "Bob", 10)
            (other.shelf, other.rating, other.recommendedBy, other.dailyGoal) = ("Attic", 4.5, "Ann", 20)
            (kept.wouldRecommend, other.wouldRecommend) = (true, false)
            (kept.culturalGoalCategory, other.culturalGoalCategory) = ("Asia", "Africa")
            other.isPublic = true
        }
        #expect((copy.shelf, copy.rating, copy.recommendedBy, copy.dailyGoal) == ("Hall", 5, "Bob", 10))
        #expect(copy.wouldRecommend == true && copy.culturalGoalCategory == "Asia" && !copy.isPublic)
        #expect(
            lost.map { "\($0.field): \($0.value)" } == [
                "Shelf: Attic", "Rating: ★★★★½", "Recommended by: Ann", "Would recommend: no",
                "Daily goal: 20 pages per day", "Cultural goal: Africa", "Public: yes",
            ])
    }

    @Test func `that are equal are not lost, and tags differ in more than case`() {
        let (copy, lost) = merged { kept, other in
            (kept.shelf, other.shelf, kept.rating, other.rating) = ("Hall", "Hall", 3, 3)
            (kept.tags, other.tags) = (["SF", "a"], ["sf", "b"])
        }
        #expect(lost.isEmpty && copy.tags == ["SF", "a", "b"])
    }

    @Test(arguments: [
        // Whether each copy is owned and a wish, and then the merged copy.
        ([true, false], [true, false], [true, false]), ([true, false], [false, true], [true, false]),
        ([false, true], [true, false], [true, false]), ([false, true], [false, true], [false, true]),
        ([false, false], [false, true], [false, true]), ([true, true], [false, false], [true, true]),
    ])
    func `make a fulfilled wish an owned book`(kept: [Bool], other: [Bool], result: [Bool]) {
        let copy = merged {
            ($0.isOwned, $0.isOnWishlist) = (kept[0], kept[1])
            ($1.isOwned, $1.isOnWishlist) = (other[0], other[1])
        }.copy
        #expect([copy.isOwned, copy.isOnWishlist] == result)
    }

    @Test func `have the earlier day of addition`() {
        #expect(merged { $1.added = start.addingTimeInterval(-9) }.copy.added == start.addingTimeInterval(-9))
        #expect(merged { $1.added = start.addingTimeInterval(9) }.copy.added == start)
    }
}

@Suite struct `The records of two editions, merged` {
    private let numbers = [try! ISBN("9780441172719"), try! ISBN("9780140449266")]

    private func edition(
        _ isbn: ISBN?, edited: Set<Metadata.Field> = [], text: String? = nil, _ set: (inout Metadata) -> Void
    ) -> Edition {
        var metadata = Metadata()
        set(&metadata)
        return Edition(isbn: isbn, isbnText: text, metadata: metadata, editedFields: edited)
    }

    @Test func `fill empty fields, but none that a person has emptied`() {
        var kept = edition(nil, edited: [.subtitle]) { $0.title = "Dune" }
        let lost = kept.merge(
            edition(numbers[0], edited: [.publisher]) {
                ($0.title, $0.subtitle, $0.publisher, $0.pageCount) = ("DUNE", "A novel", "Chilton", 412)
                $0.identifiers = ["oclc": ["1"]]
            })
        #expect((kept.metadata.title, kept.metadata.subtitle) == ("Dune", nil))
        #expect((kept.metadata.publisher, kept.metadata.pageCount) == ("Chilton", 412))
        #expect(kept.isbn == numbers[0] && kept.metadata.identifiers == ["oclc": ["1"]])
        #expect(kept.editedFields == [.subtitle, .publisher])
        #expect(lost.isEmpty)
    }

    @Test func `list what a person has entered in the other one only`() {
        var kept = edition(numbers[0]) { ($0.title, $0.description, $0.language) = ("Dune", "Sand.", "en") }
        let lost = kept.merge(
            edition(nil, edited: [.title, .description], text: "12-34") {
                ($0.title, $0.description, $0.language) = ("Der Wüstenplanet", "Viel Sand.", "de")
            })
        #expect(
            lost == [
                LostValue("Title", "Der Wüstenplanet"), LostValue("Description", "Viel Sand."),
                LostValue("ISBN", "12-34"),
            ])
        #expect(kept.metadata.title == "Dune" && kept.editedFields.isEmpty)
    }

    @Test func `keep the other ISBN among the identifiers, once`() {
        var kept = edition(numbers[0]) { _ in }
        for _ in 0..<2 { #expect(kept.merge(edition(numbers[1]) { _ in }).isEmpty) }
        #expect(kept.isbn == numbers[0] && kept.metadata.identifiers == ["isbn_13": [numbers[1].digits]])
    }

    @Test func `take a text that is no ISBN only where there is nothing`() {
        var kept = edition(nil) { _ in }
        #expect(kept.merge(edition(nil, text: "12") { _ in }).isEmpty)
        #expect(kept.isbnText == "12")
        #expect(kept.merge(edition(numbers[0], text: "978-…") { _ in }) == [LostValue("ISBN", "12")])
        #expect(kept.isbnText == "978-…")
    }
}

@Suite struct `The readings of two copies, merged` {
    /// A reading as text: its state, start, end and whether a person has entered anything.
    private struct Case {
        let kept: (Copy.Status, [String])
        let other: (Copy.Status, [String])
        let result: (Copy.Status, [String])
    }

    private static let cases = [
        Case(kept: (.toRead, []), other: (.toRead, []), result: (.toRead, [])),
        Case(kept: (.toRead, []), other: (.read, ["f 2020 2021"]), result: (.read, ["f 2020 2021"])),
        Case(kept: (.read, ["f 2020 2021"]), other: (.toRead, []), result: (.read, ["f 2020 2021"])),
        // The readings are in the order of their days, wherever they come from.
        Case(
            kept: (.read, ["f - 2019", "f - 2022"]), other: (.read, ["f - 2018", "f - 2020"]),
            result: (.read, ["f - 2018", "f - 2019", "f - 2020", "f - 2022"])),
        Case(
            kept: (.read, ["f - 2019"]), other: (.read, ["f - -!", "f - 2022"]),
            result: (.read, ["f - -!", "f - 2019", "f - 2022"])),
        // The book is being read if one of the copies is.
        Case(
            kept: (.read, ["f - 2022"]), other: (.reading, ["f - 2018", "o 2021 -"]),
            result: (.reading, ["f - 2018", "f - 2022", "o 2021 -"])),
        Case(
            kept: (.onHold, ["o 2021 -"]), other: (.dnf, ["s - 2023"]), result: (.onHold, ["s - 2023", "o 2021 -"])),
        // Between Read and Did Not Finish, the later reading decides.
        Case(kept: (.read, ["f - 2020"]), other: (.dnf, ["s - 2022"]), result: (.dnf, ["f - 2020", "s - 2022"])),
        Case(kept: (.read, ["f - 2022"]), other: (.dnf, ["s - 2020"]), result: (.read, ["s - 2020", "f - 2022"])),
        Case(kept: (.dnf, ["s - -"]), other: (.read, ["f - 2020"]), result: (.dnf, ["f - 2020", "s - -"])),
        // A reading that was recorded in both copies stays once.
        Case(kept: (.read, ["f - -"]), other: (.read, ["f 2019 2020"]), result: (.read, ["f 2019 2020"])),
        Case(kept: (.read, ["f 2019 2020"]), other: (.read, ["f - 2020"]), result: (.read, ["f 2019 2020"])),
        Case(kept: (.reading, ["o - -"]), other: (.onHold, ["o 2021 -!"]), result: (.reading, ["o 2021 -!"])),
        Case(
            kept: (.read, ["f - 2020"]), other: (.read, ["f - -", "f - -"]), result: (.read, ["f - -", "f - 2020"])),
        Case(kept: (.read, ["f - 2020!"]), other: (.read, ["f - 2020!"]), result: (.read, ["f - 2020!", "f - 2020!"])),
        // Cancelled readings stay where they are.
        Case(
            kept: (.toRead, ["c 2019 -!"]), other: (.read, ["f - 2020"]), result: (.read, ["c 2019 -!", "f - 2020"])),
    ]

    private func reading(_ text: String) -> Reading {
        let parts = text.split(separator: " ")
        let state: Reading.State =
            switch parts[0] {
            case "o": .open
            case "f": .finished
            case "s": .stopped
            default: .cancelled
            }
        let (started, ended) = (CalendarDay(String(parts[1])), CalendarDay(parts[2].filter { $0 != "!" && $0 != "-" }))
        return Reading(
            state: state, started: started, finished: state == .finished ? ended : nil,
            stopped: state == .stopped ? ended : nil)
    }

    @Test(arguments: cases.indices) func `are in order, and the last one fits the status`(index: Int) throws {
        let example = Self.cases[index]
        let kept = Tracker(status: example.kept.0, readings: example.kept.1.map(reading), pageCount: nil)
        let other = Tracker(status: example.other.0, readings: example.other.1.map(reading), pageCount: nil)
        let all = kept.readings + other.readings
        let texts = example.kept.1 + example.other.1
        let untouched = Set(zip(all, texts).filter { !$0.1.hasSuffix("!") }.map(\.0.id))
        let merged = try kept.merging(other, untouched: untouched, title: "")
        let names = Dictionary(uniqueKeysWithValues: zip(all.map(\.id), texts))
        #expect(merged.readings.map { names[$0.id] } == example.result.1)
        #expect(merged.status == example.result.0)
        #expect(Set(merged.repeated + merged.readings.map(\.id)) == Set(all.map(\.id)))
    }

    @Test func `are refused if two are open`() {
        let kept = Tracker(status: .reading, readings: [reading("o 2020 -")], pageCount: nil)
        let other = Tracker(status: .onHold, readings: [reading("o 2021 -")], pageCount: nil)
        #expect(throws: MergeRefusal.twoOpenReadings(title: "Dune")) {
            try kept.merging(other, untouched: [], title: "Dune")
        }
    }
}
