import CCurl

/// An HTTP client over libcurl: runs any number of transfers on one thread, which starts with the first request.
///
/// It follows no redirects, keeps no cookies, and sends only its user agent and the headers of the request. Proxies
/// come from the environment as libcurl reads them (`https_proxy`, `no_proxy`, …); loopback addresses bypass them.
public final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// - Parameters:
    ///   - userAgent: the value of the User-Agent header.
    ///   - certificateFile: a PEM file of certificate authorities to trust instead of the system's.
    public init(userAgent: String, certificateFile: String? = nil) {
        loop = TransferLoop(identity: Identity(userAgent: userAgent, certificateFile: certificateFile))
    }

    deinit { loop.stop() }

    /// The client's user agent, and the certificate authorities it trusts.
    struct Identity: Sendable {
        var userAgent: String
        var certificateFile: String?
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

/// A single request, without redirects.
public struct HTTPRequest: Sendable {
    public var method = Method.get
    public var address: WebAddress
    public var limits: HTTPLimits
    /// The addresses that may be connected to. The address of the connection itself is checked, unless there is a proxy
    /// in between.
    public var allowed: AllowedAddresses
    public var accept: String
    /// The Authorization header.
    public var authorization: String?
    /// The Origin header (RFC 6454, 7): a service that browsers use too requires it for requests that change something.
    public var origin: String?
    public var body: Body?
    /// True to bypass the proxies of the environment. Loopback addresses always bypass them.
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
        /// Only addresses of the public internet.
        case publicOnly
        /// Only this machine and private networks: ``PrivateAddress``.
        case privateOnly
    }
}

/// The limits of a transfer in time and size.
public struct HTTPLimits: Sendable {
    /// The time for name resolution, connection and TLS together.
    public var connect: Duration
    /// The time from beginning to end.
    public var total: Duration
    /// The time, in whole seconds, after which fewer than 100 bytes per second count as a time-out.
    public var slowFor: Duration
    /// The most bytes of a body, counted after decompression.
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
    /// The Date header: the time on the server's clock.
    public var date: String?
    /// The absolute target of a 3xx; `nil` if there is none, or none that ``WebAddress`` accepts.
    public var redirect: WebAddress?
    /// The target as the server wrote it, for messages.
    public var redirectText: String?
    public var body: [UInt8] = []

    public init(status: Int) { self.status = status }

    public var isSuccess: Bool { (200..<300).contains(status) }
    /// True if there is nothing at the address, or no longer.
    public var isMissing: Bool { status == 404 || status == 410 }
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}

/// The reason why no answer came. An answer with an error status (404, 429, 500) is not a transport error.
public enum TransportError: Error, Sendable, Equatable {
    /// The host cannot be reached: no name, no route, or nothing listens.
    case offline(String)
    /// Connecting, or the whole transfer, took too long, or hardly any bytes came for seconds.
    case timedOut(connecting: Bool)
    case tls(TLSReason)
    /// The body or the headers are longer than allowed.
    case tooLarge(limit: Int)
    /// The connection ended before the answer did.
    case truncated
    /// The connection was reset, or ended before the answer began.
    case reset
    /// The name resolves to an address of this machine or of a private network.
    case privateAddress(String)
    /// The name resolves to an address outside this machine and private networks.
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

    /// True if the same request may well succeed a moment later.
    public var isWorthRetrying: Bool { self == .reset || self == .truncated }
}

extension TransportError: CustomStringConvertible {
    /// The error for a person, without a full stop.
    public var description: String {
        switch self {
        case .offline(let cause): "offline: \(cause)"
        case .timedOut(connecting: true): "offline: no connection in time; the network or the source is down"
        case .timedOut(connecting: false): "no complete answer in time"
        case .tls(let reason): reason.description
        case .tooLarge(let limit): "the answer is larger than \(limit / 1024) KiB"
        case .truncated: "the answer broke off"
        case .reset: "the connection was reset"
        case .privateAddress(let address): "\(address) is a private address and was not connected to"
        case .publicAddress(let address): "\(address) is not a private address and was not connected to"
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
        case .wrongHost: "its certificate is for another host; the network may want a sign-in"
        case .unknownIssuer:
            "its certificate is from an authority this machine does not trust; the network may want a sign-in, or set BOOKPLATE_CA_FILE"
        case .other(let cause): "no secure connection: \(cause)"
        }
    }

    /// - Parameter verification: OpenSSL's X509_V_ERR_… number; 0 if the chain is valid.
    init(verification: Int, message: String) {
        switch verification {
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21: self = .unknownIssuer
        case 62, 63, 64: self = .wrongHost
        // libcurl compares the names before it reads OpenSSL's verdict on the chain, so the number still has its
        // initial value.
        case 0, 1: self = .wrongHost
        default: self = .other(message)
        }
    }
}
