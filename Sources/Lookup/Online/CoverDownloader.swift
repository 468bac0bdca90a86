import Bookplate
import FoundationEssentials
import HTTP

/// Fetches covers: only from the hosts of ``CoverHosts``, never from a private address, at most 5 MiB, and only
/// pictures.
///
/// Every request is subject to the rate limits of this machine, like those of the lookup: one per second after a burst
/// of three, Retry-After is honoured, and the source is left alone after five failures in a row. The limits are the
/// cover servers' own (``SourceName/openLibraryCovers``, ``SourceName/googleBooksCovers``), not the catalogues': they
/// are other hosts, so fetching many covers does not delay a lookup, and a picture server that is down does not close
/// the catalogue.
///
/// If the environment sets a proxy, the proxy resolves the names, and only the list of hosts is checked.
public struct CoverDownloader: CoverFetch {
    private let policy: RequestPolicy
    private let covers: CoverAddress
    private let options: RequestOptions

    /// The time for one cover, including waits and redirects.
    private static let timeLimit: Duration = .seconds(10)

    /// - Parameters:
    ///   - states: the rate limits of the sources, the same as for the lookup.
    ///   - clock: measures waits and the 10 s of a cover.
    ///   - now: returns the calendar time, for the state that processes share.
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
                http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: now),
                limits: Self.limits))
    }

    static let limits = HTTPLimits(total: timeLimit, body: 5 << 20)

    init(_ configuration: LookupConfiguration, hasProxy: Bool, policy: RequestPolicy) {
        let covers = CoverAddress(base: configuration.covers)
        self.covers = covers
        self.policy = policy
        // The caller asks for missing covers again later; a second attempt now would only delay another cover.
        options = RequestOptions(
            accept: "image/*", attempts: 1, follows: { covers.allows($1) },
            needsPublicAddress: { !hasProxy && !covers.isOwn($0) })
    }

    /// Fetches a cover.
    ///
    /// - Returns: the bytes of a JPEG, PNG, GIF or WebP; `nil` if there is no cover at the address.
    /// - Throws: ``SourceError`` with the reason why it could not be fetched or was not requested, and when to try
    ///   again.
    public func cover(at url: String) async throws -> [UInt8]? {
        guard let address = covers.fetched(url) else {
            throw SourceError(source: nil, reason: "the cover's address is not on a permitted host")
        }
        let source: SourceName = address.host.contains("google") ? .googleBooksCovers : .openLibraryCovers
        let deadline = Deadline(policy.time, limit: Self.timeLimit)
        deadline.start()
        let client = SourceClient(
            source: source, policy: policy, deadline: deadline, unreachable: UnreachableSources(), options: options)
        do throws(LookupError) {
            let answer = try await client.get(address) { answer in
                guard answer.isSuccess, !answer.looksLikeAPage, PictureKind(answer.body) == nil else { return nil }
                return .badData(SourceError(source: source, reason: "sent something other than a picture"))
            }
            return answer.isMissing ? nil : answer.body
        } catch {
            try Task.checkCancellation()
            throw error.sourceError(source)
        }
    }
}

/// Decides which cover addresses are stored, and from where they are fetched.
struct CoverAddress: Sendable {
    /// The address from which Open Library's covers are fetched (`BOOKPLATE_COVERS_URL`).
    let base: WebAddress

    /// Open Library's own address for covers, which is stored whatever the base is set to.
    static let canonical = "https://covers.openlibrary.org"

    /// Returns the address of an Open Library cover by its number.
    static func ofOpenLibrary(_ number: Int) -> String { canonical + "/b/id/\(number)-L.jpg" }

    /// Returns the form in which the address from a source is stored.
    ///
    /// - Returns: `nil` for an address that will never be fetched.
    func stored(_ text: String?) -> String? {
        guard let text, let address = WebAddress(text.cleaned) else { return nil }
        if isOwn(address) { return address.description }
        guard address.port == nil, CoverHosts.allows(address.host) else { return nil }
        return address.secured.description
    }

    /// Returns true if the cover server is set to this machine, and the address is on it.
    func isOwn(_ address: WebAddress) -> Bool { base.isLoopback && address.origin == base.origin }

    /// Returns true if a cover, or a redirect on the way to it, may be fetched from this address.
    func allows(_ address: WebAddress) -> Bool {
        isOwn(address) || address.origin == base.origin
            || (address.scheme == .https && address.port == nil && CoverHosts.allows(address.host))
    }

    /// Returns the address from which a stored one is fetched: Open Library's below the configured base.
    func fetched(_ stored: String) -> WebAddress? {
        guard let address = WebAddress(stored) else { return nil }
        guard address.origin == Self.canonical else { return allows(address) ? address : nil }
        let path = address.target.prefix { $0 != "?" }.dropFirst()
        return base.appending("\(path)?default=false")
    }
}

/// The kinds of picture a cover may be, recognised by their first bytes and never by the server's headers.
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
