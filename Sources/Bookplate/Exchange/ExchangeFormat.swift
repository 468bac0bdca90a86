/// The file formats that can be imported: those of other trackers, and Bookplate's own.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    case goodreads, storyGraph, libraryThing, openreads
    /// One of Bookplate's own formats.
    case csv, json

    /// The name of the format, as it is shown to people.
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
    /// The file is of another kind, such as a photo, a database or a web page.
    case wrongKind(file: String, what: String, advice: String)
    /// The file is a table, but its columns match no known tracker.
    case unknownColumns(file: String, found: [String])
    /// The file is JSON, but not an export from Bookplate.
    case foreignJSON(file: String, reason: String)
    /// The file is an export from a newer Bookplate.
    case newerExport(file: String, version: Int)
    /// The file is an export from Bookplate whose last line is missing. The lines before it have been read.
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
            "cannot import \(file): its columns (\(found.joined(separator: ", "))) match no known tracker. \(Self.known). If you know the format of the file, specify it with --format."
        case .foreignJSON(let file, let reason):
            "cannot import \(file): it is not an export from Bookplate, although it looks like JSON (\(reason)). \(Self.known)."
        case .newerExport(let file, let version):
            "cannot import \(file): it has version \(version) of Bookplate's export format, but your Bookplate reads only versions up to \(LibraryRecord.version). Update Bookplate."
        case .cutShort(let file):
            "\(file) is cut off: the \"]\" at its end is missing, and some books may be missing too. Copy or export the file again. The books that were imported stay in the library."
        case .notThatFormat(let file, let format):
            "cannot import \(file) as \(format.displayName): it has no \"title\" column. \(Self.known)."
        }
    }
}

extension ExchangeError: Refusal {
    public var kind: RefusalKind { .unreadable }
    // The request can be read. What cannot is the file in it.
    public var httpStatus: Int { 422 }
    public var apiCode: String { "importFile" }

    public var code: String {
        switch self {
        case .empty: "importEmpty"
        case .wrongKind: "importWrongKind"
        case .unknownColumns: "importUnknownColumns"
        case .foreignJSON: "importForeignJSON"
        case .newerExport: "importNewerExport"
        case .cutShort: "importCutShort"
        case .notThatFormat: "importNotThatFormat"
        }
    }

    public var arguments: [String: RefusalArgument] {
        switch self {
        case .empty(let file), .cutShort(let file): ["file": .text(file)]
        case .wrongKind(let file, let what, let advice):
            ["file": .text(file), "what": .term(what), "advice": .term(advice)]
        case .unknownColumns(let file, let found): ["file": .text(file), "found": .list(found)]
        case .foreignJSON(let file, let reason): ["file": .text(file), "reason": .text(reason)]
        case .newerExport(let file, let version):
            [
                "file": .text(file), "version": .number(version), "known": .number(LibraryRecord.version),
            ]
        case .notThatFormat(let file, let format): ["file": .text(file), "format": .text(format.displayName)]
        }
    }
}
