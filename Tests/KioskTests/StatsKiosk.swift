import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

/// A kiosk in Berlin with a clock that stands still.
struct StatsKiosk: Sendable {
    /// A Sunday noon in Berlin.
    static let now = Date(timeIntervalSince1970: 1_778_407_200)

    let kiosk: RunningKiosk
    var library: LibraryFile { kiosk.library }

    /// Runs a kiosk with an empty library for as long as `body` takes.
    static func run(_ maintenance: Maintenance = Maintenance(), _ body: (StatsKiosk) async throws -> Void) async throws
    {
        let kiosk = try await RunningKiosk { _, ports in
            ports.zone = try #require(TimeZone(identifier: "Europe/Berlin"))
            ports.now = { now }
            ports.maintenance = maintenance
        }
        try await kiosk.use { try await body(StatsKiosk(kiosk: $0)) }
    }

    struct Answer {
        let status: Int
        let text: String

        /// Returns a value of the JSON by its path of keys and indexes: "year.totals.pages".
        func value(_ path: String) throws -> String {
            var value: Any = try JSONSerialization.jsonObject(with: Data(text.utf8))
            for key in path.split(separator: ".") {
                if let list = value as? [Any], let index = Int(key) {
                    value = try #require(list.indices.contains(index) ? list[index] : nil)
                } else {
                    value = try #require((value as? [String: Any])?[String(key)], "no \(key) in \(text.prefix(300))")
                }
            }
            return value is NSNull ? "null" : "\(value)"
        }
    }

    func ask(_ path: String, language: String = "en") async throws -> Answer {
        try await ask("GET", path, nil, language)
    }

    /// - Parameter body: JSON.
    func ask(_ method: String, _ path: String, _ body: String) async throws -> Answer {
        try await ask(method, path, body, "en")
    }

    private func ask(_ method: String, _ path: String, _ body: String?, _ language: String) async throws -> Answer {
        let answer = try await kiosk.send(method, path, body, headers: ["Accept-Language": language])
        return Answer(status: answer.status, text: answer.text)
    }

    /// A saved book.
    @discardableResult
    func book(_ title: String, by author: String = "Ursula K. Le Guin", pages: Int? = 382, shelf: String? = nil)
        async throws -> ID<Copy>
    {
        var metadata = Metadata()
        metadata.title = title
        metadata.pageCount = pages
        metadata.authors = [Contributor(name: author, role: .author)]
        let saved = try await library.add(
            [try Confirmed(enteredBy: .form, isbn: nil, metadata: metadata, preset: Preset(shelf: shelf))], at: Self.now
        )
        guard case .saved(let id, _) = try #require(saved.first) else { throw KioskError(.fault, "not saved") }
        return id
    }
}
