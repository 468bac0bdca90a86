import FoundationEssentials

/// What people write down beside their books: notes and quotes. Each act is one change that undo takes back.
///
/// Texts are refused when they are empty or longer than ``TextLimit/note`` characters (``TextRefusal``), pages outside of
/// ``NumberLimit/pages`` (``InputRefusal``), and all acts on a book in the trash (``InTrash``).
public protocol Annotations: Sendable {
    /// Oldest first.
    func notes(of copy: ID<Copy>) async throws -> [Note]
    /// By page, those without one last.
    func quotes(of copy: ID<Copy>) async throws -> [Quote]
    /// Newest first, of all books that are not in the trash.
    func latestNotes(limit: Int) async throws -> [Annotation<Note>]
    /// Newest first, of all books that are not in the trash.
    func latestQuotes(limit: Int) async throws -> [Annotation<Quote>]
    /// Those whose id is `name` or ends with it; an ending has four characters at least. Books in the trash are passed over.
    func notes(named name: String) async throws -> [Annotation<Note>]
    /// Those whose id is `name` or ends with it; an ending has four characters at least. Books in the trash are passed over.
    func quotes(named name: String) async throws -> [Annotation<Quote>]

    /// - Returns: the note as it is stored.
    func add(_ note: Note, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Note>
    /// - Returns: the quote as it is stored.
    func add(_ quote: Quote, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Quote>
    /// Changes text or kind, on what is stored at this moment; the time of its making stays.
    func editNote(
        _ id: ID<Note>, at now: Date, _ change: @escaping @Sendable (inout Note) throws -> Void
    ) async throws -> Annotation<Note>
    /// Changes text or page, on what is stored at this moment; the time of its making stays.
    func editQuote(
        _ id: ID<Quote>, at now: Date, _ change: @escaping @Sendable (inout Quote) throws -> Void
    ) async throws -> Annotation<Quote>
    /// Deletes all of them or none.
    ///
    /// - Throws: ``AnnotationRefusal/noSuchNote(_:)`` for the first that is not there.
    func deleteNotes(_ ids: [ID<Note>], at now: Date) async throws -> ID<Change>
    /// Deletes all of them or none.
    ///
    /// - Throws: ``AnnotationRefusal/noSuchQuote(_:)`` for the first that is not there.
    func deleteQuotes(_ ids: [ID<Quote>], at now: Date) async throws -> ID<Change>

    /// What imports flagged of the book, oldest first.
    func importFlags(on copy: ID<Copy>) async throws -> [ImportFlag]

    /// A book with all that stands beside it, as it is at one moment; also of the trash.
    ///
    /// - Returns: `nil` when there is no such copy.
    func wholeBook(_ copy: ID<Copy>) async throws -> WholeBook?
}

/// A book with what people and imports wrote beside it.
public struct WholeBook: Sendable, Equatable {
    public var book: Book
    /// Oldest first.
    public var notes: [Note]
    /// By page, those without one last.
    public var quotes: [Quote]
    /// Oldest first.
    public var flags: [ImportFlag]

    public init(book: Book, notes: [Note] = [], quotes: [Quote] = [], flags: [ImportFlag] = []) {
        self.book = book
        self.notes = notes
        self.quotes = quotes
        self.flags = flags
    }

    /// What `scan library show --json` prints.
    public var json: JSONValue { book.json(notes: notes, quotes: quotes, flags: flags) }
}

/// A note or a quote with the book that it is about.
public struct Annotation<Content: Sendable & Equatable>: Sendable, Equatable {
    public var content: Content
    public var book: Book
    /// What undo takes back, of an act that changed it; `nil` of one that was only read, or stayed as it was.
    public var change: ID<Change>?

    public init(_ content: Content, on book: Book, change: ID<Change>? = nil) {
        self.content = content
        self.book = book
        self.change = change
    }
}

/// Why a note or quote is not found.
public enum AnnotationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchNote(String)
    case noSuchQuote(String)

    public var description: String {
        switch self {
        case .noSuchNote(let name): "there is no note \"\(name.cleanedLine.prefix(80))\""
        case .noSuchQuote(let name): "there is no quote \"\(name.cleanedLine.prefix(80))\""
        }
    }
}

/// What a person wrote down beside a copy.
public struct Note: Sendable, Equatable {
    public var id: ID<Note>
    public var kind: Kind
    /// Plain text, at most ``TextLimit/note`` characters.
    public var text: String
    public var created: Date

    public init(id: ID<Note> = ID(), kind: Kind = .note, text: String, created: Date) {
        self.id = id
        self.kind = kind
        self.text = text
        self.created = created
    }

    /// Raw values are stored and exported.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case note
        /// For a book club or a conversation.
        case discussion
    }
}

/// A passage copied out of a book.
public struct Quote: Sendable, Equatable {
    public var id: ID<Quote>
    /// At most ``TextLimit/note`` characters.
    public var text: String
    /// From 1; `nil` when it was not said.
    public var page: Int?
    public var created: Date

    public init(id: ID<Quote> = ID(), text: String, page: Int? = nil, created: Date) {
        self.id = id
        self.text = text
        self.page = page
        self.created = created
    }
}
