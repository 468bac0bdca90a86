import Bookplate
import Foundation
import Lookup
import Terminal

/// Judges whether the metadata sources answer. Scanning works without them, so no result is worse than
/// ``Check/State/attention``.
enum SourceChecks {
    /// The book for which the sources are queried, because every catalogue has it: The Left Hand of Darkness.
    static let book = try! ISBN("9780441478125")  // The check digit is right.

    /// - Parameter finding: the answer of the source to a request for ``book``.
    static func check(_ finding: SourceProbe.Finding) -> Check {
        let name = finding.source.rawValue
        let later = "You can go on scanning; books are looked up when the source answers again."
        switch finding.answer {
        case .found(let metadata):
            return Check(name, .ok, "answers with \(metadata.title.map { "\"\($0)\"" } ?? "a book without a title")")
        case .notFound: return Check(name, .ok, "answers, but does not know \(book.hyphenated)")
        case .notAsked(let reason):
            let parts = reason.split(separator: ": ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return Check(name, .unknown, "not queried: \(reason)") }
            return Check(name, .attention, "not queried: \(parts[0])", next: parts[1].sentence)
        case .temporary(let failure): return Check(name, .attention, failure.reason, next: later)
        case .blocked(let failure):
            return Check(
                name, .attention, failure.reason,
                next:
                    "Your network may require you to sign in: open any web page to find out. If no sign-in is needed, check the contact and the API key with 'scan settings'. \(later)"
            )
        case .badData(let failure):
            return Check(
                name, .attention, failure.reason,
                next: "Check the source's address with 'scan settings', and check which server answers there. \(later)")
        }
    }

    /// - Parameter info: the contents of the index, or the error that occurred when the index was read; `nil` if there
    ///   is no index.
    static func index(_ info: Result<OfflineIndex.Info, OfflineIndexError>?, isOffline: Bool) -> Check {
        switch info {
        case .success(let info):
            return Check("offlineIndex", .ok, "\(counted(info.editions, "edition")), \(byteText(info.bytes))")
        case .failure(let error):
            return Check(
                "offlineIndex", .attention, error.description,
                next: "Build it again with 'scan index build', or go on without it: run 'scan settings unset index'.")
        case nil where isOffline:
            return Check(
                "offlineIndex", .attention, "none, and online lookup is off, so scanned books get no title",
                next: "Build one with 'scan index build', or turn online lookup on: run 'scan settings unset offline'.")
        case nil: return Check("offlineIndex", .ok, "none; books are looked up online")
        }
    }
}

extension String {
    /// The text as a sentence, with a capital letter and a full stop.
    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + (hasSuffix(".") ? "" : ".") }
}
