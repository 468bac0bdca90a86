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
public struct CoverDownloader: CoverFetch {
    private let policy: RequestPolicy
    private let covers: CoverAddress
    private let errand: Errand

    /// For one cover, waits and redirects included.
    private static let time: Duration = .seconds(10)

    /// - Parameters:
    ///   - states: the machine's memory of the sources, the same that the lookup has.
    ///   - clock: for waits and for the 10 s of a cover.
    ///   - now: the calendar's time, for what processes share.
    public init(
        _ configuration: LookupConfiguration, states: any RateLimits,
        clock: some Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            configuration,
            hasProxy: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                environment[$0]?.isEmpty == false
            },
            policy: RequestPolicy(
                http: HTTPClient(configuration), states: states, time: Timekeeper(clock, date: now),
                limits: Self.limits))
    }

    static let limits = HTTPLimits(total: time, body: 5 << 20)

    init(_ configuration: LookupConfiguration, hasProxy: Bool, policy: RequestPolicy) {
        let covers = CoverAddress(base: configuration.covers)
        self.covers = covers
        self.policy = policy
        // Whoever wants the cover comes back for it; a second attempt now would be a turn taken from another cover.
        errand = Errand(
            accept: "image/*", attempts: 1, follows: { covers.allows($1) },
            needsPublicAddress: { !hasProxy && !covers.isOwn($0) })
    }

    /// - Returns: the bytes of a JPEG, PNG, GIF or WebP; `nil` when there is no cover at the address.
    /// - Throws: ``SourceError`` that says why it could not be had, or why it was not asked for, and when to come back.
    public func cover(at url: String) async throws -> [UInt8]? {
        guard let address = covers.fetched(url) else {
            throw SourceError(source: nil, reason: "the cover's address is not one of the hosts covers come from")
        }
        let source: SourceName = address.host.contains("google") ? .googleBooksCovers : .openLibraryCovers
        let budget = Budget(policy.time, limit: Self.time)
        budget.begin()
        let visit = Visit(source: source, policy: policy, budget: budget, reach: Reach(), errand: errand)
        do throws(Trouble) {
            let answer = try await visit.get(address) { answer in
                guard answer.isSuccess, !answer.looksLikeAPage, PictureKind(answer.body) == nil else { return nil }
                return .badData(SourceError(source: source, reason: "what came instead of a cover is no picture"))
            }
            return answer.isMissing ? nil : answer.body
        } catch {
            try Task.checkCancellation()
            throw error.failure(of: source)
        }
    }
}

/// Which cover addresses are kept, and where they are fetched.
struct CoverAddress: Sendable {
    /// Where covers by number are fetched from (`BOOKPLATE_COVERS_URL`).
    let base: WebAddress

    /// Open Library's own place for covers: what is stored, whatever the base is set to.
    static let canonical = "https://covers.openlibrary.org"

    /// The address of an Open Library cover by its number.
    static func ofOpenLibrary(_ number: Int) -> String { canonical + "/b/id/\(number)-L.jpg" }

    /// An address as a source gives it, in the form that is stored.
    ///
    /// - Returns: `nil` for what will never be fetched.
    func stored(_ text: String?) -> String? {
        guard let text, let address = WebAddress(text.cleaned) else { return nil }
        if isOwn(address) { return address.description }
        guard address.port == nil, CoverHosts.allows(address.host) else { return nil }
        return address.secured.description
    }

    /// Whether the cover server is set to this machine, and the address lies there.
    func isOwn(_ address: WebAddress) -> Bool { base.isLoopback && address.origin == base.origin }

    /// Whether a cover, or a redirect on the way to it, may be fetched from here.
    func allows(_ address: WebAddress) -> Bool {
        isOwn(address) || address.origin == base.origin
            || (address.scheme == .https && address.port == nil && CoverHosts.allows(address.host))
    }

    /// Where a stored address is fetched: Open Library's at the base that is set.
    func fetched(_ stored: String) -> WebAddress? {
        guard let address = WebAddress(stored) else { return nil }
        guard address.origin == Self.canonical else { return allows(address) ? address : nil }
        let path = address.target.prefix { $0 != "?" }.dropFirst()
        return base.appending("\(path)?default=false")
    }
}

/// The kinds of picture a cover may be, told by their first bytes and never by what the server says.
enum PictureKind: Sendable, CaseIterable {
    case jpeg, png, gif, webp

    init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
            self = .gif
        } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }
}
