import Bookplate
import FoundationEssentials

// The lines of Bookplate's JSON. The values of a decoded line are checked when the line becomes a record.

/// The reason why a line is not valid.
struct LineError: Error, CustomStringConvertible {
    var description: String
}

struct RecordLine: Decodable {
    var record: String
    var version: Int?
    var name: String?
    var sortName: String?
    var reader: String?
    var value: String?
    var id: String?
    var colour: Int?
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

    /// - Throws: ``LineError`` for the first value that cannot be stored.
    func checked() throws -> LibraryRecord {
        switch record {
        case "library":
            let version = version ?? 0
            guard (1...LibraryRecord.version).contains(version) else {
                throw LineError(
                    description:
                        "the record has version \(version) of the export format, but your Bookplate reads only versions up to \(LibraryRecord.version)"
                )
            }
            return .library(version: version)
        case "reader":
            try check(colour, "colour", in: 1...8)
            return .reader(
                Reader(
                    id: try identity(id, "id"), name: try filled(name, "name", TextLimit.name),
                    colour: (colour ?? 1) - 1))
        case "setting":
            let name = try filled(name, "name", TextLimit.name)
            let value = try bounded(value ?? "", "value", TextLimit.name).cleaned
            // An unknown setting is kept, because it may belong to a newer version.
            if let setting = LibrarySetting(rawValue: name), setting.value(parsing: value) == nil {
                throw LineError(description: "\"\(value.excerpt)\" is not a valid value for the setting \"\(name)\"")
            }
            return .setting(name: name, value: value, reader: try reader.map { try identity($0, "reader") })
        case "author":
            return .author(
                try filled(name, "name", TextLimit.name),
                sortName: try sortName.map { try filled($0, "sortName", TextLimit.name) })
        case "shelf": return .shelf(try filled(name, "name", TextLimit.name))
        case "tag": return .tag(try filled(name, "name", TextLimit.name))
        case "book":
            return .book(BookRecord(edition: try edition(), copies: try (copies ?? []).map { try $0.checked() }))
        default: throw LineError(description: "\"\(record.excerpt)\" is not a known kind of record")
        }
    }

    private func edition() throws -> Edition {
        var data = Metadata()
        data.title = try title.map { try bounded($0, "title", TextLimit.title) }
        data.subtitle = subtitle
        data.authors = try (authors ?? []).map { try $0.checked() }
        data.publisher = publisher
        data.publishedDate = try day(publishedDate, "publishedDate")
        data.publishedDateText = publishedDateText
        try check(pageCount, "pageCount", in: NumberLimit.pages)
        data.pageCount = pageCount
        data.language = language
        data.originalLanguage = originalLanguage
        data.authorNationality = authorNationality
        data.format = try format.map { try word($0, "format") }
        data.series = series
        data.seriesNumber = seriesNumber
        data.description = try description.map { try bounded($0, "description", TextLimit.description) }
        data.subjects = subjects ?? []
        data.coverURL = coverURL
        data.previewLink = previewLink
        data.infoLink = infoLink
        data.identifiers = identifiers ?? [:]
        for (field, source) in sources ?? [:] {
            data.sources[try word(field, "sources")] = try word(source, "sources") as SourceName
        }
        var isbn: ISBN?
        if let isbn13 {
            do throws(ISBNRefusal) {
                isbn = try ISBN(ean13: isbn13)
            } catch {
                throw LineError(description: "isbn13: \(error)")
            }
        }
        return Edition(
            id: try identity(id, "id"), isbn: isbn, isbnText: isbnText, metadata: data,
            editedFields: Set(try (editedFields ?? []).map { try word($0, "editedFields") }))
    }
}

struct ContributorLine: Decodable {
    var name: String
    var role: String

    func checked() throws -> Contributor {
        Contributor(name: try filled(name, "author", TextLimit.name), role: try word(role, "role"))
    }
}

/// A copy. In a file with one reader, its members include those of ``OwnLine``; with several, the readers have them.
struct CopyLine: Decodable {
    private let shared: SharedLine
    private let own: OwnLine?

    init(from decoder: any Decoder) throws {
        shared = try SharedLine(from: decoder)
        own = try shared.readers == nil ? OwnLine(from: decoder) : nil
    }

    func checked() throws -> CopyRecord {
        let copy = try shared.copy()
        var record = try own?.checked(copy) ?? CopyRecord(copy: copy)
        record.readers = try shared.readers?.map { line in
            ReaderRecord(reader: try identity(line.reader, "reader"), record: try line.checked(copy))
        }
        record.requests = try shared.checkedRequests()
        record.flags = try shared.checkedFlags()
        return record
    }
}

/// The part of a copy that all readers share.
private struct SharedLine: Decodable {
    var id: String
    var owned: Bool?
    var shelf: String?
    var tags: [String]?
    var `public`: Bool?
    var added: String
    var deleted: String?
    var requests: [String]?
    var flags: [FlagLine]?
    var readers: [OwnLine]?

    func copy() throws -> Copy {
        var copy = Copy(id: try identity(id, "copy"), added: try instant(added, "added"))
        copy.isOwned = owned ?? true
        copy.shelf = shelf
        copy.tags = tags ?? []
        copy.isPublic = `public` ?? false
        copy.deleted = try deleted.map { try instant($0, "deleted") }
        return copy
    }

    func checkedRequests() throws -> [String] {
        try (requests ?? []).map { try filled($0, "requests", TextLimit.name) }
    }

    func checkedFlags() throws -> [ImportFlag] {
        try (flags ?? []).map {
            // A flag from an earlier import is cut if it is too long, because it must not prevent the import of a book.
            let what = String($0.what.cut(atBytes: TextLimit.note))
            let raw = $0.raw.utf8.contains(0) ? $0.raw.replacing("\0", with: "\u{2400}") : $0.raw
            return ImportFlag(
                source: try filled($0.source, "source", TextLimit.name), what: try filled(what, "what", TextLimit.note),
                raw: String(raw.cut(atBytes: ImportFlag.rawLimit)), at: try instant($0.at, "at"))
        }
    }
}

/// The part of a copy that is one reader's own.
private struct OwnLine: Decodable {
    /// The id of the reader; `nil` in a file with one reader.
    var reader: String?
    var status: String
    var wishlist: Bool?
    var favourite: Bool?
    var rating: Double?
    var recommendedBy: String?
    var wouldRecommend: Bool?
    var dailyGoal: Int?
    var culturalGoal: Bool?
    var culturalGoalCategory: String?
    var readings: [ReadingLine]?
    var notes: [NoteLine]?
    var quotes: [QuoteLine]?

    /// - Parameter shared: the copy with what all readers share.
    func checked(_ shared: Copy) throws -> CopyRecord {
        var copy = shared
        copy.status = try word(status, "status")
        copy.isOnWishlist = wishlist ?? false
        copy.isFavourite = favourite ?? false
        if let rating {
            guard Copy.isRating(rating) else {
                throw LineError(description: "rating is \(rating); it must be from 0.25 to 5 in steps of 0.25")
            }
            copy.rating = rating
        }
        copy.recommendedBy = recommendedBy
        copy.wouldRecommend = wouldRecommend
        try check(dailyGoal, "dailyGoal", in: NumberLimit.goal)
        copy.dailyGoal = dailyGoal
        copy.countsForCulturalGoal = culturalGoal ?? false
        copy.culturalGoalCategory = culturalGoalCategory
        var record = CopyRecord(copy: copy)
        record.readings = try (readings ?? []).map { try $0.checked() }
        if copy.status != .toRead, record.readings.isEmpty, let state = Reading.State(after: copy.status) {
            record.readings = [ReadingRecord(Reading(state: state))]
        }
        record.notes = try (notes ?? []).map { try $0.checked() }
        record.quotes = try (quotes ?? []).map { try $0.checked() }
        return record
    }
}

struct ReadingLine: Decodable {
    var id: String?
    var state: String
    var started: String?
    var finished: String?
    var stopped: String?
    var progress: [EntryLine]?
    var sessions: [SessionLine]?

    func checked() throws -> ReadingRecord {
        var reading = Reading(
            state: try word(state, "state"), started: try day(started, "started"),
            finished: try day(finished, "finished"), stopped: try day(stopped, "stopped"))
        if let id { reading.id = try identity(id, "reading") }
        return ReadingRecord(
            reading, entries: try (progress ?? []).map { try $0.checked() },
            sessions: try (sessions ?? []).map { try $0.checked() })
    }
}

struct EntryLine: Decodable {
    var id: String
    var at: String
    var page: Int?
    var percent: Double?
    var automatic: Bool?
    var session: String?

    func checked() throws -> ProgressEntry {
        let amount: ProgressEntry.Amount
        switch (page, percent) {
        case (let page?, nil) where page >= 0:
            try check(page, "page", in: pagesOfReading)
            amount = .page(page)
        case (nil, let percent?) where (0...100).contains(percent): amount = .percent(percent)
        default:
            throw LineError(description: "progress must be a page number, or a percentage from 0 to 100")
        }
        return ProgressEntry(
            id: try identity(id, "progress"), at: try instant(at, "at"), amount: amount,
            isAutomatic: automatic ?? false,
            session: try session.map { try identity($0, "session") })
    }
}

struct SessionLine: Decodable {
    var id: String
    var start: String
    var end: String?
    var startPage: Int?
    var endPage: Int?

    func checked() throws -> Session {
        let session = Session(
            id: try identity(id, "session"), start: try instant(start, "start"),
            end: try end.map { try instant($0, "end") },
            startPage: startPage ?? 0, endPage: endPage)
        guard session.startPage >= 0, session.endPage ?? session.startPage >= session.startPage,
            session.end ?? session.start >= session.start, session.end != nil || session.endPage == nil
        else { throw LineError(description: "a session ends before it begins, or its pages are wrong") }
        try check(session.startPage, "startPage", in: pagesOfReading)
        try check(endPage, "endPage", in: pagesOfReading)
        return session
    }
}

struct NoteLine: Decodable {
    var id: String?
    var kind: String
    var text: String
    var created: String
    var `private`: Bool?

    func checked() throws -> Note {
        var note = Note(
            kind: try word(kind, "kind"), text: try filled(text, "note", TextLimit.note),
            created: try instant(created, "created"), isPrivate: `private` ?? false)
        if let id { note.id = try identity(id, "note") }
        return note
    }
}

struct QuoteLine: Decodable {
    var id: String?
    var text: String
    var page: Int?
    var created: String
    var `private`: Bool?

    func checked() throws -> Quote {
        try check(page, "a quote's page", in: NumberLimit.pages)
        var quote = Quote(
            text: try filled(text, "quote", TextLimit.note), page: page, created: try instant(created, "created"),
            isPrivate: `private` ?? false)
        if let id { quote.id = try identity(id, "quote") }
        return quote
    }
}

struct FlagLine: Decodable {
    var source: String
    var what: String
    var raw: String
    var at: String
}

/// The range for the page number that a reading has reached. Page 0 means that nothing was read.
private let pagesOfReading = 0...NumberLimit.pages.upperBound

private func check(_ number: Int?, _ what: String, in range: ClosedRange<Int>) throws {
    guard let number, !range.contains(number) else { return }
    throw LineError(
        description: "\(what) is \(number); it must be a number from \(range.lowerBound) to \(range.upperBound)")
}

private func word<Word: RawRepresentable>(_ text: String, _ what: String) throws -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: text) else {
        throw LineError(description: "\(what) is \"\(text.excerpt)\", which is not a known value")
    }
    return word
}

private func day(_ text: String?, _ what: String) throws -> CalendarDay? {
    guard let text else { return nil }
    guard let day = CalendarDay(text) else {
        throw LineError(description: "\(what) is \"\(text.excerpt)\", which is not a date")
    }
    return day
}

private func instant(_ text: String, _ what: String) throws -> Date {
    guard let date = Date(rfc3339: text) else {
        throw LineError(description: "\(what) is \"\(text.excerpt)\", which is not a time in UTC")
    }
    return date
}

/// Checks an id, which has 1 to 64 lower-case letters, digits and hyphens. The letters A to F are accepted as well,
/// because some programs write a UUID in upper case.
private func identity<Entity>(_ text: String?, _ what: String) throws -> ID<Entity> {
    guard let text, (1...64).contains(text.utf8.count),
        text.utf8.allSatisfy({
            $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit || $0 >= 0x61 && $0 <= 0x7A
        })
    else { throw LineError(description: "\(what): the id is missing or not valid") }
    return ID(rawValue: text)
}

private func bounded(_ text: String, _ what: String, _ limit: Int) throws -> String {
    guard text.utf8.count <= limit || text.utf8.count <= limit * TextLimit.bytesPerCharacter && text.count <= limit
    else {
        throw LineError(description: "\(what) is longer than \(limit) characters")
    }
    return text
}

private func filled(_ text: String?, _ what: String, _ limit: Int) throws -> String {
    let cleaned = try bounded(text ?? "", what, limit).cleaned
    guard !cleaned.isEmpty else { throw LineError(description: "\(what) is empty") }
    return cleaned
}

extension LibraryRecord {
    /// The record as a JSON object with all keys in a fixed order. Absent values are null.
    public var json: JSONValue {
        switch self {
        case .library(let version): ["record": "library", "version": .integer(version)]
        case .reader(let reader):
            [
                "record": "reader", "id": .string(reader.id.rawValue), "name": JSONValue(reader.name),
                "colour": .integer(reader.colour + 1),
            ]
        case .setting(let name, let value, let reader):
            JSONValue.object([
                (key: "record", value: "setting"), (key: "name", value: .string(name)),
                (key: "value", value: .string(value)),
            ]).appending(reader.map { [("reader", .string($0.rawValue))] } ?? [])
        case .author(let name, let sortName):
            JSONValue.object([(key: "record", value: "author"), (key: "name", value: .string(name))])
                .appending(sortName.map { [("sortName", .string($0))] } ?? [])
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
        if let readers {
            return [
                "id": .string(copy.id.rawValue), "owned": .bool(copy.isOwned), "shelf": JSONValue(copy.shelf),
                "tags": JSONValue(copy.tags), "public": .bool(copy.isPublic), "added": .string(copy.added.rfc3339),
                "deleted": JSONValue(copy.deleted?.rfc3339), "requests": JSONValue(requests),
                "flags": .array(flags.map(\.json)), "readers": .array(readers.map(\.json)),
            ]
        }
        return [
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

extension ReaderRecord {
    var json: JSONValue {
        let copy = record.copy
        return [
            "reader": .string(reader.rawValue), "status": .string(copy.status.rawValue),
            "wishlist": .bool(copy.isOnWishlist), "favourite": .bool(copy.isFavourite),
            "rating": JSONValue(copy.rating), "recommendedBy": JSONValue(copy.recommendedBy),
            "wouldRecommend": JSONValue(copy.wouldRecommend), "dailyGoal": JSONValue(copy.dailyGoal),
            "culturalGoal": .bool(copy.countsForCulturalGoal),
            "culturalGoalCategory": JSONValue(copy.culturalGoalCategory),
            "readings": .array(record.readings.map(\.json)),
            "notes": .array(record.notes.map { $0.json(withID: true) }),
            "quotes": .array(record.quotes.map { $0.json(withID: true) }),
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
            [("kind", .string(kind.rawValue)), ("text", .string(text)), ("created", .string(created.rfc3339))],
            isPrivate: isPrivate)
    }
}

extension Quote {
    func json(withID: Bool) -> JSONValue {
        object(
            withID ? id.rawValue : nil,
            [("text", .string(text)), ("page", JSONValue(page)), ("created", .string(created.rfc3339))],
            isPrivate: isPrivate)
    }
}

private func object(_ id: String?, _ members: [(key: String, value: JSONValue)], isPrivate: Bool) -> JSONValue {
    var members = members
    if let id { members.insert((key: "id", value: .string(id)), at: 0) }
    if isPrivate { members.append((key: "private", value: .bool(true))) }
    return .object(members)
}
