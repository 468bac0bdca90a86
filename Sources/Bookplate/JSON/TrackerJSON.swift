import FoundationEssentials

extension Reading {
    /// - Parameter pageCount: the edition's page count; `nil` if unknown.
    public func json(pageCount: Int?) -> JSONValue { .object(members(pageCount: pageCount)) }

    fileprivate func members(pageCount: Int?) -> [(key: String, value: JSONValue)] {
        let amount = progress?.amount
        return [
            ("id", .string(id.rawValue)), ("state", .string(state.rawValue)), ("started", JSONValue(started)),
            ("finished", JSONValue(finished)), ("stopped", JSONValue(stopped)), ("page", JSONValue(amount?.page)),
            ("percent", JSONValue(amount?.percent)), ("progress", JSONValue(amount?.fraction(of: pageCount))),
            ("beyondLastPage", .bool(amount?.isBeyond(pageCount) ?? false)),
        ]
    }
}

extension Book {
    /// Returns one reading with its book, as the tracker's commands print it.
    public func json(of reading: Reading) -> JSONValue {
        .object(
            context + [("number", JSONValue(copy.number(of: reading.id)))]
                + reading.members(pageCount: edition.metadata.pageCount))
    }

    /// Returns one reading with the entries of its history, newest first.
    public func json(of reading: Reading, with entries: [ProgressEntry]) -> JSONValue {
        json(of: reading).appending([("entries", .array(entries.map { json(of: $0, in: reading) }))])
    }

    /// Returns one entry of a reading's history.
    public func json(of entry: ProgressEntry, in reading: Reading) -> JSONValue {
        let pageCount = edition.metadata.pageCount
        return [
            "id": .string(entry.id.rawValue), "copyId": .string(copy.id.rawValue),
            "readingId": .string(reading.id.rawValue), "number": JSONValue(copy.number(of: reading.id)),
            "at": .string(entry.at.rfc3339), "page": JSONValue(entry.amount.page),
            "percent": JSONValue(entry.amount.percent), "progress": JSONValue(entry.amount.fraction(of: pageCount)),
            "beyondLastPage": .bool(entry.amount.isBeyond(pageCount)), "automatic": .bool(entry.isAutomatic),
            "sessionId": JSONValue(entry.session?.rawValue),
        ]
    }

    private var context: [(key: String, value: JSONValue)] {
        [
            ("copyId", .string(copy.id.rawValue)), ("title", JSONValue(edition.metadata.title)),
            ("status", .string(copy.status.rawValue)), ("pageCount", JSONValue(edition.metadata.pageCount)),
        ]
    }
}

extension TrackingResult {
    /// The reading as it is now. A book without a reading has the same keys, with null for the data of the reading.
    public var json: JSONValue {
        if let reading { return book.json(of: reading) }
        let known: Set = ["copyId", "title", "status", "pageCount"]
        return .object(book.json(of: Reading()).members.map { known.contains($0.key) ? $0 : ($0.key, .null) })
    }
}

extension SessionRecord {
    /// - Parameter now: the end to assume for a running session.
    public func json(at now: Date) -> JSONValue {
        [
            "id": .string(session.id.rawValue), "copyId": .string(copy.rawValue),
            "readingId": .string(reading.rawValue), "title": JSONValue(title), "pageCount": JSONValue(pageCount),
            "start": .string(session.start.rfc3339), "end": JSONValue(session.end?.rfc3339),
            "running": .bool(session.isRunning), "seconds": .integer(session.seconds(until: session.end ?? now)),
            "minutes": JSONValue(session.minutes), "startPage": .integer(session.startPage),
            "endPage": JSONValue(session.endPage), "pagesRead": .integer(session.pagesRead),
            "pace": JSONValue(session.pace),
        ]
    }
}

extension Book {
    /// Returns ``json`` with the members that only the page of a single book shows: `notes`, `quotes`, and `flags` for
    /// values that imports changed or found doubtful.
    public func json(notes: [Note], quotes: [Quote], flags: [ImportFlag]) -> JSONValue {
        json.appending([
            ("notes", .array(notes.map(\.json))), ("quotes", .array(quotes.map(\.json))),
            ("flags", .array(flags.map(\.json))),
        ])
    }
}

extension Note {
    /// One note of a book.
    public var json: JSONValue {
        let json: JSONValue = [
            "id": .string(id.rawValue), "kind": .string(kind.rawValue), "text": .string(text),
            "created": .string(created.rfc3339),
        ]
        return json.appending(ownership(of: reader, isPrivate))
    }
}

/// Returns the members that say whose a note or quote is. A reader's own that all may see has none.
private func ownership(of reader: ReaderName?, _ isPrivate: Bool) -> [(String, JSONValue)] {
    (reader.map { [("reader", .string($0.id.rawValue))] } ?? []) + (isPrivate ? [("private", .bool(true))] : [])
}

extension OtherReader {
    /// Another reader's status and opinion, as part of the JSON of a book.
    public var json: JSONValue {
        [
            "reader": .string(reader.id.rawValue), "name": JSONValue(reader.name), "status": .string(status.rawValue),
            "day": JSONValue(day), "rating": JSONValue(rating), "wishlist": .bool(isOnWishlist),
        ]
    }
}

extension Reader {
    /// A reader as JSON. The colour is a number from 1 to 8.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "name": JSONValue(name), "colour": .integer(colour + 1),
            "pin": .bool(hasPIN),
        ]
    }
}

extension Quote {
    /// One quote of a book.
    public var json: JSONValue {
        let json: JSONValue = [
            "id": .string(id.rawValue), "text": .string(text), "page": JSONValue(page),
            "created": .string(created.rfc3339),
        ]
        return json.appending(ownership(of: reader, isPrivate))
    }
}

extension ImportFlag {
    /// One value that an import flagged, as part of the JSON of a book or of an export.
    public var json: JSONValue {
        ["source": .string(source), "what": .string(what), "raw": .string(raw), "at": .string(at.rfc3339)]
    }
}

extension Annotation {
    /// Returns a note or quote with data of its book: the members of `content`, then `copyId`, `isbn13`, `title` and
    /// `authors` (names).
    fileprivate func json(_ content: JSONValue) -> JSONValue {
        content.appending([
            ("copyId", .string(book.id.rawValue)), ("isbn13", JSONValue(book.edition.isbn?.digits)),
            ("title", JSONValue(book.edition.metadata.title)),
            ("authors", JSONValue(book.edition.metadata.authorNames)),
        ])
    }
}

extension Annotation<Note> {
    /// One line of `scan note list --json`.
    public var json: JSONValue { json(content.json) }
}

extension Annotation<Quote> {
    /// One line of `scan quote list --json`.
    public var json: JSONValue { json(content.json) }
}

extension Label {
    /// One line of `scan tag list --json` and `scan shelf list --json`.
    public var json: JSONValue { ["name": .string(name), "books": .integer(books)] }
}

extension Author {
    /// One line of `scan author list --json`. `roles` has a number for every role, even if it is 0.
    public var json: JSONValue {
        [
            "name": .string(name), "books": .integer(books),
            "roles": .object(
                Contributor.Role.allCases.map { (key: $0.rawValue, value: .integer(roles[$0] ?? 0)) }),
            "sortName": .string(sortName), "sortNameEdited": .bool(correctedSortName != nil),
        ]
    }
}
