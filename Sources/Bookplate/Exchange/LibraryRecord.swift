import FoundationEssentials

/// One line of an export of the library. The export contains all data that people can enter, but no computed data.
///
/// An export writes the records in the order of the cases and sorts the records of each kind, so that equal libraries
/// give equal bytes.
public enum LibraryRecord: Sendable, Equatable {
    /// The header of the file, with the version of the format.
    case library(version: Int)
    /// One of several readers, in the order in which they were added. A file with one reader has no such record.
    case reader(Reader)
    /// - Parameter reader: the reader whose own setting it is; `nil` in a file with one reader, and for a setting that
    ///   all readers share.
    case setting(name: String, value: String, reader: ID<Reader>? = nil)
    /// An author without any book, or with a sort name that a person has entered. They come before the books.
    case author(String, sortName: String? = nil)
    /// A shelf, spelled as it is shown. It may be empty.
    case shelf(String)
    case tag(String)
    case book(BookRecord)

    /// The newest version of the format, in which a library with several readers is exported. With one reader, it is
    /// exported in version 1.
    public static let version = 2
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

/// A copy with its readings, notes, quotes and import flags. Its status, opinions, readings, notes and quotes are those
/// of one reader: in an export, of the reader who exports.
public struct CopyRecord: Sendable, Equatable {
    /// The copy. Its ``Copy/readings`` are empty, because ``readings`` holds them with their history.
    public var copy: Copy
    /// The readings, oldest first.
    public var readings: [ReadingRecord] = []
    public var notes: [Note] = []
    public var quotes: [Quote] = []
    public var flags: [ImportFlag] = []
    /// The ids of the save requests from which this copy was made.
    public var requests: [String] = []
    /// Each reader's part of the copy, in a file with several readers; `nil` in a file with one.
    public var readers: [ReaderRecord]?

    public init(copy: Copy) { self.copy = copy }
}

/// The part of a copy that is one reader's own, in a file with several.
public struct ReaderRecord: Sendable, Equatable {
    public var reader: ID<Reader>
    /// The copy as the reader has it, without import flags and requests.
    public var record: CopyRecord

    public init(reader: ID<Reader>, record: CopyRecord) {
        self.reader = reader
        self.record = record
    }
}

extension Copy {
    /// The copy with only what all readers share.
    public var shared: Copy {
        var copy = Copy(id: id, added: added)
        (copy.isOwned, copy.shelf, copy.tags) = (isOwned, shelf, tags)
        (copy.isPublic, copy.deleted) = (isPublic, deleted)
        return copy
    }
}

extension CopyRecord {
    /// The record with only what all readers share.
    public var shared: CopyRecord {
        var record = CopyRecord(copy: copy.shared)
        (record.flags, record.requests) = (flags, requests)
        return record
    }

    /// True if the reader has a status, an opinion, a reading, a note or a quote.
    public var hasOwn: Bool { copy != copy.shared || !readings.isEmpty || !notes.isEmpty || !quotes.isEmpty }
}

/// A reading with its progress entries and sessions.
public struct ReadingRecord: Sendable, Equatable {
    /// The reading. Its ``Reading/progress`` is `nil`, because ``entries`` holds all progress entries.
    public var reading: Reading
    /// The progress entries, in the order in which they were made.
    public var entries: [ProgressEntry] = []
    public var sessions: [Session] = []

    public init(_ reading: Reading, entries: [ProgressEntry] = [], sessions: [Session] = []) {
        self.reading = reading
        self.entries = entries
        self.sessions = sessions
    }
}

/// A value that an import changed or found doubtful, with the row of the file in which it was found.
public struct ImportFlag: Sendable, Equatable {
    /// The format of the file from which the row came.
    public var source: String
    /// An explanation, for a person, of why the value is doubtful.
    public var what: String
    /// The row as it stood in the file, truncated to ``rawLimit`` bytes.
    public var raw: String
    public var at: Date

    /// The limit for ``raw`` in bytes. Without it, the library would store a cell of 10 MB for ever.
    public static let rawLimit = 1 << 20

    public init(source: String, what: String, raw: String, at: Date) {
        self.source = source
        self.what = what
        self.raw = raw
        self.at = at
    }
}

extension LibraryRecord {
    /// The part of the record that may appear in an export for other people, which is that of one reader. A book keeps
    /// only the copies that are marked public and are not in the trash, with their status, rating, favourite mark, tags
    /// and the days of their readings. Notes, quotes, shelves, recommendations, goals, sessions and import flags are
    /// left out.
    ///
    /// - Returns: `nil` if no part of the record may be exported for other people.
    public var forOthers: LibraryRecord? {
        switch self {
        case .library: return .library(version: 1)
        case .reader, .setting, .author, .shelf, .tag: return nil
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
