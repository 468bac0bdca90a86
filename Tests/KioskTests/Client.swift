import Foundation

@testable import Kiosk

/// Sends the requests of a page to a running kiosk.
struct Client: Sendable {
    let kiosk: RunningKiosk

    struct Answer: Sendable {
        let status: Int
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }

        func json<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSONDecoder().decode(type, from: body) }

        /// The code of a refusal.
        var code: String {
            get throws { try json([String: [String: String]].self)["error"]?["code"] ?? "" }
        }
    }

    func get(_ path: String, language: String = "en") async throws -> Answer {
        try await ask("GET", path, nil, ["Accept-Language": language])
    }

    /// - Parameter body: JSON.
    func send(_ method: String, _ path: String, _ body: String) async throws -> Answer {
        try await ask(method, path, body, [:])
    }

    /// Returns the uncompressed sizes of a page and of the styles and scripts that it loads, including their imports.
    func loading(_ page: String) async throws -> [String: Int] {
        var (bytes, open): ([String: Int], [String]) = ([:], [page])
        while let path = open.popLast() {
            guard bytes[path] == nil else { continue }
            let answer = try await get(path)
            bytes[path] = answer.body.count
            open += answer.text.matches(of: /"(\/assets\/[\w-]+\.(css|js|svg))"/).map { String($0.output.1) }
            open += answer.text.matches(of: /(?m)^import\b[^"\n]*"\.\/([\w-]+\.js)"/).map { "/assets/\($0.output.1)" }
        }
        return bytes
    }

    private func ask(_ method: String, _ path: String, _ body: String?, _ headers: [String: String]) async throws
        -> Answer
    {
        let answer = try await kiosk.send(method, path, body, headers: headers)
        return Answer(status: answer.status, body: Data(answer.bytes))
    }
}

/// Runs a kiosk with an empty library for as long as `body` takes.
func withKiosk(_ body: (Client) async throws -> Void) async throws {
    try await RunningKiosk().use { try await body(Client(kiosk: $0)) }
}
