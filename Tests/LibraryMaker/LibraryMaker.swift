import Bookplate
import GRDB
import Library
import TestTools

/// Generates a library of any size, which is always the same for the same seed. It has titles in nine languages, a few
/// authors with many books, tags, shelves, readings with progress and sessions, notes and quotes.
///
/// - Parameters:
///   - path: the path of the new library.
///   - copies: the number of books. Some of them are second copies of an edition, and one in 200 is in the trash.
///   - sessions: the number of sessions for the first book. The other books have between none and a few dozen.
///   - readers: the number of readers. What the first of them has is the same for every number.
/// - Throws: ``LibraryError``, or an error from GRDB.
public func makeLibrary(
    at path: String, copies: Int, seed: UInt64 = 1, sessions: Int = 0, readers: Int = 1
) async throws {
    // The library creates its schema when it is opened.
    try await LibraryFile.open(at: path, device: "maker").close()
    let queue = try DatabaseQueue(path: path)
    try await queue.writeWithoutTransaction { db in
        // A generated library need not survive a power cut.
        try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000")
    }
    var maker = LibraryMaker(seed: seed, copies: copies, readers: readers)
    for first in stride(from: 0, to: copies, by: 20_000) {
        maker = try await queue.write { [maker] db in
            var maker = maker
            if first == 0 {
                try maker.insertNames(db)
                try maker.insertReaders(db)
            }
            for number in first..<min(copies, first + 20_000) {
                try maker.insertBook(db, number: number, sessions: number == 0 ? sessions : nil)
            }
            return maker
        }
    }
    try queue.close()
    let library = try LibraryFile.open(at: path, device: "maker")
    try await library.rebuildSearchIndex()
    try await library.close()
}

/// Inserts books in the order in which they were added.
struct LibraryMaker {
    private var texts: Texts
    /// The values of the readers after the first.
    private var others: Texts
    private let copies: Int
    private let readers: Int
    private let authors: Int
    private let tags = genres + moods
    private var editions: [(language: String, pages: Int?)] = []
    private var readings: Int64 = 0

    init(seed: UInt64, copies: Int, readers: Int) {
        texts = Texts(dice: SplitMix(seed: seed))
        others = Texts(dice: SplitMix(seed: seed + 1000))
        self.copies = copies
        self.readers = readers
        authors = max(3, copies / 4)
    }

    /// Noon of 2026-11-21, in milliseconds. All generated times are earlier.
    private static let now: Int64 = 1_795_262_400_000
    private static let day: Int64 = 86_400_000
    /// The time during which books were added: twelve years, in milliseconds.
    private static let span = 12 * 365 * day

    /// Inserts the authors, tags and shelves.
    mutating func insertNames(_ db: Database) throws {
        let author = try db.cachedStatement(sql: "INSERT INTO author (id, name, folded) VALUES (?, ?, ?)")
        var names: Set<String> = []
        for id in 1...authors {
            var name = texts.person()
            while !names.insert(name).inserted { name += " " + texts.properName() }
            try author.execute(arguments: [id, name, name.searchFolded])
        }
        for (index, name) in tags.enumerated() {
            try db.execute(
                sql: "INSERT INTO tag (id, name, displayName, folded) VALUES (?, ?, ?, ?)",
                arguments: [index + 1, name.caseFolded, name, name.searchFolded])
        }
        for (index, name) in shelfNames.enumerated() {
            try db.execute(
                sql: "INSERT INTO shelf (id, name, displayName) VALUES (?, ?, ?)",
                arguments: [index + 1, name.caseFolded, name])
        }
    }

    /// Inserts the readers after the first, who is in every library, and names that one.
    mutating func insertReaders(_ db: Database) throws {
        guard readers > 1 else { return }
        try db.execute(sql: "UPDATE reader SET name = 'reader 1', displayName = 'Reader 1'")
        for reader in 2...readers {
            try db.execute(
                sql: "INSERT INTO reader (id, uuid, name, displayName, colour, created) VALUES (?, ?, ?, ?, ?, 0)",
                arguments: [reader, others.dice.uuid(), "reader \(reader)", "Reader \(reader)", reader % 8])
        }
    }

    /// Inserts one copy with all its rows. Unless it is a second copy, its edition is inserted too.
    mutating func insertBook(_ db: Database, number: Int, sessions: Int?) throws {
        let edition: Int64
        if editions.count > 10, texts.dice.once(in: 25) {
            edition = Int64(1 + texts.dice.below(editions.count))
        } else {
            edition = try insertEdition(db, number: number)
        }
        let added =
            Self.now - Self.span + Self.span / Int64(copies) * Int64(number) + Int64(texts.dice.below(Int(Self.day)))
        let copy = Int64(number + 1)
        let status = number == 0 ? "read" : texts.dice.pick(Self.statuses)
        let isWish = texts.dice.once(in: 12)
        let rating = texts.rating(status)
        let (id, isFavourite) = (texts.dice.uuid(), texts.dice.once(in: 20))
        try db.cachedStatement(
            sql: """
                INSERT INTO copy (id, uuid, edition, isOwned, shelf, added, deleted) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            copy, id, edition, !isWish, texts.dice.once(in: 8) ? nil : 1 + texts.dice.skewed(shelfNames.count), added,
            texts.dice.once(in: 200) ? min(Self.now, added + 30 * Self.day) : nil,
        ])
        let own = """
            INSERT INTO readerCopy (copy, reader, status, isOnWishlist, isFavourite, rating) VALUES (?, ?, ?, ?, ?, ?)
            """
        try db.cachedStatement(sql: own).execute(arguments: [copy, 1, status, isWish, isFavourite, rating])
        try insertTags(db, copy: copy)
        try insertRemarks(db, copy: copy, after: added)
        let pages = editions[Int(edition) - 1].pages
        try insertReadings(db, copy: copy, reader: 1, status, from: added, pages: pages, sessions: sessions)
        guard readers > 1 else { return }
        swap(&texts, &others)
        for reader in 2...readers {
            let status = texts.dice.pick(Self.statuses)
            let (isWish, isFavourite) = (texts.dice.once(in: 12), texts.dice.once(in: 20))
            try db.cachedStatement(sql: own).execute(arguments: [
                copy, reader, status, isWish, isFavourite, texts.rating(status),
            ])
            try insertReadings(db, copy: copy, reader: reader, status, from: added, pages: pages, sessions: nil)
        }
        swap(&texts, &others)
    }

    private static let statuses = [
        "toRead", "toRead", "toRead", "reading", "read", "read", "read", "read", "onHold", "dnf",
    ]

    /// Inserts a reader's readings of a copy.
    ///
    /// - Parameter sessions: the number of sessions of the last reading; `nil` for a random number.
    private mutating func insertReadings(
        _ db: Database, copy: Int64, reader: Int, _ status: String, from added: Int64, pages: Int?, sessions: Int?
    ) throws {
        guard status != "toRead" else { return }
        if status == "read", texts.dice.once(in: 15) {
            try insertReading(
                db, copy: copy, reader: reader, position: 0, "finished", from: added, pages: pages, sessions: nil)
            try insertReading(
                db, copy: copy, reader: reader, position: 1, "finished", from: added + 400 * Self.day, pages: pages,
                sessions: sessions)
        } else {
            let state = status == "read" ? "finished" : status == "dnf" ? "stopped" : "open"
            try insertReading(
                db, copy: copy, reader: reader, position: 0, state, from: added, pages: pages, sessions: sessions)
        }
    }

    private mutating func insertEdition(_ db: Database, number: Int) throws -> Int64 {
        let id = Int64(editions.count + 1)
        let tongue = texts.dice.pick(tongues)
        let title = texts.title(in: tongue)
        let subtitle = texts.dice.once(in: 5) ? texts.title(in: tongue) : nil
        let isbn = texts.dice.once(in: 12) ? nil : isbn(number)
        let pages = texts.dice.once(in: 15) ? nil : 60 + texts.dice.skewed(900)
        let series = texts.dice.once(in: 8) ? "The \(texts.properName()) Cycle" : nil
        try db.cachedStatement(
            sql: """
                INSERT INTO edition (id, uuid, isbn, isbnText, title, subtitle, publisher, publishedDate, pageCount,
                    language, format, series, seriesNumber, folded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            id, texts.dice.uuid(), isbn, isbn, title, subtitle, tongue.nouns[number % 8] + " Press",
            String(1900 + texts.dice.skewed(126)), pages, texts.dice.once(in: 20) ? nil : tongue.code, "physical",
            series,
            series == nil ? nil : String(1 + texts.dice.below(9)),
            [title, subtitle].compactMap(\.self).joined(separator: " ").searchFolded,
        ])
        var chosen: [Int] = []
        for _ in 0..<(texts.dice.once(in: 40) ? 0 : texts.dice.once(in: 5) ? 2 : 1) {
            let author = 1 + texts.dice.skewed(authors)
            if !chosen.contains(author) { chosen.append(author) }
        }
        for (position, author) in chosen.enumerated() {
            try db.cachedStatement(
                sql: "INSERT INTO editionAuthor (edition, position, author, role) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [
                id, position, author, position > 0 && texts.dice.once(in: 3) ? "translator" : "author",
            ])
        }
        editions.append((tongue.code, pages))
        return id
    }

    private mutating func insertTags(_ db: Database, copy: Int64) throws {
        var chosen: Set<Int> = []
        for _ in 0..<texts.dice.below(5) { chosen.insert(1 + texts.dice.skewed(tags.count)) }
        for tag in chosen.sorted() {
            try db.cachedStatement(sql: "INSERT INTO copyTag (copy, tag) VALUES (?, ?)").execute(arguments: [copy, tag])
        }
    }

    private mutating func insertRemarks(_ db: Database, copy: Int64, after added: Int64) throws {
        if texts.dice.once(in: 3) {
            for _ in 0...texts.dice.skewed(3) {
                try db.cachedStatement(
                    sql: "INSERT INTO note (uuid, copy, kind, text, created) VALUES (?, ?, ?, ?, ?)"
                ).execute(arguments: [
                    texts.dice.uuid(), copy, texts.dice.once(in: 6) ? "discussion" : "note",
                    texts.annotation(words: 5 + texts.dice.skewed(60)), added + Int64(texts.dice.below(60)) * Self.day,
                ])
            }
        }
        if texts.dice.once(in: 6) {
            try db.cachedStatement(
                sql: "INSERT INTO quote (uuid, copy, text, page, created) VALUES (?, ?, ?, ?, ?)"
            ).execute(arguments: [
                texts.dice.uuid(), copy, texts.annotation(words: 6 + texts.dice.below(25)), 1 + texts.dice.below(400),
                added,
            ])
        }
    }

    /// - Parameter sessions: the number of sessions; `nil` for a random number.
    private mutating func insertReading(
        _ db: Database, copy: Int64, reader: Int, position: Int, _ state: String, from start: Int64, pages: Int?,
        sessions: Int?
    ) throws {
        readings += 1
        let reading = readings
        // A book that was added recently was read before it was added.
        let started = min(start, Self.now - 260 * Self.day) + Int64(texts.dice.below(200)) * Self.day
        let last = min(Self.now, started + Int64(1 + texts.dice.below(40)) * Self.day)
        // One reading in eight has incomplete dates, with only a year or only a year and a month.
        func text(_ instant: Int64, _ length: Int) -> String {
            String(CalendarDay(number: Int(instant / Self.day)).description.prefix(length))
        }
        let length = texts.dice.once(in: 8) ? (texts.dice.once(in: 2) ? 4 : 7) : 10
        try db.cachedStatement(
            sql: """
                INSERT INTO reading (id, uuid, copy, reader, position, state, started, finished, stopped)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            reading, texts.dice.uuid(), copy, reader, position, state,
            texts.dice.once(in: 6) ? nil : text(min(started, last), length),
            state == "finished" && !texts.dice.once(in: 10) ? text(last, length) : nil,
            state == "stopped" ? text(last, length) : nil,
        ])
        let count = sessions ?? (texts.dice.once(in: 3) ? texts.dice.skewed(40) : 0)
        let total = pages ?? 300
        let step = min(Self.day / 2, (Self.now - started) / Int64(max(1, count)) - 1)
        for number in 0..<count {
            let begin = started + Int64(number) * step
            let (from, to) = (total * number / count, total * (number + 1) / count)
            try db.cachedStatement(
                sql: """
                    INSERT INTO session (uuid, reading, reader, start, "end", startPage, endPage)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                texts.dice.uuid(), reading, reader, begin, begin + Int64(10 + texts.dice.below(110)) * 60_000, from, to,
            ])
            let session = db.lastInsertedRowID
            try insertProgress(db, reading: reading, at: begin + 7_200_000, page: to, session: session)
        }
        if count == 0, texts.dice.once(in: 2) {
            let page = state == "finished" ? total : 1 + texts.dice.below(total)
            try insertProgress(db, reading: reading, at: last, page: page, session: nil)
        }
    }

    private mutating func insertProgress(_ db: Database, reading: Int64, at: Int64, page: Int, session: Int64?) throws {
        try db.cachedStatement(
            sql: "INSERT INTO progressEntry (uuid, reading, at, page, isAutomatic, session) VALUES (?, ?, ?, ?, 0, ?)"
        ).execute(arguments: [texts.dice.uuid(), reading, at, page, session])
    }
}

/// Returns one of many valid ISBNs by its number. The ISBNs are not in ascending order.
private func isbn(_ number: Int) -> String {
    let body = "978" + String(String(1_000_000_000 + number * 618_033_989 % 1_000_000_000).dropFirst())
    let sum = body.utf8.enumerated().reduce(0) { $0 + Int($1.element - 48) * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
    return body + String((10 - sum % 10) % 10)
}
