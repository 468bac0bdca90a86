import Bookplate
import Cryptography
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// The port on which the service speaks https beside its port for plain http, and its certificate.
///
/// With it, other devices get pages over https only, because browsers give the camera to such pages only.
public struct KioskTLS: Sendable {
    /// A certificate with its chain, the server's first, and its private key; both in PEM.
    public struct Certificate: Sendable, Equatable {
        public var chain: String
        public var key: String

        public init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
    }

    /// The authority that issued the certificate, if it is the station's own. People install it on their devices.
    public struct Authority: Sendable, Equatable {
        /// The authority's certificate in DER.
        public var certificate: [UInt8]
        /// The SHA-256 hash of the certificate, as phones show it: "3F 0A …".
        public var fingerprint: String
        /// The hash as words, to compare it aloud.
        public var words: String

        public init(certificate: [UInt8], fingerprint: String, words: String) {
            (self.certificate, self.fingerprint, self.words) = (certificate, fingerprint, words)
        }
    }

    /// The port to listen on; 0 chooses a free port.
    public var port: Int
    /// Returns the certificate. It is called for every connection, so that a renewed certificate is used at once, and
    /// must be quick as long as nothing has changed.
    public var certificate: @Sendable () throws -> Certificate
    /// Returns the station's own authority; `nil` if the certificate comes from elsewhere.
    public var authority: (@Sendable () throws -> Authority)?

    public static let standardPort = 8279

    public init(
        port: Int = Self.standardPort, certificate: @escaping @Sendable () throws -> Certificate,
        authority: (@Sendable () throws -> Authority)? = nil
    ) {
        (self.port, self.certificate, self.authority) = (port, certificate, authority)
    }
}

/// The ports on which the service listens.
public struct ListeningPorts: Sendable, Equatable {
    public var http: Int
    /// `nil` if the service does not speak https.
    public var https: Int?

    func sockets(at address: String) -> [NetworkListeners.Socket] {
        [.init(address: address, port: http, isEncrypted: false)]
            + (https.map { [.init(address: address, port: $0, isEncrypted: true)] } ?? [])
    }
}

/// Makes the TLS context of each new connection. The same one is used until the certificate changes.
final class TLSContexts: Sendable {
    private let certificate: @Sendable () throws -> KioskTLS.Certificate
    private let made = Mutex<(certificate: KioskTLS.Certificate, context: TLSContext)?>(nil)

    init(_ tls: KioskTLS) { certificate = tls.certificate }

    /// Returns the context for a connection that begins now.
    func current() throws -> TLSContext {
        let certificate = try certificate()
        return try made.withLock { made in
            if let made, made.certificate == certificate { return made.context }
            let context = try TLSContext(chain: certificate.chain, key: certificate.key)
            made = (certificate, context)
            return context
        }
    }
}

/// Marks the requests of one port as encrypted or not, before the router sees them.
struct TransportResponder<Base: HTTPResponder>: HTTPResponder where Base.Context == KioskContext {
    let base: Base
    let isEncrypted: Bool

    func respond(to request: Request, context: KioskContext) async throws -> Response {
        var context = context
        context.isEncrypted = isEncrypted
        return try await base.respond(to: request, context: context)
    }
}

extension KioskParts {
    /// Sends a browser that has opened a page over plain http from another device to the same page over https.
    ///
    /// The redirect is temporary, because the household may turn https off again.
    ///
    /// - Returns: `nil` for a request that may be answered as it came.
    /// - Throws: ``RequestRefusal``: 426 (RFC 9110, 15.5.22) for a request that a browser could not repeat, such as
    ///   one for the API.
    func redirectToHTTPS(_ request: Request, _ context: KioskContext) throws -> Response? {
        guard let tls = configuration.tls, !context.isEncrypted, !context.isFromThisMachine,
            !Self.plainPaths.contains(where: { request.uri.path.hasPrefix($0) })
        else { return nil }
        guard let name = HostNames.parts(of: request.head.authority ?? "")?.name else { return nil }
        // Certificates of the station's own authority have no names without a dot.
        let isShort = tls.authority != nil && name == MachineAddress.hostName().lowercased()
        let host = HostNames.bracketed(isShort ? name + ".local" : name)
        let port = listeners.listening?.https ?? tls.port
        guard request.isSafe, !request.uri.path.hasPrefix("/api/") else {
            throw RequestRefusal(
                .httpsNeeded, "This service answers other devices over https only, at https://\(host):\(port).",
                headers: [.upgrade: "TLS/1.2, HTTP/1.1", .connection: "Upgrade"],
                values: ["address": "https://\(host):\(port)"])
        }
        return Response(
            status: .temporaryRedirect,
            headers: [.location: "https://\(host):\(port)\(request.uri.string)", .cacheControl: "no-store"])
    }

    /// The beginnings of the paths that everybody gets over plain http too: the page that explains how to trust the
    /// station's certificate, with its pictures and styles, and the check of the service's health.
    private static let plainPaths = ["/trust", "/assets/", "/healthz"]
}

extension HTTPFields.Element.Name {
    fileprivate static let upgrade = Self("Upgrade")!
}
