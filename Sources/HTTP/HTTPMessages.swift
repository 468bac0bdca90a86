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
