import Bookplate
import FoundationEssentials
import Station

/// What the pages need of a library.
public typealias KioskLibrary = Access & Authors & Covers & BookEntry & History & HubIntake & Intake & Labels
    & LibrarySettings & LibraryWatch & PairedStations & ReadingLog & Annotations & Search & Shelf & Stats

/// What the kiosk shows and asks, as the program puts it together.
public struct KioskPorts: Sendable {
    public var library: any KioskLibrary
    /// Whose calendar says what day it is.
    public var zone: TimeZone
    public var now: @Sendable () -> Date
    /// What an error means to a person: the modules' own errors, which this one does not know.
    public var trouble: KioskError.Reading
    /// The station that the pages Scan and Intake show.
    public var desk: Desk
    /// The name under which this station captures, as the queue has it; `nil`: none of its captures are known as its own.
    public var station: String?
    /// Where the camera leaves its pictures for the page; `nil` without a camera.
    public var preview: PreviewFeed?
    /// Reads a photo that came over the web, at most 32 MiB, where it can do no harm. Throws ``KioskError`` when it is no sound
    /// picture. `nil`: photos are not taken.
    public var readPhoto: (@Sendable ([UInt8]) async throws -> DecodedPhoto)?
    /// What the Settings page shows and does besides the library's own settings.
    public var upkeep = Maintenance()

    /// - Parameter desk: the service's own where none is given: without a camera, and with no source to ask.
    public init(
        library: any KioskLibrary, zone: TimeZone = .current, now: @escaping @Sendable () -> Date = { Date() },
        desk: Desk? = nil, trouble: @escaping KioskError.Reading
    ) {
        self.library = library
        self.zone = zone
        self.now = now
        self.trouble = trouble
        self.desk =
            desk
            ?? Desk(
                flow: CaptureFlow(intake: library, shelf: library, lookup: NoSource(), now: now), history: library,
                isOffline: true)
    }
}

/// A lookup without any source.
private struct NoSource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { continuation in
            for isbn in isbns { continuation.yield(LookupAnswer(isbn: isbn, outcome: .notFound(asked: []))) }
            continuation.finish()
        }
    }
}

/// What went wrong, for the person at the page.
public struct KioskError: Error, Sendable, Equatable {
    /// Says what an error means.
    public typealias Reading = @Sendable (any Error) -> KioskError

    public enum Kind: String, Sendable {
        /// What was asked makes no sense, or the library's state does not allow it: 422.
        case refused
        /// There is no such thing: 404.
        case notThere
        /// The library is busy or its disk is full, and it may pass: 503.
        case unavailable
        /// The program's own fault: 500. Its message is for the log alone.
        case fault
    }

    /// Why the library is unavailable, where that is known and a person can do something about it.
    public enum Cause: String, Sendable, CaseIterable { case locked, diskFull }

    public var kind: Kind
    /// What, where, what next; whole sentences.
    public var message: String
    public var cause: Cause?

    public init(_ kind: Kind, _ message: String, cause: Cause? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }
}
