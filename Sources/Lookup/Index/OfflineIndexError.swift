import GRDB
import Glibc

/// Why an offline index cannot be built or used.
public enum OfflineIndexError: Error, Sendable, Equatable, CustomStringConvertible {
    case missing(path: String)
    case foreign(path: String)
    case newer(path: String)
    case damaged(path: String, cause: String)
    case unreadable(path: String, cause: String)
    /// A dump that ends in the middle, or whose compression is broken.
    case brokenDump(path: String, cause: String)
    case noEditions(paths: [String])
    /// What is at the place of an index to be built is something else.
    case occupied(path: String)
    /// The index, or a file that the build makes beside it, would take the place of a dump that it is built from.
    case dumpInTheWay(path: String, dump: String)
    case cannotWrite(path: String, cause: String)
    case alreadyBuilding(path: String)
    case cancelled

    public var description: String {
        switch self {
        case .missing(let path): "there is no offline index at \(path); build one with scan index build"
        case .foreign(let path): "\(path) is no offline index of Bookplate; build one with scan index build"
        case .newer(let path): "the offline index \(path) was built by a newer Bookplate; build it again, or update"
        case .damaged(let path, let cause):
            "the offline index \(path) is damaged (\(cause)); build it again with scan index build"
        case .unreadable(let path, let cause): "cannot read \(path): \(cause)"
        case .brokenDump(let path, let cause): "\(path) breaks off or is damaged (\(cause)); fetch it again"
        case .noEditions(let paths):
            "no edition with an ISBN in \(paths.joined(separator: ", ")); expected Open Library's dump of editions"
        case .occupied(let path):
            "\(path) is something else than an offline index and is left alone; name another file for the index"
        case .dumpInTheWay(let path, let dump):
            "building \(path) would overwrite the dump \(dump); name another file for the index"
        case .cannotWrite(let path, let cause): "cannot write \(path): \(cause)"
        case .alreadyBuilding(let path): "another process is building \(path); wait for it to end"
        case .cancelled: "cancelled; an index that was there before is still there"
        }
    }
}

extension OfflineIndexError {
    /// What the failed system call left in errno.
    static var systemCause: String { String(cString: strerror(errno)) }

    /// What the database says of its failure.
    static func cause(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return String(describing: error) }
        return error.message ?? "SQLite code \(error.resultCode)"
    }
}
