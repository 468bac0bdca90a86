extension ImportResult {
    /// One line of `scan import --json`.
    public var json: JSONValue {
        let (name, id, filled, reason): (String, ID<Copy>?, [String], String?) =
            switch outcome {
            case .new(let id): ("new", id, [], nil)
            case .merged(let id, let filled): ("merged", id, filled, nil)
            case .unchanged(let id): ("unchanged", id, [], nil)
            case .other(let isNew): (isNew ? "new" : "unchanged", nil, [], nil)
            case .refused(let reason): ("refused", nil, [], reason)
            }
        return [
            "event": .string(name), "row": .integer(row), "title": JSONValue(title), "copyId": JSONValue(id?.rawValue),
            "filled": JSONValue(filled), "doubts": JSONValue(doubts), "reason": JSONValue(reason),
        ]
    }
}

extension ImportSummary {
    /// The last line of `scan import --json`.
    public func json(isDryRun: Bool) -> JSONValue {
        [
            "event": "imported", "dryRun": .bool(isDryRun), "new": .integer(new), "merged": .integer(merged),
            "unchanged": .integer(unchanged), "flagged": .integer(flagged), "refused": .integer(refused),
            "others": .integer(others),
        ]
    }
}
