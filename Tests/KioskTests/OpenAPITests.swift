import Foundation
import Library
import Logging
import Testing

@testable import Kiosk

/// Sources/Kiosk/Web/openapi.json, which the service hands out as well.
@Suite struct `The API's description` {
    private struct Description: Decodable {
        let openapi: String
        let paths: [String: [String: Operation]]

        struct Operation: Decodable {
            let summary: String
            let responses: [String: Answer]
            let security: [[String: [String]]]?
        }
        /// In its own words, or those of a component.
        struct Answer: Decodable {
            let description: String?
            let reference: String?
            enum CodingKeys: String, CodingKey { case description, reference = "$ref" }
        }
    }

    private func file() throws -> Data {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Kiosk/Web/openapi.json")
        return try Data(contentsOf: file)
    }

    private func described() throws -> [String: Description.Operation] {
        let description = try JSONDecoder().decode(Description.self, from: file())
        #expect(description.openapi.hasPrefix("3."))
        var operations: [String: Description.Operation] = [:]
        for (path, methods) in description.paths {
            for (method, operation) in methods { operations["\(method.uppercased()) \(path)"] = operation }
        }
        return operations
    }

    private func routes() throws -> [Route] {
        let library = try LibraryFile.inMemory()
        let parts = try KioskParts(
            .init(), ports: KioskPorts(library: library, trouble: { KioskError(.fault, "\($0)") }),
            logger: Logger(label: "routes"))
        return parts.routes.filter { $0.path.hasPrefix("/api/") || $0.path == "/healthz" }
    }

    /// "/api/books/:id" is "/api/books/{id}" there.
    private func name(_ route: Route) -> String {
        let path = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        return "\(route.method.rawValue) /\(path.joined(separator: "/"))"
    }

    @Test func `names every route, and no other`() throws {
        let described = Set(try described().keys)
        let routes = Set(try routes().map(name))
        #expect(routes.subtracting(described).sorted() == [], "Web/openapi.json does not tell of these")
        #expect(described.subtracting(routes).sorted() == [], "Web/openapi.json tells of these, and there are none")
    }

    @Test func `says of each what it does, what it answers, and who may ask`() throws {
        let described = try described()
        for route in try routes() {
            guard let operation = described[name(route)] else { continue }
            #expect(!operation.summary.isEmpty && !operation.responses.isEmpty, "\(name(route))")
            #expect(operation.responses.values.allSatisfy { ($0.description ?? $0.reference) != nil }, "\(name(route))")
            switch route.audience {
            case .everyone: #expect(operation.security == [], "\(name(route))")
            case .stations: #expect(operation.security?.first?.keys.first == "station", "\(name(route))")
            case .guests, .household: #expect(operation.security == nil, "\(name(route)): the default, a sign-in")
            }
        }
    }

    @Test func `is handed out as it stands`() async throws {
        let file = try file()
        try await withFilledKiosk { kiosk in
            let answer = try await kiosk.send("GET", "/api/openapi.json")
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
            #expect(Data(answer.bytes) == file)
        }
    }

    @Test func `has the keys that answers have, and no others`() async throws {
        let document = try DescribedAnswers(file())
        // Whoever asks without saying what is told everything.
        let asked = document.plainQuestions
        #expect(asked.contains("/api/books") && asked.contains("/api/home") && asked.contains("/api/station"))
        try await withFilledKiosk { kiosk in
            for path in asked {
                let answer = try await kiosk.send("GET", path)
                #expect(answer.status == 200, "\(path): \(answer.text.prefix(200))")
                #expect(try document.complaints(about: Data(answer.bytes), from: path) == [], "\(path)")
            }
            for hit in try await kiosk.send("GET", "/api/books").list("hits") {
                let id = try #require(hit["id"] as? String)
                for more in ["", "/figures", "/sessions", "/notes", "/quotes"] {
                    let answer = try await kiosk.send("GET", "/api/books/\(id)\(more)")
                    let complaints = try document.complaints(
                        about: Data(answer.bytes), from: "/api/books/{id}\(more)")
                    #expect(complaints == [], "\(more)")
                }
            }
        }
    }

    @Test func `is not met by an answer with a key too few or too many`() throws {
        let document = try DescribedAnswers(file())
        let answer = Data(#"{"events": [{"event": "started", "colour": "red"}], "more": null}"#.utf8)
        let complaints = try document.complaints(about: answer, from: "/api/stats/timeline")
        #expect(complaints.contains(".more is not described"))
        #expect(complaints.contains(".events[0].colour is not described"))
        #expect(complaints.contains(".events[0].date is missing"))
    }

    /// A kiosk whose answers have something in every list: two books, one being read by a clock that runs, and one captured.
    private func withFilledKiosk(_ body: (RunningKiosk) async throws -> Void) async throws {
        let kiosk = try await RunningKiosk()
        do {
            let read = try await kiosk.book("Dune", status: .read).copy.id.rawValue
            let reading = try await kiosk.book("The Dispossessed", isbn: "9780061054884").copy.id.rawValue
            let acts = [
                ("PUT", "/api/settings/yearlyGoal", #"{"value": 12}"#),
                ("PUT", "/api/settings/dailyGoal", #"{"value": 20}"#),
                ("PATCH", "/api/books/\(read)", #"{"tags": ["sand"], "culturalGoalCategory": "Deserts"}"#),
                ("POST", "/api/books/\(read)/notes", #"{"text": "Fear is the mind-killer?"}"#),
                ("POST", "/api/books/\(read)/quotes", #"{"text": "Tell me of your homeworld", "page": 12}"#),
                ("PUT", "/api/books/\(reading)/status", #"{"status": "reading"}"#),
                ("POST", "/api/books/\(reading)/progress", #"{"page": 40}"#),
                (
                    "POST", "/api/books/\(reading)/sessions/past",
                    #"{"start": "2026-01-02T20:00:00Z", "minutes": 30, "endPage": 60}"#
                ),
                ("POST", "/api/books/\(reading)/sessions", "{}"),
                ("POST", "/api/station/captures", #"{"text": "9783161484100"}"#),
            ]
            for (method, path, sent) in acts {
                let answer = try await kiosk.send(method, path, sent)
                #expect((200...201).contains(answer.status), "\(method) \(path): \(answer.text.prefix(200))")
            }
            try await body(kiosk)
        } catch {
            try await kiosk.stop()
            throw error
        }
        try await kiosk.stop()
    }
}

/// The answers that the document describes, held against those that there are: keys alone, as deep as the document goes.
private struct DescribedAnswers {
    private let document: [String: Any]

    init(_ file: Data) throws {
        document = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
    }

    /// The paths that answer JSON to a GET which says nothing more than the path, from the machine itself.
    var plainQuestions: [String] {
        (document["paths"] as? [String: Any] ?? [:]).keys.sorted().filter { path in
            let parameters = operation(path)?["parameters"] as? [[String: Any]] ?? []
            return !path.contains("{") && schema(of: path) != nil && !isForStations(path)
                && !parameters.contains { $0["required"] as? Bool == true }
        }
    }

    /// - Returns: what is wrong with the answer to a GET, each with its place in it.
    func complaints(about answer: Data, from path: String) throws -> [String] {
        let described = try #require(schema(of: path), "\(path) is not described")
        return complaints(about: try JSONSerialization.jsonObject(with: answer), described, at: "")
    }

    private func operation(_ path: String) -> [String: Any]? {
        ((document["paths"] as? [String: Any])?[path] as? [String: Any])?["get"] as? [String: Any]
    }

    private func isForStations(_ path: String) -> Bool {
        (operation(path)?["security"] as? [[String: Any]])?.contains { $0["station"] != nil } ?? false
    }

    private func schema(of path: String) -> [String: Any]? {
        let done = (operation(path)?["responses"] as? [String: Any])?["200"] as? [String: Any]
        let json = (done?["content"] as? [String: Any])?["application/json"] as? [String: Any]
        return json?["schema"] as? [String: Any]
    }

    private func complaints(about value: Any, _ schema: [String: Any], at place: String) -> [String] {
        let schema = resolved(schema)
        if let either = schema["anyOf"] as? [[String: Any]] {
            // Something, or null.
            let something = either.first { $0["type"] as? String != "null" } ?? [:]
            return value is NSNull ? [] : complaints(about: value, something, at: place)
        }
        if let list = value as? [Any] {
            guard let items = schema["items"] as? [String: Any] else { return ["\(place) is described as no list"] }
            return list.enumerated().flatMap { complaints(about: $1, items, at: "\(place)[\($0)]") }
        }
        guard let object = value as? [String: Any] else { return [] }
        let (members, required, isOpen) = members(of: schema)
        let missing = required.subtracting(object.keys).map { "\(place).\($0) is missing" }
        return missing
            + object.sorted { $0.key < $1.key }.flatMap { key, value in
                if let member = members[key] { return complaints(about: value, member, at: "\(place).\(key)") }
                return isOpen ? [] : ["\(place).\(key) is not described"]
            }
    }

    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let name = (schema["$ref"] as? String)?.split(separator: "/").last else { return schema }
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: Any]
        return schemas?[String(name)] as? [String: Any] ?? [:]
    }

    /// What an object of this schema has; `isOpen` when it may have more, or the schema says nothing of its keys.
    private func members(
        of schema: [String: Any]
    ) -> (members: [String: [String: Any]], required: Set<String>, isOpen: Bool) {
        let schema = resolved(schema)
        var members = schema["properties"] as? [String: [String: Any]] ?? [:]
        var required = Set(schema["required"] as? [String] ?? [])
        guard let parts = schema["allOf"] as? [[String: Any]] else {
            return (members, required, schema["properties"] == nil || schema["additionalProperties"] is [String: Any])
        }
        for part in parts {
            let more = self.members(of: part)
            members.merge(more.members) { $1 }
            required.formUnion(more.required)
        }
        return (members, required, false)
    }
}
