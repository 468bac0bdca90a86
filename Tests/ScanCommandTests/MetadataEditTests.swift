import ArgumentParser
import Bookplate
import Testing

@testable import Kiosk
@testable import ScanCommand
@testable import Terminal

/// The same inputs through every way of editing a book: the kiosk's form, its web API for books and for captured rows,
/// the commands' options and the prompt.
@Suite struct `What a person enters for a book` {
    struct Input: CustomTestStringConvertible {
        let field: String
        let text: String
        let isAccepted: Bool

        init(_ field: String, _ text: String, _ isAccepted: Bool) {
            (self.field, self.text, self.isAccepted) = (field, text, isAccepted)
        }

        var testDescription: String { "\(field) \(text.prefix(20).debugDescription), \(text.count) long" }
    }

    static func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let inputs: [Input] = table.flatMap { field, rows in rows.map { Input(field, $0.0, $0.1) } }

    private static let table: [(String, [(String, Bool)])] = [
        (
            "title",
            [
                ("Dune", true), ("", false), (" \t ", false), ("\u{200B}", false), (x(512), true), (x(513), false),
                (String(repeating: "👩‍👩‍👧‍👦", count: 512), true), ("Caf\u{FFFD}", false), ("a\u{1B}[2Jb", true),
                ("\u{202E}x", true), (x(100_000), false),
            ]
        ),
        (
            "subtitle",
            [
                ("Two", true), ("", true), (" ", false), ("\u{200B}", false), (x(512), true), (x(513), false),
                ("Caf\u{FFFD}", false),
            ]
        ),
        (
            "authors",
            [
                ("Ursula K. Le Guin", true), ("", true), (x(512), true), (x(513), false), (x(100_000), false),
                ("Caf\u{FFFD}", false),
            ]
        ),
        (
            "publisher",
            [("Ace", true), ("", true), (" ", false), (x(512), true), (x(513), false), ("Caf\u{FFFD}", false)]
        ),
        (
            "publishedDate",
            [
                ("1969", true), ("1969-03", true), ("1969-03-17", true), ("2024-02-29", true), ("0001", true),
                ("9999-12-31", true), ("March 2009", true), ("[1969?]", true), ("", true), (" ", false),
                ("2021-02-30", false), ("2023-02-29", false), ("2021-04-31", false), ("2021-13", false),
                ("2021-00", false), ("2021-2-3", false), ("0000", false), (x(513), false), ("Caf\u{FFFD}", false),
            ]
        ),
        (
            "pageCount",
            [
                ("1", true), ("412", true), ("1000000", true), ("0", true), ("-1", false), ("1000001", false),
                ("12.5", false), ("many", false), ("99999999999999999999", false),
            ]
        ),
        ("language", [("en", true), ("ang", true), ("", true), (" ", false), (x(35), true), (x(36), false)]),
        ("format", [("physical", true), ("Audiobook", true), ("", true), ("paper", false)]),
        ("series", [("Dune", true), ("", true), (x(513), false)]),
        ("seriesNumber", [("2.5", true), ("A", true), (x(33), false)]),
        ("description", [("A\nB", true), (x(10_000), true), (x(10_001), false), (" \n ", false)]),
        ("subjects", [("desert", true), ("", true), (x(513), false)]),
        (
            "previewLink",
            [
                ("https://example.org/a", true), ("", true), ("javascript:alert(1)", false),
                ("file:///etc/passwd", false),
                ("example.org", false), ("https://u:p@example.org", false), ("https://example.org/\"x", false),
            ]
        ),
    ]

    @Test(arguments: inputs) func `is accepted or refused alike by form, API, options, prompt and row`(input: Input) {
        var results = [try? Self.form(input), try? Self.api(input), try? Self.options(input)]
        if Self.fieldsOfForm.contains(input.field) { results.append(try? Self.prompt(input)) }
        if Self.fieldsOfRow.contains(input.field) { results.append(try? Self.row(input)) }
        for metadata in results { #expect((metadata != nil) == input.isAccepted) }
        // Values that are accepted are stored in the same form.
        #expect(Set(results.map { $0.map { String(describing: $0.withoutSources) } }).count == 1)
    }

    // MARK: - The ways in

    private static func form(_ input: Input) throws -> Metadata {
        var members = try Self.members(input)
        if input.field != "title" { members.append(("title", "T")) }
        return try EnteredBook(sent(members)).confirmed.metadata
    }

    private static func api(_ input: Input) throws -> Metadata {
        var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: Copy(added: .distantPast))
        book.edition.metadata.title = "T"
        try BookPatch(sent(Self.members(input)))(&book)
        return book.edition.metadata
    }

    private static func row(_ input: Input) throws -> Metadata {
        var metadata = Metadata()
        metadata.title = "T"
        let names: JSONValue = [.string(input.text)]
        let members = input.field == "authors" ? [(key: "authors", value: names)] : try Self.members(input)
        try MetadataEdit(ofRow: sent(members)).apply(to: &metadata)
        return metadata
    }

    private static func options(_ input: Input) throws -> Metadata {
        let names = [
            "authors": "author", "publishedDate": "published", "pageCount": "pages", "subjects": "subject",
            "seriesNumber": "series-number", "previewLink": "preview-link",
        ]
        var metadata = Metadata()
        metadata.title = "T"
        let name = "--\(names[input.field] ?? input.field)"
        // With "=" a value may begin with a hyphen, but not be empty.
        let options = try MetadataOptions.parse(input.text.isEmpty ? [name, ""] : ["\(name)=\(input.text)"])
        try options.edit().apply(to: &metadata)
        return metadata
    }

    /// The fields of a captured row in the web API.
    private static let fieldsOfRow = ["title", "subtitle", "authors", "publisher", "publishedDate", "pageCount"]

    /// The fields of the terminal's form, in its order.
    private static let fieldsOfForm =
        fieldsOfRow + [
            "shelf", "tags", "status", "rating", "note", "translators", "language", "originalLanguage", "format",
            "series", "seriesNumber", "subjects", "description",
        ]

    private static func prompt(_ input: Input) throws -> Metadata {
        var metadata = Metadata()
        metadata.title = "T"
        var form = EditForm(metadata: metadata)
        for _ in fieldsOfForm.prefix(while: { $0 != input.field }) { _ = form.enter("") }
        if case .refused(let reason) = form.enter(input.text.isEmpty ? "-" : input.text) {
            throw CommandError(.usage, reason)
        }
        try form.edit.metadata.apply(to: &metadata)
        return metadata
    }

    /// The member of the JSON that a page sends.
    private static func members(_ input: Input) throws -> [(key: String, value: JSONValue)] {
        let value: JSONValue =
            switch input.field {
            case "authors": [["name": .string(input.text)]]
            case "subjects": input.text.isEmpty ? .array([]) : [.string(input.text)]
            case "pageCount": Double(input.text).map(JSONValue.number) ?? .string(input.text)
            default: .string(input.text)
            }
        return [(input.field, value)]
    }

    private static func sent(_ members: [(key: String, value: JSONValue)]) throws -> RequestObject {
        try RequestObject(parsing: JSONValue.object(members).utf8)
    }
}

extension Metadata {
    fileprivate var withoutSources: Metadata {
        var metadata = self
        metadata.sources = [:]
        return metadata
    }
}
