import Bookplate
import Hummingbird
import NIOCore

/// What is known of one request besides its own bytes.
struct KioskContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who asks, by address; `nil` where the socket does not say.
    let remoteAddress: SocketAddress?
    /// The end of the connection that is this machine's.
    let localAddress: SocketAddress?
    /// The connection among ``Connections``.
    let connection: ObjectIdentifier
    /// Tells this request from all others, in its error and in the log.
    let id: String
    /// In what language the page is shown.
    var language = Language.english
    /// True if a page may be sent in gzip.
    var acceptsGzip = false
    /// Who asks, by what they brought.
    var visitor = Caller.stranger
    /// ``EventHub/changes`` when the request came: what the page is made of is no older.
    var change = 0
    /// The sign-in that they came with.
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
    /// Whether pages show the library without its acts.
    var isGuest: Bool { visitor != .household }

    /// The address that asks, as one writes it; empty where the socket does not say: all those together are one.
    var address: String { (remoteAddress?.ipAddress).map(HostNames.plain) ?? "" }

    var isFromThisMachine: Bool { address == "::1" || address.hasPrefix("127.") }

    /// The id in the path.
    func id<Thing>(_ name: String = "id", of thing: Thing.Type) throws -> ID<Thing> {
        ID(rawValue: try parameters.require(name))
    }
}
