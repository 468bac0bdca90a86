import Bookplate

/// One thing that happened on the way from a code to a book, as every way in reports it.
public struct CaptureEvent: Sendable, Equatable {
    public var name: Name
    public var isbn: ISBN?
    public var raw: String?
    public var kind: CodeKind?
    public var addon: String?
    public var origin: Origin
    public var image: String?
    public var title: String?
    public var source: SourceName?
    /// For a person, without a full stop.
    public var reason: String?
    public var item: ID<IntakeItem>?
    public var copy: ID<Copy>?
    public var change: ID<Change>?

    public enum Name: String, Sendable, Codable, CaseIterable {
        case captured, found, notFound, temporary, blocked, badData
        /// A code or number that is no book, or a photo without any code.
        case refused
        /// An input that could not be read at all.
        case unreadable
        /// Left in the intake queue, unconfirmed.
        case queued
        case owned
        /// Only after the commit.
        case saved
        case edited, skipped, undone
    }

    init(_ name: Name, of item: IntakeItem) {
        self.name = name
        isbn = item.isbn
        raw = item.raw
        kind = .isbn
        addon = item.addon
        origin = item.origin
        image = item.image
        title = item.metadata?.title
        source = item.source
        reason = nil
        self.item = item.id
    }

    /// A number or code that is no book, or an input without one.
    public init(
        refused name: Name = .refused, raw: String? = nil, kind: CodeKind? = nil, addon: String? = nil, origin: Origin,
        image: String? = nil, reason: String
    ) {
        self.name = name
        self.raw = raw
        self.kind = kind
        self.addon = addon
        self.origin = origin
        self.image = image
        self.reason = reason
    }

    /// A number that names no book.
    public init(refused number: TypedNumber, _ refusal: ISBNRefusal) {
        let kind: CodeKind? = if case .notABook(let kind) = refusal { kind } else { nil }
        self.init(
            refused: .refused, raw: String(number.text.prefix(200)), kind: kind, origin: number.origin,
            reason: refusal.description)
    }

    /// A code in a frame or photo that names no book.
    public init(refused symbol: Symbol, _ refusal: ISBNRefusal, origin: Origin = .camera, image: String? = nil) {
        self.init(
            refused: .refused, raw: symbol.payload, kind: symbol.kind, addon: symbol.addon, origin: origin,
            image: image,
            reason: refusal.description)
    }

    public static func captured(_ item: IntakeItem) -> CaptureEvent { CaptureEvent(.captured, of: item) }

    /// What the sources said: found, not found, temporary, blocked or bad data. `nil` when they were not asked yet.
    public static func lookedUp(_ item: IntakeItem) -> CaptureEvent? {
        guard let outcome = item.outcome, let name = Name(rawValue: outcome.rawValue) else { return nil }
        var event = CaptureEvent(name, of: item)
        event.reason =
            item.metadata?.isWeakMatch == true ? "perhaps another book: the source names no ISBN" : item.reason
        return event
    }

    /// Left in the queue, and why.
    public static func queued(_ candidate: Candidate) -> CaptureEvent {
        var event = CaptureEvent(.queued, of: candidate.item)
        event.reason =
            candidate.item.reason
            ?? (candidate.metadata.isWeakMatch
                ? "perhaps another book: the source names no ISBN"
                : candidate.isComplete
                    ? candidate.item.isReadFromPrint ? "read from print: compare it with the book" : "not confirmed"
                    : "it has no title yet")
        return event
    }

    /// What saving came to.
    public static func saved(_ candidate: Candidate, _ result: SaveResult) -> CaptureEvent {
        var event = CaptureEvent(.saved, of: candidate.item)
        event.title = candidate.metadata.title
        switch result {
        case .saved(let copy, let change): (event.copy, event.change) = (copy, change)
        case .wishFulfilled(let copy, let change):
            (event.copy, event.change, event.reason) = (copy, change, "it was on the wishlist and is owned now")
        case .restored(let copy, let change):
            (event.copy, event.change, event.reason) = (copy, change, "it was in the trash and is back")
        case .alreadySaved(let copy): (event.copy, event.reason) = (copy, "it was saved before")
        case .owned(let book):
            event.name = .owned
            (event.copy, event.reason) = (book.id, book.status)
        }
        return event
    }

    public static func skipped(_ candidate: Candidate) -> CaptureEvent { CaptureEvent(.skipped, of: candidate.item) }

    public static func edited(_ candidate: Candidate) -> CaptureEvent {
        var event = CaptureEvent(.edited, of: candidate.item)
        event.title = candidate.metadata.title
        return event
    }

    public static func undone(_ candidate: Candidate, change: ID<Change>) -> CaptureEvent {
        var event = CaptureEvent(.undone, of: candidate.item)
        event.change = change
        return event
    }

    /// One line of `--json`: every key always there, absent is null.
    public var json: JSONValue {
        [
            "event": .string(name.rawValue), "isbn13": JSONValue(isbn?.digits), "raw": JSONValue(raw),
            "kind": JSONValue(kind?.rawValue), "addon": JSONValue(addon), "origin": .string(origin.rawValue),
            "image": JSONValue(image), "title": JSONValue(title), "source": JSONValue(source?.rawValue),
            "reason": JSONValue(reason), "itemId": JSONValue(item?.rawValue), "copyId": JSONValue(copy?.rawValue),
            "change": JSONValue(change?.rawValue),
        ]
    }
}

extension Book {
    /// Where the household has it: "on Living room 2 since 2026-11-21", "on the wishlist since …".
    public var status: String {
        let place =
            copy.deleted != nil
            ? "in the trash, added"
            : copy.isOwned ? (copy.shelf.map { "on \($0), added" } ?? "owned, added") : "on the wishlist, added"
        return "\(place) \(copy.added.utcDay)"
    }
}
