import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

/// The stats of the copies with neighbouring row ids. The stats of the library are sums over its blocks. Copies in the
/// trash and cancelled readings are left out.
struct StatsBlock: Sendable, Equatable {
    /// The days on which a book of the block was read, oldest first.
    let days: [DayStats]
    private(set) var finishes: [CalendarDay?: Finishes] = [:]
    private(set) var counts = LibraryCounts()
    fileprivate private(set) var languages: [String?: Int] = [:]
    /// The number of copies with each rating in quarter stars.
    private(set) var ratings: [Int: Int] = [:]
    private(set) var beingRead: [CopyBeingRead] = []
    private(set) var readings: [DatedReading] = []
    /// The copies that were read to the end.
    private(set) var read = ReadCopies()
    /// The reader's status and marks of each copy, by the last bits of the copy's row id.
    fileprivate private(set) var own: [Own]

    /// These take few bytes, because a library can have very many copies.
    fileprivate struct Own: Sendable, Equatable {
        /// The place of the status in ``Copy/Status/forEverybody``, counted from 1; 0 if no copy outside the trash has
        /// the row id.
        private var place: UInt8 = 0
        private(set) var isOnWishlist = false
        private(set) var isFavourite = false

        /// Creates the value of a row id that no copy has.
        init() {}

        init(_ status: Copy.Status, isOnWishlist: Bool, isFavourite: Bool) {
            place = UInt8(1 + (Copy.Status.forEverybody.firstIndex(of: status) ?? 0))
            (self.isOnWishlist, self.isFavourite) = (isOnWishlist, isFavourite)
        }

        var status: Copy.Status? { place > 0 ? Copy.Status.forEverybody[Int(place) - 1] : nil }

        mutating func merge(_ other: Own) {
            place = max(place, other.place)
            isOnWishlist = isOnWishlist || other.isOnWishlist
            isFavourite = isFavourite || other.isFavourite
        }
    }

    /// A copy that is being read, with the dates that decide whether it is paused.
    struct CopyBeingRead: Sendable, Equatable {
        var copy: Int64
        var lastActivity: CalendarDay?
        var started: CalendarDay?
        var added: CalendarDay

        func pause(today: CalendarDay) -> Pause? {
            Pause(last: lastActivity, started: started, added: added, today: today)
        }

        /// The number of the day from which a pause is counted.
        var latest: Int {
            [lastActivity?.number, started?.span.upperBound].compactMap(\.self).max() ?? added.number ?? .min
        }
    }

    /// A reading of which at least one date is known. A library can have very many, so the dates are kept as numbers.
    struct DatedReading: Sendable, Equatable {
        var row: Int64
        var copy: Int64
        var started: DateNumber?
        var finished: DateNumber?
        var stopped: DateNumber?
        var isOpen: Bool

        /// - Parameter row: the columns id, copy, state, started, finished and stopped.
        /// - Returns: `nil` if no date is known.
        fileprivate init?(_ row: Row, _ state: Reading.State, finished: CalendarDay?) throws {
            (self.row, copy) = (row[0], row[1])
            started = try row.day("started", at: 3).map(DateNumber.init)
            self.finished = finished.map(DateNumber.init)
            stopped = try row.day("stopped", at: 5).map(DateNumber.init)
            isOpen = state == .open
            if started == nil, finished == nil, stopped == nil { return nil }
        }

        /// Returns the dated readings of the library, without the other stats of its blocks.
        static func all(_ db: Database) throws -> [DatedReading] {
            var readings: [DatedReading] = []
            try db.forEachRow(
                """
                SELECT reading.id, copy, state, started, finished, stopped
                FROM reading JOIN copy ON copy.id = reading.copy
                WHERE reader = reader() AND state <> 'cancelled' AND copy.deleted IS NULL
                    AND coalesce(started, finished, stopped) IS NOT NULL
                """
            ) { row in
                let reading = try DatedReading(
                    row, row.word("state", at: 2), finished: row.day("finished", at: 4))
                if let reading { readings.append(reading) }
            }
            return readings
        }

        var dates: [DateNumber] { [started, finished, stopped].compactMap(\.self) }

        /// Returns false only if the reading was certainly neither started nor ended on any of these days in whatever
        /// year. Most readings of a library are left out by this check, which looks at no single year.
        ///
        /// - Parameter includesReading: true if the reading must not have been going on either.
        func mayBeRemembered(onAny days: [DateNumber.DayOfYear], includesReading: Bool) -> Bool {
            days.contains { day in
                if day == started?.dayOfYear || day == finished?.dayOfYear || day == stopped?.dayOfYear { return true }
                guard includesReading, let started else { return false }
                let next = started.next(day)
                return isOpen || (finished ?? stopped).map { next < $0 } ?? false
            }
        }
    }

    /// A date as a number such as 20240317. The month and the day are 0 if they are not known.
    struct DateNumber: Sendable, Equatable, Comparable {
        private let number: Int32

        init(_ date: CalendarDay) {
            number = Int32(date.year * 10_000 + (date.month ?? 0) * 100 + (date.day ?? 0))
        }

        var date: CalendarDay? {
            let day = Int(number) % 100
            return CalendarDay(year: year, month: month > 0 ? month : nil, day: day > 0 ? day : nil)
        }

        var year: Int { Int(number) / 10_000 }
        /// The number of the month; 0 if it is not known.
        var month: Int { Int(number) / 100 % 100 }

        static func < (left: DateNumber, right: DateNumber) -> Bool { left.number < right.number }

        /// A month and a day as a number such as 317.
        struct DayOfYear: Equatable { fileprivate let number: Int32 }

        var dayOfYear: DayOfYear { DayOfYear(number: number % 10_000) }

        /// Returns the first date after this one that is this day of a year.
        func next(_ day: DayOfYear) -> DateNumber {
            let same = number - number % 10_000 + day.number
            return DateNumber(number: same > number ? same : same + 10_000)
        }

        private init(number: Int32) { self.number = number }
    }

    fileprivate init(_ db: Database, copies: ClosedRange<Int64>, days: [DayStats], in zone: TimeZone) throws {
        self.days = days
        own = [Own](repeating: Own(), count: copies.count)
        let facts = try addCopies(db, copies)
        read = try ReadCopies(db, copies: copies, facts, finishes: try addReadings(db, copies, facts))
        beingRead = try ReadingNowRow.fetch(db, copies: copies).map { row in
            CopyBeingRead(
                copy: row.copy, lastActivity: row.lastActivity.map { CalendarDay($0, in: zone) }, started: row.started,
                added: CalendarDay(row.added, in: zone))
        }
    }

    /// Creates the stats of all readers together.
    ///
    /// - Parameter readers: the stats of the same copies for each reader; at least one.
    fileprivate init(merging readers: [StatsBlock]) {
        days = readers.days
        own = readers[0].own
        for reader in readers.dropFirst() {
            for place in own.indices { own[place].merge(reader.own[place]) }
        }
        finishes = Dictionary(uniqueKeysWithValues: readers.finishes.map { ($0.date, $0) })
        ratings = readers.reduce(into: [:]) { $0.merge($1.ratings, uniquingKeysWith: +) }
        readings = readers.flatMap(\.readings)
        read = ReadCopies(merging: readers.map(\.read))
        // The other counts are the same for each reader.
        (counts, languages) = (readers[0].counts, readers[0].languages)
        (counts.byStatus, counts.wishlist, counts.favourites) = ([:], 0, 0)
        for copy in own {
            guard let status = copy.status else { continue }
            counts.byStatus[status, default: 0] += 1
            if copy.isOnWishlist { counts.wishlist += 1 }
            if copy.isFavourite { counts.favourites += 1 }
        }
        // A copy that several read is listed once, with the latest activity.
        var latest: [Int64: CopyBeingRead] = [:]
        for copy in readers.flatMap(\.beingRead) {
            if let other = latest[copy.copy], other.latest >= copy.latest { continue }
            latest[copy.copy] = copy
        }
        beingRead = latest.values.sorted { $0.copy < $1.copy }
    }

    /// - Returns: the facts of each copy.
    private mutating func addCopies(
        _ db: Database, _ copies: ClosedRange<Int64>
    ) throws -> [Int64: ReadCopies.Facts] {
        var facts: [Int64: ReadCopies.Facts] = [:]
        try db.forEachRow(
            """
            SELECT copy.id, \(OwnCopy.status), isOwned, \(OwnCopy.isOnWishlist), \(OwnCopy.isFavourite), own.rating,
                format, language, coalesce(min(pageCount, \(StatsLimit.pages)), 0),
                coalesce(CAST(substr(publishedDate, 1, 4) AS INTEGER), 0)
            FROM copy JOIN edition ON edition.id = copy.edition \(OwnCopy.join)
            WHERE copy.id BETWEEN ? AND ? AND copy.deleted IS NULL
            """, [copies.lowerBound, copies.upperBound]
        ) { row in
            let status: Copy.Status = try row.word("status", at: 1)
            let (copy, isOnWishlist, isFavourite): (Int64, Bool, Bool) = (row[0], row[3], row[4])
            counts.copies += 1
            counts.byStatus[status, default: 0] += 1
            if row[2] { counts.owned += 1 }
            if isOnWishlist { counts.wishlist += 1 }
            if isFavourite { counts.favourites += 1 }
            own[Int(copy - copies.lowerBound)] = Own(status, isOnWishlist: isOnWishlist, isFavourite: isFavourite)
            let (rating, language, pages, year): (Int?, String?, Int, Int) = (row[5], row[7], row[8], row[9])
            if let rating { ratings[rating, default: 0] += 1 }
            let format: Metadata.Format? = row.hasNull(atIndex: 6) ? nil : try row.word("format", at: 6)
            counts.byFormat[format, default: 0] += 1
            languages[language, default: 0] += 1
            facts[copy] = ReadCopies.Facts(
                pages: Int32(clamping: pages), year: Int16(clamping: year), format: format, language: language,
                rating: UInt8(clamping: rating ?? 0))
        }
        return facts
    }

    /// - Returns: the dates of the finished readings, by copy.
    private mutating func addReadings(
        _ db: Database, _ copies: ClosedRange<Int64>, _ facts: [Int64: ReadCopies.Facts]
    ) throws -> [Int64: [DateNumber?]] {
        var dates: [Int64: [DateNumber?]] = [:]
        try db.forEachRow(
            """
            SELECT id, copy, state, started, finished, stopped FROM reading
            WHERE copy BETWEEN ? AND ? AND reader = reader() AND state <> 'cancelled'
            """, [copies.lowerBound, copies.upperBound]
        ) { row in
            let copy: Int64 = row[1]
            guard let pages = facts[copy].map({ Int($0.pages) }) else { return }
            let state: Reading.State = try row.word("state", at: 2)
            let finished = try row.day("finished", at: 4)
            if state == .finished {
                finishes[finished, default: Finishes(date: finished, books: 0)].add(books: 1, pages: pages)
                dates[copy, default: []].append(finished.map(DateNumber.init))
            }
            if let reading = try DatedReading(row, state, finished: finished) { readings.append(reading) }
        }
        return dates
    }
}

extension Finishes {
    fileprivate mutating func add(books: Int, pages: Int) {
        self.books += books
        self.pages += pages
    }
}

/// Sums over the whole library.
extension [StatsBlock] {
    /// The days on which something was read, oldest first.
    var days: [DayStats] {
        var days: [CalendarDay: DayStats] = [:]
        for day in lazy.map(\.days).joined() { days[day.day, default: DayStats(day: day.day)].add(day) }
        return days.values.sorted { $0.day < $1.day }
    }

    /// The finished readings by date, in any order.
    var finishes: [Finishes] {
        var finishes: [CalendarDay?: Finishes] = [:]
        for (date, found) in lazy.map(\.finishes).joined() {
            finishes[date, default: Finishes(date: date, books: 0)].add(books: found.books, pages: found.pages)
        }
        return finishes.values.map(\.self)
    }

    var ratings: Ratings { Ratings(reduce(into: [:]) { $0.merge($1.ratings, uniquingKeysWith: +) }) }

    var counts: LibraryCounts {
        var counts = LibraryCounts()
        var languages: [String?: Int] = [:]
        for block in self {
            counts.copies += block.counts.copies
            counts.owned += block.counts.owned
            counts.wishlist += block.counts.wishlist
            counts.favourites += block.counts.favourites
            counts.byStatus.merge(block.counts.byStatus, uniquingKeysWith: +)
            counts.byFormat.merge(block.counts.byFormat, uniquingKeysWith: +)
            languages.merge(block.languages, uniquingKeysWith: +)
        }
        counts.byLanguage = LanguageCount.ordered(languages)
        return counts
    }
}

/// Keeps the stats of blocks of copies in memory, so that after a change only the blocks are computed again in which
/// something has changed. SQLite triggers count these changes, whichever process or command makes them.
final class StatsBlocks: Sendable {
    /// The number of bits by which a row id is shifted to get its block. The triggers of ``Schema`` contain it too.
    private static let shift: Int64 = 12

    private struct Kept {
        var zone: TimeZone?
        var blocks: [Int64: (version: Int64, stats: StatsBlock)] = [:]
    }

    /// The blocks of each reader, by the reader's row id.
    private let kept = Mutex<[Int64: Kept]>([:])

    /// Returns the blocks of all copies, as they are in the database's current transaction.
    func all(_ db: Database, in zone: TimeZone) throws -> [StatsBlock] {
        let reader = try db.reader
        guard reader == CurrentReader.everybody else { return try all(db, of: reader, in: zone) }
        let readers = try db.forEachReader { _ in try all(db, in: zone) }
        return (readers.first ?? []).indices.map { index in StatsBlock(merging: readers.map { $0[index] }) }
    }

    private func all(_ db: Database, of reader: Int64, in zone: TimeZone) throws -> [StatsBlock] {
        let known = kept.withLock { kept in kept[reader].flatMap { $0.zone == zone ? $0.blocks : nil } ?? [:] }
        var versions: [Int64: Int64] = [:]
        try db.forEachRow("SELECT block, version FROM statsBlock") { versions[$0[0]] = $0[1] }
        var blocks: [Int64: (version: Int64, stats: StatsBlock)] = [:]
        var unknown: [(block: Int64, copies: ClosedRange<Int64>)] = []
        var last: Int64 = .min
        // Goes from block to block, so that gaps in the row ids cost nothing.
        while let first = try db.value(Int64.self, "SELECT min(id) FROM copy WHERE id >= ?", [last]) {
            let block = first >> Self.shift
            let copies = (block << Self.shift)...(block << Self.shift | (1 << Self.shift - 1))
            if let found = known[block], found.version == versions[block] ?? 0 {
                blocks[block] = found
            } else {
                unknown.append((block, copies))
            }
            guard copies.upperBound < .max else { break }
            last = copies.upperBound + 1
        }
        if !unknown.isEmpty {
            let query = try DayStatsQuery(db, in: zone)
            let days = unknown.count > blocks.count ? try query.blocks(of: "copy.id >> \(Self.shift)") : nil
            for (block, copies) in unknown {
                let days = if let days { days[block] ?? [] } else { try query.copies(copies) }
                let stats = try StatsBlock(db, copies: copies, days: days, in: zone)
                blocks[block] = (versions[block] ?? 0, stats)
            }
        }
        kept.withLock { $0[reader] = Kept(zone: zone, blocks: blocks) }
        // Sums of fractions depend on the order of addition, so the order is always the same.
        return blocks.sorted { $0.key < $1.key }.map(\.value.stats)
    }

    /// Returns the dated readings of the library. If no blocks are in memory, it reads nothing else.
    func readings(_ db: Database, in zone: TimeZone) throws -> [StatsBlock.DatedReading] {
        let reader = try db.reader
        guard reader != CurrentReader.everybody else {
            return Array(try db.forEachReader { _ in try readings(db, in: zone) }.joined())
        }
        let isEmpty = kept.withLock { kept in kept[reader].map { $0.zone != zone || $0.blocks.isEmpty } ?? true }
        return isEmpty ? try StatsBlock.DatedReading.all(db) : try all(db, in: zone).flatMap(\.readings)
    }
}
