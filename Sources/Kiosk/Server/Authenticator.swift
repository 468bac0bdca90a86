import Bookplate
import Hummingbird
import Logging

/// Says who asks, and lets in who may.
///
/// The household is who sits at this machine (a loopback address asking for a loopback name, through no proxy), and who brings the
/// cookie of a sign-in. A station brings its token. Behind a proxy that does not name itself nobody can tell who sits here: where the
/// service is told of one, only sign-ins count.
struct Authenticator: Sendable {
    let ports: KioskPorts
    let crossSite: CrossSite
    let connections: Connections
    /// Whether something on this machine passes on what others ask, so that a loopback address means nothing.
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

    /// The cookie of a sign-in.
    static let cookie = "bookplate"

    /// - Returns: the context with the visitor in it.
    /// - Throws: ``RequestRefusal`` when it is a foreign page's request, or an unknown token's.
    func recognise(_ request: Request, _ context: KioskContext) async throws -> KioskContext {
        var context = context
        let host = try crossSite.host(
            of: request, local: context.localAddress?.ipAddress, port: context.localAddress?.port ?? 0)
        if let token = request.bearer {
            // No page of another site can send this header, so that no Origin is asked for; and no cookie is looked at.
            guard let station = try await ports.library.pairedStation(withToken: token, at: ports.now()) else {
                throw RequestRefusal(
                    status: .unauthorized, code: "unknownToken",
                    message: "This hub does not know the station's token. Pair the station again.",
                    headers: [.wwwAuthenticate: "Bearer"])
            }
            context.visitor = .station(station)
        } else {
            try crossSite.check(request)
            (context.visitor, context.signIn) = try await visitor(request, context, host)
        }
        switch context.visitor {
        case .household, .station: connections.know(context.connection, context.signIn)
        case .guest:
            connections.knowGuest(context.connection)
            // The guest view may have ended before the connection was known to be a guest's.
            if try await !isOpenToGuests() { context.visitor = .stranger }
        case .stranger: break
        }
        return context
    }

    /// Ends what is under way for sign-ins that are over, and for guests when their view is: an event stream asks only once who
    /// listens.
    func closeWhatEnded() async throws {
        let open = connections.signIns
        if !open.isEmpty {
            connections.close(open.subtracting(try await ports.library.signIns(at: ports.now()).map(\.id)))
        }
        if connections.hasGuests, try await !isOpenToGuests() { connections.closeGuests() }
    }

    private func isOpenToGuests() async throws -> Bool {
        try await ports.library.settings()[LibrarySetting.guestView.rawValue] == "1"
    }

    private func visitor(
        _ request: Request, _ context: KioskContext, _ host: HostNames.Kind
    ) async throws -> (Caller, ID<SignIn>?) {
        if context.isFromThisMachine, !isBehindProxy {
            if host == .loopback, !request.cameThroughProxy { return (.household, nil) }
            warn(of: request)
        }
        if let token = request.cookies[Self.cookie]?.value,
            let signIn = try await ports.library.signIn(ofToken: token, at: ports.now())
        {
            return (.household, signIn.id)
        }
        return (try await isOpenToGuests() ? .guest : .stranger, nil)
    }

    /// A given name that is asked for from this machine is mostly a proxy's, which may pass on other requests without a word of it.
    private func warn(of request: Request) {
        guard let authority = request.head.authority, crossSite.names.isGiven(authority), hasWarned.setFirst() else {
            return
        }
        logger.warning(
            """
            a request for \(authority.cleanedLine.prefix(80)) came from this machine. If a proxy or a tunnel passes others' requests \
            on, start with --behind-proxy: else who comes through it may be taken for somebody at this machine
            """)
    }

    /// - Throws: ``RequestRefusal`` when the visitor may not ask for it, or asks with a body that it does not take.
    func admit(_ request: Request, _ context: KioskContext, to route: Route) throws(RequestRefusal) {
        guard context.visitor.mayAsk(for: route.audience) else {
            // Also of the household: a station at this machine that forgot its token is to hear that, and not that it is refused.
            if route.audience == .stations { throw .tokenNeeded }
            if case .station = context.visitor {
                throw RequestRefusal(
                    status: .forbidden, code: "notYours", message: "A station may not ask for that.")
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

    /// Whether a proxy says that it passed this on: then the address that asks is the proxy's.
    fileprivate var cameThroughProxy: Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return Self.proxyHeaders.contains(name) || name.hasPrefix("x-forwarded-")
        }
    }

    /// RFC 7239, RFC 9110 (7.6.3), and what Cloudflare, Akamai, Fastly, Envoy and nginx's examples write.
    private static let proxyHeaders: Set = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip", "fastly-client-ip",
        "x-cluster-client-ip", "x-original-forwarded-for", "x-envoy-external-address",
    ]
}

/// Who asks.
enum Caller: Sendable, Equatable {
    /// Somebody at this machine, or with a sign-in: may do everything.
    case household
    /// Nobody known, while the library's guest view is on: may look.
    case guest
    /// A paired station, by its token.
    case station(PairedStation)
    /// Nobody known: may sign in.
    case stranger

    func mayAsk(for audience: Route.Audience) -> Bool {
        switch audience {
        case .everyone: true
        case .guests: self == .household || self == .guest
        case .household: self == .household
        case .stations: if case .station = self { true } else { false }
        }
    }
}
