import CCurl

/// An HTTP client that uses libcurl. It runs any number of transfers on one thread, which starts with the first
/// request.
///
/// It follows no redirects, keeps no cookies, and sends only its user agent and the headers of the request. Proxies
/// come from the environment variables that libcurl reads (`https_proxy`, `no_proxy`, …). Requests to loopback
/// addresses never use a proxy.
public final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// - Parameters:
    ///   - userAgent: the value of the User-Agent header.
    ///   - trust: the certificate authorities that may vouch for servers.
    public init(userAgent: String, trust: TrustedAuthorities) {
        loop = TransferLoop(identity: Identity(userAgent: userAgent, trust: trust))
    }

    /// - Parameter certificateFile: a PEM file with the certificate authorities to trust instead of the system's.
    public convenience init(userAgent: String, certificateFile: String? = nil) {
        self.init(userAgent: userAgent, trust: certificateFile.map { .file($0) } ?? .system)
    }

    deinit { loop.stop() }

    /// The user agent of the client, and the certificate authorities that it trusts.
    struct Identity: Sendable {
        var userAgent: String
        var trust: TrustedAuthorities
    }

    /// Sends a request once. Cancelling the task ends the transfer within milliseconds.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPAnswer {
        let ticket = loop.newTicket()
        defer { loop.forget(ticket) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { loop.submit(request, as: ticket, $0) }
        } onCancel: {
            loop.cancel(ticket)
        }
        return try result.get()
    }
}

/// The certificate authorities that a client trusts.
public enum TrustedAuthorities: Sendable, Equatable {
    case system
    /// Those in a PEM file, instead of the system's.
    case file(String)
    /// This one alone, in PEM.
    case only(String)
    /// Any, so that nothing proves who the server is. For reading a certificate that a person then compares.
    case unchecked
}

/// A single request, without redirects.
public struct HTTPRequest: Sendable {
    public var method = Method.get
    public var address: WebAddress
    public var limits: HTTPLimits
    /// The network addresses to which the request may connect. The address of the actual connection is checked; with a
    /// proxy, that is the address of the proxy.
    public var allowed: AllowedAddresses
    public var accept: String
    /// The value of the Authorization header; `nil` to send none.
    public var authorization: String?
    /// The value of the Origin header (RFC 6454, 7); `nil` to send none. A service that browsers also use may require
    /// this header for requests that change something.
    public var origin: String?
    public var body: Body?
    /// True to connect without the proxies from the environment. Requests to loopback addresses never use a proxy.
    public var avoidsProxy = false

    public init(
        _ method: Method = .get, address: WebAddress, limits: HTTPLimits = HTTPLimits(),
        allowed: AllowedAddresses = .any, accept: String = "application/json", authorization: String? = nil,
        body: Body? = nil
    ) {
        self.method = method
        self.address = address
        self.limits = limits
        self.allowed = allowed
        self.accept = accept
        self.authorization = authorization
        self.body = body
    }

    public enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    /// The body of a request.
    public struct Body: Sendable {
        public var bytes: [UInt8]
        public var type: String

        public init(_ bytes: [UInt8], type: String = "application/json") {
            self.bytes = bytes
            self.type = type
        }
    }

    public enum AllowedAddresses: Sendable {
        case any
        /// The request may connect only to addresses of the public internet.
        case publicOnly
        /// The request may connect only to addresses of this machine and of private networks (``PrivateAddress``).
        case privateOnly
    }
}

/// The limits of a transfer in time and size.
public struct HTTPLimits: Sendable {
    /// The longest time for resolving the host name, connecting and setting up TLS together.
    public var connect: Duration
    /// The longest time for the whole transfer.
    public var total: Duration
    /// The time, in whole seconds, for which a transfer may be slower than 100 bytes per second before it counts as
    /// timed out.
    public var slowFor: Duration
    /// The size limit of the body in bytes, counted after decompression.
    public var body: Int

    public init(
        connect: Duration = .seconds(3), total: Duration = .seconds(8), slowFor: Duration = .seconds(5),
        body: Int = 1 << 20
    ) {
        self.connect = connect
        self.total = total
        self.slowFor = slowFor
        self.body = body
    }
}

/// The answer to a request.
public struct HTTPAnswer: Sendable {
    public var status: Int
    public var contentType = ""
    public var retryAfter: String?
    /// The value of the Date header, which is the time on the server's clock.
    public var date: String?
    /// The absolute target of a redirect; `nil` if there is none, or if ``WebAddress`` does not accept it.
    public var redirect: WebAddress?
    /// The target of a redirect as the server wrote it, for messages.
    public var redirectText: String?
    public var body: [UInt8] = []

    public init(status: Int) { self.status = status }

    public var isSuccess: Bool { (200..<300).contains(status) }
    /// True if the server has nothing at the address (404), or no longer has anything there (410).
    public var isMissing: Bool { status == 404 || status == 410 }
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}

/// The reason why a request got no complete answer. An answer with an error status (404, 429, 500) is not a transport
/// error.
public enum TransportError: Error, Sendable, Equatable {
    /// The host cannot be reached: its name cannot be resolved, there is no route to it, or it accepts no connections.
    case offline(String)
    /// Connecting or the whole transfer took too long, or almost no data arrived for several seconds.
    case timedOut(connecting: Bool)
    case tls(TLSReason)
    /// The body or the headers are longer than allowed.
    case tooLarge(limit: Int)
    /// The connection ended before the answer was complete.
    case truncated
    /// The connection was reset, or ended before the answer began.
    case reset
    /// The request may connect only to the public internet, but the host has another address, such as a private one.
    case privateAddress(String)
    /// The request may connect only to this machine and private networks, but the host has another address.
    case publicAddress(String)
    /// The answer is not HTTP, or cannot be decompressed.
    case garbled(String)
    case cancelled
    /// libcurl is missing, or reported another error.
    case other(String)

    /// The reason why a certificate was not accepted.
    public enum TLSReason: Sendable, Equatable {
        case expired, notYetValid, wrongHost, unknownIssuer
        case other(String)
    }

    /// True if the same request may succeed a moment later.
    public var isWorthRetrying: Bool { self == .reset || self == .truncated }
}

extension TransportError: CustomStringConvertible {
    /// The message for people, without a full stop.
    public var description: String {
        switch self {
        case .offline(let cause): "offline: \(cause)"
        case .timedOut(connecting: true): "offline: no connection was made in time; the network or the server is down"
        case .timedOut(connecting: false): "the complete answer did not arrive in time"
        case .tls(let reason): reason.description
        case .tooLarge(let limit): "the answer is larger than \(limit / 1024) KiB"
        case .truncated: "the connection ended in the middle of the answer"
        case .reset: "the connection was reset"
        case .privateAddress(let address): "\(address) is a private address, so Bookplate did not connect to it"
        case .publicAddress(let address): "\(address) is not a private address, so Bookplate did not connect to it"
        case .garbled(let cause): "the answer cannot be read: \(cause)"
        case .cancelled: "cancelled"
        case .other(let cause): cause
        }
    }
}

extension TransportError.TLSReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .expired: "its certificate has expired"
        case .notYetValid: "its certificate is not valid yet; check this machine's clock"
        case .wrongHost: "its certificate is for another host; the network may require you to sign in"
        case .unknownIssuer:
            "this machine does not trust the authority that issued its certificate; the network may require you to sign in, or BOOKPLATE_CA_FILE must be set"
        case .other(let cause): "the secure connection failed: \(cause)"
        }
    }

    /// - Parameter verification: the result of OpenSSL's verification (X509_V_ERR_…); 0 if the chain is valid.
    init(verification: Int, message: String) {
        switch verification {
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21: self = .unknownIssuer
        case 62, 63, 64: self = .wrongHost
        // libcurl compares the host names before it reads the result of OpenSSL's verification. If the names differ,
        // the number still has its initial value.
        case 0, 1: self = .wrongHost
        default: self = .other(message)
        }
    }
}
