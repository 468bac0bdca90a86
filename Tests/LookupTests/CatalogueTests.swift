import Bookplate
import HTTP
import Testing

@testable import Lookup

@Suite struct CatalogueTests {
    @Test(arguments: [
        (
            Catalogue.dnb,
            "https://services.dnb.de/sru/dnb?version=1.1&operation=searchRetrieve&query=NUM%3D9780140268867&recordSchema=MARC21-xml&startRecord=1&maximumRecords=5"
        ),
        (
            .bnf,
            "https://catalogue.bnf.fr/api/SRU?version=1.2&operation=searchRetrieve&query=bib.isbn%20all%20%229780140268867%22&startRecord=1&maximumRecords=5"
        ),
        (
            .k10plus,
            "https://sru.k10plus.de/opac-de-627?version=1.1&operation=searchRetrieve&query=pica.isb=9780140268867&recordSchema=marcxml&startRecord=1&maximumRecords=5"
        ),
        (
            .loc,
            "https://lx2.loc.gov/sru/lcdb?version=1.1&operation=searchRetrieve&query=bath.ISBN=9780140268867%20or%20bath.ISBN=0140268863&recordSchema=marcxml&startRecord=1&maximumRecords=5"
        ),
        (
            .bn,
            "https://data.bn.org.pl/api/institutions/bibs.marcxml?isbnIssn=9780140268867&limit=5"
        ),
        (.libris, "https://libris.kb.se/xsearch?query=ISBN:9780140268867&format=json&n=5"),
        (.openBD, "https://api.openbd.jp/v1/get?isbn=9780140268867"),
        (.citoid, "https://en.wikipedia.org/api/rest_v1/data/citation/mediawiki/9780140268867"),
    ])
    func `requests a book at the public address`(_ catalogue: Catalogue, _ address: String) throws {
        let target = catalogue.request([.odyssey])
        #expect(try #require(WebAddress(catalogue.base)).appending(target).description == address)
        // WebAddress refuses what would need to be encoded.
        #expect(WebAddress(address)?.description == address)
    }

    @Test func `a request for many books stays within the length of an address`() throws {
        let catalogue = Catalogue.openBD
        let isbns = [ISBN](repeating: .odyssey, count: catalogue.batchSize)
        #expect(catalogue.base.utf8.count + catalogue.request(isbns).utf8.count < WebAddress.maxLength)
    }

    @Test(arguments: [
        ("9783100000019", [SourceName.dnb]), ("9782070000012", [.bnf]), ("9788300000012", [.bn]),
        ("9789100000011", [.libris]), ("9784000000017", [.openBD]), ("9780140268867", []),
    ])
    func `a national catalogue is asked for the books of its group, the others for all`(
        _ isbn: String, _ national: [SourceName]
    ) {
        let asked = Catalogue.all.filter { $0.isAsked(for: .sample(isbn)) }.map(\.name)
        #expect(asked == national + [.k10plus, .loc, .citoid])
    }

    @Test func `each has its own name, a secure address and a place among the others`() {
        #expect(Set(Catalogue.all.map(\.name)).count == Catalogue.all.count)
        #expect(
            Catalogue.all.allSatisfy { $0.base.hasPrefix("https://") && $0.batchSize > 0 && $0.pause >= .seconds(1) })
        #expect(Set(SourceOrder.standard.sources).isSuperset(of: Catalogue.all.map(\.name)))
        // Five requests a minute.
        #expect(Catalogue.loc.pause == .seconds(12))
    }

    @Test func `each answers for every ISBN, whatever it receives`() {
        for catalogue in Catalogue.all {
            for body in ["", "<", "{", "null", "[]", "{}", "[5]", "<html></html>"] {
                let answers = catalogue.read(Array(body.utf8), [.odyssey, .solaris, .odyssey])
                #expect(Set(answers.keys) == [.odyssey, .solaris])
                for case .found in answers.values { Issue.record("\(catalogue.name) found a book in \(body)") }
            }
        }
    }
}

@Suite struct JSONCatalogueTests {
    private func read(_ name: String, _ catalogue: Catalogue, _ isbn: String) throws -> Metadata {
        let isbn = ISBN.sample(isbn)
        guard case .found(let book)? = catalogue.read(Array(try fixture(name).utf8), [isbn])[isbn] else {
            throw NoAnswer()
        }
        return book
    }

    @Test func `a record of openBD becomes metadata`() throws {
        let book = try read("openbd-made.json", .openBD, "9784000000017")
        #expect(book.title == "旅する灯台" && book.subtitle == "海の物語")
        #expect(book.people == ["author: 磯野 渚", "translator: 波多野 岬", "author: Daniel H Wave"])
        #expect(book.publisher == "海辺社" && book.publishedDate == CalendarDay("2013-09-06"))
        #expect(book.publishedDateText == "2013-09-06" && book.pageCount == 192 && book.language == "ja")
        #expect(book.series == "海辺文庫" && book.seriesNumber == "3" && book.format == .physical)
        #expect(book.description == "灯台が旅に出る。")
        #expect(book.coverURL == "https://cover.openbd.jp/9784000000017.jpg" && book.sources[.title] == .openBD)
    }

    @Test func `openBD's summary fills what its record lacks, but a foreign cover is not used`() throws {
        let book = try read("openbd-made.json", .openBD, "9784000000031")
        #expect(book.title == "渚の刃 1" && book.people == ["author: 浜辺 洋", "illustrator: 沖田 翼"])
        #expect(book.publisher == "波書房" && book.publishedDate == CalendarDay("2016-06"))
        #expect(book.series == "波コミックス" && book.seriesNumber == "1" && book.description == nil && book.coverURL == nil)
    }

    @Test func `several ISBNs are answered together, null as not found`() throws {
        let isbns = ["9784000000017", "9784000000024", "9784000000031"].map(ISBN.sample)
        let answers = Catalogue.openBD.read(Array(try fixture("openbd-made.json").utf8), isbns)
        #expect(answers[isbns[1]] == .notFound && answers.count == 3)
        for isbn in [isbns[0], isbns[2]] {
            guard case .found? = answers[isbn] else { throw NoAnswer() }
        }
        #expect(Catalogue.openBD.read(Array("[null]".utf8), [isbns[1]]) == [isbns[1]: .notFound])
    }

    @Test(arguments: [
        ("斉藤 努/著、久保 幹雄/監修", ["author: 斉藤 努", "other: 久保 幹雄"]),
        ("Wave,DanielH／著 大前研一／翻訳", ["author: DanielH Wave", "translator: 大前研一"]),
        ("山田玲子／著 水野菜生／英訳", ["author: 山田玲子", "translator: 水野菜生"]),
        ("浜辺,洋", ["author: 浜辺 洋"]), ("A／絵 B／編 C／朗読 D／漫画", ["illustrator: A", "editor: B", "narrator: C", "author: D"]),
        ("", []), ("／著", []), ("、、／／", []),
    ])
    func `splits openBD's list of authors into names and roles`(_ text: String, _ people: [String]) {
        #expect(OpenBD.people(in: text).map { "\($0.role.rawValue): \($0.name)" } == people)
    }

    @Test func `a record of Libris becomes metadata, whether its values are texts or lists`() throws {
        let book = try read("libris-made.json", .libris, "9789100000011")
        #expect(book.title == "Den resande fyren" && book.subtitle == "en berättelse")
        #expect(book.authorNames == ["Ida Lejongap"] && book.authors.last?.name == "Birgitta Bränning")
        #expect(book.publisher == "Kust & Hav" && book.publishedDate == CalendarDay("2001") && book.language == "sv")
        #expect(book.description == "En fyr ger sig ut på resa.")
        #expect(book.identifiers == ["libris": ["1000002"]] && book.infoLink == "https://libris.kb.se/bib/1000002")
        let none = #"{"xsearch": {"from": 0, "to": 0, "records": 0, "list": []}}"#
        #expect(Catalogue.libris.read(Array(none.utf8), [.odyssey]) == [.odyssey: .notFound])
    }

    @Test func `a record of Citoid becomes metadata in both of its forms`() throws {
        let book = try read("citoid-made.json", .citoid, "9780521000017")
        #expect(book.title == "The travelling lighthouse" && book.subtitle == "a tale")
        #expect(book.people == ["author: Ida Snapdragon", "author: Duncan Breaker", "translator: Jan Wave"])
        #expect(book.publisher == "University Press" && book.publishedDate == CalendarDay("1971-03"))
        #expect(
            book.pageCount == 277 && book.language == "en" && book.series == "Sea studies" && book.seriesNumber == "4")
        #expect(book.description == "A lighthouse sets out." && book.identifiers == ["oclc": ["1000000003"]])
        let other =
            #"[{"itemType": "book", "title": "T", "ISBN": "0521000017, 9780521000017", "creators": [{"creatorType": "author", "firstName": "", "lastName": "Breaker, Duncan."}, {"creatorType": "editor", "firstName": "A", "lastName": "B"}], "author": [["Foam, Stephen", "R.,"]]}]"#
        let isbn = ISBN.sample("9780521000017")
        guard case .found(let second)? = Catalogue.citoid.read(Array(other.utf8), [isbn])[isbn] else {
            throw NoAnswer()
        }
        #expect(second.people == ["author: Stephen R. Foam", "author: Duncan Breaker", "editor: A B"])
    }

    @Test func `Citoid's 404 means that the book is not found`() {
        let body = #"{"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found", "title": "Not found."}"#
        #expect(Catalogue.citoid.read(Array(body.utf8), [.odyssey]) == [.odyssey: .notFound])
    }

    @Test(arguments: [Catalogue.openBD, .libris, .citoid])
    func `the record of another book is not found`(_ catalogue: Catalogue) throws {
        let name = ["openBD": "openbd", "libris": "libris", "citoid": "citoid"][catalogue.name.rawValue] ?? ""
        let bytes = Array(try fixture("\(name)-made.json").utf8)
        #expect(catalogue.read(bytes, [.kitchen]) == [.kitchen: .notFound])
    }
}

@Suite struct CatalogueTextTests {
    @Test(arguments: [
        ("Last, First, 1930-", "First Last"), ("Last, First, 1930-1990.", "First Last"),
        ("Last, First (Full First)", "First Last"),
        ("Last, First, ca. 1850-1901", "First Last"), ("Homer", "Homer"), ("50 Cents", "50 Cents"),
        ("Row, J. K.", "J. K. Row"),
        ("Doe, John, Jr., 1930-", "John Doe Jr."),
        ("浜辺, 洋, 1950-", "浜辺 洋"), ("大前, 研一", "大前 研一"), ("山田　玲子", "山田 玲子"), ("김, 영하", "김 영하"),
        ("Lejongap, Ida, 19..-....", "Ida Lejongap"),
        ("Doe, Jr.", "Doe Jr."),
    ])
    func `turns a sorted name into one as on the title page`(_ text: String, _ name: String) {
        #expect(PersonName.displayed(text) == name)
    }

    @Test(arguments: ["", ",", "1930-", " , , "])
    func `a name without letters is none`(_ text: String) { #expect(PersonName.displayed(text) == nil) }

    @Test(arguments: [
        ("xii, 83 p.", 83), ("242 Seiten", 242), ("XV, 383 S.", 383), ("4, 242 S. : graph. Darst.", 242), ("242", 242),
        ("1 vol. (534 p.)", 534), ("1 volume 348 p", 348), ("XXV-843 p.", 843), ("circa 100 Seiten", 100),
        ("viii, 277 pages", 277),
        ("Online-Ressource, 448 Seiten", 448), ("1 Online-Ressource (xv, 383 p)", 383), ("88 Seiten in 1 Teil", 88),
        ("242, [16] s.", 242),
        ("381 sivua ; 22 cm", 381), ("300 с.", 300), ("120 S. + 1 Beih. (300 S.)", 120), ("2 Bände (500 Seiten)", 500),
        ("500 v. (80 p.)", 80),
    ])
    func `finds the page count in a statement of extent`(_ text: String, _ pages: Int) {
        #expect(FieldLimits.pages(inExtent: text) == pages)
    }

    @Test(arguments: [
        "", "809 Min.", "volumes", "1 CD-ROM ; 12 cm + 1 Beih. [6] S.", "1 Karte in 3 Teilen", "Online-Ressource",
        "S. 305 - 326", "0 p.",
        "999999999999999999999 p.", "1000000 Seiten", "2 volumes", "٣٢ p.",
    ])
    func `finds no page count where there is none`(_ text: String) { #expect(FieldLimits.pages(inExtent: text) == nil) }

    @Test(arguments: [
        ("Bd. 3", "3"), ("v.1307", "1307"), ("[2]", "2"), ("62347 : Sachbuch", "62347"), ("tome 7", "7"),
        ("06/4400", "06/4400"), ("A", "A"),
        ("T. 12", "12"), ("Band 2", "2"), ("n° 5", "5"), ("Heft 4", "4"), ("III", "III"),
    ])
    func `finds the number of a series`(_ text: String, _ number: String) {
        #expect(SeriesNumber.number(in: text) == number)
    }

    @Test(
        arguments: [
            ("author.", .author), ("VerfasserIn", .author), ("[Übersetzer]", .translator), ("Tłumaczenie", .translator),
            ("éd.", .editor),
            ("ill.", .illustrator), ("Sprecherin", .narrator), ("author of introduction", .other), ("publisher", nil),
            ("Herausgebendes Organ", nil), ("", nil),
        ] as [(String, Contributor.Role?)])
    func `recognises a role by its word`(_ word: String, _ role: Contributor.Role?) {
        #expect(Contributor.Role(word: word) == role)
    }

    @Test(arguments: [
        ("[20]10", "2010"), ("199[5]", "1995"), ("201606", "2016-06"), ("2024nen 7gatsu 5ka", "2024-07-05"),
        ("cop. 2004", "2004"),
    ])
    func `parses the dates of catalogues`(_ text: String, _ date: String) {
        #expect(PublishedDate.day(in: text)?.description == date)
    }
}
