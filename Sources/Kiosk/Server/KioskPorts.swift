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
    /// Classifies errors of the adapter modules, which the kiosk does not know.
    public var classify: KioskError.Classifier
    /// The station that the pages Scan and Intake show.
    public var desk: Desk
    /// The name under which this device captures, as stored in the queue; `nil` if the queue holds none of its own captures.
    public var device: String?
    /// The camera's live picture; `nil` without a camera.
    public var preview: PreviewFeed?
    /// Reads an uploaded photo of at most 32 MiB in isolation. Throws ``KioskError`` when it is no valid picture. `nil` if photos
    /// are not accepted.
    public var readPhoto: (@Sendable ([UInt8]) async throws -> DecodedPhoto)?
    /// Backups, exports and the program's settings, for the Settings page.
    public var maintenance = Maintenance()

    /// - Parameter desk: by default, one without a camera and without sources of metadata.
    public init(
        library: any KioskLibrary, zone: TimeZone = .current, now: @escaping @Sendable () -> Date = { Date() },
        desk: Desk? = nil, classify: @escaping KioskError.Classifier
    ) {
        self.library = library
        self.zone = zone
        self.now = now
        self.classify = classify
        self.desk =
            desk
            ?? Desk(
                flow: CaptureFlow(intake: library, shelf: library, lookup: NoSource(), now: now), history: library,
                isOffline: true)
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

/// An error as the person at the page sees it.
public struct KioskError: Error, Sendable, Equatable {
    /// Returns what an error of any module means for the person at the page.
    public typealias Classifier = @Sendable (any Error) -> KioskError

    public enum Kind: String, Sendable {
        /// The request makes no sense or does not fit the library's state: 422.
        case refused
        /// 404.
        case notFound
        /// The library is busy or its disk is full, which may be temporary: 503.
        case unavailable
        /// A fault of the program: 500. The message is for the log alone.
        case fault
    }

    /// The reasons for an unavailable library that a person can do something about.
    public enum Cause: String, Sendable, CaseIterable { case locked, diskFull }

    public var kind: Kind
    /// Whole sentences: what happened, where, what to do.
    public var message: String
    public var cause: Cause?
    /// True if the message may name files of this machine. It is logged then, and not shown.
    public var namesFiles: Bool

    public init(_ kind: Kind, _ message: String, cause: Cause? = nil, namesFiles: Bool = false) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.namesFiles = namesFiles
    }
}
