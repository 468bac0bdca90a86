/// The values that an import adds to every row of a file. They do not apply to Bookplate's own JSON.
public struct ImportPreset: Sendable, Equatable {
    public var shelf: String?
    public var tags: [String]
    /// True to mark all books as owned, even those that are not owned according to the file.
    public var isOwned: Bool

    public init(shelf: String? = nil, tags: [String] = [], isOwned: Bool = false) {
        self.shelf = shelf
        self.tags = tags
        self.isOwned = isOwned
    }

    /// Creates a preset from names that a person entered.
    ///
    /// - Throws: ``TextRefusal`` if a name is empty, too long or damaged.
    public init(enteredShelf shelf: String?, tags: [String], isOwned: Bool) throws(TextRefusal) {
        self.shelf = try shelf?.checked(as: "shelf", limit: TextLimit.name)
        self.tags = try tags.map { tag throws(TextRefusal) in try tag.checked(as: "tag", limit: TextLimit.name) }
        self.isOwned = isOwned
    }
}
