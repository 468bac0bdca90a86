import Bookplate
import FoundationEssentials
import Testing

@testable import Exchange

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

/// A book with one copy, as a record.
private func book(
    _ title: String?, by authors: [Contributor] = [], year: Int? = nil, isbn: String? = nil,
    _ more: (inout CopyRecord) -> Void = { _ in }
) throws -> LibraryRecord {
    var metadata = Metadata()
    metadata.title = title
    metadata.authors = authors
    metadata.publishedDate = year.flatMap { CalendarDay(year: $0) }
    var copy = CopyRecord(copy: Copy(added: noon))
    more(&copy)
    let edition = Edition(isbn: try isbn.map { try ISBN($0) }, metadata: metadata)
    return .book(BookRecord(edition: edition, copies: [copy]))
}

/// Texts that would break a file if they were written as they are.
private let hostileTexts = [
    "}", "{", "\\", "a}b{c", "{{{{", "100% & more_#$~^", "@book{x,", "line\nbreak}", "\\end{document}", "%gone", "\"",
    "tab\there", "\u{202E}turned", "\u{0}nothing", "and", "\\}", "[x](http://example.org) <b>&lt;</b> `c` **d** ~~e~~",
]

@Suite struct `A bibliography` {
    @Test func `has an entry for each edition outside the trash`() throws {
        var writer = BibTeXWriter()
        let text = try richRecords().map { writer.entry(for: $0) }.joined()
        #expect(
            text == """
                @book{Herbert1965Dune,
                  author = {Frank Herbert},
                  title = {=Dune "quoted", 'sand', and more},
                  subtitle = {'tis},
                  publisher = {-Ace},
                  year = {1965},
                  isbn = {978-0-441-17271-9},
                  series = {Dune},
                  number = {1},
                  pagetotal = {604},
                  langid = {english},
                  note = {Translated by Zoë, Jr.; narrated by Frank Herbert},
                  keywords = {a b, Zoë},
                }


                """)
    }

    @Test(
        arguments: [
            ("Frank Herbert", "Frank Herbert"), ("Homer", "Homer"), ("Simone de Beauvoir", "Simone de Beauvoir"),
            ("Le Guin, Ursula K.", "Le Guin, Ursula K."), ("King, Jr., Martin Luther", "King, Jr., Martin Luther"),
            ("Martin Luther King, Jr.", "King, Jr., Martin Luther"),
            ("King, Martin Luther, Jr.", "King, Jr., Martin Luther"),
            ("Martin Luther King Jr.", "King, Jr., Martin Luther"), ("Zoë, Jr.", "{Zoë, Jr.}"),
            ("Simon and Schuster", "{Simon and Schuster}"), ("Others", "{Others}"), ("A, B, C", "{A, B, C}"),
            ("Ann & {Bo}", "Ann \\& \\textbraceleft{}Bo\\textbraceright{}"), (",", "{,}"), (" ", nil),
        ] as [(String, String?)])
    func `gives names in a form in which the family name is recognised`(name: String, text: String?) {
        #expect(BibTeXName(name)?.text == text)
    }

    @Test func `lists several people, and editors apart`() throws {
        var writer = BibTeXWriter()
        let entry = writer.entry(
            for: try book(
                "Good Omens",
                by: [
                    Contributor(name: "Terry Pratchett"), Contributor(name: "Ed Ito", role: .editor),
                    Contributor(name: "Gaiman, Neil"),
                ]))
        #expect(entry.contains("  author = {Terry Pratchett and Gaiman, Neil},\n  editor = {Ed Ito},\n"))
        let edited = writer.entry(for: try book("Omens", by: [Contributor(name: "Ed Ito", role: .editor)]))
        #expect(edited.hasPrefix("@book{ItoOmens,\n  editor = {Ed Ito},\n"))
    }

    @Test func `has unique keys in ASCII`() throws {
        var writer = BibTeXWriter()
        for (title, author, year, isbn, key) in [
            ("The Hobbit", "J. R. R. Tolkien", 1937, nil, "Tolkien1937Hobbit"),
            ("The Hobbit", "Tolkien, J. R. R.", 1937, nil, "Tolkien1937Hobbit-2"),
            ("the hobbit!", "Christopher Tolkien", 1937, nil, "Tolkien1937Hobbit-3"),
            ("Les Misérables", "Victor Hugo", nil, nil, "HugoMiserables"),
            ("L'Étranger", "Albert Camus", 1942, nil, "Camus1942Etranger"),
            ("The", "Le Guin, Ursula K.", nil, nil, "LeguinThe"),
            ("1984", "George Orwell", 1949, nil, "Orwell19491984"),
            ("Война и мир", "Лев Толстой", 1869, nil, "Anonymous1869Untitled"),
            ("Война и мир", "Лев Толстой", 1869, "9780140449136", "Anonymous18699780140449136"),
            (nil, "Ægir Ødegård", nil, nil, "OdegardUntitled"), ("{\\}", "", nil, nil, "AnonymousUntitled"),
        ] as [(String?, String, Int?, String?, String)] {
            let entry = writer.entry(for: try book(title, by: [Contributor(name: author)], year: year, isbn: isbn))
            #expect(entry.hasPrefix("@book{\(key),\n"), "\(entry)")
        }
    }

    @Test(
        arguments: [
            ("en", "langid = {english}"), ("de", "langid = {ngerman}"), ("DE", "langid = {ngerman}"),
            ("ang", "language = {ang}"), ("x{", "language = {x\\textbraceleft{}}"),
        ])
    func `names the language for babel`(code: String, field: String) throws {
        var metadata = Metadata()
        metadata.title = "A"
        metadata.language = code
        var writer = BibTeXWriter()
        let record = BookRecord(
            edition: Edition(isbn: nil, metadata: metadata), copies: [CopyRecord(copy: Copy(added: noon))])
        let lines = writer.entry(for: .book(record)).split(separator: "\n").filter { $0.contains("lang") }
        #expect(lines == ["  \(field),"])
    }

    @Test(arguments: hostileTexts) func `stays whole whatever the texts are`(text: String) throws {
        var writer = BibTeXWriter()
        let people = Contributor.Role.allCases.map { Contributor(name: text, role: $0) }
        let record = try book(text, by: people) { $0.copy.tags = [text, "x,\(text)"] }
        let entry = writer.entry(for: record)
        // Biber counts all braces, even after a backslash.
        var depth = 0
        for (index, byte) in entry.utf8.enumerated() {
            depth += byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
            #expect(depth > 0 || index < 5 || index >= entry.utf8.count - 3, "\(entry)")
        }
        #expect(depth == 0)
        let lines = entry.split(separator: "\n")
        #expect(lines.first?.hasPrefix("@book{") == true && lines.last == "}")
        for line in lines.dropFirst().dropLast() {
            #expect(line.firstMatch(of: /^  [a-z]+ = \{.*\},$/) != nil, "\(line)")
            // Every special character follows a backslash.
            #expect(line.firstMatch(of: /(^|[^\\])[#$%&_~^]/) == nil, "\(line)")
        }
    }
}

@Suite struct `A list in Markdown` {
    @Test func `has an item for each copy outside the trash, with its notes and quotes`() throws {
        let text = try richRecords().map(MarkdownWriter().items(for:)).joined()
        let book = #"- **=Dune "quoted", 'sand', and more: 'tis** by Frank Herbert (1965), -Ace"#
        #expect(
            text == """
                \(book); Reading, ★★★★¼; a, b, Zoë
                  - Note: \\+one
                  - Discussion: two\\
                    "q"
                  - > Fear… (p. 8)
                \(book); To Read, wishlist

                """)
    }

    @Test func `keeps paragraphs and verses inside their item, and marks private notes`() throws {
        let record = try book("Poems") { copy in
            copy.notes = [
                Note(text: "One\n\n- two\n1. three\n# four\n2) five", created: noon, isPrivate: true),
                Note(kind: .discussion, text: "Why?", created: noon, isPrivate: true),
            ]
            copy.quotes = [Quote(text: "First\nsecond\n\n> third", page: nil, created: noon)]
        }
        #expect(
            MarkdownWriter().items(for: record) == ##"""
                - **Poems**; To Read
                  - Private note: One

                    \- two\
                    1\. three\
                    \# four\
                    2\) five
                  - Private discussion: Why?
                  - > First\
                    > second
                    >
                    > \> third

                """##)
    }

    @Test(arguments: hostileTexts) func `stays whole whatever the texts are`(text: String) throws {
        let record = try book(text, by: [Contributor(name: text)]) { copy in
            copy.copy.tags = [text]
            copy.notes = [Note(text: text, created: noon)]
            copy.quotes = [Quote(text: text, page: 1, created: noon)]
        }
        let lines = MarkdownWriter().items(for: record).split(separator: "\n")
        #expect(lines[0].hasPrefix("- **") && lines[1].hasPrefix("  - Note: "))
        #expect(lines.filter { $0.hasPrefix("  - > ") }.count == 1 && lines.filter { $0.hasPrefix("- ") }.count == 1)
        for line in lines {
            // Without the escaped characters and the writer's own marks, nothing is left that has a meaning.
            var rest = String(line).replacing(/\\[^A-Za-z0-9\s]/, with: "")
            rest = rest.replacing(/^- \*\*(.*)\*\*/, with: { $0.output.1 }).replacing(/^ +(- )?>/, with: "")
            if rest.hasSuffix("\\") { rest.removeLast() }
            #expect(rest.firstMatch(of: /[\\`*_\[\]<>&|~^$]/) == nil, "\(line)")
        }
    }
}

@Suite struct `An import` {
    @Test(arguments: [
        ("@book{Herbert1965Dune,\n  title = {Dune},\n}\n", "a BibTeX file"), ("@Article { x,", "a BibTeX file"),
        ("\n- **Dune** by Frank Herbert; Read\n", "a list in Markdown"),
    ])
    func `names the formats that are only written`(text: String, what: String) throws {
        let error = #expect(throws: ExchangeError.self) { try rows(text) }
        let message = try #require(error).description
        #expect(message.contains("it is \(what). ") && message.contains("export them as JSON or CSV"), "\(message)")
    }

    @Test func `still takes a table whose first column begins with an at sign`() throws {
        #expect(try books("@id,title,Exclusive Shelf,Author\n1,Dune,read,Ada\n").count == 1)
    }
}
