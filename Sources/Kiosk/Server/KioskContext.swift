import Bookplate
import Hummingbird
import NIOCore

/// The properties of a request that are not in its bytes, such as its connection, its caller and its language.
struct KioskContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The client's address; `nil` if it is unknown.
    let remoteAddress: SocketAddress?
    /// The address of this machine's end of the connection.
    let localAddress: SocketAddress?
    /// The key of the request's connection in ``Connections``.
    let connection: ObjectIdentifier
    /// A unique id, which appears both in error responses and in the log.
    let id: String
    /// The language of the response.
    var language = Language.english
    /// The appearance that was chosen for this browser; `nil` for that of the system.
    var appearance: BrowserChoice.Appearance?
    /// True if the request came over TLS.
    var isEncrypted = false
    /// True if the client accepts pages compressed with gzip.
    var acceptsGzip = false
    /// The caller, which ``Authenticator`` sets.
    var caller = Caller.stranger
    /// True if the request was certainly sent from this machine, by somebody who therefore needs no sign-in. Behind a
    /// proxy, nobody is.
    var isAtMachine: Bool { caller == .household && signIn == nil }
    /// The value of ``EventHub/changes`` when the request arrived. The response shows the library as it was at that
    /// change or later.
    var change = 0
    /// The sign-in that belongs to the caller's cookie; `nil` if there is none.
    var signIn: ID<SignIn>?
    /// True if the request seems to come from a browser on the station's own machine, which shares the station's
    /// preset. Unlike ``isAtMachine``, it can be true behind a proxy, for somebody who has signed in.
    var isAtStation = false
    /// The household's readers. Pages speak of readers only if there are several.
    var readers: [Reader] = []
    /// The reader whom the request is for.
    var reader: Reader?
    /// The name under which readers are unlocked in this browser; `nil` if none has been unlocked.
    var holder: String?
    private var readersLibrary: (any KioskLibrary)?

    /// The library for the request's reader. ``KioskMiddleware`` sets it before any route reads it.
    var library: any KioskLibrary {
        get {
            guard let readersLibrary else { preconditionFailure("a request without a library") }
            return readersLibrary
        }
        set { readersLibrary = newValue }
    }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
        localAddress = source.channel.localAddress
        connection = ObjectIdentifier(source.channel)
        id = source.logger[metadataKey: "hb.request.id"]?.description ?? ID<KioskContext>().rawValue
    }
}

/// The sender of a request: a signed-in device, a station, or an address.
enum Device: Sendable, Hashable {
    case signIn(ID<SignIn>)
    case station(ID<PairedStation>)
    /// All devices without a sign-in at this address.
    case address(String)

    var signIn: ID<SignIn>? { if case .signIn(let id) = self { id } else { nil } }
}

extension KioskContext {
    /// True if pages show the library but offer nothing that changes it.
    var isGuest: Bool { caller != .household }

    /// The client's address as text. It is empty if the address is unknown. All clients with an unknown address then
    /// count as one client.
    var address: String { (remoteAddress?.ipAddress).map(HostNames.plain) ?? "" }

    /// The device to which the request counts where the connections and photos of each device are limited.
    var device: Device {
        if case .station(let station) = caller { return .station(station.id) }
        return signIn.map(Device.signIn) ?? .address(address)
    }

    /// The browser as presets name it: its sign-in, or `nil` for a browser on the station's own machine.
    var browser: String? { isAtStation ? nil : signIn?.rawValue }

    var isFromThisMachine: Bool { address == "::1" || address.hasPrefix("127.") }

    /// Returns the id that the path contains for the parameter with this name.
    func id<Thing>(_ name: String = "id", of thing: Thing.Type) throws -> ID<Thing> {
        ID(rawValue: try parameters.require(name))
    }
}
