import Bookplate
import FoundationEssentials
import Station

/// All that the kiosk needs of a library.
public typealias KioskLibrary = Access & Authors & Covers & BookEntry & History & HubIntake & Intake & Labels
    & LibrarySettings & LibraryWatch & PairedStations & ReadingLog & Annotations & Search & Shelf & Stats

/// The kiosk's dependencies, assembled by the program.
public struct KioskPorts: Sendable {
    public var library: any KioskLibrary
    /// The time zone of the household, which decides what day it is.
    public var zone: TimeZone
    public var now: @Sendable () -> Date
    /// The station that the pages Scan and Intake show.
    public var station: Station
    /// The name under which this device captures, as stored in the queue; `nil` if the queue holds none of its own captures.
    public var device: String?
    /// The camera's live picture; `nil` without a camera.
    public var preview: PreviewFeed?
    /// Reads an uploaded photo of at most 32 MiB in isolation. Throws ``KioskError`` when it is no valid picture. `nil` if photos
    /// are not accepted.
    public var readPhoto: (@Sendable ([UInt8]) async throws -> DecodedPhoto)?
    /// Backups, exports and the program's settings, for the Settings page.
    public var maintenance = Maintenance()

    /// - Parameter station: by default, one without a camera and without sources of metadata.
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
            flow: CaptureFlow(intake: library, shelf: library, lookup: NoSource(), now: now), history: library,
            options: options)
    }
}

/// A lookup without sources: it finds nothing.
private struct NoSource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { continuation in
            for isbn in isbns { continuation.yield(LookupAnswer(isbn: isbn, outcome: .notFound(asked: []))) }
            continuation.finish()
        }
    }
}

/// An error of the kiosk itself, or of the program's functions for it.
public struct KioskError: Refusal, Sendable, Equatable {
    public var kind: RefusalKind
    /// Whole sentences: what happened, where, what to do.
    public var message: String
    /// True if the message may name files of this machine. It is logged then, and not shown.
    public var namesFile: Bool

    public init(_ kind: RefusalKind, _ message: String, namesFile: Bool = false) {
        self.kind = kind
        self.message = message
        self.namesFile = namesFile
    }

    public var code: String { "kiosk" }
    public var description: String { message }
}
