extension Book {
    /// ``json`` with what only one book's own page shows: `notes` and `quotes` as they stand beside it, and `flags`, what imports
    /// could not take as it stood.
    public func json(notes: [Note], quotes: [Quote], flags: [ImportFlag]) -> JSONValue {
        guard case .object(let members) = json else { return json }
        return .object(
            members + [
                (key: "notes", value: .array(notes.map(\.json))), (key: "quotes", value: .array(quotes.map(\.json))),
                (key: "flags", value: .array(flags.map(\.json))),
            ])
    }
}

extension Note {
    /// One note of a book.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "kind": .string(kind.rawValue), "text": .string(text),
            "created": .string(created.rfc3339),
        ]
    }
}

extension Quote {
    /// One quote of a book.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "text": .string(text), "page": JSONValue(page),
            "created": .string(created.rfc3339),
        ]
    }
}

extension ImportFlag {
    /// One thing that an import flagged: of a book, and in an export.
    public var json: JSONValue {
        ["source": .string(source), "what": .string(what), "raw": .string(raw), "at": .string(at.rfc3339)]
    }
}

extension Remark {
    /// A note or quote with the book it is about: its own keys, then `copyId`, `isbn13`, `title` and `authors` (names).
    fileprivate func json(_ content: JSONValue) -> JSONValue {
        guard case .object(let members) = content else { return content }
        return .object(
            members + [
                (key: "copyId", value: .string(book.id.rawValue)),
                (key: "isbn13", value: JSONValue(book.edition.isbn?.digits)),
                (key: "title", value: JSONValue(book.edition.metadata.title)),
                (key: "authors", value: JSONValue(book.edition.metadata.authorNames)),
            ])
    }
}

extension Remark<Note> {
    /// One line of `scan note list --json`.
    public var json: JSONValue { json(content.json) }
}

extension Remark<Quote> {
    /// One line of `scan quote list --json`.
    public var json: JSONValue { json(content.json) }
}

extension Label {
    /// One line of `scan tag list --json` and `scan shelf list --json`.
    public var json: JSONValue { ["name": .string(name), "books": .integer(books)] }
}

extension Author {
    /// One line of `scan author list --json`; `roles` has every role.
    public var json: JSONValue {
        [
            "name": .string(name), "books": .integer(books),
            "roles": .object(
                Contributor.Role.allCases.map { (key: $0.rawValue, value: .integer(roles[$0] ?? 0)) }),
        ]
    }
}
