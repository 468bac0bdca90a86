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
                let (best, failure) = await best(of: fetch.addresses(of: cover))
                if let best {
                    if try await covers.keepCover(best, of: cover.edition) { stored += 1 }
                    // A source that failed may have a better one. One that is switched off or has used up its quota is
                    // no reason to fetch the same picture every day.
                    if let failure, failure.retryAfter ?? .zero < .seconds(86_400) {
                        try await covers.recordMissingCover(of: cover.edition, retryAt: retry(failure))
                    }
                } else if let failure {
                    throw failure
                } else {
                    try await covers.recordMissingCover(of: cover.edition, retryAt: nil)
                }
            } catch let failure as SourceError {
                failures.append(failure)
                try await covers.recordMissingCover(of: cover.edition, retryAt: retry(failure))
            }
            progress(done + 1, missing.count)
        }
        return (stored, failures)
    }

    /// Returns the time at which to try again after a failure.
    private func retry(_ failure: SourceError) -> Date {
        now().addingTimeInterval(failure.retryAfter.map { Double($0.components.seconds) } ?? 3600)
    }

    /// Fetches the first large cover of these addresses. If none is large, returns the best; blank pictures are none.
    ///
    /// - Returns: the cover, and the first failure of an address that may have a better one.
    private func best(of addresses: [String]) async -> ([UInt8]?, SourceError?) {
        var best: [UInt8]?
        var failure: SourceError?
        for address in addresses {
            do {
                guard let bytes = try await fetch.cover(at: address) else { continue }
                let picture = CoverPicture(bytes)
                if picture.isGood { return (bytes, nil) }
                if !picture.isBlank, best.map({ picture.isBetter(than: CoverPicture($0)) }) ?? true { best = bytes }
            } catch {
                failure = failure ?? error as? SourceError ?? SourceError(source: nil, reason: "\(error)")
            }
        }
        return (best, failure)
    }
}
