/// One GET, without its redirects.
struct HTTPRequest: Sendable {
    var address: WebAddress
    var limits = HTTPLimits()
    /// Whether only addresses of the public internet may be connected to (where no proxy stands between).
    var needsPublicAddress = false
    var accept = "application/json"
}

/// How long and how large a transfer may be.
struct HTTPLimits: Sendable {
    /// Name, connection and TLS together.
    var connect: Duration = .seconds(3)
    /// From beginning to end.
    var total: Duration = .seconds(8)
    /// Fewer than 100 bytes a second for so long count as a time-out, in whole seconds.
    var slowFor: Duration = .seconds(5)
    /// The most bytes of a body, counted after decompression.
    var body = 1 << 20
}

/// What came back.
struct HTTPAnswer: Sendable {
    var status: Int
    var contentType = ""
    var retryAfter: String?
    /// The Date header: the clock of whoever answered.
    var date: String?
    /// Where a 3xx points, absolute. `nil` when there is none, or none that ``WebAddress`` takes.
    var redirect: WebAddress?
    /// The same as the server wrote it, for messages.
    var redirectText: String?
    var body: [UInt8] = []

    var isSuccess: Bool { (200..<300).contains(status) }
    /// Whether there is nothing at the address, or no longer.
    var isMissing: Bool { status == 404 || status == 410 }
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}
