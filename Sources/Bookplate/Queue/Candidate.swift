/// An intake item with its metadata, waiting for a person's answer.
public struct Candidate: Sendable, Equatable {
    public let item: IntakeItem
    /// What would be saved: the item's metadata, perhaps with the person's edits.
    public var metadata: Metadata
    /// Copies of the same edition that the library holds already, trash included.
    public var existing: [Book]

    public init(item: IntakeItem, existing: [Book] = []) {
        self.item = item
        self.existing = existing
        metadata = Metadata()
        // What is on the shelf already needs no source to have a title.
        metadata = item.metadata ?? owned?.edition.metadata ?? metadata
    }

    /// The copy that makes it *owned already*: one on the shelf, not a wish and not in the trash.
    public var owned: Book? { existing.first { $0.copy.isOwned && $0.copy.deleted == nil } }

    /// Whether it can be saved as it is: it has a title.
    public var isComplete: Bool { metadata.title?.isEmpty == false }

    /// A person says yes. The only way from an intake item to the library.
    ///
    /// - Parameters:
    ///   - confirmer: who says it, and how.
    ///   - anotherCopy: save a further copy although one is owned.
    /// - Throws: ``ConfirmRefusal/needsTitle`` when there is no title to save it under.
    public func confirm(by confirmer: Confirmer, anotherCopy: Bool = false) throws(ConfirmRefusal) -> Confirmed {
        guard isComplete else { throw .needsTitle(item.isbn) }
        return Confirmed(
            request: item.id.rawValue, item: item.id, isbn: item.isbn, isbnText: item.raw, metadata: metadata,
            preset: item.preset, anotherCopy: anotherCopy, confirmer: confirmer)
    }
}

/// The person's act that makes a ``Confirmed``.
public enum Confirmer: String, Sendable, Codable {
    /// A key or a button beside the card.
    case person
    /// `--yes`: the person said so in advance.
    case advance
}

/// Why a candidate cannot be confirmed as it is.
public enum ConfirmRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case needsTitle(ISBN)

    public var description: String {
        switch self {
        case .needsTitle(let isbn): "\(isbn.hyphenated) has no title yet; edit it and give it one"
        }
    }
}

/// What a person has confirmed; nothing else can be saved to the library.
///
/// Made only by ``Candidate/confirm(by:anotherCopy:)`` and ``init(enteredBy:request:isbn:isbnText:metadata:preset:anotherCopy:)``.
public struct Confirmed: Sendable, Equatable {
    /// The same request saved twice makes one copy.
    public let request: String
    /// The intake item it came from, `nil` for what was entered without one.
    public let item: ID<IntakeItem>?
    public let isbn: ISBN?
    public let isbnText: String?
    public let metadata: Metadata
    public let preset: Preset
    public let anotherCopy: Bool
    /// Who said yes; told with the change.
    public let confirmer: Confirmer
    /// Fields that the person filled, which no refresh may change.
    public let editedFields: Set<Metadata.Field>

    fileprivate init(
        request: String, item: ID<IntakeItem>?, isbn: ISBN?, isbnText: String?, metadata: Metadata, preset: Preset,
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

    /// How data got in whose command is itself the confirmation.
    public enum Entry: String, Sendable, Codable {
        /// A filled-in form, or the command's arguments.
        case form
        /// A file that a person asked to import.
        case importPlan
        /// A station's confirmed books, replayed at its hub.
        case hubReplay
    }

    /// A person entered it: the command is the confirmation.
    ///
    /// - Parameter request: the same request saved twice makes one copy.
    /// - Throws: ``TextRefusal`` when the title is missing or too long.
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

    /// The same, as the answer to an item of the queue, which leaves it with the change and comes back with its undo.
    public func answering(_ item: ID<IntakeItem>) -> Confirmed {
        Confirmed(
            request: request, item: item, isbn: isbn, isbnText: isbnText, metadata: metadata, preset: preset,
            anotherCopy: anotherCopy, confirmer: confirmer)
    }
}
