import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `All results of a search` {
    /// Saves books with their numbers in the titles, every second one with the tag "even".
    private func withBooks(_ count: Int, _ body: (RunningKiosk, [ID<Copy>]) async throws -> Void) async throws {
        try await RunningKiosk().use { kiosk in
            let books = try (1...count).map { number -> Confirmed in
                var metadata = Metadata()
                metadata.title = "Book \(number)"
                return try Confirmed(
                    enteredBy: .form, isbn: nil, metadata: metadata,
                    preset: Preset(tags: number.isMultiple(of: 2) ? ["even"] : [])
                )
            }
            let saved = try await kiosk.library.add(books, at: Date())
            try await body(
                kiosk,
                saved.compactMap { if case .saved(let id, _) = $0 { id } else { nil } })
        }
    }

    private struct Done: Decodable {
        var changed: Int
        var change: String?
        var next: String?
    }

    /// Changes books piece by piece like the page, each continuing the change of the previous one.
    private func act(
        _ kiosk: RunningKiosk, _ act: String, _ query: String, _ more: String = ""
    ) async throws -> (changed: Int, changes: Set<String>, pieces: Int) {
        var (changed, changes, pieces, after, change) = (0, Set<String>(), 0, "null", "null")
        repeat {
            let answer = try await kiosk.send(
                "POST", "/api/books/\(act)",
                "{\"query\": \"\(query)\", \"after\": \(after), \"continuing\": \(change)\(more)}")
            try #require(answer.status == 200, "\(answer.text)")
            let done = try JSONDecoder().decode(Done.self, from: Data(answer.bytes))
            changed += done.changed
            pieces += 1
            if let id = done.change {
                changes.insert(id)
                change = "\"\(id)\""
            }
            after = done.next.map { "\"\($0)\"" } ?? "null"
        } while after != "null" && pieces < 20
        return (changed, changes, pieces)
    }

    private func count(_ kiosk: RunningKiosk, _ query: String) async throws -> Int {
        Int(try await kiosk.send("GET", "/api/books?" + query).number("total") ?? -1)
    }

    @Test func `are changed piece by piece, and one undo reverts all of it`() async throws {
        try await withBooks(1203) { kiosk, _ in
            for (name, query, more, after, all) in [
                ("status", "", #", "status": "read""#, "status=read", 1203),
                ("tag", "q=book", #", "name": "chosen""#, "tag=chosen", 1203),
                ("shelf", "tag=even", #", "name": "Attic""#, "shelf=Attic", 601),
                ("trash", "tag=even", "", "trash=1", 601),
            ] {
                let done = try await act(kiosk, name, query, more)
                #expect(done.changed == all && done.changes.count == 1, "\(name)")
                #expect(done.pieces == (all + BookSelection.piece - 1) / BookSelection.piece, "\(name)")
                let there = try await kiosk.library.books(
                    matching: try LibraryAddress(after + "&limit=500", zone: .gmt, now: Date()).query.counting)
                #expect(there.total == all, "\(name)")
                let change = try #require(try await kiosk.library.lastChange())
                #expect(change.summary.hasSuffix("and \(all - 1) more"), "\(change.summary)")
                let undone = try await kiosk.send("POST", "/api/undo", "{\"change\": \"\(done.changes.first ?? "")\"}")
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try await count(kiosk, after) == 0, "\(name)")
            }
        }
    }

    @Test func `are changed except for excluded ones`() async throws {
        try await withBooks(6) { kiosk, ids in
            let spared = ids[1].rawValue
            let done = try await act(kiosk, "trash", "tag=even", #", "except": ["\#(spared)"]"#)
            #expect(done.changed == 2)
            #expect(try await kiosk.library.book(ids[1])?.copy.deleted == nil)
            let back = try await act(kiosk, "restore", "trash=1")
            #expect(back.changed == 2)
            #expect(try await count(kiosk, "") == 6)
            let nothing = try await act(kiosk, "trash", "q=qwertz")
            #expect(nothing.changed == 0 && nothing.changes.isEmpty)
        }
    }

    @Test func `are not changed further once somebody has undone the change`() async throws {
        try await withBooks(3) { kiosk, ids in
            let body = #"{"query": "", "name": "chosen"#
            let first = try await kiosk.send("POST", "/api/books/tag", body + "\"}")
            let change = try #require(JSONDecoder().decode(Done.self, from: Data(first.bytes)).change)
            #expect(try await kiosk.send("POST", "/api/undo", "{\"change\": \"\(change)\"}").status == 200)
            for (act, more) in [("tag", #", "name": "chosen""#), ("trash", ""), ("restore", "")] {
                let next = try await kiosk.send(
                    "POST", "/api/books/\(act)", "{\"query\": \"\", \"continuing\": \"\(change)\"\(more)}")
                #expect(next.status == 422 && next.code == "undo", "\(act): \(next.text)")
            }
            #expect(try await count(kiosk, "tag=chosen") == 0)
            #expect(try await count(kiosk, "") == 3)
            // Repeating an act changes nothing.
            for (act, changed) in [("trash", 1), ("trash", 0), ("restore", 1), ("restore", 0)] {
                let answer = try await kiosk.send("POST", "/api/books/\(act)", "{\"ids\": [\"\(ids[0].rawValue)\"]}")
                let done = try JSONDecoder().decode(Done.self, from: Data(answer.bytes))
                #expect(done.changed == changed && (done.change == nil) == (changed == 0), "\(act): \(answer.text)")
            }
        }
    }

    @Test func `are deleted for good only up to the confirmed number`() async throws {
        try await withBooks(4) { kiosk, ids in
            _ = try await kiosk.library.trash(Array(ids.prefix(3)), at: Date())
            let path = "/api/books/delete-for-good"
            for (more, left) in [(#", "count": 2"#, 3), (#", "count": 1, "except": ["\#(ids[0].rawValue)"]"#, 3)] {
                let refused = try await kiosk.send("POST", path, "{\"query\": \"trash=1\"\(more)}")
                #expect(refused.status == 422 && refused.code == "moreThanAsked", "\(refused.text)")
                #expect(try await count(kiosk, "trash=1") == left)
            }
            let gone = try await kiosk.send(
                "POST", path, "{\"query\": \"trash=1\", \"count\": 2, \"except\": [\"\(ids[0].rawValue)\"]}")
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await count(kiosk, "trash=1") == 1)
            #expect(try await count(kiosk, "") == 1)
        }
    }

    @Test func `are counted to the end in the trash, for the confirmation before deleting for good`()
        async throws
    {
        try await withBooks(1003) { kiosk, ids in
            _ = try await kiosk.library.trash(ids, at: Date())
            for query in ["trash=1", "trash=1&q=book", "trash=1&status=toRead", "trash=1&q=b&sort=title"] {
                let page = try await kiosk.send("GET", "/library?" + query).text
                #expect(page.contains("data-total=\"1003\""), "\(query)")
            }
        }
    }

    @Test(
        arguments: [
            (#"{"query": "", "ids": ["a"]}"#, 400, "missingField"), (#"{}"#, 400, "missingField"),
            (#"{"query": "colour=red"}"#, 400, "badQuery"), (#"{"query": "", "after": "nowhere"}"#, 400, "badQuery"),
            (#"{"query": ["a"]}"#, 400, nil), (#"{"query": "q=tag:sf+rating:x"}"#, 400, "badQuery"),
        ] as [(String, Int, String?)])
    func `are selected by a query of the Library page`(_ body: String, _ status: Int, _ code: String?) async throws {
        try await withKiosk { client in
            let answer = try await client.send("POST", "/api/books/trash", body)
            #expect(answer.status == status, "\(answer.text)")
            if let code { #expect(try answer.code == code) }
        }
    }

    @Test func `cannot be changed by strangers`() async throws {
        try await withWebKiosk { kiosk in
            for act in ["trash", "restore", "delete-for-good", "status"] {
                let answer = try await kiosk.askAsStranger("POST", "/api/books/\(act)", body: #"{"query":"trash=1"}"#)
                #expect(answer.status == 401, "\(act)")
            }
        }
    }
}

extension BookQuery {
    /// The query with an exact count.
    fileprivate var counting: BookQuery {
        var query = self
        query.countLimit = .max
        return query
    }
}
