import Bookplate
import FoundationEssentials

/// One step on a book's way from its code to the library, reported in the same form for every kind of input.
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
    /// The reason for the event, in words and without a full stop; nil if there is none.
    public var reason: String?
    public var item: ID<QueueItem>?
    public var copy: ID<Copy>?
    public var change: ID<Change>?

    public enum Name: String, Sendable, Codable, CaseIterable {
        case captured, found, notFound, temporary, blocked, badData
        /// A code or number that does not belong to a book, or a photo without any code.
        case refused
        /// An input that could not be read at all.
        case unreadable
        /// The item stays in the queue, because nobody has confirmed it.
        case queued
        /// The library already holds the book.
        case owned
        /// The book was saved; reported only after the commit.
        case saved
        case edited, skipped, undone
    }

    init(_ name: Name, of item: QueueItem) {
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

    /// Creates the event for a number or code that does not belong to a book, or for an input without a code.
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

    /// Creates the event for a number that was refused.
    public init(refused number: TypedNumber, _ refusal: ISBNRefusal) {
        let kind: CodeKind? = if case .notABook(let kind) = refusal { kind } else { nil }
        self.init(
            refused: .refused, raw: String(number.text.prefix(200)), kind: kind, origin: number.origin,
            reason: refusal.description)
    }

    /// Creates the event for a refused code in a frame or photo.
    public init(refused symbol: Symbol, _ refusal: ISBNRefusal, origin: Origin = .camera, image: String? = nil) {
        self.init(
            refused: .refused, raw: symbol.payload, kind: symbol.kind, addon: symbol.addon, origin: origin,
            image: image,
            reason: refusal.description)
    }

    public static func captured(_ item: QueueItem) -> CaptureEvent { CaptureEvent(.captured, of: item) }

    /// Returns the event for the outcome of a lookup: found, not found, temporary, blocked or bad data; nil if the item
    /// has not been looked up yet.
    public static func lookedUp(_ item: QueueItem) -> CaptureEvent? {
        guard let outcome = item.outcome, let name = Name(rawValue: outcome.rawValue) else { return nil }
        var event = CaptureEvent(name, of: item)
        event.reason =
            item.metadata?.isWeakMatch == true
            ? Metadata.weakMatchReason : item.reason
        return event
    }

    /// Returns the event for a candidate that stays in the queue, with the reason why it stays.
    public static func queued(_ candidate: Candidate) -> CaptureEvent {
        var event = CaptureEvent(.queued, of: candidate.item)
        event.reason =
            candidate.item.reason
            ?? (candidate.metadata.isWeakMatch
                ? Metadata.weakMatchReason
                : candidate.isComplete
                    ? candidate.item.isReadFromPrint
                        ? "the number was read from print; compare it with the book" : "not confirmed"
                    : "the book has no title yet")
        return event
    }

    /// Returns the event for the result of a save. If the library already holds the book, the event is ``Name/owned``.
    public static func saved(_ candidate: Candidate, _ result: SaveResult) -> CaptureEvent {
        var event = CaptureEvent(.saved, of: candidate.item)
        event.title = candidate.metadata.title
        switch result {
        case .saved(let copy, let change): (event.copy, event.change) = (copy, change)
        case .wishFulfilled(let copy, let change):
            (event.copy, event.change, event.reason) = (copy, change, "the book was on the wishlist and is now owned")
        case .restored(let copy, let change):
            (event.copy, event.change, event.reason) = (copy, change, "the book was in the trash and has been restored")
        case .alreadySaved(let copy): (event.copy, event.reason) = (copy, "the book had already been saved")
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

    /// The event as one line of `--json`. Every key is present; a missing value is null.
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
    /// The location of the copy and the day it was added: "on Living room 2, added 2026-11-21", "on the wishlist, added
    /// …".
    public var status: String {
        let place =
            copy.deleted != nil
            ? "in the trash, added"
            : copy.isOwned ? (copy.shelf.map { "on \($0), added" } ?? "owned, added") : "on the wishlist, added"
        return "\(place) \(CalendarDay(copy.added, in: .current))"
    }
}
