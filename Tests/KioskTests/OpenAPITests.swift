import Foundation
import Library
import Logging
import Testing

@testable import Kiosk

/// Sources/Kiosk/Web/openapi.json, which the service also serves.
@Suite struct `The API's description` {
    private struct Description: Decodable {
        let openapi: String
        let paths: [String: [String: Operation]]

        struct Operation: Decodable {
            let summary: String
            let responses: [String: Answer]
            let security: [[String: [String]]]?
        }
        /// Described in place or by a component.
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
            .init(), ports: KioskPorts(library: library),
            logger: Logger(label: "routes"))
        return parts.routes.filter { $0.path.hasPrefix("/api/") || $0.path == "/healthz" }
    }

    /// Returns the name of the route in the description, where "/api/books/:id" is "/api/books/{id}".
    private func name(_ route: Route) -> String {
        let path = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        return "\(route.method.rawValue) /\(path.joined(separator: "/"))"
    }

    @Test func `names every route, and no other`() throws {
        let described = Set(try described().keys)
        let routes = Set(try routes().map(name))
        #expect(routes.subtracting(described).sorted() == [], "missing in Web/openapi.json")
        #expect(described.subtracting(routes).sorted() == [], "Web/openapi.json describes routes that do not exist")
    }

    @Test func `describes the purpose, the responses and the callers of each route`() throws {
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

    @Test func `is served unchanged`() async throws {
        let file = try file()
        try await withFilledKiosk { kiosk in
            let answer = try await kiosk.send("GET", "/api/openapi.json")
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
            #expect(Data(answer.bytes) == file)
        }
    }

    @Test func `has the keys of the responses, and no others`() async throws {
        let document = try DescribedAnswers(file())
        let asked = document.plainPaths
        #expect(asked.contains("/api/books") && asked.contains("/api/home") && asked.contains("/api/station"))
        try await withFilledKiosk { kiosk in
            for path in asked {
                let answer = try await kiosk.send("GET", path)
                #expect(answer.status == 200, "\(path): \(answer.text.prefix(200))")
                #expect(try document.findings(about: Data(answer.bytes), from: path) == [], "\(path)")
            }
            for hit in try await kiosk.send("GET", "/api/books").list("hits") {
                let id = try #require(hit["id"] as? String)
                for more in ["", "/figures", "/sessions", "/notes", "/quotes"] {
                    let answer = try await kiosk.send("GET", "/api/books/\(id)\(more)")
                    let findings = try document.findings(
                        about: Data(answer.bytes), from: "/api/books/{id}\(more)")
                    #expect(findings == [], "\(more)")
                }
            }
        }
    }

    @Test func `is violated by a response with a missing or an unknown key`() throws {
        let document = try DescribedAnswers(file())
        let answer = Data(#"{"events": [{"event": "started", "colour": "red"}], "more": null}"#.utf8)
        let findings = try document.findings(about: answer, from: "/api/stats/timeline")
        #expect(findings.contains(".more is not described"))
        #expect(findings.contains(".events[0].colour is not described"))
        #expect(findings.contains(".events[0].date is missing"))
    }

    /// Runs the body with a kiosk whose responses have items in every list: two books, one with a running session, and
    /// a captured one.
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
                ("POST", "/api/books/\(read)/quotes", #"{"text": "Fear is the mind-killer.", "page": 12}"#),
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

/// The responses that the document describes, to compare with real ones: only keys, as deep as the document goes.
private struct DescribedAnswers {
    private let document: [String: Any]

    init(_ file: Data) throws {
        document = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
    }

    /// The paths that answer JSON to a GET without parameters, from this machine.
    var plainPaths: [String] {
        (document["paths"] as? [String: Any] ?? [:]).keys.sorted().filter { path in
            let parameters = operation(path)?["parameters"] as? [[String: Any]] ?? []
            return !path.contains("{") && schema(of: path) != nil && !isForStations(path)
                && !parameters.contains { $0["required"] as? Bool == true }
        }
    }

    /// - Returns: the differences between a response to a GET request and its description, each with its path.
    func findings(about answer: Data, from path: String) throws -> [String] {
        let described = try #require(schema(of: path), "\(path) is not described")
        return findings(about: try JSONSerialization.jsonObject(with: answer), described, at: "")
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

    private func findings(about value: Any, _ schema: [String: Any], at place: String) -> [String] {
        let schema = resolved(schema)
        if let either = schema["anyOf"] as? [[String: Any]] {
            // A nullable value.
            let something = either.first { $0["type"] as? String != "null" } ?? [:]
            return value is NSNull ? [] : findings(about: value, something, at: place)
        }
        if let list = value as? [Any] {
            guard let items = schema["items"] as? [String: Any] else { return ["\(place) is described as no list"] }
            return list.enumerated().flatMap { findings(about: $1, items, at: "\(place)[\($0)]") }
        }
        guard let object = value as? [String: Any] else { return [] }
        let (members, required, isOpen) = members(of: schema)
        let missing = required.subtracting(object.keys).map { "\(place).\($0) is missing" }
        return missing
            + object.sorted { $0.key < $1.key }.flatMap { key, value in
                if let member = members[key] { return findings(about: value, member, at: "\(place).\(key)") }
                return isOpen ? [] : ["\(place).\(key) is not described"]
            }
    }

    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let name = (schema["$ref"] as? String)?.split(separator: "/").last else { return schema }
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: Any]
        return schemas?[String(name)] as? [String: Any] ?? [:]
    }

    /// Returns the members of an object; `isOpen` if it may have others, or the schema does not describe them.
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
