import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The API of names` {
    @Test(arguments: NameList.allCases) func `renames, merges and deletes, and undo takes each back`(
        _ list: NameList
    ) async throws {
        try await StatsKiosk.run { kiosk async throws in
            let path = "/api/\(list.rawValue)"
            for (title, name) in [("One", "Ann"), ("Two", "Anne"), ("Three", "Bob / co")] {
                let id = try await kiosk.book(title, by: name, shelf: name)
                _ = try await kiosk.library.addLabel(.tag, name, to: [id], at: StatsKiosk.now)
            }
            let before = try await kiosk.ask(path).text
            let acts = [
                ("PATCH", path, "{\"name\":\"Bob / co\",\"newName\":\"Bob\"}"),
                ("POST", path + "/merge", "{\"names\":[\"Ann\"],\"into\":\"Anne\"}"),
                ("DELETE", path, "{\"names\":[\"Anne\",\"Ann\"]}"),
            ]
            for (method, address, body) in acts {
                let answer = try await kiosk.ask(method, address, body)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await kiosk.ask(path).text != before)
                _ = try await kiosk.library.undo(
                    ID<Change>(rawValue: try answer.value("change")), at: StatsKiosk.now)
                #expect(try await kiosk.ask(path).text == before, "\(method)")
            }
        }
    }

    @Test(arguments: [NameList.tags, .shelves]) func `creates a label without books, once`(_ list: NameList)
        async throws
    {
        try await StatsKiosk.run { kiosk async throws in
            let made = try await kiosk.ask("POST", "/api/\(list.rawValue)", "{\"name\":\"Sea\"}")
            #expect(try made.value("name") == "Sea" && made.value("books") == "0" && made.value("change") != "null")
            let again = try await kiosk.ask("POST", "/api/\(list.rawValue)", "{\"name\":\"SEA\"}")
            #expect(try again.value("name") == "Sea" && again.value("change") == "null")
        }
    }

    @Test(arguments: [
        ("PATCH", "/api/tags", "{\"name\":\"None\",\"newName\":\"x\"}", 422),
        ("PATCH", "/api/tags", "{\"name\":\"None\"}", 400), ("DELETE", "/api/tags", "{\"names\":[]}", 422),
        ("DELETE", "/api/authors", "{\"names\":\"all\"}", 400),
        ("POST", "/api/shelves/merge", "{\"names\":[\"a\"],\"into\":\"b\"}", 422),
        ("POST", "/api/tags", "{\"name\":\" \"}", 422), ("POST", "/api/authors", "{\"name\":\"x\"}", 404),
    ])
    func `refuses unknown names and invalid requests`(_ method: String, _ path: String, _ body: String, _ status: Int)
        async throws
    {
        try await StatsKiosk.run { kiosk async throws in
            let answer = try await kiosk.ask(method, path, body)
            #expect(answer.status == status || (status == 404 && answer.status == 405), "\(answer.text)")
        }
    }
}
