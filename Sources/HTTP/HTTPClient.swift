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
