import Bookplate
import Testing

@testable import Lookup

/// Makes a record in MARC21slim from lines such as `245 10 $aTitle :$bsubtitle` and `LDR      cam`.
private func marc(_ lines: String) -> [UInt8] {
    var body = ""
    for line in lines.split(separator: "\n") {
        let tag = line.prefix(3)
        let text = line.dropFirst(4).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        if tag == "LDR" {
            body += "<leader>\(text)</leader>"
        } else if tag < "010" {
            body += #"<controlfield tag="\#(tag)">\#(text)</controlfield>"#
        } else {
            let indicators = Array(text.prefix(2))
            body += #"<datafield tag="\#(tag)" ind1="\#(indicators[0])" ind2="\#(indicators[1])">"#
            for part in text.dropFirst(3).split(separator: "$") {
                body += #"<subfield code="\#(part.prefix(1))">\#(part.dropFirst())</subfield>"#
            }
            body += "</datafield>"
        }
    }
    return Array("<record>\(body)</record>".utf8)
}

/// Reads a record with a number and a title, and with these fields.
private func book(_ fields: String, unimarc: Bool = false) throws -> Metadata {
    let sound = unimarc ? "010    $a9783100000019\n200 1  $aTitel\n" : "020    $a9783100000019\n245 00 $aTitel\n"
    // A title of one's own comes before the usual one.
    let source = MarcReader(name: .dnb, dialect: unimarc ? .unimarc : .marc21)
    guard case .found(let book)? = source.read(marc(fields + "\n" + sound), [.leuchtturm])[.leuchtturm] else {
        throw NoAnswer()
    }
    return book
}

extension ISBN {
    fileprivate static let leuchtturm = sample("9783100000019")
}

extension Metadata {
    /// The contributors, each as "role: name".
    var people: [String] { authors.map { "\($0.role.rawValue): \($0.name)" } }
}

@Suite struct CatalogueRecordTests {
    func read(_ name: String, _ catalogue: Catalogue, _ isbn: String) throws -> Metadata {
        let isbn = ISBN.sample(isbn)
        let answers = catalogue.read(Array(try fixture(name).utf8), [isbn])
        guard case .found(let book)? = answers[isbn] else { throw NoAnswer() }
        #expect(answers.count == 1 && book.sources[.title] == catalogue.name)
        return book
    }

    @Test func `a record of the DNB becomes metadata`() throws {
        let book = try read("dnb-made.xml", .dnb, "9783100000019")
        #expect(book.title == "Der reisende Leuchtturm" && book.subtitle == "eine Erzählung")
        #expect(book.people == ["author: Ida Löwenmaul", "translator: Andreas Brandung"])
        #expect(book.publisher == "Der Küstenverlag")
        #expect(book.publishedDate == CalendarDay("2018-06") && book.publishedDateText == "Juni 2018")
        #expect(book.pageCount == 320 && book.language == "de" && book.originalLanguage == "en")
        #expect(book.series == "Küste" && book.seriesNumber == "8086" && book.format == .physical)
        #expect(book.coverURL == nil && book.description == nil)
        #expect(book.identifiers == ["dnb": ["1000000001"], "oclc": ["1000000002"]])
        // Texts are composed, although the DNB sends letters and their dots apart.
        for text in [book.subtitle, book.publisher, book.series, book.authors.first?.name].compactMap(\.self) {
            #expect(!text.unicodeScalars.contains("\u{308}"))
        }
    }

    @Test func `a record of the BnF becomes metadata`() throws {
        let book = try read("bnf-made.xml", .bnf, "9782070000012")
        #expect(book.title == "Le phare voyageur" && book.subtitle == "récit")
        #expect(book.people == ["author: I. D. Muflier", "translator: Jean-Noël Vague"])
        #expect(book.publisher == "Littoral" && book.publishedDate == CalendarDay("1999"))
        #expect(book.pageCount == 232 && book.language == "fr" && book.originalLanguage == "en")
        #expect(book.series == "Le grand large" && book.seriesNumber == "7" && book.format == .physical)
        #expect(book.description == "Un phare part en voyage.")
        #expect(book.identifiers == ["bnf": ["ark:/12148/cb00000001x"]])
        #expect(book.infoLink == "https://catalogue.bnf.fr/ark:/12148/cb00000001x")
    }

    @Test func `of several records at K10plus, the printed book with the full number is chosen`() throws {
        let book = try read("k10plus-made.xml", .k10plus, "9780521000017")
        #expect(book.title == "Tidal reading" && book.authorNames == ["William V. Harbour"])
        #expect(book.publisher == "Shore Univ. Press" && book.publishedDate == CalendarDay("1991"))
        #expect(book.pageCount == 383 && book.series == "Sea studies" && book.seriesNumber == "1307")
        #expect(book.identifiers == ["k10plus": ["100000004"]])
    }

    @Test func `a record of Poland's library needs no envelope of SRU`() throws {
        let book = try read("bn-made.xml", .bn, "9788300000012")
        #expect(book.title == "Latarnia w podróży" && book.subtitle == "opowiadanie")
        #expect(book.people == ["author: Łucja Wydmowa", "translator: Jan Fala"])
        #expect(book.publisher == "Wydawnictwo Wybrzeże" && book.publishedDateText == "2019")
        #expect(book.pageCount == 242 && book.language == "pl" && book.originalLanguage == "cs")
        #expect(book.format == .physical)
    }
}

@Suite struct MarcAnswerTests {
    private func outcome(_ xml: String, _ name: Catalogue = .dnb) -> SourceAnswer? {
        name.read(Array(xml.utf8), [.leuchtturm])[.leuchtturm]
    }

    @Test(arguments: [
        #"<zs:searchRetrieveResponse xmlns:zs="u"><zs:numberOfRecords>0</zs:numberOfRecords></zs:searchRetrieveResponse>"#,
        "<searchRetrieveResponse><numberOfRecords>0</numberOfRecords><records/></searchRetrieveResponse>",
        "<resp><nextPage/><collection/></resp>", "<collection/>",
        // Records that do not list the number.
        "<collection><record><datafield tag='020'><subfield code='a'>9783100000026</subfield></datafield><datafield tag='245'><subfield code='a'>T</subfield></datafield></record></collection>",
        "<collection><record><datafield tag='020'><subfield code='z'>9783100000019</subfield></datafield><datafield tag='245'><subfield code='a'>T</subfield></datafield></record></collection>",
        "<collection><record><datafield tag='776'><subfield code='a'>9783100000019</subfield><subfield code='z'>9783100000019</subfield></datafield></record></collection>",
        "<collection><record><leader>00000naa a22</leader><datafield tag='020'><subfield code='a'>9783100000019</subfield></datafield><datafield tag='245'><subfield code='a'>T</subfield></datafield></record></collection>",
    ])
    func `without a record that lists the ISBN, the book is not found`(_ xml: String) {
        #expect(outcome(xml) == .notFound)
    }

    @Test(arguments: [
        ("info:srw/diagnostic/1/61", "badData"), ("info:srw/diagnostic/1/66", "badData"), ("200812", "badData"),
        ("info:srw/diagnostic/1/2", "temporary"), ("info:srw/diagnostic/1/1", "temporary"),
        ("info:srw/diagnostic/1/3", "blocked"),
    ])
    func `a diagnostic is an error, not a missing book`(_ uri: String, _ name: String) {
        for count in ["", "<numberOfRecords>0</numberOfRecords>", "<numberOfRecords>1</numberOfRecords>"] {
            let xml =
                "<searchRetrieveResponse>\(count)<diagnostics><d:diagnostic xmlns:d='u'><d:uri>\(uri)</d:uri><d:details/><d:message>Out of\u{202E} range</d:message></d:diagnostic></diagnostics></searchRetrieveResponse>"
            let failure = SourceError(source: .dnb, reason: "reports an error: Out of range, \(uri)")
            let expected: SourceAnswer =
                name == "temporary" ? .temporary(failure) : name == "blocked" ? .blocked(failure) : .badData(failure)
            #expect(outcome(xml) == expected)
        }
    }

    @Test(arguments: [
        ("<!doctype html><html><body><p>Sign in</body></html>", "has a document type"),
        ("<html><body/></html>", #"the XML is "html""#), ("<modsCollection/>", #"the XML is "modsCollection""#),
        ("{}", "damaged or incomplete"), ("", "damaged or incomplete"),
        ("<searchRetrieveResponse><version>1.1</version></searchRetrieveResponse>", "no number of records"),
        // Dublin Core as escaped text, as Japan's National Diet Library sends it.
        (
            "<searchRetrieveResponse><numberOfRecords>1</numberOfRecords><records><record><recordData>&lt;rdf:RDF/&gt;</recordData></record></records></searchRetrieveResponse>",
            "announced 1 records"
        ),
        (
            "<record><datafield tag='020'><subfield code='a'>9783100000019</subfield></datafield></record>",
            "without a title"
        ),
    ])
    func `anything else is bad data with its reason`(_ xml: String, _ reason: String) {
        guard case .badData(let failure)? = outcome(xml) else {
            Issue.record("\(xml)")
            return
        }
        #expect(failure.source == .dnb && failure.reason.contains(reason), "\(failure.reason)")
    }

    @Test func `a record is recognised with any prefix, in any envelope`() throws {
        let record =
            "<m:record xmlns:m='u'><m:datafield tag='020'><m:subfield code='a'>9783100000019</m:subfield></m:datafield><m:datafield tag='245'><m:subfield code='a'>T</m:subfield></m:datafield></m:record>"
        for xml in [
            record, "<collection>\(record)</collection>", "<resp><collection>\(record)</collection></resp>",
            "<s:searchRetrieveResponse xmlns:s='v'><s:numberOfRecords>1</s:numberOfRecords><s:records><s:record><s:recordData>\(record)</s:recordData></s:record></s:records></s:searchRetrieveResponse>",
        ] {
            guard case .found(let book)? = outcome(xml) else { throw NoAnswer() }
            #expect(book.title == "T")
        }
    }

    @Test func `an ISBN-10 with a note behind it, and one of many numbers, are recognised`() throws {
        let numbers = (0..<60).map { "020    $a97831000000\($0 + 10) (v. \($0))" }.joined(separator: "\n")
        for number in ["3100000013 (acid-free paper)", "3-10-000001-3", "978-3-10-000001-9 :"] {
            let answer = MarcReader(name: .dnb, dialect: .marc21).read(
                marc(numbers + "\n020    $a\(number)\n245 00 $aT"), [.leuchtturm])
            guard case .found? = answer[.leuchtturm] else { throw NoAnswer() }
        }
    }
}

@Suite struct Marc21Tests {
    @Test(arguments: [
        ("$aTitel :$bein Roman /$cvon A.", "Titel", "ein Roman"), ("$aTitel$bein Roman", "Titel", "ein Roman"),
        ("$aThe title.", "The title", nil), ("$aMrs. Jones Jr.", "Mrs. Jones Jr.", nil), ("$aEnd ...", "End ...", nil),
        ("$aTitel =$bTitle /", "Titel", nil), ("$aTitel$b= Title", "Titel", nil),
        ("$akioku$bkodai bunka = Das Gedächtnis : Schrift", "kioku", "kodai bunka"),
        ("$aTitel : ein Roman / von A", "Titel", "ein Roman"), ("$aJa / Nein /$cvon A", "Ja / Nein", nil),
        ("$a<<Das>> gelbe Buch", "Das gelbe Buch", nil),
        ("$a\u{98}Der\u{9C} Turm", "Der Turm", nil), ("$a\u{88}Le \u{89}phare", "Le phare", nil),
        ("$aWork$n1.$pFirst steps", "Work. 1. First steps", nil),
        ("$aWork$n1$pFirst, second", "Work. 1, First, second", nil),
        ("$aWork$nBand 2.$p\n1903-1953 / by A".replacing("\n", with: " "), "Work. Band 2. 1903-1953", nil),
        ("$aWork ... new$n2021$nTeil 2$pValues", "Work ... new. 2021. Teil 2, Values", nil),
        ("$aWork$pName", "Work. Name", nil), ("$aOne! • Two$bZwei Romane", "One! • Two", "Zwei Romane"),
        ("$a\"Was für ein Service!\"", "\"Was für ein Service!\"", nil), ("$aWhy? How", "Why? How", nil),
        ("$a1000 Fotos$h[Elektronische Ressource]", "1000 Fotos", nil),
    ])
    func `reads the title`(_ field: String, _ title: String, _ subtitle: String?) throws {
        let book = try book("245 00 \(field)")
        #expect(book.title == title && book.subtitle == subtitle)
    }

    @Test(arguments: [
        ("100 1  $aHarbour, William V.$q(William Vernon),$d1938-", ["author: William V. Harbour"]),
        ("100 1  $aChab, Michael.", ["author: Michael Chab"]), ("100 1  $aRow, J. K.$4aut", ["author: J. K. Row"]),
        ("100 0  $aJohannes Paul$bII.$cPapst", ["author: Johannes Paul II."]),
        ("100 1  $aKing, Martin,$cJr.,$d1929-1968", ["author: Martin King Jr."]),
        ("100 1  $aA, B$4http://id.loc.gov/vocabulary/relators/trl", ["translator: B A"]),
        ("100 1  $aA, B$4aut$4ill", ["author: B A"]), ("100 1  $aA, B$eHerausgeber$4edt", ["editor: B A"]),
        ("700 1  $aA, B,$eeditor.\n700 1  $aC, D,$etranslator.", ["editor: B A", "translator: D C"]),
        (
            "700 1  $aA, B$eErzähler$4nrt\n700 1  $aC, D$4ill\n700 1  $aE, F$4art",
            ["narrator: B A", "illustrator: D C", "illustrator: F E"]
        ),
        (
            "700 1  $aMurray, Robin.\n700 1  $aHill, Peter\n245 00 $aT$cedited by Robin Murray, Peter Hill",
            ["editor: Robin Murray", "editor: Peter Hill"]
        ),
        (
            "100 1  $aDow, Ada\n700 1  $aMill, Eve\n700 1  $aFox, Ian\n245 00 $aT$cAda Dow and Eve Mill ; translated by Ian Fox",
            ["author: Ada Dow", "author: Eve Mill", "translator: Ian Fox"]
        ), ("700 1  $aA, B$4pht", ["other: B A"]), ("700 1  $aA, B", ["other: B A"]),
        // Those who wrote nothing, and works instead of people.
        (
            "700 1  $aA, B$4hnr\n700 1  $aC, D$4oth\n700 1  $aE, F$4dgs\n710 2  $aG$4pbl\n710 2  $aH$4isb\n110 2  $aI$4ctg\n710 2  $aJ",
            []
        ),
        ("700 1  $aA, B$eVerlag\n700 1  $aA, B$eHerausgebendes Organ", []),
        ("100 1  $aA, B$4aut\n700 12 $aA, B$tWork", ["author: B A"]),
        ("100 1  $aA, B$4aut\n700 1  $aA, B", ["author: B A"]),
        ("110 2  $aInformationszentrum$bAbteilung$4aut", ["author: Informationszentrum. Abteilung"]),
    ])
    func `reads the people and their roles`(_ fields: String, _ people: [String]) throws {
        #expect(try book(fields).people == people)
    }

    @Test(arguments: [
        ("264  1 $aA$bPublisher,$c[2017]\n264  4 $c©2016", "Publisher", "2017"),
        ("264  2 $aA$bDistributor$c2018\n260    $aA :$bPublisher,$cc2000.", "Publisher", "2000"),
        ("264 31 $aA$bVerl.$c2008", "Verl.", "2008"), ("260    $bSmith House.$c2008", "Smith House", "2008"),
        ("264  1 $b[s.n.]$c[20]10", nil, "2010"), ("264  1 $bShore [u.a.]$cMärz 2018", "Shore", "2018-03"),
        ("264  1 $bF$c2024nen 7gatsu 5ka", "F", "2024-07-05"), ("264  1 $c2021", nil, "2021"),
        ("264  1 $bP$c[2011]-<c2019>", "P", "2011"), ("008 190101s1999    gw\n264  1 $bP", "P", "1999"),
        ("264  1 $b\u{98}Der\u{9C} Verlag :$c201606", "Der Verlag", "2016-06"),
    ])
    func `reads publisher and date`(_ fields: String, _ publisher: String?, _ date: String) throws {
        let book = try book(fields)
        #expect(book.publisher == publisher && book.publishedDate?.description == date)
    }

    @Test(arguments: [
        ("041    $ager$heng", "de", "en"), ("041 1  $aengfre$hrus", "en", "ru"), ("041 0  $aeng$hger", "en", nil),
        ("008 000313s2000    nyu           000 1 eng  ", "en", nil),
        ("041    $amul\n008 000313s2000    nyu           000 1 ger  ", "de", nil),
        ("041    $ager$amul", "de", nil), ("041    $ager$hger", "de", nil), ("041    $aund", nil, nil),
    ])
    func `reads language and original language`(_ fields: String, _ language: String?, _ original: String?) throws {
        let book = try book(fields)
        #expect(book.language == language && book.originalLanguage == original)
    }

    @Test(arguments: [
        ("490 1  $aReihe$v1307", "Reihe", "1307"), ("490 0  $aReihe\n490 1  $aZweite$vBd. 3", "Zweite", "3"),
        ("490 0  $aReihe ;$vvol. 12.", "Reihe", "12"), ("490 0  $aReihe ; 12", "Reihe", "12"),
        ("490 1  $aRororo$v62347 : Sachbuch : Praxis", "Rororo", "62347"), ("490 0  $aEins$aZwei", "Eins", nil),
        ("490 1  $aBIT : Innovativ$v13\n830  0 $v13$9O:1", "BIT : Innovativ", "13"),
        ("830  0 $aSea studies.$v4", "Sea studies", "4"),
        ("800 1  $aJ, J$tArchive", nil, nil), ("490 0  $aReihe$vA", "Reihe", "A"),
    ])
    func `reads series and number`(_ fields: String, _ series: String?, _ number: String?) throws {
        let book = try book(fields)
        #expect(book.series == series && book.seriesNumber == number)
    }

    @Test(
        arguments: [
            ("007 tu", .physical), ("338    $aBand$bnc", .physical), ("338    $bcr", .digital), ("007 cr|||", .digital),
            ("LDR      nim\n007 cr|||\n338    $bcr", .audiobook), ("336    $bspw\n338    $bsd", .audiobook),
            ("LDR      njm\n300    $a1 CD-ROM", .digital), ("300    $a345 S. + 1 CD-ROM\n007 tu", .physical),
            ("338    $bnb\n007 a||", nil), ("", nil), ("020    $a3100000013$qhardcover", .physical),
            ("338    $bnc\n020    $a3100000013$q(electronic bk.)", .digital),
            ("338    $aBand$bnc\n300    $a304 Seiten (auch als Online-Ressource)", .physical),
            ("338    $bcr\n020    $a3100000013$qTrade Paper", .digital),
            ("020    $a9783100000026$qhardcover", nil), ("020    $a3100000013 (ebook)", .digital),
        ] as [(String, Metadata.Format?)])
    func `reads the format only where it is certain`(_ fields: String, _ format: Metadata.Format?) throws {
        #expect(try book(fields).format == format)
    }

    @Test func `reads pages of texts only, descriptions, subjects and identifiers`() throws {
        #expect(try book("LDR      cam\n300    $a83 p. ;$c20 cm").pageCount == 83)
        for leader in ["nim", "njm", "pem"] {
            #expect(try book("LDR      \(leader)\n300    $a809 Min. (20 S.)").pageCount == nil)
        }
        let book = try book(
            "010    $a   89007588 \n035    $a(DE-599)1\n035    $a(OCoLC)on1013727193\n520 4  $aWarning\n520    $aText$bmore\n650  0 $aOceans.\n650  7 $aoceans\n655  7 $aFiction.\n856 40 $uhttps://archive.org/c.jpg"
        )
        #expect(book.identifiers == ["lccn": ["89007588"], "oclc": ["1013727193"]])
        #expect(book.description == "Text more" && book.subjects == ["Oceans", "Fiction"] && book.coverURL == nil)
    }
}

@Suite struct UnimarcTests {
    @Test(arguments: [
        ("200 1  $aLe phare$bTexte imprimé$erécit$fpar A", "Le phare", "récit"),
        ("200 1  $aLe phare$h1", "Le phare. 1", nil),
        ("200 1  $aLe phare$htome 7$ila mer", "Le phare. tome 7, la mer", nil),
        ("200 1  $aLe phare$eun$edeux", "Le phare", "un : deux"),
    ])
    func `reads the title`(_ field: String, _ title: String, _ subtitle: String?) throws {
        let book = try book(field, unimarc: true)
        #expect(book.title == title && book.subtitle == subtitle)
    }

    @Test(arguments: [
        (
            "700    $aRow$bJ. K.$f1965-....$4070\n702    $aVague$bJean$4730",
            ["author: J. K. Row", "translator: Jean Vague"]
        ),
        (
            "702    $aA$bB$4340\n702    $aC$bD$4440\n702    $aE$bF$4710\n702    $aG$bH$4080",
            ["editor: B A", "illustrator: D C", "editor: F E", "other: H G"]
        ),
        ("712    $aArchives du Port$4340", ["editor: Archives du Port"]),
        ("712    $aImprimerie$4610\n702    $aA$bB$4727", []),
        ("700    $aA$bB\n701    $aC$bD\n702    $aE$bF\n712    $aG", ["author: B A", "author: D C", "other: F E"]),
    ])
    func `reads the people and their roles`(_ fields: String, _ people: [String]) throws {
        #expect(try book(fields, unimarc: true).people == people)
    }

    @Test func `reads what was published, by whom and in which series`() throws {
        let old = try book(
            "210    $a[Paris]$cLittoral$aLyon$cPort$dcop. 2004\n215    $a240 p.,$cill.\n225 |  $aSérie$v32\n410  0 $tSérie$v32",
            unimarc: true)
        #expect(old.publisher == "Littoral" && old.publishedDate == CalendarDay("2004") && old.pageCount == 240)
        #expect(old.series == "Série" && old.seriesNumber == "32")
        let new = try book(
            "214  3 $cImprimeur$d2019\n214  0 $cÉditeur$dDL 2020\n461  0 $tCycle$v2\n225    $aCollection\n101 1  $afre$cjpn\n035    $aOCLC39117549\n606    $aMer",
            unimarc: true)
        #expect(new.publisher == "Éditeur" && new.publishedDate == CalendarDay("2020"))
        #expect(
            new.series == "Cycle" && new.seriesNumber == "2" && new.language == "fr" && new.originalLanguage == "ja")
        #expect(new.identifiers == ["oclc": ["39117549"]] && new.subjects == ["Mer"])
    }

    @Test(
        arguments: [
            ("200 1  $aT$bTexte imprimé", .physical), ("010    $a3100000013$brel.", .physical),
            ("200 1  $aT$bRessource électronique", .digital), ("010    $a3100000013$bePub", .digital),
            ("LDR      nim\n200 1  $aT$bEnregistrement sonore", .audiobook), ("", nil),
        ] as [(String, Metadata.Format?)])
    func `reads the format only where it is certain`(_ fields: String, _ format: Metadata.Format?) throws {
        #expect(try book(fields, unimarc: true).format == format)
    }
}
