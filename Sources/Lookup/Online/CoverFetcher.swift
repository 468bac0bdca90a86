import Bookplate
import FoundationEssentials
import HTTP

/// Fetches covers: from the hosts of ``CoverHosts`` only, never from a private address, at most 5 MiB, and only pictures.
///
/// Every request takes its turn in the machine's queue, as those of the lookup do: one a second after a burst of three, Retry-After
/// honoured, and left alone after five failures in a row. The queue is the cover server's own
/// (``SourceName/openLibraryCovers``, ``SourceName/googleBooksCovers``) and not the catalogue's: it is another host, so a shelf of
/// covers takes no turn from a lookup, and a picture server that is down closes no catalogue.
///
/// Where a proxy is set in the environment, it resolves the names, and the list of hosts alone decides.
public struct CoverFetcher: CoverFetch {
    private let manners: Manners
    private let covers: CoverAddress
    private let errand: Errand

    /// For one cover, waits and redirects included.
    private static let time: Duration = .seconds(10)

    /// - Parameters:
    ///   - states: the machine's memory of the sources, the same that the lookup has.
    ///   - clock: for waits and for the 10 s of a cover.
    ///   - now: the calendar's time, for what processes share.
    public init(
        _ configuration: LookupConfiguration, states: any SourceStates,
        clock: some Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            configuration,
            hasProxy: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                environment[$0]?.isEmpty == false
            },
            manners: Manners(
                http: HTTPClient(configuration), states: states, time: Timekeeper(clock, date: now),
                limits: Self.limits))
    }

    static let limits = HTTPLimits(total: time, body: 5 << 20)

    init(_ configuration: LookupConfiguration, hasProxy: Bool, manners: Manners) {
        let covers = CoverAddress(base: configuration.covers)
        self.covers = covers
        self.manners = manners
        // Whoever wants the cover comes back for it; a second attempt now would be a turn taken from another cover.
        errand = Errand(
            accept: "image/*", attempts: 1, follows: { covers.allows($1) },
            needsPublicAddress: { !hasProxy && !covers.isOwn($0) })
    }

    /// - Returns: the bytes of a JPEG, PNG, GIF or WebP; `nil` when there is no cover at the address.
    /// - Throws: ``SourceFailure`` that says why it could not be had, or why it was not asked for, and when to come back.
    public func cover(at url: String) async throws -> [UInt8]? {
        guard let address = covers.fetched(url) else {
            throw SourceFailure(source: nil, reason: "the cover's address is not one of the hosts covers come from")
        }
        let source: SourceName = address.host.contains("google") ? .googleBooksCovers : .openLibraryCovers
        let budget = Budget(manners.time, limit: Self.time)
        budget.begin()
        let visit = Visit(source: source, manners: manners, budget: budget, reach: Reach(), errand: errand)
        do throws(Trouble) {
            let answer = try await visit.get(address) { answer in
                guard answer.isSuccess, !answer.looksLikeAPage, PictureKind(answer.body) == nil else { return nil }
                return .badData(SourceFailure(source: source, reason: "what came instead of a cover is no picture"))
            }
            return answer.isMissing ? nil : answer.body
        } catch {
            try Task.checkCancellation()
            throw error.failure(of: source)
        }
    }
}
