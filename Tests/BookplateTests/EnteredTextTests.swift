import Bookplate
import FoundationEssentials
import Testing

/// A text as it may come from a person, a clipboard or another program, and the form in which it is stored.
struct EnteredCase: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// The stored form on one line; `nil` if the text is refused.
    let line: String?
    /// The stored form with its lines; the same as on one line unless given.
    let lines: String?

    init(_ name: String, _ text: String, line: String?, lines: String?? = .none) {
        self.name = name
        self.text = text
        self.line = line
        self.lines = lines ?? line
    }

    var testDescription: String { name }

    static let all: [EnteredCase] = [
        EnteredCase("plain", "Dune", line: "Dune"),
        EnteredCase("empty", "", line: nil),
        EnteredCase("only spaces", "  \t ", line: nil),
        EnteredCase("only line breaks", "\n\r\n\n", line: nil),
        EnteredCase("only what cannot be seen", "\u{200B}\u{2060}\u{00AD} \u{3164}", line: nil),
        EnteredCase("only NUL", "\u{0}\u{0}", line: nil),
        EnteredCase("NUL within", "a\u{0}b", line: "ab"),
        EnteredCase("spaces at the ends", "  Dune  ", line: "Dune"),
        EnteredCase("no-break spaces at the ends", "\u{A0}Dune\u{3000}", line: "Dune"),
        EnteredCase("two spaces within", "a  b", line: "a  b"),
        EnteredCase("a line break", "a\nb", line: "a b", lines: "a\nb"),
        EnteredCase("line breaks of Windows and old Macs", "a\r\nb\rc", line: "a b c", lines: "a\nb\nc"),
        EnteredCase(
            "line and paragraph separators", "a\u{2028}b\u{2029}c\u{85}d", line: "a b c d", lines: "a\nb\nc\nd"),
        EnteredCase("a tab", "a\tb", line: "a b", lines: "a\tb"),
        EnteredCase("an empty line within", "a\n\n b", line: "a b", lines: "a\n\n b"),
        EnteredCase("escape sequences", "\u{1B}[31mred\u{9B}0m", line: "[31mred0m"),
        EnteredCase("right-to-left", "חולית", line: "חולית"),
        EnteredCase("an override", "\u{202E}evil\u{2066}x\u{2069}", line: "evilx"),
        EnteredCase("marks of direction stay", "\u{200F}חולית\u{200E}", line: "\u{200F}חולית\u{200E}"),
        EnteredCase("marks of direction in Latin", "\u{200E}Anna\u{200F}", line: "Anna", lines: "\u{200E}Anna\u{200F}"),
        EnteredCase(
            "what cannot be seen", "\u{200B} S\u{AD}F\u{2060}\u{3164}", line: "SF",
            lines: "\u{200B} S\u{AD}F\u{2060}\u{3164}"),
        EnteredCase(
            "joiners between Latin letters", "A\u{200C}n\u{200D}na", line: "Anna", lines: "A\u{200C}n\u{200D}na"),
        EnteredCase("a selector after a letter", "SF\u{FE0F}", line: "SF", lines: "SF\u{FE0F}"),
        EnteredCase("tags without a flag", "SF\u{E0067}\u{E007F}", line: "SF", lines: "SF\u{E0067}\u{E007F}"),
        EnteredCase("annotation characters", "a\u{FFF9}b\u{FFFB}", line: "ab", lines: "a\u{FFF9}b\u{FFFB}"),
        EnteredCase("Persian", "کتاب\u{200C}خانه", line: "کتاب\u{200C}خانه"),
        EnteredCase("a joiner that ends a Persian word", "کتاب\u{200C}", line: "کتاب", lines: "کتاب\u{200C}"),
        EnteredCase("Hindi and Malayalam", "क्\u{200D}ष ക്\u{200C}", line: "क्\u{200D}ष ക്\u{200C}"),
        EnteredCase("a Japanese name with a variant", "葛\u{E0100}城", line: "葛\u{E0100}城"),
        EnteredCase("keycaps, hearts, pilots and flags", "1️⃣ ❤️ 👩🏽‍✈️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈", line: "1️⃣ ❤️ 👩🏽‍✈️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈"),
        EnteredCase("emoji", "📚 for 👩‍👩‍👧‍👦", line: "📚 for 👩‍👩‍👧‍👦"),
        EnteredCase("a byte order mark", "\u{FEFF}Dune", line: "Dune"),
        EnteredCase("an accent of its own", "Zu\u{308}rich", line: "Zu\u{308}rich"),
        EnteredCase(
            "a thousand accents on one letter", "a" + String(repeating: "\u{301}", count: 1000) + "b",
            line: "a" + String(repeating: "\u{301}", count: 30) + "b"),
        EnteredCase("what was no UTF-8", "Caf\u{FFFD}", line: nil),
        EnteredCase("10 MB", String(repeating: "x", count: 10_000_000), line: nil),
        EnteredCase("10 MB of accents", "a" + String(repeating: "\u{301}", count: 5_000_000), line: nil),
        EnteredCase("10 MB of nothing", String(repeating: "\u{0}", count: 10_000_000), line: nil),
    ]
}

@Suite struct `What a person enters` {
    @Test(arguments: EnteredCase.all) func `is cleaned, or refused`(entered: EnteredCase) {
        for limit in [TextLimit.title, TextLimit.name] {
            #expect((try? entered.text.checked(as: "title", limit: limit)) == entered.line)
        }
        for limit in [TextLimit.note, TextLimit.description] {
            #expect((try? entered.text.checked(as: "note", limit: limit)) == entered.lines)
        }
    }

    @Test(arguments: EnteredCase.all.filter { $0.text.utf8.count < 100_000 })
    func `is unchanged by a second cleaning`(entered: EnteredCase) {
        #expect(entered.text.cleaned.cleaned == entered.text.cleaned)
        #expect(entered.text.cleanedLine.cleanedLine == entered.text.cleanedLine)
    }

    @Test(arguments: ["x", "é", "👩‍👩‍👧‍👦", "👨🏽‍👩🏽‍👧🏽‍👦🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "e\u{301}\u{323}"])
    func `is counted as a reader counts it, up to the limit`(character: String) throws {
        for limit in [TextLimit.title, TextLimit.note, TextLimit.description] {
            let full = String(repeating: character, count: limit)
            #expect(try full.checked(as: "text", limit: limit) == full)
            #expect(throws: TextRefusal.tooLong(what: "text", limit: limit, count: limit + 1)) {
                try (full + character).checked(as: "text", limit: limit)
            }
        }
    }

    @Test func `is refused in words that say why`() {
        let refusals: [TextRefusal] = [
            .empty(what: "tag"), .tooLong(what: "title", limit: 512, count: 513),
            .farTooLong(what: "note", limit: 5000),
            .damaged(what: "title"),
        ]
        #expect(
            refusals.map(\.description) == [
                "the tag is empty", "the title has 513 characters; the limit is 512",
                "the note is far longer than its limit of 5000 characters",
                "the title is not valid UTF-8; enter it again in a UTF-8 terminal",
            ])
    }
}

@Suite struct `A link` {
    @Test(arguments: [
        "https://example.org", "http://example.org/a?b=c#d", "HTTPS://Example.org/", "https://[::1]/x",
        "https://bücher.example/ü", " https://example.org/x \n",
    ])
    func `is accepted if it is a web address`(text: String) throws {
        #expect(try text.checkedLink(as: "info link") == text.cleanedLine)
    }

    @Test(arguments: [
        "", "example.org", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://example.org/",
        "https://", "https:///x", "https://?x", "https://user:secret@example.org/", "https://good.example@evil.example",
        "https://example.org/\" onload=\"x", "https://example.org/<script>", "https://exa mple.org",
        "https://example.org/a\nb", "https://example.org/\u{FFFD}", "https:\\\\example.org",
        "https://example.org/" + String(repeating: "x", count: 2048),
    ])
    func `is refused if it is anything else`(text: String) {
        #expect(throws: InputRefusal.self) { try text.checkedLink(as: "info link") }
    }
}

@Suite struct `An identifier` {
    @Test(arguments: [
        ("goodreads:44767458", "goodreads", "44767458"), ("OpenLibrary: /works/OL1W ", "openlibrary", "/works/OL1W"),
        ("url:https://example.org", "url", "https://example.org"), ("goodreads:", "goodreads", nil),
    ])
    func `is a scheme and a value`(text: String, scheme: String, value: String?) throws {
        let identifier = try text.identifier()
        #expect(identifier.scheme == scheme && identifier.value == value)
    }

    @Test(arguments: [
        "", "44767458", ":1", "good reads:1", "été:1", String(repeating: "s", count: 33) + ":1",
        "x:" + String(repeating: "1", count: 513), "x:\u{FFFD}",
    ])
    func `is refused without one`(text: String) {
        #expect(throws: InputRefusal.self) { try text.identifier() }
    }
}

@Suite struct `A rating` {
    @Test(arguments: [
        (0.25, "¼☆☆☆☆"), (0.5, "½☆☆☆☆"), (1, "★☆☆☆☆"), (3, "★★★☆☆"), (3.75, "★★★¾☆"), (4.5, "★★★★½"), (5, "★★★★★"),
    ])
    func `is quarter stars, drawn five wide`(rating: Double, stars: String) throws {
        var copy = Copy(added: .distantPast)
        copy.rating = rating
        try copy.checkEntries()
        #expect(Copy.stars(rating) == stars)
    }

    @Test(arguments: [0, -1, 0.3, 0.2, 5.25, 4.3, 1e300, .nan, .infinity, -.infinity])
    func `is refused if it is none`(rating: Double) {
        var copy = Copy(added: .distantPast)
        copy.rating = rating
        #expect(throws: InputRefusal.self) { try copy.checkEntries() }
        #expect(Copy.stars(rating).count == 5)
    }

    @Test(arguments: [0, -1, Int.min, Int.max, 100_001]) func `and a daily goal is from 1 to 100,000`(goal: Int) {
        var copy = Copy(added: .distantPast)
        copy.dailyGoal = goal
        #expect(throws: InputRefusal.outOfRange(what: "daily goal", range: 1...100_000)) { try copy.checkEntries() }
    }
}

@Suite struct `A name that is not there` {
    @Test(arguments: [
        ("scfi", ["scifi", "sf", "classics", "poetry"], ["scifi", "sf"]),
        ("SCI-FI", ["scifi", "history"], ["scifi"]),
        ("tolkein", ["J. R. R. Tolkien", "Tolkien", "Tolstoi"], ["Tolkien"]),
        ("herbert", ["Frank Herbert", "Brian Herbert", "Ada"], ["Brian Herbert", "Frank Herbert"]),
        ("x", ["sf", "y"], []), ("", ["sf"], []), ("attic", ["Hall"], []),
    ])
    func `gets suggestions of names that may have been meant`(name: String, names: [String], near: [String]) {
        #expect(name.nearest(among: names) == near)
    }

    @Test func `is compared by its first 64 characters, however long it is`() {
        let long = String(repeating: "a", count: 1_000_000)
        let (near, far) = (String(repeating: "a", count: 60), String(repeating: "a", count: 40))
        #expect(long.nearest(among: [far, long + "b", near, "a", "b" + long]) == [long + "b", "b" + long, near])
    }
}

@Suite struct `An instant long ago or far away` {
    @Test(
        arguments: [
            (-62_135_596_800, "0001-01-01T00:00:00.000Z"), (-62_135_596_800.5, "0001-01-01T00:00:00.000Z"),
            (-14_830_923_600, "1500-01-10T19:00:00.000Z"), (-12_219_292_801, "1582-10-14T23:59:59.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"), (951_782_400.123, "2000-02-29T00:00:00.123Z"),
            (253_402_300_799.999, "9999-12-31T23:59:59.999Z"), (1e300, "9999-12-31T23:59:59.999Z"),
            (-1e300, "0001-01-01T00:00:00.000Z"), (.nan, "1970-01-01T00:00:00.000Z"),
        ] as [(Double, String)])
    func `is written in the Gregorian calendar`(seconds: Double, text: String) {
        let instant = Date(timeIntervalSince1970: seconds)
        #expect(instant.rfc3339 == text)
        #expect(instant.utcDay == String(text.prefix(10)))
    }
}
