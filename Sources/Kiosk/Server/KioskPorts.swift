import Bookplate
import FoundationEssentials
import Station

/// Everything that the kiosk needs from a library.
public typealias KioskLibrary = Access & Annotations & Authors & BookEntry & CaptureQueue & Covers & EditableShelf
    & Editions & History & HubQueue & Labels & LibrarySettings & LibraryWatch & PairedStations & Readers & ReadingLog
    & SavedFilters & Search & Stats & WishlistLinks

/// The kiosk's dependencies, which the program puts together.
public struct KioskPorts: Sendable {
    public var library: any KioskLibrary
    /// The time zone of the household, which determines the current day.
    public var zone: TimeZone
    public var now: @Sendable () -> Date
    /// The station whose batch the Scan page and the Intake page show.
    public var station: Station
    /// The name of this device as the queue stores it with each capture; `nil` if the queue has no captures from this
    /// device.
    public var device: String?
    /// The camera's live picture; `nil` without a camera.
    public var preview: PreviewFeed?
    /// Reads an uploaded photo of at most 32 MiB in an isolated process. It throws ``KioskError`` if the photo is not a
    /// valid picture. `nil` if photos are not accepted.
    public var readPhoto: (@Sendable ([UInt8]) async throws -> DecodedPhoto)?
    /// Reads the print in an uploaded photo like ``readPhoto``. It throws ``KioskError`` also if tesseract fails. `nil`
    /// if tesseract is not installed.
    public var readPrint: (@Sendable ([UInt8]) async throws -> PrintedPage)?
    /// Makes a reader for the frames of one phone; `nil` if phones cannot send frames.
    public var makePhoneScan: (@Sendable () throws -> PhoneScan)?
    /// Asks sources separately, for the comparison of a book with them; `nil` if the service cannot.
    public var records: (any RecordSearch)?
    /// Fetches the covers of editions that a search offers; `nil` if none are shown.
    public var fetchCover: (any CoverFetch)?
    /// Imports files that browsers send; `nil` if the service cannot.
    public var importFile: (any FileImport)?
    /// The choice of further addresses to listen on; `nil` if it cannot be made on a page.
    public var network: NetworkChoice?
    /// The backups, exports and program settings for the Settings page.
    public var maintenance = Maintenance()

    /// - Parameter station: the station to show; by default, a station without a camera and without sources.
    public init(
        library: any KioskLibrary, zone: TimeZone = .current, now: @escaping @Sendable () -> Date = { Date() },
        station: Station? = nil
    ) {
        self.library = library
        self.zone = zone
        self.now = now
        self.station = station ?? Station(withoutSources: library, now: now)
    }
}

extension Station {
    fileprivate init(withoutSources library: any KioskLibrary, now: @escaping @Sendable () -> Date) {
        var options = Options()
        (options.isOffline, options.followsQueue) = (true, true)
        self.init(
            flow: CaptureFlow(queue: library, shelf: library, lookup: NoSource(), now: now), history: library,
            options: options)
    }
}

/// A lookup that has no sources and therefore finds nothing.
private struct NoSource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { continuation in
            for isbn in isbns { continuation.yield(LookupAnswer(isbn: isbn, outcome: .notFound(asked: []))) }
            continuation.finish()
        }
    }
}

/// An error of the kiosk, or of a function that the program provides for the kiosk.
public struct KioskError: Refusal, Sendable, Equatable {
    public var kind: RefusalKind
    /// The message in whole sentences. It says what happened, where, and what the person can do.
    public var message: String
    /// True if the message may name files of this machine. Such a message is logged and not shown.
    public var namesFile: Bool

    public init(_ kind: RefusalKind, _ message: String, namesFile: Bool = false) {
        self.kind = kind
        self.message = message
        self.namesFile = namesFile
    }

    public var code: String { "kiosk" }
    public var description: String { message }
}
