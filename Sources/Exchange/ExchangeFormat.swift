import Bookplate

/// The file formats of other trackers and of Bookplate.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    case goodreads, storyGraph, libraryThing, openreads
    /// Bookplate's own formats.
    case csv, json

    /// The name that people read.
    public var displayName: String {
        switch self {
        case .goodreads: "Goodreads"
        case .storyGraph: "StoryGraph"
        case .libraryThing: "LibraryThing"
        case .openreads: "Openreads"
        case .csv: "Bookplate's CSV"
        case .json: "Bookplate's JSON"
        }
    }
}

/// The reason why a file cannot be imported at all.
public enum ExchangeError: Error, Equatable, CustomStringConvertible {
    case empty(file: String)
    /// A file of another kind: a photo, a database, a web page.
    case wrongKind(file: String, what: String, advice: String)
    /// A table, but of no known tracker.
    case unknownColumns(file: String, found: [String])
    /// JSON, but not an export of Bookplate.
    case foreignJSON(file: String, reason: String)
    /// An export of a later Bookplate.
    case newerExport(file: String, version: Int)
    /// An export of Bookplate without its last line; the lines before have been read.
    case cutShort(file: String)
    /// The file lacks a column that the given format requires.
    case notThatFormat(file: String, ExchangeFormat)

    private static let known =
        "Bookplate imports the exports of Goodreads, StoryGraph, LibraryThing (tab-delimited) and Openreads, and its own CSV and JSON"

    public var description: String {
        switch self {
        case .empty(let file): "\(file) is empty. \(Self.known)."
        case .wrongKind(let file, let what, let advice): "cannot import \(file): it is \(what). \(advice)"
        case .unknownColumns(let file, let found):
            "cannot import \(file): its columns match no known tracker (\(found.joined(separator: ", "))). \(Self.known); --format names one if you know it."
        case .foreignJSON(let file, let reason):
            "cannot import \(file): it is JSON, but not an export of Bookplate (\(reason)). \(Self.known)."
        case .newerExport(let file, let version):
            "cannot import \(file): it is version \(version) of Bookplate's export, and this Bookplate reads \(LibraryRecord.version). Update Bookplate."
        case .cutShort(let file):
            "\(file) is cut off: its last line, ], is missing, and perhaps some books before it. Copy or export the file again; books that were imported stay in the library."
        case .notThatFormat(let file, let format):
            "cannot import \(file) as \(format.displayName): it has no column for titles. \(Self.known)."
        }
    }
}
