import Bookplate

/// The files that other trackers and we ourselves write.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    case goodreads, storyGraph, libraryThing, openreads
    /// Our own.
    case csv, json

    /// As people read it.
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

/// Why a file cannot be imported at all.
public enum ExchangeError: Error, Equatable, CustomStringConvertible {
    case empty(file: String)
    /// Bytes of another kind: a photo, a database, a web page.
    case wrongKind(file: String, what: String, advice: String)
    /// A table, but none that is known.
    case unknownColumns(file: String, found: [String])
    /// JSON, but not ours.
    case foreignJSON(file: String, reason: String)
    /// Our own JSON, written by a later Bookplate.
    case newerExport(file: String, version: Int)
    /// Our own JSON without its last line; what stood before is read.
    case cutShort(file: String)
    /// What it was said to be lacks what must be there.
    case notThatFormat(file: String, ExchangeFormat)

    private static let known =
        "Read are the exports of Goodreads, StoryGraph, LibraryThing (tab-delimited) and Openreads, and Bookplate's own CSV and JSON"

    public var description: String {
        switch self {
        case .empty(let file): "\(file) is empty. \(Self.known)."
        case .wrongKind(let file, let what, let advice): "cannot import \(file): it is \(what). \(advice)"
        case .unknownColumns(let file, let found):
            "cannot import \(file): its columns are those of no tracker that is known (\(found.joined(separator: ", "))). \(Self.known); --format names one if you know it."
        case .foreignJSON(let file, let reason):
            "cannot import \(file): it is JSON, but no export of Bookplate (\(reason)). \(Self.known)."
        case .newerExport(let file, let version):
            "cannot import \(file): it is version \(version) of Bookplate's export, and this Bookplate reads \(LibraryRecord.version). Update Bookplate."
        case .cutShort(let file):
            "\(file) ends before its end: its last line, ], is missing, and perhaps books before it. Copy or export it again; what is in the library already stays."
        case .notThatFormat(let file, let format):
            "cannot import \(file) as \(format.displayName): it has no column for titles. \(Self.known)."
        }
    }
}
