import Bookplate
import Hummingbird
import Logging

/// Authenticates each request and authorises it for its route.
///
/// The household is whoever sits at this machine (a request from a loopback address for a loopback name, through no proxy) or
/// brings the cookie of a sign-in. A station brings its token. A proxy that does not announce itself makes every client look like
/// this machine; with ``isBehindProxy``, only sign-ins count.
struct Authenticator: Sendable {
    let ports: KioskPorts
    let crossSite: CrossSite
    let connections: Connections
    /// True if a proxy on this machine forwards requests of others, so that a loopback address proves nothing.
    let isBehindProxy: Bool
    let logger: Logger
    private let hasWarned = Flag()

    init(
        ports: KioskPorts, crossSite: CrossSite, connections: Connections, isBehindProxy: Bool, logger: Logger
    ) {
        self.ports = ports
        self.crossSite = crossSite
        self.connections = connections
        self.isBehindProxy = isBehindProxy
        self.logger = logger
    }

    /// The name of the cookie that holds a sign-in's token.
    static let cookie = "bookplate"

    /// - Returns: the context with its caller.
    /// - Throws: ``RequestRefusal`` for a request of another site's page or with an unknown token.
    func authenticate(_ request: Request, _ context: KioskContext) async throws -> KioskContext {
        var context = context
        let host = try crossSite.host(
            of: request, local: context.localAddress?.ipAddress, port: context.localAddress?.port ?? 0)
        if let token = request.bearer {
            // Other sites' pages cannot send this header, so that Origin need not be checked. Cookies are ignored.
            guard let station = try await ports.library.pairedStation(withToken: token, at: ports.now()) else {
                throw RequestRefusal(
                    status: .unauthorized, code: "unknownToken",
                    message: "This hub does not know the station's token. Pair the station again.",
                    headers: [.wwwAuthenticate: "Bearer"])
            }
            context.caller = .station(station)
        } else {
            try crossSite.check(request)
            (context.caller, context.signIn) = try await caller(of: request, context, host)
        }
        switch context.caller {
        case .household, .station: connections.markKnown(context.connection, context.signIn)
        case .guest:
            connections.markGuest(context.connection)
            // The guest view may have been switched off before the connection was marked as a guest's.
            if try await !isOpenToGuests() { context.caller = .stranger }
        case .stranger: break
        }
        return context
    }

    /// Closes the connections of sign-ins that have ended, and of guests once the guest view is off: an event stream is
    /// authenticated only when it begins.
    func closeEndedConnections() async throws {
        let open = connections.signIns
        if !open.isEmpty {
            connections.close(open.subtracting(try await ports.library.signIns(at: ports.now()).map(\.id)))
        }
        if connections.hasGuests, try await !isOpenToGuests() { connections.closeGuests() }
    }

    private func isOpenToGuests() async throws -> Bool {
        try await ports.library.settings()[LibrarySetting.guestView.rawValue] == "1"
    }

    private func caller(
        of request: Request, _ context: KioskContext, _ host: HostNames.Kind
    ) async throws -> (Caller, ID<SignIn>?) {
        if context.isFromThisMachine, !isBehindProxy {
            if host == .loopback, !request.cameThroughProxy { return (.household, nil) }
            warnOfProxy(request)
        }
        if let token = request.cookies[Self.cookie]?.value,
            let signIn = try await ports.library.signIn(ofToken: token, at: ports.now())
        {
            return (.household, signIn.id)
        }
        return (try await isOpenToGuests() ? .guest : .stranger, nil)
    }

    /// Warns once about a request from this machine for a configured host name: probably a proxy sent it, and one that may
    /// forward requests without announcing itself.
    private func warnOfProxy(_ request: Request) {
        guard let authority = request.head.authority, crossSite.names.isConfigured(authority), hasWarned.setIfUnset()
        else {
            return
        }
        logger.warning(
            """
            a request for \(authority.cleanedLine.prefix(80)) came from this machine. If a proxy or a tunnel forwards requests \
            of others, start with --behind-proxy: without it, they may be taken for somebody at this machine
            """)
    }

    /// - Throws: ``RequestRefusal`` when the caller may not use the route, or the route does not accept the body.
    func authorise(_ request: Request, _ context: KioskContext, to route: Route) throws(RequestRefusal) {
        guard route.audience.includes(context.caller) else {
            // The household gets this answer too: a station at this machine that lost its token learns the cause.
            if route.audience == .stations { throw .tokenNeeded }
            if case .station = context.caller {
                throw RequestRefusal(
                    status: .forbidden, code: "notYours", message: "Stations may not use this route.")
            }
            throw .signInNeeded
        }
        try route.checkBody(of: request)
    }
}

extension Request {
    /// The token of `Authorization: Bearer TOKEN` (RFC 6750, 2.1).
    fileprivate var bearer: String? {
        guard let value = headers[.authorization], value.lowercased().hasPrefix("bearer ") else { return nil }
        return String(value.dropFirst("bearer ".count))
    }

    /// True if a proxy announces that it forwarded this request, whose address is then the proxy's.
    fileprivate var cameThroughProxy: Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return Self.proxyHeaders.contains(name) || name.hasPrefix("x-forwarded-")
        }
    }

    /// Headers of RFC 7239 and RFC 9110 (7.6.3), and those of Cloudflare, Akamai, Fastly, Envoy and nginx's examples.
    private static let proxyHeaders: Set = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip", "fastly-client-ip",
        "x-cluster-client-ip", "x-original-forwarded-for", "x-envoy-external-address",
    ]
}

/// The sender of a request.
enum Caller: Sendable, Equatable {
    /// Somebody at this machine or with a sign-in; may do everything.
    case household
    /// Anybody else while the library's guest view is on; may look.
    case guest
    /// A paired station, identified by its token.
    case station(PairedStation)
    /// Anybody else; may sign in.
    case stranger
}
