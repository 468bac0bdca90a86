import Bookplate
import Foundation
import FoundationNetworking
import Library
import Testing

@testable import Kiosk

/// A response of the service.
struct Answered {
    let status: Int
    let headers: [String: String]
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as a JSON object; empty if it is none.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }

    subscript(key: String) -> String? { json[key] as? String }
    func number(_ key: String) -> Double? { (json[key] as? NSNumber)?.doubleValue }
    func list(_ key: String) -> [[String: Any]] { json[key] as? [[String: Any]] ?? [] }
    /// The code of a refusal.
    var code: String? { (json["error"] as? [String: Any])?["code"] as? String }
    var change: ID<Change>? { self["change"].map { ID(rawValue: $0) } }
}

extension RunningKiosk {
    func send(
        _ method: String, _ path: String, _ body: String? = nil, bytes: [UInt8]? = nil, type: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answered {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)\(path)")!)
        request.httpMethod = method
        request.timeoutInterval = 20
        if let sent = body.map({ Data($0.utf8) }) ?? bytes.map({ Data($0) }) {
            request.httpBody = sent
            request.setValue(type ?? "application/json", forHTTPHeaderField: "Content-Type")
        }
        // The headers that the service's own pages send.
        request.setValue("http://127.0.0.1:\(port)", forHTTPHeaderField: "Origin")
        request.setValue("same-origin", forHTTPHeaderField: "Sec-Fetch-Site")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        let names = answer.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0.lowercased(), "\(value)") }
        }
        return Answered(
            status: answer.statusCode, headers: Dictionary(names) { first, _ in first }, bytes: [UInt8](data))
    }

    /// Saves a book.
    func book(
        _ title: String, isbn: String? = nil, status: Copy.Status = .toRead,
        _ more: (inout Metadata) -> Void = { _ in }
    ) async throws -> Book {
        var metadata = Metadata()
        metadata.title = title
        metadata.authors = [Contributor(name: "Frank Herbert")]
        metadata.pageCount = 382
        more(&metadata)
        metadata.attribute(to: .openLibrary)
        let confirmed = try Confirmed(
            enteredBy: .form, isbn: try isbn.map { try ISBN($0) }, isbnText: isbn, metadata: metadata,
            preset: Preset(status: status))
        let result = try await library.add([confirmed], at: Date())
        guard case .saved(let id, _) = result[0] else { throw KioskError(.fault, "not saved: \(result)") }
        return try #require(try await library.book(id))
    }
}
