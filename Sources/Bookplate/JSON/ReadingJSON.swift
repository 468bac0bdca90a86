import FoundationEssentials

extension Reading {
    /// - Parameter pageCount: of the edition; `nil` when unknown.
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
    /// One reading with the book that it is of: what the tracker's commands print.
    public func json(of reading: Reading) -> JSONValue {
        .object(
            context + [("number", JSONValue(copy.number(of: reading.id)))]
                + reading.members(pageCount: edition.metadata.pageCount))
    }

    /// One reading with the entries of its history, the newest first.
    public func json(of reading: Reading, with entries: [ProgressEntry]) -> JSONValue {
        guard case .object(let members) = json(of: reading) else { return .null }
        return .object(members + [("entries", .array(entries.map { json(of: $0, in: reading) }))])
    }

    /// One entry of a reading's history.
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
    /// The reading as it is now; for a book that has none left, its standing alone under the same keys.
    public var json: JSONValue {
        if let reading { return book.json(of: reading) }
        guard case .object(let members) = book.json(of: Reading()) else { return .null }
        let known: Set = ["copyId", "title", "status", "pageCount"]
        return .object(members.map { known.contains($0.key) ? $0 : ($0.key, .null) })
    }
}

extension SessionRecord {
    /// - Parameter now: up to when a running session has lasted.
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
