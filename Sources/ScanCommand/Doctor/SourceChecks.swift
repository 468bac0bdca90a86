import Bookplate
import Foundation
import Lookup

/// Whether the metadata sources answer. A station scans without them: none of this is more than attention.
enum SourceChecks {
    /// A book that every catalogue knows: The Left Hand of Darkness.
    static let book = try! ISBN("9780441478125")  // its check digit is right

    /// - Parameter finding: what the source did when it was asked for ``book``.
    static func check(_ finding: SourceProbe.Finding) -> Check {
        let name = finding.source.rawValue
        let later = "Scanning goes on; what waits is looked up when it answers."
        switch finding.answer {
        case .found(let metadata): return Check(name, .ok, "answers: \(metadata.title ?? "a book without a title")")
        case .notFound: return Check(name, .ok, "answers; it does not know \(book.hyphenated)")
        case .notAsked(let reason):
            let parts = reason.split(separator: ": ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return Check(name, .unknown, "not asked: \(reason)") }
            return Check(name, .attention, "not asked: \(parts[0])", next: parts[1].sentence)
        case .temporary(let failure): return Check(name, .attention, failure.reason, next: later)
        case .blocked(let failure):
            return Check(
                name, .attention, failure.reason,
                next:
                    "Open a web page and sign in to the network if it asks; else check contact and key with scan settings. \(later)"
            )
        case .badData(let failure):
            return Check(
                name, .attention, failure.reason,
                next: "Check its address with scan settings, and what answers there. \(later)")
        }
    }

    /// - Parameter info: what the index holds, or why it cannot be read; `nil` when there is none.
    static func index(_ info: Result<OfflineIndex.Info, OfflineIndexError>?, isOffline: Bool) -> Check {
        switch info {
        case .success(let info):
            return Check("offlineIndex", .ok, "\(counted(info.editions, "edition")), \(byteText(info.bytes))")
        case .failure(let error):
            return Check(
                "offlineIndex", .attention, error.description,
                next: "Build it anew with scan index build, or scan settings unset index.")
        case nil where isOffline:
            return Check(
                "offlineIndex", .attention, "none, and no online source is asked: what is scanned gets no title",
                next: "Build one with scan index build, or scan settings unset offline.")
        case nil: return Check("offlineIndex", .ok, "none; the sources are asked online")
        }
    }
}

extension String {
    /// With a capital and a full stop.
    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + (hasSuffix(".") ? "" : ".") }
}
