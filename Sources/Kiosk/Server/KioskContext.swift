import Bookplate
import Hummingbird
import NIOCore

/// The properties of a request beyond its own bytes: its connection, caller and language.
struct KioskContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The client's address; `nil` if the socket does not know it.
    let remoteAddress: SocketAddress?
    /// The address of this machine's end of the connection.
    let localAddress: SocketAddress?
    /// The key of the connection in ``Connections``.
    let connection: ObjectIdentifier
    /// A unique id, which error responses and the log have in common.
    let id: String
    /// The language of the response.
    var language = Language.english
    /// True if a page may be sent in gzip.
    var acceptsGzip = false
    /// Set by ``Authenticator``.
    var caller = Caller.stranger
    /// ``EventHub/changes`` when the request arrived: the response shows the library no older than that.
    var change = 0
    /// The sign-in of the caller's cookie.
    var signIn: ID<SignIn>?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
        localAddress = source.channel.localAddress
        connection = ObjectIdentifier(source.channel)
        id = source.logger[metadataKey: "hb.request.id"]?.description ?? ID<KioskContext>().rawValue
    }
}

extension KioskContext {
    /// True if pages show the library without any means to change it.
    var isGuest: Bool { caller != .household }

    /// The client's address as text; empty if the socket does not know it, so that all such clients count as one.
    var address: String { (remoteAddress?.ipAddress).map(HostNames.plain) ?? "" }

    var isFromThisMachine: Bool { address == "::1" || address.hasPrefix("127.") }

    /// Returns the id in the path.
    func id<Thing>(_ name: String = "id", of thing: Thing.Type) throws -> ID<Thing> {
        ID(rawValue: try parameters.require(name))
    }
}
