import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `A book in the trash` {
    /// Runs the body with a book in the trash that has data of every kind.
    private func withTrashed(
        _ body: (RunningKiosk, Book, _ note: ID<Note>, _ session: ID<Session>) async throws -> Void
    ) async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune", isbn: "9780441172719", status: .reading) { $0.publisher = "Ace" }
            let library = kiosk.library
            let note = try await library.add(Note(text: "Spice.", created: Date()), to: book.id, at: Date())
            _ = try await library.add(Quote(text: "Fear.", page: 8, created: Date()), to: book.id, at: Date())
            let session = try await library.addSession(
                of: book.id, start: Date(timeIntervalSinceNow: -7200), end: Date(timeIntervalSinceNow: -3600),
                startPage: 0, endPage: 40, at: Date())
            _ = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"tags": ["desert"], "recommendedBy": "Ann"}"#)
            _ = try await library.trash([book.id], at: Date())
            try await body(kiosk, book, note.content.id, session.session.id)
        }
    }

    @Test(arguments: [
        ("en", ["In the trash", "since", "30 days left", "Restore", "Delete for good"]),
        ("de", ["Im Papierkorb", "seit", "noch 30 Tage", "Wiederherstellen", "Endgültig löschen"]),
        ("fr", ["Dans la corbeille", "depuis le", "encore 30 jours", "Restaurer", "Supprimer définitivement"]),
    ])
    func `is shown with all its data, since when, and only the buttons to restore and to delete it`(
        _ language: String, _ words: [String]
    ) async throws {
        try await withTrashed { kiosk, book, _, _ in
            let page = try await kiosk.send("GET", "/books/\(book.id)", headers: ["Accept-Language": language]).text
            for word in words + ["Dune", "Ace", "Spice.", "Fear.", "desert", "Ann", "978-0-441-17271-9", "40"] {
                #expect(page.contains(word), "\(language): \(word)")
            }
            let shown = page.prefix(upTo: try #require(page.range(of: "<dialog")).lowerBound)
            #expect(!shown.contains("data-edit") && !shown.contains("data-date=") && !shown.contains("data-entry="))
            #expect(shown.components(separatedBy: "data-act=").count - 1 == 1 && shown.contains("/restore\""))
            #expect(!page.replacing("/assets/book", with: "").contains(/\b(book|library)\.[a-z]/))
            let back = try await kiosk.send("POST", "/api/books/\(book.id)/restore", "{}")
            #expect(back.status == 200)
            let live = try await kiosk.send("GET", "/books/\(book.id)").text
            #expect(live.contains("data-edit") && !live.contains("id=\"restore\""))
        }
    }

    @Test func `refuses every change with a reason`() async throws {
        try await withTrashed { kiosk, book, note, session in
            let path = "/api/books/\(book.id)"
            let before = try await kiosk.send("GET", path).text
            for (method, path, body) in [
                ("PATCH", path, #"{"title": "Other"}"#), ("PUT", path + "/status", #"{"status": "read"}"#),
                ("POST", path + "/tags", #"{"name": "x"}"#), ("DELETE", path + "/tags", #"{"name": "desert"}"#),
                ("POST", path + "/copies", "{}"), ("POST", path + "/progress", #"{"page": 9}"#),
                ("PUT", path + "/dates", #"{"started": "2020"}"#), ("POST", path + "/readings", "{}"),
                ("POST", path + "/notes", #"{"text": "x"}"#), ("PATCH", "/api/notes/\(note)", #"{"text": "x"}"#),
                ("DELETE", "/api/notes/\(note)", "{}"), ("POST", path + "/quotes", #"{"text": "x"}"#),
                ("PATCH", "/api/sessions/\(session)", #"{"endPage": 50}"#),
                ("DELETE", "/api/sessions/\(session)", "{}"),
                ("DELETE", path + "/cover", "{}"),
                ("POST", "/api/books/tag", #"{"ids": ["\#(book.id)"], "name": "x"}"#),
                ("POST", "/api/books/status", #"{"ids": ["\#(book.id)"], "status": "read"}"#),
            ] {
                let refused = try await kiosk.send(method, path, body)
                #expect(refused.status == 422 && refused.code == "inTrash", "\(method) \(path): \(refused.text)")
            }
            let form = try await kiosk.send("GET", "/books/\(book.id)/edit")
            #expect(form.status == 422)
            let after = try await kiosk.send("GET", path).text
            #expect(after == before)
        }
    }

    @Test func `can be deleted for good, and only from the trash`() async throws {
        try await withTrashed { kiosk, book, _, _ in
            let kept = try await kiosk.book("Emma")
            let path = "/api/books/delete-for-good"
            let both = try await kiosk.send("POST", path, "{\"ids\": [\"\(book.id)\", \"\(kept.id)\"]}")
            #expect(both.status == 422 && both.code == "notInTrash")
            let none = try await kiosk.send("POST", path, "{\"ids\": [\"\(book.id)\", \"nobody\"]}")
            #expect(none.status == 404)
            #expect(try await kiosk.library.book(book.id) != nil)
            let gone = try await kiosk.send("POST", path, "{\"ids\": [\"\(book.id)\"]}")
            #expect(gone.status == 200 && gone.text == #"{"changed":1,"change":null}"#)
            #expect(try await kiosk.library.book(book.id) == nil)
            let page = try await kiosk.send("GET", "/books/\(book.id)")
            #expect(page.status == 404)
            // Only Emma's change is left.
            #expect(try await kiosk.library.changes(limit: 9).count == 1)
        }
    }

    @Test func `is deleted with all others when the trash is emptied`() async throws {
        try await withKiosk { client in
            for number in 1...3 {
                let book = try await client.kiosk.book("Book \(number)")
                if number < 3 { _ = try await client.kiosk.library.trash([book.id], at: Date()) }
            }
            let page = try await client.get("/library?trash=1").text
            #expect(page.contains("id=\"empty-trash\"") && page.contains("data-bulk=\"delete-for-good\""))
            #expect(page.contains("id=\"for-good-sheet\"") && page.contains("data-total=\"2\""))
            let shelf = try await client.get("/library").text
            #expect(!shelf.contains("id=\"empty-trash\"") && !shelf.contains("data-bulk=\"delete-for-good\""))
            let refused = try await client.send("POST", "/api/books/delete-for-good", #"{"query": ""}"#).code
            #expect(refused == "notInTrash")
            let gone = try await client.send("POST", "/api/books/delete-for-good", #"{"query": "trash=1"}"#).text
            #expect(gone == #"{"changed":2,"change":null,"next":null}"#)
            let left = try await client.kiosk.library.books(matching: BookQuery()).books.map(\.displayTitle)
            #expect(left == ["Book 3"])
        }
    }
}
