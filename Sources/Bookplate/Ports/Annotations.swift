import FoundationEssentials

/// The notes and quotes that people keep with their books. Each act is one change, which undo reverts.
///
/// Every act refuses texts that are empty or longer than ``TextLimit/note`` characters (``TextRefusal``), pages outside
/// ``NumberLimit/pages`` (``InputRefusal``), and books in the trash (``InTrashRefusal``).
public protocol Annotations: Sendable {
    /// Returns the notes of a copy, oldest first.
    func notes(of copy: ID<Copy>) async throws -> [Note]
    /// Returns the quotes of a copy, sorted by page. Quotes without a page come last.
    func quotes(of copy: ID<Copy>) async throws -> [Quote]
    /// Returns the latest notes of all books outside the trash, newest first.
    func latestNotes(limit: Int) async throws -> [Annotation<Note>]
    /// Returns the latest quotes of all books outside the trash, newest first.
    func latestQuotes(limit: Int) async throws -> [Annotation<Quote>]
    /// Returns the notes whose id ends with `name`. If `name` has fewer than four characters, nothing is found. Books
    /// in the trash are skipped.
    func notes(named name: String) async throws -> [Annotation<Note>]
    /// Returns the quotes whose id ends with `name`. If `name` has fewer than four characters, nothing is found. Books
    /// in the trash are skipped.
    func quotes(named name: String) async throws -> [Annotation<Quote>]

    /// Adds a note.
    ///
    /// - Returns: the note as it is stored.
    func add(_ note: Note, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Note>
    /// Adds a quote.
    ///
    /// - Returns: the quote as it is stored.
    func add(_ quote: Quote, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Quote>
    /// Changes the text or the kind of a note. `change` receives the note in its present stored form. The time of
    /// creation stays the same.
    func editNote(
        _ id: ID<Note>, at now: Date, _ change: @escaping @Sendable (inout Note) throws -> Void
    ) async throws -> Annotation<Note>
    /// Changes the text or the page of a quote. `change` receives the quote in its present stored form. The time of
    /// creation stays the same.
    func editQuote(
        _ id: ID<Quote>, at now: Date, _ change: @escaping @Sendable (inout Quote) throws -> Void
    ) async throws -> Annotation<Quote>
    /// Deletes the notes: either all of them or none.
    ///
    /// - Throws: ``AnnotationRefusal/noSuchNote(_:)`` for the first note that does not exist.
    func deleteNotes(_ ids: [ID<Note>], at now: Date) async throws -> ID<Change>
    /// Deletes the quotes: either all of them or none.
    ///
    /// - Throws: ``AnnotationRefusal/noSuchQuote(_:)`` for the first quote that does not exist.
    func deleteQuotes(_ ids: [ID<Quote>], at now: Date) async throws -> ID<Change>

    /// Returns a book with its notes, quotes and flags, even if the book is in the trash. Everything is read in one
    /// transaction.
    ///
    /// - Returns: `nil` if there is no such copy.
    func wholeBook(_ copy: ID<Copy>) async throws -> WholeBook?
}

/// A book with its notes, quotes and import flags.
public struct WholeBook: Sendable, Equatable {
    public var book: Book
    /// The notes of the book, oldest first.
    public var notes: [Note]
    /// The quotes from the book, sorted by page. Quotes without a page come last.
    public var quotes: [Quote]
    /// The flags that imports set on the book, oldest first.
    public var flags: [ImportFlag]
    /// The other readers' status and opinions; empty if there is one reader.
    public var others: [OtherReader]

    public init(
        book: Book, notes: [Note] = [], quotes: [Quote] = [], flags: [ImportFlag] = [], others: [OtherReader] = []
    ) {
        self.book = book
        self.notes = notes
        self.quotes = quotes
        self.flags = flags
        self.others = others
    }

    /// The output of `scan library show --json`. What the other readers have done is left out if they have done
    /// nothing.
    public var json: JSONValue {
        book.json(notes: notes, quotes: quotes, flags: flags)
            .appending(others.isEmpty ? [] : [("others", .array(others.map(\.json)))])
    }
}

/// A note or a quote with its book.
public struct Annotation<Content: Sendable & Equatable>: Sendable, Equatable {
    public var content: Content
    public var book: Book
    /// The change, which undo reverts; `nil` if the annotation was only read or did not change.
    public var change: ID<Change>?

    public init(_ content: Content, on book: Book, change: ID<Change>? = nil) {
        self.content = content
        self.book = book
        self.change = change
    }
}

/// The reason why a note or quote is not found.
public enum AnnotationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchNote(String)
    case noSuchQuote(String)
    /// The note or quote is another reader's. Carries that reader's name.
    case ofOtherReader(String)

    public var description: String {
        switch self {
        case .noSuchNote(let name): "there is no note \"\(name.cleanedLine.prefix(80))\""
        case .noSuchQuote(let name): "there is no quote \"\(name.cleanedLine.prefix(80))\""
        case .ofOtherReader(let name):
            "only \(name.cleanedLine.prefix(80)) can change this. Choose that reader to change it"
        }
    }
}

/// A note that a person wrote about a copy.
public struct Note: Sendable, Equatable {
    public var id: ID<Note>
    public var kind: Kind
    /// The text of the note: plain text, at most ``TextLimit/note`` characters.
    public var text: String
    public var created: Date
    /// The other reader whose note it is; `nil` if it belongs to the reader who asks.
    public var reader: ReaderName?
    /// True if only its reader sees it.
    public var isPrivate: Bool

    public init(
        id: ID<Note> = ID(), kind: Kind = .note, text: String, created: Date, reader: ReaderName? = nil,
        isPrivate: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.text = text
        self.created = created
        self.reader = reader
        self.isPrivate = isPrivate
    }

    /// The kind of a note. Raw values are stored and exported.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case note
        /// A note for a book club or a conversation.
        case discussion
    }
}

/// A passage copied from a book.
public struct Quote: Sendable, Equatable {
    public var id: ID<Quote>
    /// The text of the quote, at most ``TextLimit/note`` characters.
    public var text: String
    /// The page of the quote, from 1; `nil` if unknown.
    public var page: Int?
    public var created: Date
    /// The other reader whose quote it is; `nil` if it belongs to the reader who asks.
    public var reader: ReaderName?
    /// True if only its reader sees it.
    public var isPrivate: Bool

    public init(
        id: ID<Quote> = ID(), text: String, page: Int? = nil, created: Date, reader: ReaderName? = nil,
        isPrivate: Bool = false
    ) {
        self.id = id
        self.text = text
        self.page = page
        self.created = created
        self.reader = reader
        self.isPrivate = isPrivate
    }
}
