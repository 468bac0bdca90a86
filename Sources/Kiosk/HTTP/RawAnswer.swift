import Bookplate
import Logging
import NIOCore

/// An error's answer from below the router: there is no request to speak of.
struct RawAnswer {
    enum Status: String {
        case badRequest = "400 Bad Request"
        case uriTooLong = "414 URI Too Long"
        case requestHeaderFieldsTooLarge = "431 Request Header Fields Too Large"
    }

    let status: Status
    let code: String
    let message: String
    let id = ID<RawAnswer>().rawValue

    var bytes: ByteBuffer {
        let error: JSONValue = ["code": .string(code), "message": .string(message), "id": .string(id)]
        let body = JSONValue.object([(key: "error", value: error)]).text
        return ByteBuffer(
            string: """
                HTTP/1.1 \(status.rawValue)\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                Cache-Control: no-store\r
                X-Content-Type-Options: nosniff\r
                Connection: close\r
                \r
                \(body)
                """)
    }

    func log(_ logger: Logger) {
        logger.notice("refused status=\(status.rawValue.prefix(3)) code=\(code) id=\(id)")
    }
}
