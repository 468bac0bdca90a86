import Bookplate
import FoundationEssentials
import Testing

@Suite struct `A calendar day` {
    @Test(arguments: ["1969", "1969-03", "1969-03-17", "0001-01-01", "9999-12-31", "2000-02-29", "2024-02-29"])
    func `is written as it was read`(text: String) {
        #expect(CalendarDay(text)?.description == text)
    }

    @Test(arguments: [
        "", "69", "0000", "10000", "1969-13", "1969-00", "1969-02-30", "1900-02-29", "2023-02-29", "1969-3-1",
        "1969-03-", "+969",
        "1969-03-17-01", "１９６９",
    ])
    func `is refused when there is no such day`(text: String) {
        #expect(CalendarDay(text) == nil)
    }
}

@Suite struct `Text that comes in` {
    @Test(arguments: [
        ("  Dune \n", "Dune"), ("A\u{0}B", "AB"), ("\u{202E}evil", "evil"), ("two\nlines", "two\nlines"),
        ("\u{FEFF}x", "x"),
        ("👩‍👩‍👧", "👩‍👩‍👧"), ("Zu\u{0308}rich", "Zu\u{0308}rich"), (" \t ", ""),
    ])
    func `loses control characters and white space at the ends`(text: String, cleaned: String) {
        #expect(text.cleaned == cleaned)
    }

    @Test func `is refused when it is empty or too long`() {
        #expect(throws: TextRefusal.empty(what: "title")) { try "\u{0} ".checked(as: "title", limit: 512) }
        #expect(throws: TextRefusal.tooLong(what: "title", limit: 5, count: 6)) {
            try "sixsix".checked(as: "title", limit: 5)
        }
        #expect(throws: TextRefusal.self) {
            try String(repeating: "x", count: 10_000_000).checked(as: "title", limit: 512)
        }
    }
}

@Suite struct `A JSON line` {
    @Test func `keeps its keys in order, and escapes what JSON requires`() {
        let value: JSONValue = [
            "b": .integer(1), "a": "quote \" back \\ line\n nul \u{0} é", "n": JSONValue(nil as String?),
            "list": [.bool(true), .number(0.5), .number(2), .number(.nan)],
        ]
        #expect(
            value.text == #"{"b":1,"a":"quote \" back \\ line\n nul \u0000 é","n":null,"list":[true,0.5,2,null]}"#)
    }
}

@Suite struct `An identity` {
    @Test func `is a UUID of version 7 that sorts by the time it was made`() {
        let identities = (0..<100).map { _ in ID<Copy>().rawValue }
        #expect(Set(identities).count == 100)
        for text in identities {
            #expect(UUID(uuidString: text) != nil)
            #expect(Array(text)[14] == "7")
        }
        #expect(identities[0].prefix(8) <= identities[99].prefix(8))
    }
}

@Suite struct `An instant` {
    @Test func `is written as RFC 3339 in UTC, with milliseconds`() {
        let instant = Date(timeIntervalSince1970: 1_795_224_600.25)
        #expect(instant.rfc3339 == "2026-11-21T01:30:00.250Z")
        #expect(instant.utcDay == "2026-11-21")
    }
}
