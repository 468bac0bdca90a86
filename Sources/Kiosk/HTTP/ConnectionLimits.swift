import NIOCore

/// What a connection may take of the service before anything is known of who stands behind it.
struct ConnectionLimits: Sendable {
    /// From the connection's first moment, or the first byte of a later request, to the end of the headers.
    var head: TimeAmount = .seconds(10)
    /// How often a body under way is looked at, and the bytes that it has to bring in between: 400 bytes a second pass.
    var bodyWindow: TimeAmount = .seconds(10)
    var bodyBytes = 4096
    /// For a whole body, without the time in which the service takes none of it: 32 MiB at 1 Mbit/s. Only two photos come in at once.
    var body: TimeAmount = .seconds(300)
    /// For a client that takes nothing of what is written to it.
    var stalledWrite: TimeAmount = .seconds(60)
    /// For a client to read why it was refused, while what it still sends is thrown away.
    var linger: TimeAmount = .seconds(2)
    /// Between two requests.
    var idle: TimeAmount = .seconds(60)
    /// Bytes of the request line.
    var requestLine = 8 << 10
    /// Bytes of all header lines together.
    var headers = 16 << 10
    /// Open at once. Above it the oldest goes of those nobody has signed in over.
    var connections = 512
}
