import Bookplate

/// Writes our JSON: one array, valid for every tool, with exactly one object a line, so that it can be read line by line as well.
public struct JSONWriter: Sendable {
    private var isEmpty = true

    public init() {}

    /// The record's line with what joins it to the line before.
    public mutating func text(of record: LibraryRecord) -> String {
        defer { isEmpty = false }
        return (isEmpty ? "[\n" : ",\n") + record.json.text
    }

    /// What closes the file.
    public var end: String { isEmpty ? "[]\n" : "\n]\n" }
}
