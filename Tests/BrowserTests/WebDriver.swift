import Foundation
import HTTP

/// A browser under remote control: the W3C WebDriver protocol, which is JSON over HTTP (www.w3.org/TR/webdriver2).
///
/// Uses the project's own HTTP client: Foundation's rejects headers without a space after the colon, as chromedriver
/// sends them.
struct WebDriver: Sendable {
    private static let client = HTTPClient(userAgent: "Bookplate tests")
    /// Screenshots have some megabytes, and waiting for a page may take long.
    private static let limits = HTTPLimits(total: .seconds(300), slowFor: .seconds(300), body: 64 << 20)

    let session: WebAddress

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a browser with these capabilities.
    init(at address: WebAddress, capabilities: [String: Any]) async throws {
        let value = try await Self.send(
            .post, address.appending("session"), ["capabilities": ["alwaysMatch": capabilities]])
        guard let id = (value as? [String: Any])?["sessionId"] as? String else {
            throw Failure(description: "no browser was begun")
        }
        session = address.appending("session/\(id)")
    }

    private static func send(
        _ method: HTTPRequest.Method, _ address: WebAddress, _ body: [String: Any]?
    ) async throws -> Any? {
        let json = try body.map { HTTPRequest.Body([UInt8](try JSONSerialization.data(withJSONObject: $0))) }
        let answer = try await client.send(HTTPRequest(method, address: address, limits: limits, body: json))
        let value = (try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])?["value"]
        if let error = value as? [String: Any], let word = error["error"] as? String {
            throw Failure(description: "\(word): \(error["message"] ?? "")")
        }
        return value
    }

    /// - Parameter body: `nil` for GET and DELETE.
    @discardableResult
    func command(_ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil) async throws -> Any? {
        try await Self.send(method, path.isEmpty ? session : session.appending(path), body)
    }

    /// Runs the body of a function in the page and returns its result, awaiting a promise.
    @discardableResult
    func run(_ script: String, _ arguments: [Any] = []) async throws -> Any? {
        try await command(.post, "execute/sync", ["script": script, "args": arguments])
    }

    /// Calls a command of the Chrome DevTools Protocol.
    @discardableResult
    func devTools(_ name: String, _ parameters: [String: Any] = [:]) async throws -> Any? {
        try await command(.post, "goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    func end() async throws { try await command(.delete, "") }
}
