import FoundationEssentials

/// Somebody of the household who reads. Readers have no accounts and no passwords: they keep apart what each of them
/// has read and thinks of the books that they share.
public struct Reader: Sendable, Equatable {
    public var id: ID<Reader>
    /// The name; `nil` for the first reader as long as there is no other one.
    public var name: String?
    /// The place of the reader's colour among the colours of the pages, from 0 to 7.
    public var colour: Int
    /// The time at which the reader was moved to the trash; `nil` outside the trash.
    public var deleted: Date?
    /// True if the reader's private notes and quotes are shown only after a PIN.
    public var hasPIN: Bool

    public init(id: ID<Reader> = ID(), name: String?, colour: Int, deleted: Date? = nil, hasPIN: Bool = false) {
        self.id = id
        self.name = name
        self.colour = colour
        self.deleted = deleted
        self.hasPIN = hasPIN
    }
}

extension Reader {
    /// True if the text is the reader's name. Case does not matter.
    public func isNamed(_ text: String) -> Bool { name?.cleanedLine.caseFolded == text.cleanedLine.caseFolded }
}

/// Another reader, to whom something belongs that is shown to all.
public struct ReaderName: Sendable, Equatable {
    public var id: ID<Reader>
    public var name: String

    public init(id: ID<Reader>, name: String) { (self.id, self.name) = (id, name) }
}
