import Bookplate
import Testing

@Suite struct `An edit of metadata` {
    private static let dune: Metadata = {
        var metadata = Metadata()
        (metadata.title, metadata.subtitle, metadata.pageCount) = ("Dune", "A novel", 412)
        (metadata.publishedDateText, metadata.publishedDate) = ("March 2009", CalendarDay("2009-03"))
        metadata.authors = [
            Contributor(name: "Ann", role: .translator), Contributor(name: "Frank Herbert"),
            Contributor(name: "Ed", role: .editor),
        ]
        metadata.identifiers = ["goodreads": ["1"], "oclc": ["2"]]
        metadata.attribute(to: .openLibrary)
        return metadata
    }()

    private func edited(_ fill: (inout MetadataEdit) -> Void) throws -> (
        metadata: Metadata, fields: Set<Metadata.Field>
    ) {
        var (edit, metadata) = (MetadataEdit(), Self.dune)
        fill(&edit)
        let fields = try edit.apply(to: &metadata)
        return (metadata, fields)
    }

    @Test func `without values changes nothing`() throws {
        #expect(MetadataEdit().isEmpty)
        let (metadata, fields) = try edited { _ in }
        #expect(metadata == Self.dune && fields.isEmpty)
    }

    @Test func `marks what differs as a person's, and nothing else`() throws {
        let (metadata, fields) = try edited {
            $0.title = " Dune "
            $0.subtitle = "Two"
            $0.pageCount = 412
            $0.publisher = "Ace"
        }
        #expect(fields == [.subtitle, .publisher])
        #expect(metadata.title == "Dune" && metadata.subtitle == "Two" && metadata.publisher == "Ace")
        #expect(metadata.sources[.title] == .openLibrary && metadata.sources[.pageCount] == .openLibrary)
        #expect(metadata.sources[.subtitle] == .person && metadata.sources[.publisher] == .person)
    }

    @Test func `clears by an empty text, and marks that as a person's too`() throws {
        let (metadata, fields) = try edited {
            $0.subtitle = ""
            $0.publishedDate = ""
            $0.publisher = ""
        }
        #expect(fields == [.subtitle, .publishedDate])
        #expect(metadata.subtitle == nil && metadata.sources[.subtitle] == .person)
        #expect(metadata.publishedDate == nil && metadata.publishedDateText == nil)
    }

    @Test func `keeps a title, whatever happens`() {
        for title in ["", " ", "\u{200B}"] {
            #expect(throws: TextRefusal.empty(what: "title")) { try edited { $0.title = title } }
        }
    }

    @Test func `writes nothing if one value is refused`() {
        var (edit, metadata) = (MetadataEdit(), Self.dune)
        edit.title = "Other"
        edit.infoLink = "javascript:alert(1)"
        #expect(throws: InputRefusal.self) { try edit.check() }
        #expect(throws: InputRefusal.self) { try edit.apply(to: &metadata) }
        #expect(metadata == Self.dune)
    }

    @Test func `replaces all contributors, or those with one role`() throws {
        let all = try edited { $0.contributors = [Contributor(name: "Eve", role: .narrator)] }
        #expect(all.metadata.authors == [Contributor(name: "Eve", role: .narrator)])
        let authors = try edited { $0.authors = ["Zoe", "Max"] }
        #expect(authors.metadata.authors.map(\.name) == ["Zoe", "Max", "Ann", "Ed"])
        let translators = try edited { $0.translators = ["Eve"] }
        #expect(translators.metadata.authors.map(\.name) == ["Frank Herbert", "Ed", "Eve"])
        let none = try edited { $0.authors = [] }
        #expect(none.metadata.authorNames.isEmpty && none.metadata.authors.count == 2 && none.fields == [.authors])
        let cleared = try edited { $0.contributors = [] }
        #expect(cleared.metadata.authors.isEmpty)
        #expect(throws: TextRefusal.empty(what: "author")) { try edited { $0.authors = [" "] } }
    }

    @Test func `replaces the numbers of the schemes it names`() throws {
        let (metadata, fields) = try edited { $0.identifiers = ["goodreads:7", "Goodreads:8", "oclc:", "lccn:9"] }
        #expect(metadata.identifiers == ["goodreads": ["7", "8"], "lccn": ["9"]] && fields == [.identifiers])
        #expect(throws: InputRefusal.noIdentifier(text: "7")) { try edited { $0.identifiers = ["7"] } }
    }

    @Test func `takes a page count of 0 for unknown`() throws {
        for count in [0, nil] {
            let (metadata, fields) = try edited { $0.pageCount = .some(count) }
            #expect(metadata.pageCount == nil && fields == [.pageCount])
        }
        for count in [-1, 1_000_001] {
            #expect(throws: InputRefusal.outOfRange(what: "page count", range: NumberLimit.pages)) {
                try edited { $0.pageCount = count }
            }
        }
    }

    @Test func `says nothing about a page count that it keeps`() throws {
        var metadata = Metadata()
        metadata.pageCount = 2_000_000
        var edit = MetadataEdit()
        edit.title = "Huge"
        #expect(try edit.apply(to: &metadata) == [.title])
    }

    @Test func `keeps a date of publication in both forms`() throws {
        let exact = try edited { $0.publishedDate = "1969-03" }
        #expect(exact.metadata.publishedDateText == "1969-03" && exact.metadata.publishedDate?.month == 3)
        for (text, day) in [
            ("ca. 1920", "1920"), ("21.9.1937", "1937-09-21"), ("September 1937", "1937-09"), ("n.d.", nil),
        ] {
            let free = try edited { $0.publishedDate = text }
            #expect(free.metadata.publishedDateText == text && free.metadata.publishedDate?.description == day)
        }
        #expect(throws: InputRefusal.noDay(what: "date of publication", text: "2021-02-30")) {
            try edited { $0.publishedDate = "2021-02-30" }
        }
    }
}
