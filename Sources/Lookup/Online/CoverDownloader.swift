import Bookplate
import FoundationEssentials
import HTTP

/// Downloads covers. It accepts only pictures of at most 5 MiB from the hosts in ``CoverHosts``, and never connects to
/// a private address.
///
/// Every request obeys the same rate limits as a lookup: at most one request per second after a burst of three,
/// Retry-After is honoured, and after five failures in a row no request is sent to the server for a while. Covers do
/// not come from the same hosts as catalogue records, so their requests are counted separately
/// (``SourceName/openLibraryCovers`` and so on). Downloading many covers therefore does not delay lookups, and a cover
/// server that is down does not block its catalogue.
///
/// If the environment sets a proxy, the proxy resolves host names. Then only the host name is checked, not the address
/// that it resolves to.
public struct CoverDownloader: CoverFetch {
    private let policy: RequestPolicy
    private let order: @Sendable () async throws -> SourceOrder
    private let covers: CoverAddress
    private let options: RequestOptions

    /// The longest time for one cover, including waits and redirects.
    private static let timeLimit: Duration = .seconds(10)

    /// - Parameters:
    ///   - order: returns the sources that may be asked; called for every cover. A cover of another source is
    ///     postponed.
    ///   - states: the rate limits for the sources, shared with the lookup.
    ///   - clock: the clock for waits and for the time limit of a cover (10 s).
    ///   - now: returns the calendar time, which is stored with the rate limits.
    ///   - report: logs errors that do not change an answer, such as a rate limit that cannot be stored.
    public init(
        _ configuration: LookupConfiguration, order: @escaping @Sendable () async throws -> SourceOrder,
        states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            configuration,
            hasProxy: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
                environment[$0]?.isEmpty == false
            },
            order: order,
            policy: RequestPolicy(
                http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: now),
                limits: Self.limits, report: report))
    }

    static let limits = HTTPLimits(total: timeLimit, body: 5 << 20)

    init(
        _ configuration: LookupConfiguration, hasProxy: Bool, order: @escaping @Sendable () async throws -> SourceOrder,
        policy: RequestPolicy
    ) {
        self.order = order
        let covers = CoverAddress(base: configuration.covers)
        self.covers = covers
        self.policy = policy
        // There is only one attempt, because the caller asks for missing covers again later, and a second attempt now
        // would only delay other covers.
        options = RequestOptions(
            accept: "image/*", attempts: 1, follows: { covers.allows($1) },
            needsPublicAddress: { !hasProxy && !covers.isOwn($0) })
    }

    /// Returns the addresses of the large covers of the Deutsche Nationalbibliothek and of Open Library, and then the
    /// edition's own address.
    public func addresses(of cover: MissingCover) -> [String] { CoverAddress.addresses(of: cover) }

    /// Downloads a cover.
    ///
    /// - Returns: the bytes of a JPEG, PNG, GIF or WebP; `nil` if there is no cover at the address.
    /// - Throws: ``SourceError`` with the reason why the cover could not be fetched or was not requested, and the time
    ///   to wait before the next attempt.
    public func cover(at url: String) async throws -> [UInt8]? {
        guard let address = covers.fetched(url) else {
            throw SourceError(source: nil, reason: "the cover's address is not valid, or its host is not allowed")
        }
        let (source, catalogue): (SourceName, SourceName) =
            if address.host.contains("google") {
                (.googleBooksCovers, .googleBooks)
            } else if address.host.hasSuffix("openbd.jp") {
                (.openBDCovers, .openBD)
            } else if address.host.hasSuffix("dnb.de") {
                (.dnbCovers, .dnb)
            } else {
                (.openLibraryCovers, .openLibrary)
            }
        guard try await order().sources.contains(catalogue) else {
            throw SourceError(
                source: source, reason: "\(catalogue.displayName) is switched off in the settings",
                retryAfter: .seconds(86_400))
        }
        let deadline = Deadline(policy.time, limit: policy.limits.total)
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

/// Decides which cover addresses are stored, and from which addresses covers are fetched.
struct CoverAddress: Sendable {
    /// The base address from which Open Library's covers are fetched (`BOOKPLATE_COVERS_URL`).
    let base: WebAddress

    /// Open Library's own base address for covers. Stored addresses begin with it, even if ``base`` is a different
    /// address.
    static let canonical = "https://covers.openlibrary.org"

    /// Returns the address of the Open Library cover with this number.
    static func ofOpenLibrary(_ number: Int) -> String { canonical + "/b/id/\(number)-L.jpg" }

    /// Returns the addresses at which there may be a cover, the large ones first.
    static func addresses(of cover: MissingCover) -> [String] {
        let own = cover.url.map { [$0] } ?? []
        guard !cover.isChosen, let isbn = cover.isbn?.digits else { return own }
        let national =
            isbn.hasPrefix(MissingCover.germanGroup) ? ["https://portal.dnb.de/opac/mvb/cover?isbn=\(isbn)"] : []
        if let url = cover.url, url.hasPrefix(canonical + "/b/") { return national + own }
        return national + ["\(canonical)/b/isbn/\(isbn)-L.jpg"] + own
    }

    /// Converts a cover address from a source to the form in which it is stored.
    ///
    /// - Returns: `nil` if covers may not be fetched from the address.
    func stored(_ text: String?) -> String? {
        guard let text, let address = WebAddress(text.cleaned) else { return nil }
        if isOwn(address) { return address.description }
        return CoverHosts.secured(text)
    }

    /// Returns true if ``base`` is a server on this machine and the address is on that server.
    func isOwn(_ address: WebAddress) -> Bool { base.isLoopback && address.origin == base.origin }

    /// Returns true if this address may be requested, either as the address of a cover or as the target of a redirect.
    func allows(_ address: WebAddress) -> Bool {
        isOwn(address) || address.origin == base.origin
            || (address.scheme == .https && address.port == nil && CoverHosts.allows(address.host))
    }

    /// Converts a stored cover address to the address from which the cover is fetched. Open Library's covers are
    /// fetched from ``base``.
    ///
    /// - Returns: `nil` if the cover may not be fetched.
    func fetched(_ stored: String) -> WebAddress? {
        // Older libraries have addresses with the page corner that Google draws into its covers.
        guard let address = WebAddress(stored.replacing("&edge=curl", with: "")) else { return nil }
        guard address.origin == Self.canonical else { return allows(address) ? address : nil }
        let path = address.target.prefix { $0 != "?" }.dropFirst()
        return base.appending("\(path)?default=false")
    }
}

/// The picture formats that a cover may have. They are recognised by the first bytes of the picture, never by the
/// server's headers.
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

extension CoverHosts {
    /// Returns the address with https.
    ///
    /// - Returns: `nil` if covers may not be fetched from it.
    static func secured(_ text: String) -> String? {
        guard let address = WebAddress(text.cleaned), address.port == nil, allows(address.host) else { return nil }
        return address.secured.description
    }
}
