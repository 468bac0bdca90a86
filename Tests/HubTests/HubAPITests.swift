import Bookplate
import Foundation
import HTTP
import Hub
import Library
import Testing

/// The hub's API as any client on the network can use it.
@Suite struct `The hub's API` {
    let hub: RunningHub
    private let http = HTTPClient(userAgent: "test")

    init() async throws { hub = try await RunningHub(accessCode: "hub code") }

    private func ask(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, token: String? = nil,
        type: String = "application/json", bytes: [UInt8]? = nil
    ) async throws -> (status: Int, json: [String: Any]) {
        let address = try #require(WebAddress(hub.address + path))
        var request = HTTPRequest(
            // A hundred at once may take their time on a busy machine.
            method, address: address, limits: HTTPLimits(total: .seconds(60), slowFor: .seconds(60)),
            authorization: token.map { "Bearer \($0)" },
            body: (bytes ?? body.map { Array($0.utf8) }).map { HTTPRequest.Body($0, type: type) })
        request.origin = hub.address
        let answer = try await http.send(request)
        let json = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        return (answer.status, json ?? [:])
    }

    private func code(_ answer: (status: Int, json: [String: Any])) -> String? {
        (answer.json["error"] as? [String: Any])?["code"] as? String
    }

    private func paired() async throws -> String {
        try await hub.library.pair(ID(), named: "kitchen", at: Date()).token
    }

    private static func item(
        _ id: String = UUID().uuidString.lowercased(), revision: Int = 1, isbn: String = "9780441478125",
        state: String = "waiting", more: String = ""
    ) -> String {
        """
        {"id":"\(id)","revision":\(revision),"isbn13":"\(isbn)","raw":"\(isbn)","captured":"2026-11-21T12:00:00.000Z",\
        "preset":{"tags":[],"status":"toRead","isWishlist":false},"state":"\(state)","isFound":false\(more)}
        """
    }

    @Test(
        arguments: [
            (.post, "/api/hub/items", #"{"items":[]}"#), (.get, "/api/hub/items?ids=", nil),
            (.put, "/api/hub/items/x/thumbnail", "x"), (.post, "/api/hub/books", #"{"isbns":[]}"#),
            (.delete, "/api/hub/station", nil),
        ] as [(HTTPRequest.Method, String, String?)])
    func `refuses requests without the token of a paired station`(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?
    ) async throws {
        let revoked = try await hub.library.pair(ID(), named: "gone", at: Date())
        _ = try await hub.library.revoke(revoked.station.id, at: Date())
        let other = String(repeating: "0", count: 24) + "." + String(repeating: "0", count: 64)
        for token in [nil, "", "x", other, revoked.token, String(repeating: "x", count: 5000)] {
            let answer = try await ask(method, path, body, token: token)
            // A request without a token on this machine is the household's, which is no station either.
            let expected = (token ?? "").isEmpty ? "signInNeeded" : "unknownToken"
            #expect(answer.status == 401 && code(answer) == expected, "\(token?.prefix(20) ?? "none"): \(answer)")
        }
        try await hub.stop()
    }

    @Test func `pairs by the access code alone, and returns the token once`() async throws {
        let id = UUID().uuidString.lowercased()
        func pair(_ code: String, _ name: String = "attic", _ id: String) async throws -> (
            status: Int, json: [String: Any]
        ) {
            try await ask(.post, "/api/stations", #"{"code":"\#(code)","name":"\#(name)","station":"\#(id)"}"#)
        }
        #expect(code(try await pair("guess", "attic", id)) == "wrongCode")
        #expect(try await pair("hub code", "", id).status == 422)
        #expect(try await pair("hub code", "attic", "../../etc").status == 422)
        let answer = try await pair("hub code", "attic", id)
        let token = try #require(answer.json["token"] as? String)
        #expect(answer.status == 201 && token.utf8.count == 89)
        #expect(try await ask(.get, "/api/hub/items?ids=", token: token).status == 200)
        #expect(
            try await pair("hub code", "attic", UUID().uuidString.lowercased()).json["name"] as? String == "attic 2")
        // Pairing again gives another token and revokes the first.
        let again = try #require(try await pair("hub code", "attic", id).json["token"] as? String)
        #expect(try await ask(.get, "/api/hub/items?ids=", token: token).status == 401)
        #expect(try await ask(.get, "/api/hub/items?ids=", token: again).status == 200)
        let list = try await ask(.get, "/api/stations")
        #expect((list.json["stations"] as? [Any])?.count == 2 && !"\(list.json)".contains(again))
        #expect(try await ask(.delete, "/api/stations/\(id)").status == 200)
        #expect(try await ask(.get, "/api/hub/items?ids=", token: again).status == 401)
        #expect(try await ask(.delete, "/api/stations/nobody").status == 404)
        // Wrong codes are counted like those of browsers.
        for _ in 0..<5 { _ = try await pair("guess", "attic", id) }
        #expect(try await pair("hub code", "attic", id).status == 429)
        try await hub.stop()
    }

    @Test func `accepts the same delivery a hundred times as one`() async throws {
        let token = try await paired()
        let id = UUID().uuidString.lowercased()
        let body = """
            {"items":[\(Self.item(id, state: "confirmed", more:
                #","metadata":{"title":"Dune"},"confirmation":{"act":"a1","anotherCopy":false}"#))]}
            """
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let answer = try await ask(.post, "/api/hub/items", body, token: token)
                    let receipt = (answer.json["items"] as? [[String: Any]])?.first
                    return
                        "\(answer.status) \(receipt?["outcome"] ?? "") \(receipt?["copy"] ?? "") \(receipt?["state"] ?? "")"
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1, "\(answers)")
        #expect(try await hub.titles() == ["Dune"])
        // An older revision changes nothing.
        _ = try await ask(.post, "/api/hub/items", "{\"items\":[\(Self.item(id, revision: 3))]}", token: token)
        _ = try await ask(.post, "/api/hub/items", body, token: token)
        #expect(try await hub.titles() == [])
        try await hub.stop()
    }

    @Test func `refuses invalid items, each separately`() async throws {
        let token = try await paired()
        let own = try await hub.library.enqueue(
            [Detection(isbn: .emma, raw: "x", origin: .typed)], preset: Preset(), lease: .zero, at: Date())
        let items = [
            Self.item("not a uuid"), Self.item(own[0].id.rawValue), Self.item(isbn: "9780441478126"),
            Self.item(state: "confirmed", more: #","confirmation":{"act":"a","anotherCopy":false}"#), Self.item(),
        ]
        let answer = try await ask(
            .post, "/api/hub/items", "{\"items\":[\(items.joined(separator: ","))]}", token: token)
        let outcomes = (answer.json["items"] as? [[String: Any]])?.compactMap { $0["outcome"] as? String }
        #expect(outcomes == ["refused", "refused", "refused", "refused", "taken"])
        #expect(try await hub.library.item(own[0].id)?.origin == .typed)
        #expect(try await hub.titles() == [])
        // Items of another station are refused too.
        let id = try #require((answer.json["items"] as? [[String: Any]])?.last?["id"] as? String)
        let other = try await hub.library.pair(ID(), named: "other", at: Date()).token
        let theirs = try await ask(
            .post, "/api/hub/items", "{\"items\":[\(Self.item(id, revision: 9, state: "dismissed"))]}", token: other)
        #expect("\(theirs.json)".contains("refused"))
        #expect(("\(try await ask(.get, "/api/hub/items?ids=\(id)", token: other).json)").contains(id) == false)
        #expect(try await hub.library.item(ID(rawValue: id))?.state == .waiting)
        try await hub.stop()
    }

    @Test func `has limits`() async throws {
        let token = try await paired()
        let many = (0..<51).map { _ in Self.item() }.joined(separator: ",")
        #expect(try await ask(.post, "/api/hub/items", "{\"items\":[\(many)]}", token: token).status == 422)
        let isbns = Array(repeating: "\"9780441478125\"", count: 21).joined(separator: ",")
        #expect(try await ask(.post, "/api/hub/books", "{\"isbns\":[\(isbns)]}", token: token).status == 422)
        #expect(try await ask(.post, "/api/hub/books", #"{"isbns":["x"]}"#, token: token).status == 422)
        let long = String(repeating: " ", count: 70 << 10)
        #expect(try await ask(.post, "/api/hub/items", "{\"items\":[]\(long)}", token: token).status == 413)
        #expect(try await ask(.post, "/api/hub/items", "{", token: token).status == 400)
        #expect(try await ask(.post, "/api/hub/items", "{}", token: token, type: "text/plain").status == 415)
        try await hub.stop()
    }

    @Test func `accepts pictures of the station's own items, as JPEG of at most 64 KiB`() async throws {
        let token = try await paired()
        let id = UUID().uuidString.lowercased()
        _ = try await ask(.post, "/api/hub/items", "{\"items\":[\(Self.item(id))]}", token: token)
        let path = "/api/hub/items/\(id)/thumbnail"
        func put(_ bytes: [UInt8], _ path: String, type: String = "image/jpeg") async throws -> Int {
            try await ask(.put, path, token: token, type: type, bytes: bytes).status
        }
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 0xFF, 0xD9]
        #expect(try await put(jpeg, path) == 200)
        #expect(try await put(jpeg, path) == 200, "the same again")
        #expect(try await hub.library.thumbnail(of: ID(rawValue: id)) == jpeg)
        #expect(try await put(Array("<svg>".utf8), path) == 422)
        #expect(try await put(jpeg, path, type: "text/html") == 415)
        #expect(try await put(jpeg, "/api/hub/items/\(UUID().uuidString)/thumbnail") == 404)
        #expect(try await put([UInt8](repeating: 0, count: 65 << 10), path) == 413)
        try await hub.stop()
    }
}
