import Bookplate
import HTTP
import TestTools
import Testing

@testable import Lookup

@Suite struct PublishedDateTests {
    @Test(arguments: [
        ("2015", "2015"), ("March 2009", "2009-03"), ("1984-10", "1984-10"), ("January 22, 1988", "1988-01-22"),
        ("2022-02-09", "2022-02-09"), ("c1998", "1998"), ("©1998", "1998"), ("[1969?]", "1969"), ("1969-1971", "1969"),
        ("22 Jan. 1988", "1988-01-22"), ("Sept 1999", "1999-09"), ("1er août 1999", "1999-08-01"),
        ("März 2001", "2001-03"),
        ("17/03/1969", "1969-03-17"), ("03/17/1969", "1969-03-17"), ("03/04/1969", "1969"), ("3.4.1969", "1969-04-03"),
        ("1984/10", "1984-10"),
        ("19690317", "1969-03-17"),
        ("2015-10-01T00:00:00+02:00", "2015-10-01"), ("2022-02-30", "2022"), ("February 31, 1988", "1988-02"),
        ("ca. 1850", "1850"),
    ])
    func `parses as much of the day as is unambiguous`(_ text: String, _ expected: String) {
        #expect(PublishedDate.day(in: text)?.description == expected)
    }

    @Test(arguments: ["", "n.d.", "unknown", "19--", "198", "May", "99999", "0000", "\u{0}", "1٩٨4"])
    func `returns nil for a text without a year`(_ text: String) { #expect(PublishedDate.day(in: text) == nil) }
}

@Suite struct LanguageCodeTests {
    @Test(arguments: [
        ("/languages/eng", "en"), ("ger", "de"), ("deu", "de"), ("fre", "fr"), ("grc", "grc"), ("en", "en"),
        ("pt-BR", "pt"),
        ("zh-CN", "zh"), ("scr", "hr"), ("ENG", "en"), ("iw", "he"),
    ])
    func `returns the two-letter code if there is one`(_ text: String, _ expected: String) {
        #expect(LanguageCode.normalized(text) == expected)
    }

    @Test(arguments: ["", "/languages/", "und", "mul", "english", "e", "12", "/languages/../x", "un"])
    func `refuses text that is not a code`(_ text: String) { #expect(LanguageCode.normalized(text) == nil) }
}

@Suite struct FieldTests {
    @Test(arguments: [
        ("\"O'Reilly Media, Inc.\"", "O'Reilly Media, Inc."), ("Simon &amp; Schuster", "Simon & Schuster"),
        ("s.n.", nil), ("[s. n.]", nil), ("s.n.]", nil), ("Snow", "Snow"), ("Matos, Melissa", "Matos, Melissa"),
    ])
    func `a publisher has no marks of a catalogue`(_ text: String, _ expected: String?) {
        #expect(FieldLimits.publisher(text) == expected)
    }

    @Test(arguments: [
        ("Einstein:", "Einstein"), ("The hobbit /", "The hobbit"), ("Who?", "Who?"), ("Either/Or", "Either/Or"),
        (" : ", nil),
    ])
    func `a title does not end in a catalogue's punctuation`(_ text: String, _ expected: String?) {
        #expect(FieldLimits.title(.string(text)) == expected)
    }

    @Test func `subjects that only machines read are left out`() {
        let subjects: JSONValue = [
            "Fantasy", "nyt:young-adult-e-book=2016-05-22", "collectionID:KellerChallenge", "series:court_of_thorns",
            "Star Trek: Voyager",
        ]
        #expect(FieldLimits.subjects(subjects) == ["Fantasy", "Star Trek: Voyager"])
    }

    @Test(arguments: [
        (">\"She chose\" opens *The Stars* and **more**.", "\"She chose\" opens The Stars and more."),
        ("See [the publisher](https://example.org/x).", "See the publisher."),
        ("Great.[1]\n\n[1]: https://example.org/a", "Great.\n\n"), ("# Head\ntext\n-----\nend", "Head\ntext\n\nend"),
        ("2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c"), ("plain - text", "plain - text"),
    ])
    func `a description has no Markdown`(_ text: String, _ expected: String) {
        #expect(text.withoutMarkdown == expected)
    }
}

@Suite struct ContributorsTests {
    @Test(arguments: [
        ("Richard Hunter (Translator)", "Richard Hunter", Contributor.Role.translator),
        ("Parks, Tim, translator", "Tim Parks", .translator), ("Aruego, Jose, ill.", "Jose Aruego", .illustrator),
        ("Hugh Laurie (Narrator)", "Hugh Laurie", .narrator), ("Keith Allman (Editor)", "Keith Allman", .editor),
        ("Garnett, Constance, 1861-1946", "Constance Garnett", .other),
        ("Sexton, Thomas L., 1953-", "Thomas L. Sexton", .other), ("FitzLyon, Kyril.", "Kyril FitzLyon", .other),
        ("Wharton, Edith", "Edith Wharton", .other), ("Smith, Ed.", "Ed. Smith", .other),
        ("Penguin Books (Firm)", "Penguin Books", .other), ("Wharton, Edith", "Edith Wharton", .other),
        ("Böll, Annemarie, Übers.", "Annemarie Böll", .translator),
    ])
    func `are read in either order, with their roles`(_ text: String, _ name: String, _ role: Contributor.Role) {
        #expect(Contributors.contributor(in: text) == Contributor(name: name, role: role))
    }

    @Test(arguments: ["", " , ", "1861-1946", "(Editor)"]) func `need a name`(_ text: String) {
        #expect(Contributors.contributor(in: text) == nil)
    }

    @Test(arguments: [
        (
            "Giacomo Leopardi ; translated by Tim Parks",
            [Contributor(name: "Giacomo Leopardi"), Contributor(name: "Tim Parks", role: .translator)]
        ),
        (
            "by Robert Kraus ; pictures by Jose Aruego & Ariane Dewey.",
            [
                Contributor(name: "Robert Kraus"), Contributor(name: "Jose Aruego", role: .illustrator),
                Contributor(name: "Ariane Dewey", role: .illustrator),
            ]
        ),
        (
            "edited by Thomas L. Sexton, Barbara L. Griffin ; foreword by Oscar F. Alves.",
            [
                Contributor(name: "Thomas L. Sexton", role: .editor),
                Contributor(name: "Barbara L. Griffin", role: .editor),
                Contributor(name: "Oscar F. Alves", role: .other),
            ]
        ),
        ("Katja Diehl, mit zahlreichen Illustrationen von Doris Reich", [Contributor(name: "Katja Diehl")]),
        ("the staff of the museum", []), ("", []),
    ])
    func `are read from a statement of responsibility as far as it is plain`(
        _ text: String, _ expected: [Contributor]
    ) {
        #expect(Contributors.statement(text) == expected)
    }
}

@Suite struct EditionTests {
    @Test(arguments: [
        (#"["Counseling and development series ;", "3"]"#, "Counseling and development series", "3"),
        (#"["Studies in language -- 63"]"#, "Studies in language", "63"),
        (#"["Studies in language -- vol. 63."]"#, "Studies in language", "63"),
        (#"["Heyne science fiction & fantasy -- Bd. 06/4400"]"#, "Heyne science fiction & fantasy", "06/4400"),
        (#"["American university studies.", "vol. 1"]"#, "American university studies", "1"),
        (#"["Penguin classics", "1984"]"#, "Penguin classics", nil),
        (#"["Penguin classics #12"]"#, "Penguin classics", "12"), (#"["Culture, bk. 2.5"]"#, "Culture", "2.5"),
        (#"["Bantam Classic"]"#, "Bantam Classic", nil), (#"["Counseling series ;"]"#, "Counseling series", nil),
        (#"["Reading, writing"]"#, "Reading, writing", nil),
    ])
    func `has the series and its number`(_ series: String, _ name: String, _ number: String?) throws {
        let edition = Metadata(try JSONValue(parsing: Array(#"{"title": "T", "series": \#(series)}"#.utf8)))
        #expect(edition.series == name && edition.seriesNumber == number)
    }

    @Test(arguments: [
        ("Pamphlet", Metadata.Format.physical), ("Sheet music", .physical), ("CD-ROM", .digital),
        ("Diskette", .digital), ("Audio CD", .audiobook), ("Unknown Binding", .physical), ("Stone", nil),
    ])
    func `has the format`(_ text: String, _ format: Metadata.Format?) throws {
        let edition = Metadata(try JSONValue(parsing: Array(#"{"physical_format": "\#(text)"}"#.utf8)))
        #expect(edition.format == format)
    }

    @Test func `does not name an author among the other contributors`() throws {
        let edition = Metadata(
            try JSONValue(
                parsing: Array(
                    #"""
                    {"authors": [{"name": "Fyodor Dostoyevsky"}], "by_statement": "translated by Kyril FitzLyon.",
                    "contributions": ["FitzLyon, Kyril.", "Dostoyevsky, Fyodor, 1821-1881.", "FitzLyon, Kyril Z."]}
                    """#.utf8)))
        #expect(
            edition.authors == [
                Contributor(name: "Fyodor Dostoyevsky"), Contributor(name: "Kyril FitzLyon", role: .translator),
            ])
    }
}

extension Metadata {
    fileprivate init(_ edition: JSONValue) { self = OpenLibraryEdition.metadata(edition) }
}

@Suite struct LookupConfigurationTests {
    @Test func `puts the contact into the user agent`() throws {
        func agent(_ contact: String?) throws -> String {
            try LookupConfiguration(version: "1.2", homepage: "https://bookplate.example", contact: contact).userAgent
        }
        #expect(try agent("a@b.example") == "Bookplate/1.2 (+https://bookplate.example; a@b.example)")
        #expect(try agent(nil) == "Bookplate/1.2 (+https://bookplate.example)")
    }

    @Test(arguments: ["http://openlibrary.org", "openlibrary.org", "", "http://192.168.1.1", "https://x?y"])
    func `refuses an invalid base address, and plain http beyond this machine`(_ text: String) {
        #expect(throws: LookupConfigurationError.self) {
            try LookupConfiguration(version: "1", homepage: "h", openLibrary: text)
        }
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "Jürgen", "a (b)"])
    func `refuses a contact that would break the header`(_ text: String) {
        #expect(throws: LookupConfigurationError.self) {
            try LookupConfiguration(version: "1", homepage: "h", contact: text)
        }
    }
}

@Suite struct HostileRecordTests {
    @Test(arguments: ["openlibrary-odyssey.json", "openlibrary-edition.json", "googlebooks-odyssey.json"])
    func `thousands of damaged records cause no crash, and no field exceeds its limit`(_ name: String) throws {
        let sound = Array(try fixture(name).utf8)
        let covers = CoverAddress(base: try #require(WebAddress("https://covers.openlibrary.org")))
        var random = SplitMix(seed: 42)
        var read = 0
        for _ in 0..<2_000 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 20)], at: place)
                default: bytes[place] = #"{}[]":,\0"#.utf8.randomElement(using: &random) ?? 0
                }
            }
            guard case .success(let json) = bytes.withUnsafeBufferPointer({ JSONValue.parse($0) }) else { continue }
            read += 1
            let record = json.members.first?.value ?? json
            for metadata in [OpenLibraryEdition.metadata(json), OpenLibraryRecord.metadata(record, covers: covers)] {
                guard let metadata else { continue }
                #expect((metadata.title?.count ?? 0) <= TextLimit.title && metadata.subjects.count <= FieldLimits.items)
                #expect(metadata.coverURL?.hasPrefix("https://") ?? true)
            }
        }
        #expect(read > 100)
    }
}
