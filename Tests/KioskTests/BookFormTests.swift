import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The form` {
    @Test func `to add a book has a new request id each time`() async throws {
        try await withKiosk { client in
            let pages = [try await client.get("/add").text, try await client.get("/add").text]
            let requests = pages.compactMap { $0.firstMatch(of: /data-request="([^"]+)"/)?.1 }
            #expect(requests.count == 2 && requests[0] != requests[1])
        }
    }

    @Test func `is filled from the queue's metadata of the ISBN`() async throws {
        try await withKiosk { client in
            let isbn = try ISBN("9780441478125")
            let library = client.kiosk.library
            let detection = Detection(isbn: isbn, raw: isbn.digits, origin: .typed)
            let items = try await library.enqueue([detection], preset: Preset(), lease: .zero, at: Date())
            try await library.edit(items[0].id) { metadata, _ in
                metadata.title = "The Left Hand of Darkness"
                metadata.authors = [Contributor(name: "Ursula K. Le Guin")]
            }
            let page = try await client.get("/add?isbn=0-441-47812-3").text
            #expect(
                page.contains("value=\"The Left Hand of Darkness\"") && page.contains("value=\"Ursula K. Le Guin\""))
            let known = try await client.get("/api/known?isbn=9780441478125").text
            #expect(known.contains("\"hyphenated\":\"978-0-441-47812-5\"") && known.contains("\"owned\":null"))
        }
    }

    @Test func `says that the book is owned already, or why a number is invalid`() async throws {
        try await withKiosk { client in
            let body = #"{"title":"Dune","isbnText":"9780441478125"}"#
            let saved = try await client.send("POST", "/api/books", body).status
            #expect(saved == 201)
            let isOwned = try await client.get("/add?isbn=9780441478125").text.contains("You already have “Dune”.")
            #expect(isOwned)
            let isWrong = try await client.get("/add?isbn=9780441478126").text.contains("This is not an ISBN")
            #expect(isWrong)
        }
    }

    @Test func `to edit a book shows its values`() async throws {
        try await withKiosk { client in
            let body = """
                {"title":"A <b>","authors":[{"name":"B","role":"editor"}],"tags":["c"],"status":"read","finished":"2026-03",
                "rating":3.5,"wouldRecommend":false,"format":"audiobook","description":"Line\\nline"}
                """
            let saved = try await client.send("POST", "/api/books", body).status
            #expect(saved == 201)
            let books = try await client.kiosk.library.books(matching: BookQuery()).books
            let book = try #require(books.first)
            let page = try await client.get("/books/\(book.id)/edit").text
            #expect(page.contains("value=\"A &lt;b&gt;\"") && page.contains("<option value=\"editor\" selected>"))
            #expect(
                page.contains("data-name=\"c\"") && page.contains("value=\"2026-03\"") && page.contains("value=\"3.5\"")
            )
            #expect(
                page.contains("<option value=\"false\" selected>")
                    && page.contains("<option value=\"audiobook\" selected>"))
            #expect(page.contains("Line\nline</textarea>") && !page.contains("data-request"))
            let gone = try await client.get("/books/nobody/edit").status
            #expect(gone == 404)
        }
    }
}
