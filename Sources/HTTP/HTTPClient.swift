import CCurl

/// HTTP over libcurl: any number of transfers on one thread of its own, which starts with the first request.
///
/// Follows no redirect, keeps no cookie, sends nothing but its name and what the request says. Proxies come from the environment as libcurl reads them
/// (`https_proxy`, `no_proxy`, …); loopback addresses go past them.
public final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// - Parameters:
    ///   - userAgent: the whole header.
    ///   - certificateFile: a PEM file of authorities to trust instead of the system's.
    public init(userAgent: String, certificateFile: String? = nil) {
        loop = TransferLoop(identity: Identity(userAgent: userAgent, certificateFile: certificateFile))
    }

    deinit { loop.stop() }

    /// Who asks, and whom it trusts.
    struct Identity: Sendable {
        var userAgent: String
        var certificateFile: String?
    }

    /// Asks once. Cancelling the task ends the transfer within milliseconds.
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

/// One request, without its redirects.
public struct HTTPRequest: Sendable {
    public var method = Method.get
    public var address: WebAddress
    public var limits: HTTPLimits
    /// To what the connection may lead, judged by the very address that is connected to (where no proxy stands between).
    public var reach: Reach
    public var accept: String
    /// The Authorization header.
    public var authorization: String?
    /// The Origin header (RFC 6454, 7): a service that browsers use, too, wants it of whoever changes something.
    public var origin: String?
    public var body: Body?
    /// Whether proxies of the environment are passed by. Loopback addresses always are.
    public var avoidsProxy = false

    public init(
        _ method: Method = .get, address: WebAddress, limits: HTTPLimits = HTTPLimits(), reach: Reach = .anywhere,
        accept: String = "application/json", authorization: String? = nil, body: Body? = nil
    ) {
        self.method = method
        self.address = address
        self.limits = limits
        self.reach = reach
        self.accept = accept
        self.authorization = authorization
        self.body = body
    }

    public enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    /// What is sent along.
    public struct Body: Sendable {
        public var bytes: [UInt8]
        public var type: String

        public init(_ bytes: [UInt8], type: String = "application/json") {
            self.bytes = bytes
            self.type = type
        }
    }

    public enum Reach: Sendable {
        case anywhere
        /// Addresses of the public internet alone.
        case publicAddresses
        /// This machine and private networks alone: ``PrivateAddress``.
        case privateAddresses
    }
}

/// How long and how large a transfer may be.
public struct HTTPLimits: Sendable {
    /// Name, connection and TLS together.
    public var connect: Duration
    /// From beginning to end.
    public var total: Duration
    /// Fewer than 100 bytes a second for so long count as a time-out, in whole seconds.
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

/// What came back.
public struct HTTPAnswer: Sendable {
    public var status: Int
    public var contentType = ""
    public var retryAfter: String?
    /// The Date header: the clock of whoever answered.
    public var date: String?
    /// Where a 3xx points, absolute. `nil` when there is none, or none that ``WebAddress`` takes.
    public var redirect: WebAddress?
    /// The same as the server wrote it, for messages.
    public var redirectText: String?
    public var body: [UInt8] = []

    public init(status: Int) { self.status = status }

    public var isSuccess: Bool { (200..<300).contains(status) }
    /// Whether there is nothing at the address, or no longer.
    public var isMissing: Bool { status == 404 || status == 410 }
    public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}

/// Why no answer came. An answer that says no (404, 429, 500) is no transport error.
public enum TransportError: Error, Sendable, Equatable {
    /// No way there: no name, no route, or nobody listens.
    case offline(String)
    /// Connecting, or the whole transfer, took too long, or next to nothing came for seconds.
    case timedOut(connecting: Bool)
    case tls(TLSReason)
    /// The body or the headers are longer than allowed.
    case tooLarge(limit: Int)
    /// The connection ended before the answer did.
    case truncated
    /// The connection was reset, or ended before the answer began.
    case reset
    /// The name stands for an address of this machine or of a private network.
    case privateAddress(String)
    /// The name stands for an address outside of this machine and of private networks.
    case publicAddress(String)
    /// What came is no HTTP, or cannot be decompressed.
    case garbled(String)
    case cancelled
    /// libcurl is missing, or said something else.
    case other(String)

    /// Why a certificate was not accepted.
    public enum TLSReason: Sendable, Equatable {
        case expired, notYetValid, wrongHost, unknownIssuer
        case other(String)
    }

    /// Whether the same request may well succeed a moment later.
    public var isWorthRetrying: Bool { self == .reset || self == .truncated }
}

extension TransportError: CustomStringConvertible {
    /// For a person, without a full stop.
    public var description: String {
        switch self {
        case .offline(let cause): "offline: \(cause)"
        case .timedOut(connecting: true): "offline: no connection in time; the network or the source is down"
        case .timedOut(connecting: false): "no complete answer in time"
        case .tls(let reason): reason.description
        case .tooLarge(let limit): "the answer is larger than \(limit / 1024) KiB"
        case .truncated: "the answer broke off"
        case .reset: "the connection was reset"
        case .privateAddress(let address): "the address \(address) is a private one and was not connected to"
        case .publicAddress(let address): "the address \(address) is no private one and was not connected to"
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
            "its certificate is signed by nobody this machine trusts; the network may want a sign-in, or set BOOKPLATE_CA_FILE"
        case .other(let cause): "no secure connection: \(cause)"
        }
    }

    /// - Parameter verification: OpenSSL's X509_V_ERR_… number; 0 when the chain is sound.
    init(verification: Int, message: String) {
        switch verification {
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21: self = .unknownIssuer
        case 62, 63, 64: self = .wrongHost
        // libcurl compares the names itself before it takes OpenSSL's verdict on the chain: the number is still the one it began with.
        case 0, 1: self = .wrongHost
        default: self = .other(message)
        }
    }
}
