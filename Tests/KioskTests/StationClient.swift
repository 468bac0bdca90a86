import Foundation
import TestTools
import Testing

@testable import Kiosk

/// Sends the requests of the Scan and Intake pages' scripts to a running kiosk.
struct StationClient: Sendable {
    let kiosk: RunningKiosk

    private func ask(_ method: String, _ path: String, _ body: String?, _ language: String) async throws -> String {
        let answer = try await kiosk.send(method, path, body, headers: ["Accept-Language": language])
        #expect(answer.status == 200, "\(method) \(path): \(answer.text.prefix(300))")
        return answer.text
    }

    func get(_ path: String, language: String = "en") async throws -> String {
        try await ask("GET", path, nil, language)
    }

    @discardableResult func send(_ method: String, _ path: String, _ body: String) async throws -> String {
        try await ask(method, path, body, "en")
    }

    private struct Captured: Decodable {
        struct Row: Decodable { let id: String }

        let row: Row
    }

    /// - Returns: the item's id.
    func capture(_ number: String) async throws -> String {
        let answer = try await send("POST", "/api/station/captures", #"{"text":"\#(number)","origin":"typed"}"#)
        return try JSONDecoder().decode(Captured.self, from: Data(answer.utf8)).row.id
    }

    private struct Snapshot: Decodable {
        struct Row: Decodable {
            let id, status: String

            enum CodingKeys: String, CodingKey { case id, status = "standing" }
        }

        let rows: [Row]
    }

    /// Waits until the item has this status.
    func becomes(_ status: String, _ item: String) async throws {
        try await wait(for: "\(item) to become \(status)") {
            let answer = try await get("/api/station")
            let snapshot = try JSONDecoder().decode(Snapshot.self, from: Data(answer.utf8))
            return snapshot.rows.contains { $0.id == item && $0.status == status }
        }
    }
}

/// Runs a kiosk with an empty library for as long as `body` takes.
func withStation(_ body: (StationClient) async throws -> Void) async throws {
    try await RunningKiosk().use { try await body(StationClient(kiosk: $0)) }
}
