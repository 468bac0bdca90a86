import FoundationEssentials

/// One line of the library as an export carries it: everything a person can have put in, and nothing that is computed.
///
/// In an export they come in the order of the cases, and each kind sorted, so that the same library is the same bytes.
public enum LibraryRecord: Sendable, Equatable {
    /// What wrote it, and which version of the format it is.
    case library(version: Int)
    case setting(name: String, value: String)
    /// One that no book names.
    case author(String)
    /// By its display form; empty ones too.
    case shelf(String)
    case tag(String)
    case book(BookRecord)

    /// The version of the format that this program writes.
    public static let version = 1
}

/// An edition with its copies.
public struct BookRecord: Sendable, Equatable {
    public var edition: Edition
    public var copies: [CopyRecord]

    public init(edition: Edition, copies: [CopyRecord]) {
        self.edition = edition
        self.copies = copies
    }
}

/// A copy with all that hangs on it.
public struct CopyRecord: Sendable, Equatable {
    /// Its ``Copy/readings`` are empty here: ``readings`` holds them whole.
    public var copy: Copy
    /// Oldest first.
    public var readings: [ReadingRecord] = []
    public var notes: [Note] = []
    public var quotes: [Quote] = []
    public var flags: [ImportFlag] = []
    /// What was asked to be saved and became this copy.
    public var requests: [String] = []

    public init(copy: Copy) { self.copy = copy }
}

/// A reading with its history.
public struct ReadingRecord: Sendable, Equatable {
    /// Its ``Reading/progress`` is empty here: ``entries`` holds all of it.
    public var reading: Reading
    /// In the order in which they were made.
    public var entries: [ProgressEntry] = []
    public var sessions: [Session] = []

    public init(_ reading: Reading, entries: [ProgressEntry] = [], sessions: [Session] = []) {
        self.reading = reading
        self.entries = entries
        self.sessions = sessions
    }
}

/// What an import changed or doubted of a row.
public struct ImportFlag: Sendable, Equatable {
    /// The format that the row came in.
    public var source: String
    /// For a person: "30 February is no day: Date Read 2023/02/30".
    public var what: String
    /// The row as it stood in the file, at most ``rawLimit`` bytes of it.
    public var raw: String
    public var at: Date

    /// In bytes. Beyond it (a cell of 10 MB) the library would carry a file's ballast for ever.
    public static let rawLimit = 1 << 20

    public init(source: String, what: String, raw: String, at: Date) {
        self.source = source
        self.what = what
        self.raw = raw
        self.at = at
    }
}

extension LibraryRecord {
    /// The record as an export for others may contain it: of books only copies marked public and not in the trash, with
    /// status, rating, favourite, tags and the days of their readings. Not what was written beside them, where they stand, who
    /// recommended them, goals, sessions, and how they came in.
    ///
    /// - Returns: `nil` when there is nothing in it for others.
    public var forOthers: LibraryRecord? {
        switch self {
        case .library: return self
        case .setting, .author, .shelf, .tag: return nil
        case .book(var record):
            record.copies = record.copies.filter { $0.copy.isPublic && $0.copy.deleted == nil }.map { full in
                var copy = full.copy
                copy.shelf = nil
                copy.recommendedBy = nil
                copy.wouldRecommend = nil
                copy.dailyGoal = nil
                copy.countsForCulturalGoal = false
                copy.culturalGoalCategory = nil
                var record = CopyRecord(copy: copy)
                record.readings = full.readings.filter { $0.reading.state != .cancelled }.map {
                    ReadingRecord($0.reading)
                }
                return record
            }
            return record.copies.isEmpty ? nil : .book(record)
        }
    }
}
