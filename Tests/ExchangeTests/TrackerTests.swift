import Bookplate
import FoundationEssentials
import Testing

@testable import Exchange

@Suite struct TrackerTests {
    @Test func `Goodreads: a whole row`() throws {
        let book = try book(
            goodreadsHeader,
            [
                "Book Id": "42", "Title": "The Glass Tide (Tide, #2.5)", "Author": "Ada  Example",
                "Additional Authors": "Bo Sample, Cy Muster", "ISBN": "=\"0441172717\"", "ISBN13": "=\"9780441172719\"",
                "My Rating": "4", "Publisher": "Ace", "Binding": "Mass Market Paperback", "Number of Pages": "604",
                "Year Published": "1990", "Original Publication Year": "1965", "Date Read": "2023/05/17",
                "Date Added": "2022/01/30", "Bookshelves": "sci-fi, read, desert", "Exclusive Shelf": "read",
                "My Review": "Good.<br/><br/>Very <i>good</i> &amp; long.", "Private Notes": "from Kim",
                "Read Count": "3",
                "Owned Copies": "1",
            ])
        #expect(book.metadata.title == "The Glass Tide")
        #expect(book.metadata.series == "Tide" && book.metadata.seriesNumber == "2.5")
        #expect(book.metadata.authorNames == ["Ada Example", "Bo Sample", "Cy Muster"])
        #expect(book.isbn?.digits == "9780441172719")
        #expect(book.metadata.format == .physical && book.metadata.pageCount == 604)
        #expect(book.metadata.publishedDate == CalendarDay("1990"))
        #expect(book.metadata.identifiers == ["goodreads": ["42"]] && book.request == "goodreads:42")
        #expect(book.record.copy.rating == 4 && book.record.copy.status == .read && book.record.copy.isOwned)
        #expect(book.record.copy.tags == ["sci-fi", "desert"])
        #expect(book.days == ["finished >", "finished >", "finished >2023-05-17"])
        #expect(book.record.notes.map(\.text) == ["Good.\n\nVery good & long.", "from Kim"])
        #expect(book.record.copy.added.utcDay == "2022-01-30" && book.hasAdded)
        #expect(book.doubts.isEmpty && book.raw.isEmpty && book.row == 2)
    }

    @Test(
        arguments: [
            ("Dune (Dune, #1)", "Dune", "Dune", "1"), ("Dune (Dune Chronicles #1)", "Dune", "Dune Chronicles", "1"),
            ("Mort (Discworld, #4; Death, #1)", "Mort", "Discworld", "4"),
            ("It (Penguin Classics)", "It (Penguin Classics)", nil, nil),
            ("Plain", "Plain", nil, nil), ("Odd (x) (S, #)", "Odd (x) (S, #)", nil, nil),
            ("A (B, #1-3)", "A", "B", "1-3"),
        ])
    func `Goodreads: the series is in the title`(_ sample: (String, String, String?, String?)) {
        let parted = GoodreadsRow.splitTitle(sample.0)
        #expect(parted.title == sample.1 && parted.series == sample.2 && parted.number == sample.3)
    }

    @Test(
        arguments: [
            ("to-read", "", "0", Copy.Status.toRead, [String](), [String]()),
            ("currently-reading", "", "0", .reading, ["open >"], []),
            ("did-not-finish", "2020/01/02", "0", .dnf, ["stopped >2020-01-02"], []),
            ("on-hold", "", "0", .onHold, ["open >"], []),
            ("abandoned", "", "0", .dnf, ["stopped >"], []),
            ("favourites-of-all", "2020/01/02", "1", .read, ["finished >2020-01-02"], ["favourites-of-all"]),
            ("loaned-out", "", "0", .toRead, [], ["loaned-out"]),
            ("currently-reading", "2020/01/02", "1", .reading, ["finished >2020-01-02", "open >"], []),
        ])
    func `Goodreads: exclusive shelves`(
        _ sample: (shelf: String, read: String, count: String, status: Copy.Status, days: [String], tags: [String])
    ) throws {
        let book = try book(
            goodreadsHeader,
            ["Title": "T", "Exclusive Shelf": sample.shelf, "Date Read": sample.read, "Read Count": sample.count])
        #expect(book.record.copy.status == sample.status)
        #expect(book.days == sample.days)
        #expect(book.record.copy.tags == sample.tags)
    }

    @Test(
        arguments: [
            (["Date Read": "2023/02/30"], "date read: \"2023/02/30\" is not a date and was left out"),
            (
                ["ISBN13": "=\"9780441172710\""],
                "\"9780441172710\" is not an ISBN: the check digit is 0; it should be 9"
            ),
            (["Number of Pages": "-5"], "number of pages: \"-5\" is not a page count and was left out"),
            (
                ["Number of Pages": "99999999999999999999"],
                "number of pages: \"99999999999999999999\" is not a page count and was left out"
            ),
            (["My Rating": "7"], "rating: \"7\" is not a number of stars from 0 to 5 and was left out"),
            (["My Rating": "4.3"], "rating: 4.3 was rounded to 4.25"),
            (["Title": String(repeating: "t", count: 600)], "title is longer than 512 characters and was truncated"),
            (
                ["My Review": String(repeating: "r", count: 5001)],
                "my review is longer than 5000 characters and was truncated"
            ),
        ])
    func `a doubtful value is flagged, and the row is imported`(_ sample: (cells: [String: String], doubt: String))
        throws
    {
        let book = try book(
            goodreadsHeader, ["Title": "T", "Exclusive Shelf": "read"].merging(sample.cells) { $1 })
        #expect(book.doubts.count == 1 && book.doubts[0].hasPrefix(sample.doubt.prefix(24)), "\(book.doubts)")
        #expect(!book.raw.isEmpty)
    }

    @Test func `a wrong ISBN stays as text`() throws {
        let book = try book(goodreadsHeader, ["Title": "T", "Exclusive Shelf": "read", "ISBN": "=\"12-34\""])
        #expect(book.isbn == nil && book.isbnText == "12-34" && book.doubts.count == 1)
    }

    @Test func `StoryGraph: lists of days, quarter stars, Amazon's numbers`() throws {
        var book = try book(
            storyGraphHeader,
            [
                "Title": "River & Salt", "Authors": "Ada Example, Bo Sample", "Contributors": "Cy Muster (Translator)",
                "ISBN/UID": "B0851JCZYV", "Format": "audio", "Read Status": "read", "Date Added": "2021/05/01",
                "Dates Read": "2022/03/16-2022/04/01, 2021/07/21", "Read Count": "2", "Star Rating": "3.75",
                "Review": "<div>Fine.</div>", "Tags": "library, sea", "Owned?": "Yes",
            ])
        #expect(book.days == ["finished >2021-07-21", "finished 2022-03-16>2022-04-01"])
        #expect(
            book.record.copy.rating == 3.75 && book.record.copy.isOwned && book.record.copy.tags == ["library", "sea"])
        #expect(book.metadata.identifiers == ["amazon": ["B0851JCZYV"]] && book.isbn == nil && book.doubts.isEmpty)
        #expect(book.metadata.authors.last == Contributor(name: "Cy Muster", role: .translator))
        #expect(book.metadata.format == .audiobook && book.record.notes.map(\.text) == ["Fine."])
        #expect(book.request.hasPrefix("storyGraph:"))

        book = try storyGraph([
            "Title": "X", "Read Status": "did-not-finish", "Dates Read": "2022/04/01-2022/03/16", "Owned?": "No",
        ])
        #expect(book.days == ["stopped 2022-04-01>2022-03-16"] && !book.record.copy.isOwned)
        #expect(book.doubts == ["the book was finished on 2022-03-16, before it was started on 2022-04-01"])
        book = try storyGraph(["Title": "X", "Read Status": ""])
        #expect(book.record.copy.status == .toRead && book.doubts.isEmpty)
        book = try storyGraph(["Title": "X", "Read Status": "currently-reading", "Star Rating": "0.25"])
        #expect(book.days == ["open >"] && book.record.copy.rating == 0.25)
    }

    private func storyGraph(_ cells: [String: String]) throws -> ImportedBook { try book(storyGraphHeader, cells) }

    @Test func `LibraryThing: brackets, turned names, collections`() throws {
        let book = try book(
            libraryThingHeader, by: "\t",
            [
                "Book Id": "77", "Title": "Été", "Primary Author": "Le Muster, Ursula K.",
                "Secondary Author": "Roe, Jane|Doe, Jo",
                "Secondary Author Roles": "Translator|Illustrator", "Publication": "Ace (1987), Paperback, 304 pages",
                "Date": "1987", "Rating": "[4.5]", "Comment": "c", "Private Comment": "p", "Media": "Paper Book",
                "Page Count": "304 ", "Date Started": "[2007-04-01]", "Date Read": "[2007-04-16]", "Tags": "sf, sea",
                "Collections": "Your library, Favorites, Attic", "Languages": "French", "Original Languages": "English",
                "ISBN": "[0441172717]", "ISBNs": "0441172717, 9780441172719", "Entry Date": "[2006-01-02]",
                "Work id": "[9]",
            ])
        #expect(book.metadata.authors.map(\.name) == ["Ursula K. Le Muster", "Jane Roe", "Jo Doe"])
        #expect(book.metadata.authors.map(\.role) == [.author, .translator, .illustrator])
        #expect(book.isbn?.digits == "9780441172719" && book.metadata.publisher == "Ace")
        #expect(
            book.metadata.pageCount == 304 && book.metadata.language == "fr" && book.metadata.originalLanguage == "en")
        #expect(
            book.record.copy.isFavourite && book.record.copy.isOwned && book.record.copy.tags == ["sf", "sea", "Attic"])
        #expect(book.record.copy.rating == 4.5 && book.days == ["finished 2007-04-01>2007-04-16"])
        #expect(book.record.notes.map(\.text) == ["c", "p"] && book.record.copy.added.utcDay == "2006-01-02")
        #expect(book.request == "libraryThing:77" && book.doubts.isEmpty)
    }

    @Test func `LibraryThing: the old export is ISO-8859-1`() throws {
        let text = libraryThingHeader + "\n" + "1\tL'\u{E9}t\u{E9}\t" + String(repeating: "\t", count: 29) + "\n"
        let (format, rows) = try rows(text.unicodeScalars.map { UInt8($0.value) })
        guard case .book(let book) = try #require(rows.first) else { throw LineError(description: "\(rows)") }
        #expect(format == .libraryThing && book.metadata.title == "L'été" && book.doubts.isEmpty)
    }

    @Test func `Openreads: joined tags, readings with their time, ratings in tenths`() throws {
        var book = try book(
            openreadsHeader,
            [
                "title": "Kite", "subtitle": "A Story", "author": "Ada Example", "description": "D",
                "status": "finished",
                "favourite": "true", "deleted": "false", "rating": "4.5", "pages": "300", "isbn": "9780441172719",
                "olid": "OL1M", "tags": "a|||||b, c", "my_review": "r", "notes": "n", "book_format": "ebook",
                "readings": "2023-01-01T00:00:00.000|2023-01-05T00:00:00.000|7200000;2021-01-01T00:00:00.000|null|",
                "date_added": "2020-02-03T10:00:00.000",
            ])
        #expect(book.days == ["finished 2021-01-01>", "finished 2023-01-01>2023-01-05"])
        let session = try #require(book.record.readings.last?.sessions.first)
        #expect(session.end?.timeIntervalSince(session.start) == 7200)
        #expect(
            book.record.copy.tags == ["a", "b, c"] && book.record.copy.rating == 4.5 && book.record.copy.isFavourite)
        #expect(book.metadata.format == .digital && book.metadata.identifiers == ["openlibrary": ["OL1M"]])
        #expect(book.record.notes.count == 2 && book.doubts.isEmpty)

        book = try Self.openreads(["title": "K", "status": "in_progress", "rating": "45"])
        #expect(book.days == ["open >"] && book.record.copy.rating == 4.5)
        book = try Self.openreads(["title": "K", "status": "finished", "readings": "|2023-01-05|999999999999"])
        #expect(book.doubts == ["a reading time of 16666666 minutes could not be stored as a session"])
        book = try Self.openreads([
            "title": "K", "status": "abandoned", "deleted": "true", "date_modified": "2023-01-05",
        ])
        #expect(book.record.copy.deleted?.utcDay == "2023-01-05" && book.days == ["stopped >"])
    }

    private static func openreads(_ cells: [String: String]) throws -> ImportedBook {
        try book(openreadsHeader, ["author": "A"].merging(cells) { $1 })
    }

    @Test(
        arguments: [
            ("plain", "plain"), ("a < b & c", "a < b & c"), ("<b>x</b> &lt;i&gt; &#233;&#xe9;", "x <i> éé"),
            ("one<br />two<BR>three", "one\ntwo\nthree"), ("<a href=\"http://x\">link</a>", "link"),
            ("<unknown>", "<unknown>"),
            ("&nothing; &#99999999; <", "&nothing; &#99999999; <"),
        ])
    func `markup becomes plain text`(_ sample: (String, String)) { #expect(plainText(sample.0) == sample.1) }

    @Test func `a shelf that only sounds like a status is a tag`() throws {
        let book = try book(
            goodreadsHeader,
            ["Title": "A", "Bookshelves": "read-2019, 2020-read, tbr-2, to-read", "Exclusive Shelf": "to-read"])
        #expect(book.record.copy.tags == ["read-2019", "2020-read", "tbr-2"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["<", "<b", "<<>", "&", "<a href=\""])
    func `a review of ten million brackets takes no time`(_ piece: String) throws {
        let review = String(repeating: piece, count: (10 << 20) / piece.utf8.count)
        let book = try book(goodreadsHeader, ["Title": "A", "Exclusive Shelf": "read", "My Review": review])
        #expect((book.record.notes.first?.text.count ?? 0) <= 5000 && !book.doubts.isEmpty)
    }

    @Test func `a row is kept within its limit, however it was encoded`() throws {
        let header = "Title,Author,Exclusive Shelf,My Rating,My Review\n"
        for letter in [[UInt8(0xE9)], [0], Array("€".utf8)] {
            let review = (0..<ImportFlag.rawLimit).flatMap { _ in letter }
            let text = Array((header + "A,B,read,9,\"").utf8) + review + Array("\"\n".utf8)
            guard case .book(let book) = try rows(text).rows[0] else { throw LineError(description: "refused") }
            #expect(!book.doubts.isEmpty && book.raw.utf8.count <= ImportFlag.rawLimit)
            #expect(!book.raw.unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test func `a letter with a million marks is quoted briefly`() throws {
        let marks = "5" + String(repeating: "\u{301}", count: 1 << 20)
        let book = try book(
            goodreadsHeader,
            [
                "Title": "A", "Exclusive Shelf": "read", "My Rating": marks, "Date Read": marks,
                "Number of Pages": marks, "ISBN": marks,
            ])
        #expect(book.doubts.count >= 4 && book.doubts.joined().utf8.count < 2000)
    }

    @Test func `a book that occurs twice in a file is numbered`() throws {
        let all = try books(
            """
            Title,Authors,ISBN/UID,Read Status,Star Rating
            A,B,9780441172719,read,
            A,B,9780441172719,read,4
            C,B,,read,

            """)
        #expect(all[1].request == all[0].request + ":2" && all.map(\.isFurther) == [false, true, false])
    }

    @Test func `presets apply to every book`() throws {
        let text = "Title,Author,Exclusive Shelf,Owned Copies\nA,B,read,0\n"
        let all = try presetRows(text, ImportPreset(shelf: "Hall", tags: ["new"], isOwned: true))
        guard case .book(let book) = all[0] else { throw LineError(description: "\(all)") }
        #expect(book.record.copy.shelf == "Hall" && book.record.copy.tags == ["new"] && book.record.copy.isOwned)
    }

    private func presetRows(_ text: String, _ preset: ImportPreset) throws -> [ImportRow] {
        try rows(Array(text.utf8), preset: preset).rows
    }

    @Test(
        arguments: [
            "title is 10 MB", "title with NUL", "title in emoji", "title right to left",
            "title of combining characters",
            "title of the year 9999",
        ])
    func `no text stops the reader`(_ name: String) throws {
        let title: String =
            switch name {
            case "title is 10 MB": String(repeating: "é", count: 5 << 20)
            case "title with NUL": "a\0b"
            case "title in emoji": "👩‍👩‍👧‍👦"
            case "title right to left": "\u{202E}שלום"
            case "title of combining characters": "e" + String(repeating: "\u{301}", count: 20_000)
            default: "9999"
            }
        let book = try book(
            goodreadsHeader,
            ["Title": title, "Exclusive Shelf": "read", "Date Read": "9999/12/31", "Date Added": "0001/01/01"])
        let stored = try #require(book.metadata.title)
        #expect(stored.count <= 512 && !stored.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        #expect(book.days == ["finished >9999-12-31"] && book.raw.utf8.count <= ImportFlag.rawLimit)
    }
}
