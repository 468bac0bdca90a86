import FoundationEssentials

// The JSON of commands and of the web API: all keys are always present, and absent values are null. Instants are RFC
// 3339 in UTC, days are YYYY[-MM[-DD]].

extension Book {
    /// The data of a copy and of its edition, in one object.
    public var json: JSONValue {
        let metadata = edition.metadata
        return [
            "id": .string(copy.id.rawValue), "editionId": .string(edition.id.rawValue),
            "isbn13": JSONValue(edition.isbn?.digits), "isbn10": JSONValue(edition.isbn?.isbn10),
            "hyphenated": JSONValue(edition.isbn?.hyphenated), "isbnText": JSONValue(edition.isbnText),
            "title": JSONValue(metadata.title), "subtitle": JSONValue(metadata.subtitle),
            "authors": metadata.contributorsJSON,
            "publisher": JSONValue(metadata.publisher), "publishedDate": JSONValue(metadata.publishedDate),
            "publishedDateText": JSONValue(metadata.publishedDateText), "pageCount": JSONValue(metadata.pageCount),
            "language": JSONValue(metadata.language), "originalLanguage": JSONValue(metadata.originalLanguage),
            "authorNationality": JSONValue(metadata.authorNationality), "format": JSONValue(metadata.format?.rawValue),
            "series": JSONValue(metadata.series), "seriesNumber": JSONValue(metadata.seriesNumber),
            "description": JSONValue(metadata.description), "subjects": JSONValue(metadata.subjects),
            "coverURL": JSONValue(metadata.coverURL), "previewLink": JSONValue(metadata.previewLink),
            "infoLink": JSONValue(metadata.infoLink), "identifiers": metadata.identifiersJSON,
            "status": .string(copy.status.rawValue), "owned": .bool(copy.isOwned), "wishlist": .bool(copy.isOnWishlist),
            "favourite": .bool(copy.isFavourite), "shelf": JSONValue(copy.shelf), "tags": JSONValue(copy.tags),
            "rating": JSONValue(copy.rating), "public": .bool(copy.isPublic),
            "recommendedBy": JSONValue(copy.recommendedBy), "wouldRecommend": JSONValue(copy.wouldRecommend),
            "dailyGoal": JSONValue(copy.dailyGoal), "culturalGoal": .bool(copy.countsForCulturalGoal),
            "culturalGoalCategory": JSONValue(copy.culturalGoalCategory),
            "readings": .array(copy.readings.map { $0.json(pageCount: metadata.pageCount) }),
            "added": .string(copy.added.rfc3339),
            "deleted": JSONValue(copy.deleted?.rfc3339),
        ]
    }
}

extension Metadata {
    /// Everybody who contributed to the book, in order, each with the role.
    var contributorsJSON: JSONValue {
        .array(authors.map { ["name": .string($0.name), "role": .string($0.role.rawValue)] })
    }

    /// The identifiers as `{scheme: [text]}`, sorted by scheme.
    public var identifiersJSON: JSONValue {
        .object(identifiers.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSONValue($0.value)) })
    }
}

extension LookupAnswer {
    /// Returns one line of `scan lookup --json`.
    ///
    /// - Parameter input: the number as it was given.
    public func json(input: String) -> JSONValue { Self.line(self, input: input, reason: outcome.reason) }

    /// Returns the line of `scan lookup --json` for a number that is no ISBN.
    public static func refusalJSON(input: String, reason: String) -> JSONValue {
        line(nil, input: input, reason: reason)
    }

    private static func line(_ answer: LookupAnswer?, input: String, reason: String?) -> JSONValue {
        var (metadata, source) = (Metadata(), nil as SourceName?)
        if case .found(let found, let name)? = answer?.outcome { (metadata, source) = (found, name) }
        return .object(
            [
                ("isbn13", JSONValue(answer?.isbn.digits)), ("outcome", JSONValue(answer?.outcome.name.rawValue)),
                ("source", JSONValue(source?.rawValue)), ("cached", .bool(answer?.isCached ?? false)),
                ("notAsked", .array((answer?.notAsked ?? []).map(\.json))),
            ] + metadata.recordMembers + [
                ("weakMatch", .bool(metadata.isWeakMatch)), ("reason", JSONValue(reason)), ("input", .string(input)),
            ])
    }
}

extension NotAsked {
    fileprivate var json: JSONValue { ["source": .string(source.rawValue), "reason": .string(reason)] }
}

extension Metadata {
    /// The members that describe a record of a source, for commands that look up books.
    fileprivate var recordMembers: [(key: String, value: JSONValue)] {
        [
            ("title", JSONValue(title)), ("subtitle", JSONValue(subtitle)), ("authors", JSONValue(authorNames)),
            ("publisher", JSONValue(publisher)), ("publishedDate", JSONValue(publishedDate)),
            ("publishedDateText", JSONValue(publishedDateText)), ("pageCount", JSONValue(pageCount)),
            ("language", JSONValue(language)), ("coverURL", JSONValue(coverURL)), ("identifiers", identifiersJSON),
            ("subjects", JSONValue(subjects)), ("contributors", contributorsJSON),
            ("originalLanguage", JSONValue(originalLanguage)), ("format", JSONValue(format?.rawValue)),
            ("series", JSONValue(series)), ("seriesNumber", JSONValue(seriesNumber)),
            ("description", JSONValue(description)),
        ]
    }
}

extension TitleAnswer {
    /// Returns the line of `scan find --json`.
    ///
    /// - Parameter choices: the editions with the copies that the library has, in the order of ``offers``.
    public func json(_ query: TitleQuery, _ choices: [EditionChoice]) -> JSONValue {
        [
            "title": .string(query.title), "author": JSONValue(query.author), "outcome": .string(outcome.rawValue),
            "reason": JSONValue(reason), "asked": JSONValue(asked.map(\.rawValue)),
            "failures": .array(
                failures.map { failure in
                    [
                        "source": JSONValue(failure.error.source?.rawValue),
                        "outcome": .string(failure.outcome.rawValue), "reason": .string(failure.error.reason),
                    ]
                }), "notAsked": .array(notAsked.map(\.json)),
            "editions": .array(choices.enumerated().map { $1.json(number: $0 + 1) }),
        ]
    }
}

extension EditionChoice {
    /// - Parameter number: the number that takes the edition.
    public func json(number: Int) -> JSONValue {
        .object(
            [
                ("number", .integer(number)), ("isbn13", JSONValue(offer.isbn?.digits)),
                ("source", JSONValue(source?.rawValue)),
            ] + offer.metadata.recordMembers + [
                ("copies", JSONValue(copies.map(\.id.rawValue))),
                ("otherEditions", JSONValue(others.map(\.id.rawValue))),
            ])
    }
}

extension QueueItem {
    /// One line of `scan intake list --json`.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "isbn13": .string(isbn.digits), "raw": .string(raw), "addon": JSONValue(addon),
            "origin": .string(origin.rawValue), "image": JSONValue(image), "station": .string(device),
            "captured": .string(captured.rfc3339), "state": .string(state.rawValue),
            "outcome": JSONValue(outcome?.rawValue),
            "reason": JSONValue(reason), "source": JSONValue(source?.rawValue), "title": JSONValue(metadata?.title),
            "authors": JSONValue(metadata?.authorNames ?? []), "publishedDate": JSONValue(metadata?.publishedDate),
            "shelf": JSONValue(preset.shelf), "tags": JSONValue(preset.tags), "status": .string(preset.status.rawValue),
            "wishlist": .bool(preset.isWishlist),
        ]
    }
}

extension Change {
    /// One line of `scan undo --list --json`.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "at": .string(at.rfc3339), "station": .string(device),
            "kind": .string(kind.rawValue), "summary": .string(summary), "undone": JSONValue(undone?.rfc3339),
        ]
    }
}
