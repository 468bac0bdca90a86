import CCurl
import FoundationEssentials

/// libcurl, opened at the first use and never closed.
///
/// `@unchecked Sendable` holds: the table is written once, before it is published by the `static let`, and only read after that.
public struct CurlLibrary: @unchecked Sendable {
    let table: UnsafePointer<ccurl>

    /// The library, or why it cannot be used.
    public static let shared: Result<CurlLibrary, TransportError> = {
        let table = UnsafeMutablePointer<ccurl>.allocate(capacity: 1)
        table.initialize(to: ccurl())
        if let missing = ccurl_open(table) {
            let cause = String(cString: missing)
            return .failure(.other("libcurl is missing (\(cause)); install the package libcurl4"))
        }
        let code = table.pointee.global_init(Int(CURL_GLOBAL_DEFAULT))
        guard code == CURLE_OK else { return .failure(.other("libcurl does not start: code \(code.rawValue)")) }
        return .success(CurlLibrary(table: table))
    }()

    /// Reads a date of an HTTP header in any of its three forms (RFC 9110, 5.6.7). The function of libcurl is curl_getdate().
    ///
    /// - Returns: `nil` for anything else.
    public func date(_ text: String) -> Date? {
        let seconds = table.pointee.getdate(text, nil)
        return seconds == -1 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}
