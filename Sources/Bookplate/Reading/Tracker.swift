import FoundationEssentials

/// A copy's status with its readings: what the rules of the reading tracker work on.
///
/// The rules are pure: they take the time, change this value and say what they changed, step by step, for whoever stores it.
/// They need the latest entry of each reading only, never a book's whole history or its sessions.
public struct Tracker: Sendable, Equatable {
    public private(set) var status: Copy.Status
    /// Oldest first, each with its latest progress entry.
    public private(set) var readings: [Reading]
    /// Of the edition; `nil` or 0 when unknown.
    public let pageCount: Int?

    public init(status: Copy.Status, readings: [Reading], pageCount: Int?) {
        self.status = status
        self.readings = readings
        self.pageCount = pageCount
    }

    public init(_ book: Book) {
        self.init(
            status: book.copy.status, readings: book.copy.readings, pageCount: book.edition.metadata.pageCount)
    }

    /// The reading that the book shows: none while it is To Read.
    public var shown: Reading? { readings.shown(by: status) }

    /// One thing that a rule changed.
    public enum Step: Sendable, Equatable {
        case status(Copy.Status)
        /// A new reading: in front of another one, or as the last. Its progress is a step of its own.
        case opened(Reading, before: ID<Reading>?)
        /// A reading's state or dates.
        case changed(Reading)
        /// A reading went, with its entries and sessions.
        case removed(ID<Reading>)
        /// A new progress entry.
        case recorded(ProgressEntry, in: ID<Reading>)
        /// The time of an entry that was there.
        case redated(ProgressEntry, in: ID<Reading>)
        /// An entry as a person put it right, and the one that the reading shows then.
        case corrected(ProgressEntry, in: ID<Reading>, latest: ProgressEntry?)
        /// An entry went; the one that the reading shows then.
        case forgotten(ID<ProgressEntry>, in: ID<Reading>, latest: ProgressEntry?)
    }

    /// When something is done, and what follows from it by itself.
    public struct Moment: Sendable, Equatable {
        public var now: Date
        /// The reader's, which says what day it is.
        public var zone: TimeZone
        public var automatic: Automatic

        public init(now: Date, zone: TimeZone, automatic: Automatic) {
            self.now = now
            self.zone = zone
            self.automatic = automatic
        }

        /// The day of `now` on the reader's calendar.
        public var today: CalendarDay { CalendarDay(now, in: zone) }

        /// Of a batch or an import, by which nothing happens by itself.
        public static func ofBatch(at now: Date) -> Moment {
            Moment(now: now, zone: .gmt, automatic: [])
        }
    }

    /// What a change of status may do by itself. A batch and an import do nothing by themselves: what they bring in was read at
    /// some other time.
    public struct Automatic: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Empty dates are filled with today: ``LibrarySetting/automaticDates``.
        public static let dates = Automatic(rawValue: 1)
        /// Progress goes to nothing or to all of it.
        public static let progress = Automatic(rawValue: 2)
    }

    /// Carries a step out on this value and adds it to what was done.
    mutating func take(_ step: Step, _ steps: inout [Step]) {
        switch step {
        case .status(let new): status = new
        case .opened(let reading, let next):
            readings.insert(reading, at: next.flatMap(index) ?? readings.count)
        case .changed(let reading):
            if let index = index(of: reading.id) { readings[index] = reading }
        case .removed(let id): readings.removeAll { $0.id == id }
        case .recorded(let entry, let id):
            // An entry of an earlier day takes its place in the history; the latest one is what the book shows.
            if let index = index(of: id), readings[index].progress.map({ $0.at <= entry.at }) ?? true {
                readings[index].progress = entry
            }
        case .redated(let entry, let id):
            if let index = index(of: id), readings[index].progress?.id == entry.id { readings[index].progress = entry }
        case .corrected(_, let id, let latest), .forgotten(_, let id, let latest):
            if let index = index(of: id) { readings[index].progress = latest }
        }
        steps.append(step)
    }

    func index(of id: ID<Reading>) -> Int? { readings.firstIndex { $0.id == id } }
}

extension Copy {
    /// The readings that count, oldest first: what people number from 1.
    public var countedReadings: [Reading] { readings.filter { $0.state != .cancelled } }

    /// The number of a reading, from 1; `nil` for one that was cancelled or is not this copy's.
    public func number(of reading: ID<Reading>) -> Int? {
        countedReadings.firstIndex { $0.id == reading }.map { $0 + 1 }
    }
}
