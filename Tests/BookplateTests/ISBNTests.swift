import Bookplate
import TestTools
import Testing

@Suite struct `An ISBN` {
    @Test(arguments: [
        ("9780441478125", "978-0-441-47812-5", "0441478123"),
        ("9783161484100", "978-3-16-148410-0", "316148410X"),
        ("9782070360024", "978-2-07-036002-4", "2070360024"),
        ("9784101010137", "978-4-10-101013-7", "4101010137"),
        ("9789992158104", "978-99921-58-10-4", "9992158107"),
    ])
    func `has hyphens by the agency's ranges, and a ten-digit form`(digits: String, hyphenated: String, isbn10: String)
        throws
    {
        let isbn = try ISBN(ean13: digits)
        #expect(isbn.hyphenated == hyphenated)
        #expect(isbn.isbn10 == isbn10)
        #expect(try ISBN(isbn10) == isbn)
        #expect(try ISBN(hyphenated) == isbn)
    }

    @Test(arguments: [
        ("9791032305690", "979-10-323-0569-0"), ("9791221455298", "979-12-214-5529-8"),
        ("9798886451740", "979-8-88645-174-0"),
        ("9791186178140", "979-11-86178-14-0"),
    ])
    func `of the 979 prefix has hyphens and no ten-digit form`(digits: String, hyphenated: String) throws {
        let isbn = try ISBN(ean13: digits)
        #expect(isbn.hyphenated == hyphenated)
        #expect(isbn.isbn10 == nil)
    }

    @Test(arguments: [
        "978-0-441-47812-5", "ISBN 978-0-441-47812-5", "isbn-13: 978 0441 478125", "]E09780441478125",
        " 9780441478125\r\n",
        "0-441-47812-3", "ISBN-10 0441478123", "978\u{2010}0\u{2011}441\u{2013}47812\u{2212}5", "978\u{00A0}0441478125",
        "٩٧٨٠٤٤١٤٧٨١٢٥", "９７８０４４１４７８１２５", "\u{200E}9780441478125",
    ])
    func `is parsed however it is written`(text: String) throws {
        #expect(try ISBN(text).digits == "9780441478125")
    }

    @Test(arguments: [
        ("", "it contains no number"),
        ("978044147812", "it has 12 digits; an ISBN has 10 or 13"),
        ("9780441478126", "the last digit of this ISBN-13 should be 5, not 6; one of the digits is wrong"),
        ("0441478124", "the last digit of this ISBN-10 should be 3, not 4; one of the digits is wrong"),
        ("044147812X", "the last digit of this ISBN-10 should be 3, not X; one of the digits is wrong"),
        ("04414X8123", "X is allowed only at the end of a 10-digit ISBN"),
        ("97804414781O5", "\"O\" at position 12 cannot be part of an ISBN"),
        ("9790060115615", "it is sheet music (ISMN, 979-0), not a book"),
        ("9771234567003", "it is a periodical (ISSN, 977), not a book"),
        ("1234-5679", "it is a periodical (ISSN, 977), not a book"),
        ("4006381333931", "it is a product code that does not begin with 978 or 979, not a book"),
        (
            "036000291452",
            "it is a UPC product code, not an ISBN; look for another bar code that begins with 978 or 979"
        ),
        ("96385074", "it is an EAN-8, the short code on small products, not a book"),
        ("\u{0}", "\"a control character\" at position 1 cannot be part of an ISBN"),
    ])
    func `gives the reason why a text is not one`(text: String, reason: String) {
        let refusal = #expect(throws: ISBNRefusal.self) { try ISBN(text) }
        #expect(refusal?.description == reason)
    }

    @Test(arguments: [
        ("14 044926 4", "9780140449266"), ("SBN 425 40000 X", "9780425400005"), ("340-01381-8", "9780340013816"),
    ])
    func `is given its leading 0 if it is printed as an SBN of nine digits`(text: String, digits: String) throws {
        #expect(try ISBN(text).digits == digits)
    }

    @Test(arguments: ["140449265", "1404X9264", "ABCDEFGHI"])
    func `has ten digits unless its nine are an SBN`(text: String) {
        #expect(throws: ISBNRefusal.self) { try ISBN(text) }
    }

    @Test func `keeps its number through every hyphenation and ten-digit form`() throws {
        var dice = SplitMix(seed: 978)
        for _ in 0..<2_000 {
            let body = "978" + (0..<9).map { _ in String(dice.below(10)) }.joined()
            let isbn = try #require((0...9).lazy.compactMap { try? ISBN(ean13: body + String($0)) }.first)
            #expect(try ISBN(isbn.hyphenated) == isbn)
            #expect(try ISBN(#require(isbn.isbn10)) == isbn)
        }
    }

    @Test func `in an unassigned range has only the certain hyphens`() throws {
        #expect(try ISBN(ean13: "9799900000005").hyphenated == "979-990000000-5")
    }

    @Test func `names the source of its ranges, with serial and date`() {
        #expect(isbnRangeSource.contains("International ISBN Agency"))
        #expect(isbnRangeSource.contains("2026"))
    }
}

@Suite struct `A book's number` {
    @Test(
        arguments: [
            ("978044147812551299", "51299"), ("]E0978044147812551299", "51299"), ("9780441478125 12", "12"),
            ("]E09780441478125]E251299", "51299"), ("978-0-441-47812-5 51299", "51299"), ("9780441478125", nil),
            ("0-441-47812-3", nil),
        ] as [(String, String?)])
    func `is separated from the add-on scanned with it`(text: String, addon: String?) throws {
        let number = try BookNumber(text)
        #expect(number.addon == addon)
        #expect(number.isbn.digits == "9780441478125")
    }

    @Test(arguments: [
        "URN:ISBN:978-0-441-47812-5", "urn:isbn:0441478123", " urn:isbn:9780441478125\n",
        "https://example.org/isbn/9780441478125", "HTTPS://EXAMPLE.ORG/ISBN/9780441478125?utm=qr#top",
        "https://example.org/books/isbn/0-441-47812-3/reviews", "https://example.org/find?lang=de&isbn=9780441478125",
        "https://id.gs1.org/01/09780441478125/10/ABC", "https://example.org/isbn/9780441478125?isbn=9780441478125",
    ])
    func `is found in a URN and in an address that names it`(text: String) throws {
        #expect(try BookNumber(text).isbn.digits == "9780441478125")
    }

    @Test(
        arguments: [
            ("978044147812651299", "it has 18 digits; an ISBN has 10 or 13"),
            ("97804414781255129", "it has 17 digits; an ISBN has 10 or 13"),
            ("9780441478125XX", "it has 15 digits; an ISBN has 10 or 13"),
            ("400638133393151299", "it has 18 digits; an ISBN has 10 or 13"),
            ("asin/B00", "\"a\" at position 1 cannot be part of an ISBN"),
            ("https://example.org/9780441478125", "\"h\" at position 1 cannot be part of an ISBN"),
            (
                "https://example.org/isbn/9780441478125/isbn/9780441013593",
                "\"h\" at position 1 cannot be part of an ISBN"
            ),
            (
                "https://example.org/isbn/9780441478126",
                "the last digit of this ISBN-13 should be 5, not 6; one of the digits is wrong"
            ),
            (
                "https://id.gs1.org/01/04006381333931",
                "it is a product code that does not begin with 978 or 979, not a book"
            ),
        ])
    func `is refused with its reason`(text: String, reason: String) {
        let refusal = #expect(throws: ISBNRefusal.self) { try BookNumber(text) }
        #expect(refusal?.description == reason)
    }
}

@Suite struct `An EAN-13 payload` {
    @Test(arguments: [
        ("9780441478125", CodeKind.isbn), ("9791032305690", .isbn), ("9790060115615", .ismn), ("9771234567003", .issn),
        ("0036000291452", .upc), ("4006381333931", .ean13), ("9760000000000", .ean13),
    ])
    func `is classified by its prefix`(payload: String, kind: CodeKind) {
        #expect(CodeKind(ean13: payload) == kind)
    }
}
