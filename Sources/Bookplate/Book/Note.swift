import FoundationEssentials

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
