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
        ("17/03/1969", "1969-03-17"), ("03/17/1969", "1969-03-17"), ("03/04/1969", "1969"), ("1984/10", "1984-10"),
        ("19690317", "1969-03-17"), ("2022-02-30", "2022"), ("February 31, 1988", "1988-02"), ("ca. 1850", "1850"),
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
        ("zh-CN", "zh"), ("scr", "hr"), ("ENG", "en"),
    ])
    func `returns the two-letter code if there is one`(_ text: String, _ expected: String) {
        #expect(LanguageCode.normalized(text) == expected)
    }

    @Test(arguments: ["", "/languages/", "und", "mul", "english", "e", "12", "/languages/../x"])
    func `refuses text that is not a code`(_ text: String) { #expect(LanguageCode.normalized(text) == nil) }
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
