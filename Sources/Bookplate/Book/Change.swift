import FoundationEssentials

/// One thing that was done to the library and can be taken back: a save, a batch, an edit, a deletion, an import.
public struct Change: Sendable, Equatable {
    public var id: ID<Change>
    public var at: Date
    /// The host that did it.
    public var station: String
    public var kind: Kind
    /// For a person: "saved \"Dune\" and 23 more".
    public var summary: String
    public var undone: Date?

    public enum Kind: String, Sendable, Codable, CaseIterable {
        case save, edit, trash, restore, importing = "import"
    }

    public init(id: ID<Change>, at: Date, station: String, kind: Kind, summary: String, undone: Date? = nil) {
        self.id = id
        self.at = at
        self.station = station
        self.kind = kind
        self.summary = summary
        self.undone = undone
    }
}

/// What was done, and the way back.
public protocol History: Sendable {
    /// The last change that is not undone yet, `nil` when there is none.
    func lastChange() async throws -> Change?
    /// Newest first.
    func changes(limit: Int) async throws -> [Change]
    /// Takes one change back, whole or not at all.
    ///
    /// - Throws: ``UndoRefusal`` when something it touched was changed again since, or it is undone already.
    func undo(_ id: ID<Change>, at now: Date) async throws -> Change
}

/// Why a change cannot be taken back.
public enum UndoRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case noSuchChange
    case alreadyUndone(Change)
    /// Later work touched the same rows; undo that first.
    case changedSince(Change, later: Change?)

    public var description: String {
        switch self {
        case .noSuchChange: "there is nothing to undo"
        case .alreadyUndone(let change): "it was undone already: \(change.summary)"
        case .changedSince(let change, let later):
            "\(change.summary) cannot be undone: \(later.map { "a later change touched it (\($0.summary)); undo that first" } ?? "it was changed since")"
        }
    }
}

/// Keeps cover pictures beside the library.
public protocol Covers: Sendable {
    /// - Returns: the picture's bytes, `nil` when there is none.
    func cover(of edition: ID<Edition>) async throws -> [UInt8]?
    /// What is known of the picture, without reading it; `nil` when there is none.
    func keptCover(of edition: ID<Edition>) async throws -> KeptCover?
    /// Those of the editions of which a picture is kept.
    func keptCovers(among editions: [ID<Edition>]) async throws -> Set<ID<Edition>>
    /// Keeps a fetched picture; a person's own photo is never replaced by it.
    ///
    /// - Returns: whether there is such an edition: an undo may have taken it back while its picture was fetched.
    @discardableResult
    func keepCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws -> Bool
    /// Keeps a person's own photo in place of whatever was there; no fetched picture replaces it. On the disk when it returns.
    func keepOwnCover(_ bytes: [UInt8], of edition: ID<Edition>) async throws
    /// Removes a person's own photo, for good. The edition wants a fetched picture again then, where it has an address of one.
    ///
    /// - Returns: whether there was one.
    func removeOwnCover(of edition: ID<Edition>) async throws -> Bool
    /// Saved editions with a cover address whose picture is neither there nor known to be missing.
    func editionsWithoutCover(limit: Int) async throws -> [(edition: ID<Edition>, url: String)]
    /// Remembers that the address has no picture, or when to try again.
    func coverMissing(of edition: ID<Edition>, retryAt: Date?) async throws
}

/// A picture that is kept.
public struct KeptCover: Sendable, Equatable {
    /// A person's photo, not a fetched picture.
    public var isOwn: Bool
    /// How large it is, in bytes.
    public var bytes: Int
    /// When it was put there: another picture has another time.
    public var stored: Date

    public init(isOwn: Bool, bytes: Int, stored: Date) {
        self.isOwn = isOwn
        self.bytes = bytes
        self.stored = stored
    }
}
