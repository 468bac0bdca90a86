/// A queue item with its metadata, waiting for a person to confirm or skip it.
public struct Candidate: Sendable, Equatable {
    public let item: QueueItem
    /// The metadata to save: the item's metadata with any edits by the person.
    public var metadata: Metadata
    /// The copies of the same edition in the library, including copies in the trash.
    public var existing: [Book]
    /// The owned copies of other editions of the same work.
    public var otherEditions: [Book]

    public init(item: QueueItem, existing: [Book] = [], otherEditions: [Book] = []) {
        self.item = item
        self.existing = existing
        self.otherEditions = otherEditions
        metadata = Metadata()
        // The title of a book on the shelf is known without a source.
        metadata = item.metadata ?? owned?.edition.metadata ?? metadata
    }

    /// The copy that makes the book count as *owned already*: a copy that is owned and not in the trash.
    public var owned: Book? { existing.firstOwned }

    /// True if the candidate has a title, so that it can be saved as it is.
    public var isComplete: Bool { metadata.title?.isEmpty == false }

    /// Confirms the candidate. This is the only way in which a queue item gets into the library.
    ///
    /// - Parameters:
    ///   - confirmer: the way in which the person confirms it.
    ///   - anotherCopy: true to save another copy even if a copy is owned already.
    /// - Throws: ``ConfirmRefusal/needsTitle(_:)`` if there is no title.
    public func confirm(by confirmer: Confirmer, anotherCopy: Bool = false) throws(ConfirmRefusal) -> Confirmed {
        guard isComplete else { throw .needsTitle(item.isbn) }
        var metadata = metadata
        // Sources often leave the format out, but whoever shows a book's bar code has a printed book.
        if metadata.format == nil, item.origin.isOfObject { metadata.format = .physical }
        return Confirmed(
            request: item.id.rawValue, item: item.id, isbn: item.isbn, isbnText: item.raw, metadata: metadata,
            preset: item.preset, anotherCopy: anotherCopy, confirmer: confirmer)
    }
}

/// The way in which a person confirmed a book.
public enum Confirmer: String, Sendable, Codable {
    /// The person pressed a key, or a button next to the book.
    case person
    /// The person confirmed in advance, with `--yes`.
    case advance
}

/// The reason why a candidate cannot be confirmed as it is.
public enum ConfirmRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case needsTitle(ISBN)

    public var description: String {
        switch self {
        case .needsTitle(let isbn): "\(isbn.hyphenated) has no title yet; edit the book to add a title"
        }
    }
}

/// A book that a person has confirmed; nothing else can be saved to the library.
///
/// It is made only by ``Candidate/confirm(by:anotherCopy:)`` and
/// ``init(enteredBy:request:isbn:isbnText:metadata:preset:anotherCopy:)``.
public struct Confirmed: Sendable, Equatable {
    /// The id of the request to save this book. Saving the same request twice makes only one copy.
    public let request: String
    /// The queue item that the book came from; `nil` if the book was entered without a queue item.
    public let item: ID<QueueItem>?
    public let isbn: ISBN?
    public let isbnText: String?
    public let metadata: Metadata
    public let preset: Preset
    public let anotherCopy: Bool
    /// The way in which the book was confirmed, which is recorded with the change.
    public let confirmer: Confirmer
    /// The fields that the person filled in; no refresh may change them.
    public let editedFields: Set<Metadata.Field>

    fileprivate init(
        request: String, item: ID<QueueItem>?, isbn: ISBN?, isbnText: String?, metadata: Metadata, preset: Preset,
        anotherCopy: Bool, confirmer: Confirmer
    ) {
        self.request = request
        self.item = item
        self.isbn = isbn
        self.isbnText = isbnText
        self.metadata = metadata
        self.preset = preset
        self.anotherCopy = anotherCopy
        self.confirmer = confirmer
        editedFields = Set(metadata.sources.filter { $0.value == .person }.keys)
    }

    /// The ways to enter a book that need no separate confirmation. The command that enters the book also confirms it.
    public enum Entry: String, Sendable, Codable {
        /// A form, or the arguments of a command.
        case form
        /// A file that a person asked to import.
        case importPlan
        /// A book that was confirmed at a station and is now saved at its hub.
        case hubReplay
    }

    /// Creates a confirmed book from what a person entered. The person's command counts as the confirmation.
    ///
    /// - Parameter request: the id of the request to save this book. Saving the same request twice makes only one copy.
    /// - Throws: ``TextRefusal`` if the title is missing or too long.
    public init(
        enteredBy entry: Entry, request: String = ID<Confirmed>().rawValue, isbn: ISBN?, isbnText: String? = nil,
        metadata: Metadata, preset: Preset = Preset(), anotherCopy: Bool = false
    ) throws(TextRefusal) {
        var metadata = metadata
        let title = metadata.title ?? ""
        metadata.title = entry == .importPlan ? title : try title.checked(as: "title", limit: TextLimit.title)
        self.init(
            request: request, item: nil, isbn: isbn, isbnText: isbnText, metadata: metadata, preset: preset,
            anotherCopy: anotherCopy, confirmer: .person)
    }

    /// Returns this book with a reference to the queue item from which it comes. The item leaves the queue when the
    /// book is saved, and comes back if the save is undone.
    public func answering(_ item: ID<QueueItem>) -> Confirmed {
        Confirmed(
            request: request, item: item, isbn: isbn, isbnText: isbnText, metadata: metadata, preset: preset,
            anotherCopy: anotherCopy, confirmer: confirmer)
    }

    /// Returns this book with another status.
    public func withStatus(_ status: Copy.Status) -> Confirmed {
        var preset = preset
        preset.status = status
        return Confirmed(
            request: request, item: item, isbn: isbn, isbnText: isbnText, metadata: metadata, preset: preset,
            anotherCopy: anotherCopy, confirmer: confirmer)
    }
}
