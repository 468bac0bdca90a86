import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `One book over HTTP` {
    @Test func `is what scan library show prints, read at one moment`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "978-0-441-17271-9")
        _ = try await kiosk.library.add(Note(text: "Spice.", created: Date()), to: book.id, at: Date())
        _ = try await kiosk.library.add(Quote(text: "Fear.", page: 8, created: Date()), to: book.id, at: Date())
        let answer = try await kiosk.send("GET", "/api/books/\(book.id)")
        #expect(answer.status == 200 && answer["title"] == "Dune" && answer["isbn13"] == "9780441172719")
        #expect(answer.list("notes").first?["text"] as? String == "Spice.")
        #expect(answer.list("quotes").first?["page"] as? Int == 8)
        let whole = try await kiosk.library.wholeBook(book.id)
        #expect(answer.text == whole?.json.text)
        for path in ["/api/books/none", "/api/books/none/figures", "/api/books/none/sessions", "/books/none"] {
            let none = try await kiosk.send("GET", path)
            #expect(none.status == 404 && none.code == "notThere", "\(path)")
        }
        try await kiosk.stop()
    }

    @Test func `changes what is sent and nothing else; null clears; undo brings all of it back`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "978-0-441-17271-9") { $0.publisher = "Ace" }
        let answer = try await kiosk.send(
            "PATCH", "/api/books/\(book.id)",
            """
            {"title": "Dune Messiah", "subtitle": "Two", "publisher": null, "authors": [{"name": "F. Herbert"},
            {"name": "Ann", "role": "translator"}], "publishedDate": "1969-03", "pageCount": 256, "language": "en",
            "originalLanguage": "fr", "authorNationality": "American", "format": "digital", "series": "Dune",
            "seriesNumber": "2.5", "description": "A\\nB", "subjects": ["sf", "desert"],
            "previewLink": "https://example.org/a", "infoLink": "http://example.org/b", "owned": false, "wishlist": true,
            "favourite": true, "shelf": "Attic", "tags": ["x", "Y"], "rating": 4.25, "public": true,
            "recommendedBy": "Ann", "wouldRecommend": true, "dailyGoal": 20, "culturalGoalCategory": "Far away",
            "status": "reading"}
            """)
        #expect(answer.status == 200, "\(answer.text)")
        let changed = try #require(try await kiosk.library.book(book.id))
        let (metadata, copy) = (changed.edition.metadata, changed.copy)
        #expect(metadata.title == "Dune Messiah" && metadata.subtitle == "Two" && metadata.publisher == nil)
        #expect(metadata.authors.map(\.role) == [.author, .translator] && metadata.authorNames == ["F. Herbert"])
        #expect(metadata.publishedDate?.description == "1969-03" && metadata.pageCount == 256)
        #expect(metadata.language == "en" && metadata.originalLanguage == "fr" && metadata.format == .digital)
        #expect(metadata.series == "Dune" && metadata.seriesNumber == "2.5" && metadata.description == "A\nB")
        #expect(metadata.subjects == ["sf", "desert"] && metadata.previewLink == "https://example.org/a")
        #expect(!copy.isOwned && copy.isOnWishlist && copy.isFavourite && copy.shelf == "Attic" && copy.isPublic)
        #expect(copy.tags == ["x", "Y"] && copy.rating == 4.25 && copy.recommendedBy == "Ann")
        #expect(copy.wouldRecommend == true && copy.dailyGoal == 20 && copy.countsForCulturalGoal)
        #expect(copy.status == .reading && copy.reading?.started != nil)
        #expect(changed.edition.isbn == book.edition.isbn && changed.edition.editedFields.contains(.title))

        let one = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"rating": null, "tags": null}"#)
        #expect(one.json["rating"] is NSNull && (one.json["tags"] as? [String])?.isEmpty == true)
        #expect(one["shelf"] == "Attic")
        for change in [one.change, answer.change] {
            _ = try await kiosk.library.undo(try #require(change), at: Date())
        }
        #expect(try await kiosk.library.book(book.id) == book)
        try await kiosk.stop()
    }

    @Test func `says that nothing changed when nothing did`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        for body in ["{}", #"{"title": "Dune"}"#, #"{"title": " Dune "}"#] {
            let answer = try await kiosk.send("PATCH", "/api/books/\(book.id)", body)
            #expect(answer.status == 200 && answer.json["change"] is NSNull, "\(body)")
        }
        try await kiosk.stop()
    }

    @Test func `takes one tag beside the others, and off again, in any spelling of its case`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let path = "/api/books/\(book.id)/tags"
        for name in ["Desert", "sf", "DESERT"] {
            _ = try await kiosk.send("POST", path, #"{"name": "\#(name)"}"#)
        }
        #expect(try await kiosk.library.book(book.id)?.copy.tags == ["Desert", "sf"])
        let removed = try await kiosk.send("DELETE", path, #"{"name": "desert"}"#)
        #expect(removed.json["tags"] as? [String] == ["sf"] && removed.change != nil)
        let none = try await kiosk.send("DELETE", path, #"{"name": "desert"}"#)
        #expect(none.json["change"] is NSNull)
        let empty = try await kiosk.send("POST", path, "{}")
        #expect(empty.status == 422 && empty.code == "field.name")
        try await kiosk.stop()
    }

    @Test func `keeps a wrong number as text, and takes a right one`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let wrong = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"isbnText": "978-0-441-17271-8"}"#)
        #expect(wrong["isbnText"] == "978-0-441-17271-8" && wrong.json["isbn13"] is NSNull)
        let right = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"isbnText": "0-441-17271-7"}"#)
        #expect(right["isbnText"] == "0-441-17271-7" && right["isbn13"] == "9780441172719")
        try await kiosk.stop()
    }

    @Test func `refuses what cannot be, with a reason, and changes nothing`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let refused: [(body: String, status: Int, code: String)] = [
            (#"{"titel": "Dune"}"#, 400, "unknownField"), (#"{"pageCount": "many"}"#, 400, "badField"),
            (#"{"pageCount": 1.5}"#, 400, "badField"), (#"{"format": "stone"}"#, 400, "badField"),
            (#"{"tags": "x"}"#, 400, "badField"), (#"{"tags": [1]}"#, 400, "badField"),
            (#"{"authors": ["x"]}"#, 400, "badField"), (#"{"authors": [{}]}"#, 400, "missingField"),
            (#"{"authors": [{"name": "x", "age": 1}]}"#, 400, "unknownField"), ("[]", 400, "badJSON"),
            ("{", 400, "badJSON"), ("", 400, "badJSON"), (#"{"title": null}"#, 422, "field.title"),
            (#"{"title": " "}"#, 422, "field.title"),
            (#"{"shelf": "\#(String(repeating: "x", count: 513))"}"#, 422, "field.shelf"),
            (#"{"rating": 4.1}"#, 422, "field.rating"), (#"{"rating": 0}"#, 422, "field.rating"),
            (#"{"pageCount": -1}"#, 422, "field.pageCount"),
            (#"{"dailyGoal": -1}"#, 422, "field.dailyGoal"),
            (#"{"infoLink": "javascript:alert(1)"}"#, 422, "field.infoLink"),
            (#"{"publishedDate": "2023-02-30"}"#, 422, "field.publishedDate"),
            (#"{"status": "eaten"}"#, 400, "badField"),
            (#"{"title": "New", "rating": 9}"#, 422, "field.rating"),
        ]
        for (body, status, code) in refused {
            let answer = try await kiosk.send("PATCH", "/api/books/\(book.id)", body)
            #expect(answer.status == status && answer.code == code, "\(body.prefix(60)): \(answer.text)")
        }
        let gone = try await kiosk.send("PATCH", "/api/books/none", #"{"title": "x"}"#)
        #expect(gone.status == 404)
        #expect(try await kiosk.library.book(book.id) == book)
        try await kiosk.stop()
    }

    @Test func `goes to the trash and comes back; what is in it takes no page`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .reading)
        let trashed = try await kiosk.send("DELETE", "/api/books/\(book.id)")
        #expect(trashed.status == 200 && trashed["deleted"] != nil && trashed.change != nil)
        let page = try await kiosk.send("POST", "/api/books/\(book.id)/progress", #"{"page": 5}"#)
        #expect(page.status == 422 && page.code == "inTrash")
        let shown = try await kiosk.send("GET", "/books/\(book.id)")
        #expect(shown.text.contains("30 days left") && shown.text.contains("/restore"))
        let again = try await kiosk.send("DELETE", "/api/books/\(book.id)")
        #expect(again.json["change"] is NSNull)
        let back = try await kiosk.send("POST", "/api/books/\(book.id)/restore", "{}")
        #expect(back.json["deleted"] is NSNull && back.change != nil)
        try await kiosk.stop()
    }

    @Test func `gets another copy of its edition, once for each request`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "9780441172719")
        let first = try await kiosk.send("POST", "/api/books/\(book.id)/copies", #"{"request": "r-000001"}"#)
        let again = try await kiosk.send("POST", "/api/books/\(book.id)/copies", #"{"request": "r-000001"}"#)
        #expect(
            first.status == 201 && first["editionId"] == book.edition.id.rawValue && first["id"] != book.id.rawValue)
        #expect(again["id"] == first["id"])
        let isbn = try ISBN("9780441172719")
        #expect(try await kiosk.library.books(with: [isbn])[isbn]?.count == 2)
        let page = try await kiosk.send("GET", "/books/\(book.id)")
        #expect(page.text.contains("/books/\(first["id"] ?? "?")"))
        try await kiosk.stop()
    }
}
