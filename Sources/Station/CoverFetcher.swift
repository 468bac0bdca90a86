import Bookplate
import FoundationEssentials

/// Fetches the missing covers of saved editions. If no source has a cover for an edition, they are not queried for it
/// again.
public struct CoverFetcher: Sendable {
    private let covers: any Covers
    private let fetch: any CoverFetch
    private let now: @Sendable () -> Date

    public init(covers: any Covers, fetch: any CoverFetch, now: @escaping @Sendable () -> Date = { Date() }) {
        self.covers = covers
        self.fetch = fetch
        self.now = now
    }

    /// Fetches missing covers, starting with the newest editions.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of covers to fetch.
    ///   - patience: the time after which no further download is started.
    ///   - progress: called after each cover with the number of covers done so far and the total number of covers.
    /// - Returns: the number of covers stored, and the error of each cover that cannot be downloaded now. Such a cover
    ///   is tried again after an hour, or after the time that the source specifies; a cover whose edition was removed
    ///   in the meantime is discarded. In both cases the remaining covers are fetched.
    /// - Throws: the library's error if it cannot be read or written.
    public func fetchMissing(
        limit: Int, patience: Duration, progress: @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> (stored: Int, failures: [SourceError]) {
        let began = now()
        let missing = try await covers.editionsWithoutCover(limit: limit)
        var stored = 0
        var failures: [SourceError] = []
        for (done, cover) in missing.enumerated() {
            try Task.checkCancellation()
            guard now().timeIntervalSince(began) < patience / .seconds(1) else { break }
            do {
                if let bytes = try await best(of: cover.addresses) {
                    if try await covers.keepCover(bytes, of: cover.edition) { stored += 1 }
                } else {
                    try await covers.recordMissingCover(of: cover.edition, retryAt: nil)
                }
            } catch let failure as SourceError {
                failures.append(failure)
                let pause = failure.retryAfter.map { Double($0.components.seconds) } ?? 3600
                try await covers.recordMissingCover(of: cover.edition, retryAt: now().addingTimeInterval(pause))
            }
            progress(done + 1, missing.count)
        }
        return (stored, failures)
    }

    /// Fetches the first large cover of these addresses. If none is large, returns the best; blank pictures are none.
    ///
    /// - Throws: the first error, if no address has a cover.
    private func best(of addresses: [String]) async throws -> [UInt8]? {
        var best: [UInt8]?
        var failure: SourceError?
        for address in addresses {
            do {
                guard let bytes = try await fetch.cover(at: address) else { continue }
                let picture = CoverPicture(bytes)
                if picture.isGood { return bytes }
                if !picture.isBlank, best.map({ picture.isBetter(than: CoverPicture($0)) }) ?? true { best = bytes }
            } catch let error as SourceError {
                failure = failure ?? error
            }
        }
        if best == nil, let failure { throw failure }
        return best
    }
}
