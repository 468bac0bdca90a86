import Async
import Bookplate
import Hummingbird
import Logging

/// Finds out who sent each request, and checks that this caller may use the route.
///
/// A request belongs to the household if it has the cookie of a sign-in, or if it comes from this machine, that is,
/// from a loopback address, to a loopback name, and without a proxy. A request belongs to a station if it has the
/// station's token. Behind a proxy that does not announce itself, every client looks like this machine. If
/// ``isBehindProxy`` is true, this machine therefore needs a sign-in too.
struct Authenticator: Sendable {
    let ports: KioskPorts
    let crossSite: CrossSite
    let connections: Connections
    /// True if a proxy on this machine forwards requests from other machines, so that a loopback address does not prove
    /// that a request was sent from this machine.
    let isBehindProxy: Bool
    let logger: Logger
    private let hasWarned = SharedValue(false)

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

    /// Finds out who sent a request.
    ///
    /// - Returns: the context, in which the caller is now set.
    /// - Throws: ``RequestRefusal`` for a request from another site's page, or with an unknown token.
    func authenticate(_ request: Request, _ context: KioskContext) async throws -> KioskContext {
        var context = context
        let host = try crossSite.host(
            of: request, local: context.localAddress?.ipAddress, port: context.localAddress?.port ?? 0,
            isEncrypted: context.isEncrypted)
        context.isAtStation = context.isFromThisMachine && host == .loopback && !request.cameThroughProxy
        if let token = request.bearer {
            // Other sites' pages cannot send an Authorization header, so Origin is not checked. Cookies are ignored.
            guard let station = try await ports.library.pairedStation(withToken: token, at: ports.now()) else {
                throw RequestRefusal(
                    .unknownToken, "This hub does not know the station's token. Pair the station again.",
                    headers: [.wwwAuthenticate: "Bearer"])
            }
            context.caller = .station(station)
        } else {
            try crossSite.check(request)
            (context.caller, context.signIn) = try await caller(of: request, context)
        }
        switch context.caller {
        case .household, .station: connections.markKnown(context.connection, context.device)
        case .guest:
            connections.markGuest(context.connection)
            // The guest view may have been switched off just before the connection was marked as a guest's.
            if try await !isOpenToGuests() { context.caller = .stranger }
        case .stranger:
            // The connection may have belonged to a sign-in that has ended, and must not be closed with it.
            connections.forget(context.connection)
        }
        return context
    }

    /// Closes the connections of sign-ins that have ended and, once the guest view is off, the connections of guests.
    /// Without this, their event streams would continue, because a stream is authenticated only when it begins.
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
        of request: Request, _ context: KioskContext
    ) async throws -> (Caller, ID<SignIn>?) {
        if context.isFromThisMachine, !isBehindProxy {
            if context.isAtStation { return (.household, nil) }
            warnOfProxy(request)
        }
        if let token = request.cookies[Self.cookie]?.value,
            let signIn = try await ports.library.signIn(ofToken: token, at: ports.now())
        {
            return (.household, signIn.id)
        }
        return (try await isOpenToGuests() ? .guest : .stranger, nil)
    }

    /// Warns once about a request from this machine for a configured host name. Such a request was probably sent by a
    /// proxy, which may also forward requests without announcing itself.
    private func warnOfProxy(_ request: Request) {
        guard let authority = request.head.authority, crossSite.names.isConfigured(authority), !hasWarned.exchange(true)
        else {
            return
        }
        logger.warning(
            """
            a request for \(authority.cleanedLine.prefix(80)) came from this machine. If a proxy or a tunnel forwards requests \
            from other machines, start with --behind-proxy. Otherwise such a request may be mistaken for one from this machine
            """)
    }

    /// Checks that the caller may use the route, and that the route accepts the type of the body.
    ///
    /// - Throws: ``RequestRefusal`` if either check fails.
    func authorise(_ request: Request, _ context: KioskContext, to route: Route) throws(RequestRefusal) {
        guard route.audience.includes(context.caller) else {
            // The household gets this answer too, so that a station on this machine that has lost its token receives
            // the reason.
            if route.audience == .stations { throw .tokenNeeded }
            if case .station = context.caller {
                throw RequestRefusal(.notYours, "Stations may not use this address.")
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

    /// True if a header says that a proxy forwarded this request. The request's remote address is then the proxy's.
    fileprivate var cameThroughProxy: Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return Self.proxyHeaders.contains(name) || name.hasPrefix("x-forwarded-")
        }
    }

    /// The headers that proxies add, from RFC 7239, RFC 9110 (7.6.3), Cloudflare, Akamai, Fastly, Envoy and nginx's
    /// examples.
    private static let proxyHeaders: Set = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip", "fastly-client-ip",
        "x-cluster-client-ip", "x-original-forwarded-for", "x-envoy-external-address",
    ]
}

/// The sender of a request.
enum Caller: Sendable, Equatable {
    /// Somebody who is at this machine or has signed in. The household may do everything.
    case household
    /// Anybody who is neither in the household nor a paired station, while the library's guest view is on. Guests may
    /// look but not change anything.
    case guest
    /// A paired station, identified by its token.
    case station(PairedStation)
    /// Anybody who is neither in the household nor a paired station, while the guest view is off. Strangers may only
    /// sign in.
    case stranger
}
