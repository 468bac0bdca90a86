import Bookplate
import CCurl
import Foundation
import Glibc
import Synchronization

/// One transfer with its libcurl handle, its limits, and the part of the answer that has arrived. It is used only on
/// the thread of the ``TransferLoop``.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    private let curl: CurlLibrary
    private let request: HTTPRequest
    private let headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var answer = HTTPAnswer(status: 0)
    private var headerBytes = 0
    private var excess: Int?
    private var refusedAddress: String?

    /// The size limit of all headers together, in bytes.
    private static let headerLimit = 64 << 10

    /// - Returns: `nil` if memory runs out.
    init?(_ request: HTTPRequest, identity: HTTPClient.Identity, curl: CurlLibrary) {
        guard let easy = curl.table.pointee.easy_init() else {
            errorText.deallocate()
            return nil
        }
        self.easy = easy
        self.curl = curl
        self.request = request
        // Without the empty Expect header, libcurl asks the server for permission before it sends a longer body, and
        // waits up to a second for the reply.
        var lines = ["Accept: \(request.accept)", "Expect:"]
        if let body = request.body { lines.append("Content-Type: \(body.type)") }
        if let origin = request.origin { lines.append("Origin: \(origin)") }
        if let authorization = request.authorization { lines.append("Authorization: \(authorization)") }
        headerList = lines.reduce(nil) { curl.table.pointee.slist_append($0, $1) }
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setAddress()
        setBody()
        setLimits()
        setIdentity(identity)
        setCallbacks()
    }

    deinit {
        curl.table.pointee.easy_cleanup(easy)
        curl.table.pointee.slist_free_all(headerList)
        errorText.deallocate()
    }

    private func setAddress() {
        set(CURLOPT_URL, request.address.description)
        set(CURLOPT_PROTOCOLS_STR, request.address.scheme.rawValue)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // A proxy on another machine cannot reach the loopback addresses of this machine.
        if request.address.isLoopback || request.avoidsProxy { set(CURLOPT_NOPROXY, "*") }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setBody() {
        if request.method != .get { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        guard let body = request.body else { return }
        _ = ccurl_set_offset(curl.table, easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.bytes.count))
        // libcurl copies the body, so the pointer is not needed after the call.
        body.bytes.withUnsafeBytes { bytes in
            var none: UInt8 = 0
            withUnsafeMutablePointer(to: &none) { empty in
                let start =
                    bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) } ?? UnsafeMutableRawPointer(empty)
                _ = ccurl_set_pointer(curl.table, easy, CURLOPT_COPYPOSTFIELDS, start)
            }
        }
    }

    private func setLimits() {
        let limits = request.limits
        set(CURLOPT_CONNECTTIMEOUT_MS, limits.connect.milliseconds)
        set(CURLOPT_TIMEOUT_MS, limits.total.milliseconds)
        set(CURLOPT_LOW_SPEED_LIMIT, 100)
        set(CURLOPT_LOW_SPEED_TIME, max(1, limits.slowFor.milliseconds / 1000))
        _ = ccurl_set_offset(curl.table, easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(limits.body))
        set(CURLOPT_NOSIGNAL, 1)
        // A resolver that hangs must not delay the end of a transfer. The thread of the resolver ends on its own.
        set(CURLOPT_QUICK_EXIT, 1)
    }

    private func setIdentity(_ identity: HTTPClient.Identity) {
        set(CURLOPT_USERAGENT, identity.userAgent)
        set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_HTTPHEADER, headerList)
        switch identity.trust {
        case .system: break
        case .file(let path): set(CURLOPT_CAINFO, path)
        case .only(let authority):
            _ = ccurl_set_pointer(curl.table, easy, CURLOPT_CAPATH, nil)
            var bytes = Array(authority.utf8)
            bytes.withUnsafeMutableBytes { bytes in
                var blob = curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
                let status = withUnsafeMutablePointer(to: &blob) {
                    ccurl_set_pointer(curl.table, easy, CURLOPT_CAINFO_BLOB, $0)
                }
                // A libcurl that does not know this option trusts nobody then.
                if status != CURLE_OK { set(CURLOPT_CAINFO, "/dev/null") }
            }
        case .unchecked:
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_ERRORBUFFER, errorText)
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_WRITEDATA, context)
        _ = ccurl_set_data_function(curl.table, easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            Transfer.at(context)?.appendBody(data, size * count) ?? 0
        }
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_HEADERDATA, context)
        _ = ccurl_set_data_function(curl.table, easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            Transfer.at(context)?.parseHeader(data, size * count) ?? 0
        }
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_OPENSOCKETDATA, context)
        _ = ccurl_set_socket_function(curl.table, easy) { context, _, address in
            guard let address, let transfer = Transfer.at(context) else { return -1 }
            return transfer.openSocket(address)
        }
    }

    /// Returns the transfer to which a callback belongs. The loop keeps the transfer alive as long as libcurl has its
    /// handle.
    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Appends a part of the body. The data is already decompressed, so the limit applies to the full size of a
    /// decompression bomb.
    private func appendBody(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count > 0, let data else { return 0 }
        guard answer.body.count + count <= request.limits.body else {
            excess = request.limits.body
            return 0
        }
        answer.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
        return count
    }

    private func parseHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count > 0, let data else { return 0 }
        headerBytes += count
        guard headerBytes <= Self.headerLimit else {
            excess = Self.headerLimit
            return 0
        }
        let line = String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
        // A status line starts a new answer. Earlier headers belong to an interim answer (1xx) and are discarded.
        if line.hasPrefix("HTTP/") { answer = HTTPAnswer(status: 0) }
        guard let colon = line.firstIndex(of: ":") else { return count }
        let value = String(line[line.index(after: colon)...]).cleaned
        switch line[..<colon].lowercased() {
        case "content-type": answer.contentType = value.lowercased()
        case "retry-after": answer.retryAfter = value
        case "date": answer.date = value
        case "location": answer.redirectText = String(value.prefix(WebAddress.maxLength))
        default: break
        }
        return count
    }

    /// Opens the socket for a network address to which libcurl is about to connect, or refuses the address.
    private func openSocket(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let length = Int(target.pointee.addrlen)
        let isAllowed = withUnsafePointer(to: &target.pointee.addr) { address in
            switch request.allowed {
            case .any: true
            case .publicOnly: PublicAddress.isPublic(address, length: length)
            case .privateOnly: PrivateAddress.isPrivate(address, length: length)
            }
        }
        guard isAllowed else {
            refusedAddress = request.address.host
            return -1
        }
        return socket(
            target.pointee.family, target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
    }

    /// Returns the result of a transfer that ended with this libcurl code.
    func result(_ code: CURLcode) -> Result<HTTPAnswer, TransportError> {
        guard code == CURLE_OK else { return .failure(error(code)) }
        answer.status = long(CURLINFO_RESPONSE_CODE)
        var target: UnsafePointer<CChar>?
        if ccurl_get_text(curl.table, easy, CURLINFO_REDIRECT_URL, &target) == CURLE_OK, let target {
            answer.redirect = WebAddress(String(cString: target))
        }
        return .success(answer)
    }

    private func error(_ code: CURLcode) -> TransportError {
        let text = String(cString: errorText)
        let general = curl.table.pointee.easy_strerror(code).map { String(cString: $0) }
        let message = text.isEmpty ? general ?? "libcurl code \(code.rawValue)" : text
        if let excess { return .tooLarge(limit: excess) }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            return addressError ?? .offline(message)
        case CURLE_OPERATION_TIMEDOUT:
            var ready = 0.0
            _ = ccurl_get_double(curl.table, easy, CURLINFO_PRETRANSFER_TIME, &ready)
            return .timedOut(connecting: ready == 0)
        case CURLE_PEER_FAILED_VERIFICATION:
            return .tls(.init(verification: long(CURLINFO_SSL_VERIFYRESULT), message: message))
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CONNECT_ERROR: return .tls(.other(message))
        case CURLE_FILESIZE_EXCEEDED: return .tooLarge(limit: request.limits.body)
        case CURLE_PARTIAL_FILE: return .truncated
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: return .reset
        case CURLE_RECV_ERROR: return answer.body.isEmpty ? .reset : .truncated
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: return .garbled(message)
        default: return .other(message)
        }
    }

    /// The error if the address of the host was not allowed; `nil` if it was.
    private var addressError: TransportError? {
        refusedAddress.map { request.allowed == .privateOnly ? .publicAddress($0) : .privateAddress($0) }
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        _ = ccurl_get_long(curl.table, easy, info, &value)
        return value
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = ccurl_set_long(curl.table, easy, option, value) }
    private func set(_ option: CURLoption, _ value: String) { _ = ccurl_set_text(curl.table, easy, option, value) }
}

extension Duration {
    /// The duration in whole milliseconds; at least 1, because 0 means "no limit" to libcurl.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

/// The thread that runs the transfers. It adds new transfers to libcurl's multi interface, ends cancelled transfers,
/// and delivers the results.
///
/// All calls to libcurl are made on this thread, except curl_multi_wakeup(), which other threads may call.
final class TransferLoop: Sendable {
    typealias Ticket = UInt64
    typealias Answer = CheckedContinuation<Result<HTTPAnswer, TransportError>, Never>

    private let identity: HTTPClient.Identity
    private let mailbox = Mutex(Mailbox())

    private struct Mailbox {
        var lastTicket: Ticket = 0
        var waiting: [(ticket: Ticket, request: HTTPRequest, answer: Answer)] = []
        var cancelled: Set<Ticket> = []
        var isRunning = false
        var isStopping = false
        var bell: Bell?
    }

    /// The libcurl handle that is used to wake the thread.
    ///
    /// `@unchecked Sendable` is safe because the handle is used only for curl_multi_wakeup() under the lock of the
    /// mailbox, and is removed from the mailbox under the same lock before the thread frees it.
    private struct Bell: @unchecked Sendable {
        let curl: CurlLibrary
        let multi: UnsafeMutableRawPointer
        func ring() { _ = curl.table.pointee.multi_wakeup(multi) }
    }

    init(identity: HTTPClient.Identity) { self.identity = identity }

    func newTicket() -> Ticket {
        mailbox.withLock {
            $0.lastTicket += 1
            return $0.lastTicket
        }
    }

    /// Submits a request. `answer` is resumed exactly once.
    func submit(_ request: HTTPRequest, as ticket: Ticket, _ answer: Answer) {
        let (isCancelled, needsThread) = mailbox.withLock { box in
            guard !box.cancelled.contains(ticket) else { return (true, false) }
            box.waiting.append((ticket, request, answer))
            box.bell?.ring()
            defer { box.isRunning = true }
            return (false, !box.isRunning)
        }
        if isCancelled { answer.resume(returning: .failure(.cancelled)) }
        guard needsThread else { return }
        let thread = Thread { self.run() }
        thread.name = "bookplate-http"
        thread.stackSize = 512 << 10
        thread.start()
    }

    func cancel(_ ticket: Ticket) {
        mailbox.withLock {
            $0.cancelled.insert(ticket)
            $0.bell?.ring()
        }
    }

    /// Removes a ticket from the list of cancelled tickets. Must be called after its request has been answered.
    func forget(_ ticket: Ticket) { mailbox.withLock { _ = $0.cancelled.remove(ticket) } }

    /// Ends the thread. The transfers that are still running end with the error that they were cancelled.
    func stop() {
        mailbox.withLock {
            $0.isStopping = true
            $0.bell?.ring()
        }
    }

    private func run() {
        let opened = CurlLibrary.shared.flatMap { curl -> Result<Bell, TransportError> in
            guard let multi = curl.table.pointee.multi_init() else { return .failure(.other("libcurl: out of memory")) }
            return .success(Bell(curl: curl, multi: multi))
        }
        switch opened {
        case .success(let bell):
            mailbox.withLock { $0.bell = bell }
            perform(with: bell)
        case .failure(let error):
            // The next request starts a new thread.
            let waiting = mailbox.withLock { box in
                defer { (box.waiting, box.isRunning) = ([], false) }
                return box.waiting
            }
            for job in waiting { job.answer.resume(returning: .failure(error)) }
        }
    }

    private func perform(with bell: Bell) {
        let (curl, multi) = (bell.curl, bell.multi)
        var running: [UnsafeMutableRawPointer: (transfer: Transfer, ticket: Ticket, answer: Answer)] = [:]

        func end(_ easy: UnsafeMutableRawPointer, _ result: (Transfer) -> Result<HTTPAnswer, TransportError>) {
            guard let job = running.removeValue(forKey: easy) else { return }
            let answer = result(job.transfer)
            _ = curl.table.pointee.multi_remove_handle(multi, easy)
            job.answer.resume(returning: answer)
        }

        while true {
            let (new, cancelled, isStopping) = mailbox.withLock { box in
                defer { box.waiting = [] }
                return (box.waiting, box.cancelled, box.isStopping)
            }
            for job in new {
                guard !isStopping, !cancelled.contains(job.ticket) else {
                    job.answer.resume(returning: .failure(.cancelled))
                    continue
                }
                guard let transfer = Transfer(job.request, identity: identity, curl: curl),
                    curl.table.pointee.multi_add_handle(multi, transfer.easy) == CURLM_OK
                else {
                    job.answer.resume(returning: .failure(.other("libcurl: out of memory")))
                    continue
                }
                running[transfer.easy] = (transfer, job.ticket, job.answer)
            }
            for (easy, job) in running where isStopping || cancelled.contains(job.ticket) {
                end(easy) { _ in .failure(.cancelled) }
            }
            if isStopping { break }
            var active: Int32 = 0
            _ = curl.table.pointee.multi_perform(multi, &active)
            var code = CURLE_OK
            while let easy = ccurl_next_ended(curl.table, multi, &code) { end(easy) { $0.result(code) } }
            _ = curl.table.pointee.multi_poll(multi, nil, 0, 60_000, nil)
        }
        mailbox.withLock { $0.bell = nil }
        _ = curl.table.pointee.multi_cleanup(multi)
    }
}

/// The library libcurl, which is opened when it is first used, and never closed.
///
/// `@unchecked Sendable` is safe because the table is written only once, before the `static let` publishes it, and is
/// only read afterwards.
public struct CurlLibrary: @unchecked Sendable {
    let table: UnsafePointer<ccurl>

    /// The library, or the reason why it cannot be used.
    public static let shared: Result<CurlLibrary, TransportError> = {
        let table = UnsafeMutablePointer<ccurl>.allocate(capacity: 1)
        table.initialize(to: ccurl())
        if let missing = ccurl_open(table) {
            let cause = String(cString: missing)
            return .failure(.other("libcurl is missing (\(cause)); install the package libcurl4"))
        }
        let code = table.pointee.global_init(Int(CURL_GLOBAL_DEFAULT))
        guard code == CURLE_OK else { return .failure(.other("libcurl cannot be started: code \(code.rawValue)")) }
        return .success(CurlLibrary(table: table))
    }()

    /// Parses a date from an HTTP header in any of the three forms of RFC 9110, 5.6.7, with curl_getdate().
    ///
    /// - Returns: `nil` if the text is not a date.
    public func date(_ text: String) -> Date? {
        let seconds = table.pointee.getdate(text, nil)
        return seconds == -1 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}
