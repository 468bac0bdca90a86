import Bookplate
import GRDB

/// The reason why an offline index cannot be built or used.
public enum OfflineIndexError: Error, Sendable, Equatable, CustomStringConvertible {
    case missing(path: String)
    case foreign(path: String)
    case newer(path: String)
    /// The index was built by an older version of Bookplate, whose form is not read any more.
    case older(path: String)
    case damaged(path: String, cause: String)
    case unreadable(path: String, cause: String)
    /// A dump is truncated, or its compression is broken.
    case brokenDump(path: String, cause: String)
    case noEditions(paths: [String])
    /// There is another kind of file at the path of the index.
    case occupied(path: String)
    /// The index, or a temporary file of the build, would overwrite one of the dumps.
    case dumpInTheWay(path: String, dump: String)
    case cannotWrite(path: String, cause: String)
    case alreadyBuilding(path: String)
    case cancelled
    /// The dumps contain too many records several times.
    case repeated
    /// The dumps for an update lack kinds of records that the index was built from.
    case kindsMissing(path: String, kinds: [String])
    /// The dumps for an update are not newer than the index.
    case notNewer(path: String, newest: String)
    case unknownLanguage(String)
    case unknownCountry(String)

    public var description: String {
        switch self {
        case .missing(let path): "there is no offline index at \(path); build one with 'scan index build'"
        case .foreign(let path): "\(path) is not a Bookplate offline index; build one with 'scan index build'"
        case .newer(let path):
            "the offline index \(path) was built by a newer version of Bookplate; build it again, or update Bookplate"
        case .older(let path):
            "the offline index \(path) was built by an older version of Bookplate; build it again with 'scan index build'"
        case .damaged(let path, let cause):
            "the offline index \(path) is damaged (\(cause)); build it again with 'scan index build'"
        case .unreadable(let path, let cause): "cannot read \(path): \(cause)"
        case .brokenDump(let path, let cause): "\(path) is truncated or damaged (\(cause)); download it again"
        case .noEditions(let paths):
            "no edition was found in \(paths.joined(separator: ", ")); include Open Library's dump of editions"
        case .occupied(let path):
            "\(path) is not an offline index, so it was not replaced; give another file name for the index"
        case .dumpInTheWay(let path, let dump):
            "building the index \(path) would overwrite the dump \(dump); give another file name for the index"
        case .cannotWrite(let path, let cause): "cannot write \(path): \(cause)"
        case .alreadyBuilding(let path): "another process is building \(path); wait until it has finished"
        case .cancelled:
            "the build was cancelled; the same command resumes it where it stopped, and an index that existed before was not changed"
        case .repeated:
            "the dumps contain many records several times; give each dump once, and not the dump of all revisions"
        case .kindsMissing(let path, let kinds):
            "the index \(path) was also built from \(kinds.joined(separator: " and ")), which the new dumps lack; give these dumps too"
        case .notNewer(let path, let newest):
            "the dumps are not newer than the index \(path): their latest change is of \(newest.isEmpty ? "no known time" : newest)"
        case .unknownLanguage(let text): "\"\(text)\" is not a language code; give one such as de or eng"
        case .unknownCountry(let text): "\"\(text)\" is not the code of a known country; give one such as DE or US"
        }
    }
}

extension OfflineIndexError {
    /// Returns the message of an error from the database or the system.
    static func cause(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return String(describing: error) }
        return error.message ?? "SQLite code \(error.resultCode)"
    }
}

extension OfflineIndexError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .missing, .unreadable, .noEditions, .brokenDump: .unreadable
        case .foreign, .damaged: .corrupt
        case .newer, .older: .configuration
        case .cannotWrite, .cancelled: .inputOutput
        case .occupied, .dumpInTheWay, .repeated, .kindsMissing, .notNewer, .unknownLanguage, .unknownCountry: .invalid
        case .alreadyBuilding: .locked
        }
    }

    public var namesFile: Bool {
        switch self {
        case .cancelled, .repeated, .unknownLanguage, .unknownCountry: false
        default: true
        }
    }

    public var code: String {
        switch self {
        case .missing: "indexMissing"
        case .foreign: "indexForeign"
        case .newer: "indexNewer"
        case .older: "indexOlder"
        case .damaged: "indexDamaged"
        case .unreadable: "indexUnreadable"
        case .brokenDump: "indexBrokenDump"
        case .noEditions: "indexNoEditions"
        case .occupied: "indexOccupied"
        case .dumpInTheWay: "indexDumpInTheWay"
        case .cannotWrite: "indexCannotWrite"
        case .alreadyBuilding: "indexAlreadyBuilding"
        case .cancelled: "indexCancelled"
        case .repeated: "indexRepeatedRecords"
        case .kindsMissing: "indexKindsMissing"
        case .notNewer: "indexNotNewer"
        case .unknownLanguage: "indexUnknownLanguage"
        case .unknownCountry: "indexUnknownCountry"
        }
    }
}
