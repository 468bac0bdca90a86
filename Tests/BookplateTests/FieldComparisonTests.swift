import Bookplate
import Testing

@Suite struct `An edition that a source offers` {
    private func edition(_ isbn: String?, _ publisher: String?, _ identifiers: [String: [String]] = [:]) throws
        -> Edition
    {
        var metadata = Metadata()
        (metadata.publisher, metadata.identifiers) = (publisher, identifiers)
        return Edition(isbn: try isbn.map { try ISBN($0) }, metadata: metadata)
    }

    @Test func `is one of the library by a number of the source, or without an ISBN by publisher and year`() throws {
        var metadata = Metadata()
        (metadata.publisher, metadata.identifiers) = ("MON", ["openlibrary": ["OL2M"]])
        let offer = EditionOffer(isbn: nil, metadata: metadata)
        #expect(offer.isEdition(try edition("9780156027601", "Harvest", ["openlibrary": ["OL2M"]])))
        #expect(!offer.isEdition(try edition(nil, "MON", ["openlibrary": ["OL3M"]])), "another number")
        for (other, isSame) in [
            (try edition(nil, "MON"), true), (try edition(nil, "Walker"), false), (try edition(nil, nil), false),
            (try edition("9780156027601", "MON"), false),
        ] { #expect(offer.isEdition(other) == isSame) }
    }
}

@Suite struct `A comparison with sources` {
    private func record(_ source: SourceName, _ fill: (inout Metadata) -> Void) -> SourceRecord {
        var metadata = Metadata()
        fill(&metadata)
        metadata.attribute(to: source)
        return SourceRecord(source: source, answer: .found(metadata))
    }

    @Test func `lists each value once, with the sources that give it, the library's first`() throws {
        var own = Metadata()
        (own.title, own.publisher, own.series, own.seriesNumber) = ("Dune", "Ace", "Dune", "1")
        let records = [
            record(.openLibrary) { ($0.title, $0.publisher, $0.pageCount) = ("Dune", "Ace Books", 528) },
            record(.googleBooks) { ($0.title, $0.publisher) = ("Dune", "Penguin") },
            record(.k10plus) { ($0.publisher, $0.pageCount) = ("Ace Books", 604) },
            SourceRecord(source: .dnb, answer: .notFound),
        ]
        let fields = FieldComparison.all(own, with: records)
        #expect(fields.map(\.field) == [.title, .publisher, .pageCount], "no source has a series")
        #expect(fields[0].values.map(\.sources) == [[.openLibrary, .googleBooks]])
        #expect(fields[1].values.map(\.text) == ["Ace", "Ace Books", "Penguin"])
        #expect(fields[1].values.map(\.sources) == [[], [.openLibrary, .k10plus], [.googleBooks]])
        #expect(fields[1].values.map(\.isCurrent) == [true, false, false])
        #expect(fields[2].values.map(\.text) == ["528", "604"] && !fields[2].values.contains(where: \.isCurrent))
    }

    @Test func `leaves out a record that may be another book's`() {
        var other = Metadata()
        (other.title, other.isWeakMatch) = ("Dune", true)
        let record = SourceRecord(source: .googleBooks, answer: .found(other))
        #expect(FieldComparison.all(Metadata(), with: [record]).isEmpty)
        #expect(record.reason == Metadata.weakMatchReason)
    }

    @Test func `says why a source has no record`() {
        let error = SourceError(source: .dnb, reason: "is not working (503)")
        let answers: [(SourceAnswer, String)] = [
            (.notFound, "no record"), (.temporary(error), "is not working (503)"),
            (.blocked(error), "is not working (503)"), (.notAsked(reason: "needs a key"), "needs a key"),
        ]
        for (answer, reason) in answers { #expect(SourceRecord(source: .dnb, answer: answer).reason == reason) }
    }
}
