import Bookplate
import CCurl
import Glibc

/// One transfer of libcurl's: its handle, what has come so far, and the limits on it. Lives on the loop's thread.
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

    /// The most bytes of all headers together.
    private static let headerLimit = 64 << 10

    /// - Returns: `nil` when there is no memory.
    init?(_ request: HTTPRequest, identity: HTTPClient.Identity, curl: CurlLibrary) {
        guard let easy = curl.table.pointee.easy_init() else {
            errorText.deallocate()
            return nil
        }
        self.easy = easy
        self.curl = curl
        self.request = request
        // Without the second, libcurl asks before a longer body whether it may come, and waits a second for the answer.
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
        // A proxy cannot reach this machine's own loopback.
        if request.address.isLoopback || request.avoidsProxy { set(CURLOPT_NOPROXY, "*") }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setBody() {
        if request.method != .get { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        guard let body = request.body else { return }
        _ = ccurl_set_offset(curl.table, easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.bytes.count))
        // Copied by libcurl, so the pointer need not outlive the call.
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
        // A resolver that hangs must not hold up the end of a transfer: its thread ends by itself.
        set(CURLOPT_QUICK_EXIT, 1)
    }

    private func setIdentity(_ identity: HTTPClient.Identity) {
        set(CURLOPT_USERAGENT, identity.userAgent)
        set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_HTTPHEADER, headerList)
        if let file = identity.certificateFile { set(CURLOPT_CAINFO, file) }
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_ERRORBUFFER, errorText)
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_WRITEDATA, context)
        _ = ccurl_set_data_function(curl.table, easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            Transfer.at(context)?.take(data, size * count) ?? 0
        }
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_HEADERDATA, context)
        _ = ccurl_set_data_function(curl.table, easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            Transfer.at(context)?.takeHeader(data, size * count) ?? 0
        }
        _ = ccurl_set_pointer(curl.table, easy, CURLOPT_OPENSOCKETDATA, context)
        _ = ccurl_set_socket_function(curl.table, easy) { context, _, address in
            guard let address, let transfer = Transfer.at(context) else { return -1 }
            return transfer.openSocket(address)
        }
    }

    /// The transfer that a callback is for. The loop keeps it alive for as long as libcurl knows its handle.
    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes part of the body, already decompressed: a bomb is counted at its full size.
    private func take(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count > 0, let data else { return 0 }
        guard answer.body.count + count <= request.limits.body else {
            excess = request.limits.body
            return 0
        }
        answer.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
        return count
    }

    private func takeHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count > 0, let data else { return 0 }
        headerBytes += count
        guard headerBytes <= Self.headerLimit else {
            excess = Self.headerLimit
            return 0
        }
        let line = String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
        // A new block: an interim answer (1xx) came before.
        if line.hasPrefix("HTTP/") { answer = HTTPAnswer(status: 0) }
        guard let colon = line.firstIndex(of: ":") else { return count }
        let value = String(line[line.index(after: colon)...]).cleaned
        switch line[..<colon].lowercased() {
        case "content-type": answer.contentType = value.lowercased()
        case "retry-after": answer.retryAfter = value
        case "date": answer.date = value
        case "location": answer.redirectText = String(value.prefix(WebAddress.longest))
        default: break
        }
        return count
    }

    /// Opens the socket for an address that libcurl is about to connect to, or refuses it.
    private func openSocket(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let length = Int(target.pointee.addrlen)
        let isAllowed = withUnsafePointer(to: &target.pointee.addr) { address in
            switch request.reach {
            case .anywhere: true
            case .publicAddresses: PublicAddress.isPublic(address, length: length)
            case .privateAddresses: PrivateAddress.isPrivate(address, length: length)
            }
        }
        guard isAllowed else {
            refusedAddress = request.address.host
            return -1
        }
        return socket(
            target.pointee.family, target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), target.pointee.protocol)
    }

    /// What the transfer came to, by libcurl's code.
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
            return refusal ?? .offline(message)
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

    /// Why no socket was opened.
    private var refusal: TransportError? {
        refusedAddress.map { request.reach == .privateAddresses ? .publicAddress($0) : .privateAddress($0) }
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
    /// Whole milliseconds, at least 1: libcurl takes 0 for "no limit".
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
