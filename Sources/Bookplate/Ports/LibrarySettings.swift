import FoundationEssentials

/// What a person has set for the library itself.
public protocol LibrarySettings: Sendable {
    /// By name; what was never set is left out.
    func settings() async throws -> [String: String]
    /// Stores a setting; `nil` takes it back to its default.
    ///
    /// - Returns: the change that undo takes back; `nil` when it was so already.
    @discardableResult
    func set(_ name: String, to value: String?, at now: Date) async throws -> ID<Change>?
}
