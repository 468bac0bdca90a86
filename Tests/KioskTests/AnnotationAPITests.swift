import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `Notes and quotes over HTTP` {
    @Test func `notes are added, edited, deleted, and each act can be undone`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let added = try await kiosk.send(
            "POST", "/api/books/\(book.id)/notes", #"{"text": " Spice. ", "kind": "discussion"}"#)
        #expect(added.status == 201 && added["text"] == "Spice." && added["kind"] == "discussion")
        let id = try #require(added["id"])
        let edited = try await kiosk.send("PATCH", "/api/notes/\(id)", #"{"text": "Melange."}"#)
        #expect(edited["text"] == "Melange." && edited["kind"] == "discussion" && edited["created"] == added["created"])
        let same = try await kiosk.send("PATCH", "/api/notes/\(id)", #"{"text": "Melange."}"#)
        #expect(same.json["change"] is NSNull)
        let deleted = try await kiosk.send("DELETE", "/api/notes/\(id)")
        #expect(deleted["id"] == id)
        for change in [deleted.change, edited.change] {
            _ = try await kiosk.library.undo(try #require(change), at: Date())
        }
        let notes = try await kiosk.send("GET", "/api/books/\(book.id)/notes")
        #expect(notes.list("notes").map { $0["text"] as? String } == ["Spice."])
        try await kiosk.stop()
    }

    @Test func `quotes have a page, or none`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let added = try await kiosk.send("POST", "/api/books/\(book.id)/quotes", #"{"text": "Fear.", "page": 8}"#)
        #expect(added.status == 201 && added.number("page") == 8)
        let id = try #require(added["id"])
        let edited = try await kiosk.send("PATCH", "/api/quotes/\(id)", #"{"page": null}"#)
        #expect(edited.json["page"] is NSNull && edited["text"] == "Fear.")
        let deleted = try await kiosk.send("DELETE", "/api/quotes/\(id)")
        #expect(deleted.change != nil)
        let quotes = try await kiosk.send("GET", "/api/books/\(book.id)/quotes")
        #expect(quotes.status == 200 && quotes.list("quotes").isEmpty)
        try await kiosk.stop()
    }

    @Test func `empty and overlong texts, invalid pages and missing notes are refused`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let long = String(repeating: "x", count: 5001)
        for (method, path, body, status) in [
            ("POST", "/api/books/\(book.id)/notes", #"{"text": " "}"#, 422),
            ("POST", "/api/books/\(book.id)/notes", "{}", 422),
            ("POST", "/api/books/\(book.id)/notes", #"{"text": "\#(long)"}"#, 422),
            ("POST", "/api/books/\(book.id)/notes", #"{"text": "x", "kind": "song"}"#, 400),
            ("POST", "/api/books/none/notes", #"{"text": "x"}"#, 404),
            ("POST", "/api/books/\(book.id)/quotes", #"{"text": "x", "page": 0}"#, 422),
            ("PATCH", "/api/notes/none", #"{"text": "x"}"#, 404), ("DELETE", "/api/quotes/none", nil, 404),
            ("GET", "/api/books/none/notes", nil, 404),
        ] as [(String, String, String?, Int)] {
            let answer = try await kiosk.send(method, path, body)
            #expect(answer.status == status, "\(method) \(path) \(body?.prefix(40) ?? "")")
        }
        try await kiosk.stop()
    }
}
