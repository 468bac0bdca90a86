import FoundationEssentials

/// A book in the trash is looked at and restored, and nothing else is done with it.
public struct InTrash: Error, Hashable, CustomStringConvertible {
    public let copy: ID<Copy>

    public init(_ copy: ID<Copy>) { self.copy = copy }

    public var description: String { "the book is in the trash. Restore it first" }
}

extension Book {
    /// - Throws: ``InTrash``.
    public func checkOutsideTrash() throws(InTrash) {
        if copy.deleted != nil { throw InTrash(id) }
    }
}

/// What is deleted lies in the trash for a while, and a change can be taken back for as long.
public enum Trash {
    /// For so many days it can be taken out again, and a change undone; then both go for good.
    public static let keptDays = 30

    /// How many days a book has left in the trash, a day begun counting as one: what a list shows.
    ///
    /// - Returns: 0 when the next change in the library removes it for good; at most ``keptDays``, also when the clock says that it
    ///   was deleted in the future.
    public static func daysLeft(deleted: Date, now: Date) -> Int {
        let days = (deleted.timeIntervalSince(now) / 86_400).rounded(.up)
        // Compared as numbers with a point: a clock may be off by more than an Int holds.
        return Int(min(max(days + Double(keptDays), 0), Double(keptDays)))
    }
}
