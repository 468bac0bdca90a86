import Foundation

@testable import Kiosk

/// Asks a running kiosk what a page asks.
struct Caller: Sendable {
    let kiosk: RunningKiosk

    struct Answer: Sendable {
        let status: Int
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }

        func json<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSONDecoder().decode(type, from: body) }

        /// The word for programs of an answer that refuses.
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

    private func ask(_ method: String, _ path: String, _ body: String?, _ headers: [String: String]) async throws
        -> Answer
    {
        let answer = try await kiosk.send(method, path, body, headers: headers)
        return Answer(status: answer.status, body: Data(answer.bytes))
    }
}

/// Runs a kiosk with an empty library for as long as `body` takes.
func withKiosk(_ body: (Caller) async throws -> Void) async throws {
    try await RunningKiosk().use { try await body(Caller(kiosk: $0)) }
}
