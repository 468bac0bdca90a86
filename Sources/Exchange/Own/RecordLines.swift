import Bookplate
import FoundationEssentials

// The decoded lines of Bookplate's JSON. Their values are checked when the lines become records.

/// The reason why a line is not valid.
struct LineError: Error, CustomStringConvertible {
    var description: String
}

struct RecordLine: Decodable {
    var record: String
    var version: Int?
    var name: String?
    var value: String?
    var id: String?
    var isbn13: String?
    var isbnText: String?
    var title: String?
    var subtitle: String?
    var authors: [ContributorLine]?
    var publisher: String?
    var publishedDate: String?
    var publishedDateText: String?
    var pageCount: Int?
    var language: String?
    var originalLanguage: String?
    var authorNationality: String?
    var format: String?
    var series: String?
    var seriesNumber: String?
    var description: String?
    var subjects: [String]?
    var coverURL: String?
    var previewLink: String?
    var infoLink: String?
    var identifiers: [String: [String]]?
    var sources: [String: String]?
    var editedFields: [String]?
    var copies: [CopyLine]?
}

struct ContributorLine: Decodable {
    var name: String
    var role: String
}

struct CopyLine: Decodable {
    var id: String
    var status: String
    var owned: Bool?
    var wishlist: Bool?
    var favourite: Bool?
    var shelf: String?
    var tags: [String]?
    var rating: Double?
    var `public`: Bool?
    var recommendedBy: String?
    var wouldRecommend: Bool?
    var dailyGoal: Int?
    var culturalGoal: Bool?
    var culturalGoalCategory: String?
    var added: String
    var deleted: String?
    var requests: [String]?
    var readings: [ReadingLine]?
    var notes: [NoteLine]?
    var quotes: [QuoteLine]?
    var flags: [FlagLine]?
}

struct ReadingLine: Decodable {
    var id: String?
    var state: String
    var started: String?
    var finished: String?
    var stopped: String?
    var progress: [EntryLine]?
    var sessions: [SessionLine]?
}

struct EntryLine: Decodable {
    var id: String
    var at: String
    var page: Int?
    var percent: Double?
    var automatic: Bool?
    var session: String?
}

struct SessionLine: Decodable {
    var id: String
    var start: String
    var end: String?
    var startPage: Int?
    var endPage: Int?
}

struct NoteLine: Decodable {
    var id: String?
    var kind: String
    var text: String
    var created: String
}

struct QuoteLine: Decodable {
    var id: String?
    var text: String
    var page: Int?
    var created: String
}

struct FlagLine: Decodable {
    var source: String
    var what: String
    var raw: String
    var at: String
}

extension LibraryRecord {
    /// The record as a JSON object with all keys in a fixed order. Absent values are null.
    public var json: JSONValue {
        switch self {
        case .library(let version): ["record": "library", "version": .integer(version)]
        case .setting(let name, let value): ["record": "setting", "name": .string(name), "value": .string(value)]
        case .author(let name): ["record": "author", "name": .string(name)]
        case .shelf(let name): ["record": "shelf", "name": .string(name)]
        case .tag(let name): ["record": "tag", "name": .string(name)]
        case .book(let book): book.json
        }
    }
}

extension BookRecord {
    var json: JSONValue {
        let data = edition.metadata
        return [
            "record": "book", "id": .string(edition.id.rawValue), "isbn13": JSONValue(edition.isbn?.digits),
            "isbnText": JSONValue(edition.isbnText), "title": JSONValue(data.title),
            "subtitle": JSONValue(data.subtitle),
            "authors": .array(data.authors.map(\.json)), "publisher": JSONValue(data.publisher),
            "publishedDate": JSONValue(data.publishedDate), "publishedDateText": JSONValue(data.publishedDateText),
            "pageCount": JSONValue(data.pageCount), "language": JSONValue(data.language),
            "originalLanguage": JSONValue(data.originalLanguage),
            "authorNationality": JSONValue(data.authorNationality),
            "format": JSONValue(data.format?.rawValue), "series": JSONValue(data.series),
            "seriesNumber": JSONValue(data.seriesNumber), "description": JSONValue(data.description),
            "subjects": JSONValue(data.subjects), "coverURL": JSONValue(data.coverURL),
            "previewLink": JSONValue(data.previewLink), "infoLink": JSONValue(data.infoLink),
            "identifiers": data.identifiersJSON,
            "sources": .object(
                data.sources.sorted { $0.key.rawValue < $1.key.rawValue }
                    .map { (key: $0.key.rawValue, value: .string($0.value.rawValue)) }),
            "editedFields": JSONValue(edition.editedFields.map(\.rawValue).sorted()),
            "copies": .array(copies.map(\.json)),
        ]
    }
}

extension CopyRecord {
    var json: JSONValue {
        [
            "id": .string(copy.id.rawValue), "status": .string(copy.status.rawValue), "owned": .bool(copy.isOwned),
            "wishlist": .bool(copy.isOnWishlist), "favourite": .bool(copy.isFavourite), "shelf": JSONValue(copy.shelf),
            "tags": JSONValue(copy.tags), "rating": JSONValue(copy.rating), "public": .bool(copy.isPublic),
            "recommendedBy": JSONValue(copy.recommendedBy), "wouldRecommend": JSONValue(copy.wouldRecommend),
            "dailyGoal": JSONValue(copy.dailyGoal), "culturalGoal": .bool(copy.countsForCulturalGoal),
            "culturalGoalCategory": JSONValue(copy.culturalGoalCategory), "added": .string(copy.added.rfc3339),
            "deleted": JSONValue(copy.deleted?.rfc3339), "requests": JSONValue(requests),
            "readings": .array(readings.map(\.json)), "notes": .array(notes.map { $0.json(withID: true) }),
            "quotes": .array(quotes.map { $0.json(withID: true) }),
            "flags": .array(flags.map(\.json)),
        ]
    }
}

extension ReadingRecord {
    var json: JSONValue {
        [
            "id": .string(reading.id.rawValue), "state": .string(reading.state.rawValue),
            "started": JSONValue(reading.started), "finished": JSONValue(reading.finished),
            "stopped": JSONValue(reading.stopped),
            "progress": .array(
                entries.map {
                    [
                        "id": .string($0.id.rawValue), "at": .string($0.at.rfc3339),
                        "page": JSONValue($0.amount.page),
                        "percent": JSONValue($0.amount.percent), "automatic": .bool($0.isAutomatic),
                        "session": JSONValue($0.session?.rawValue),
                    ]
                }),
            "sessions": .array(
                sessions.map {
                    [
                        "id": .string($0.id.rawValue), "start": .string($0.start.rfc3339),
                        "end": JSONValue($0.end?.rfc3339), "startPage": .integer($0.startPage),
                        "endPage": JSONValue($0.endPage),
                    ]
                }),
        ]
    }

    /// The state and the days of the reading, for a cell of the CSV.
    var daysJSON: JSONValue {
        [
            "state": .string(reading.state.rawValue), "started": JSONValue(reading.started),
            "finished": JSONValue(reading.finished), "stopped": JSONValue(reading.stopped),
        ]
    }
}

extension Contributor {
    var json: JSONValue { ["name": .string(name), "role": .string(role.rawValue)] }
}

extension Note {
    func json(withID: Bool) -> JSONValue {
        object(
            withID ? id.rawValue : nil,
            [("kind", .string(kind.rawValue)), ("text", .string(text)), ("created", .string(created.rfc3339))])
    }
}

extension Quote {
    func json(withID: Bool) -> JSONValue {
        object(
            withID ? id.rawValue : nil,
            [("text", .string(text)), ("page", JSONValue(page)), ("created", .string(created.rfc3339))])
    }
}

private func object(_ id: String?, _ members: [(key: String, value: JSONValue)]) -> JSONValue {
    .object((id.map { [(key: "id", value: .string($0))] } ?? []) + members)
}
