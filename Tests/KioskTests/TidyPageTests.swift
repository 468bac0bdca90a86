import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite(.timeLimit(.minutes(5))) struct `Tidying in the kiosk` {
    /// Runs the body with a kiosk and two records of one book, of which the second has no ISBN.
    private func withTwoRecords(_ body: (RunningKiosk, Book, Book) async throws -> Void) async throws {
        let kiosk = try await RunningKiosk()
        try await kiosk.use { kiosk in
            let kept = try await kiosk.book("Dune", isbn: "9780441172719") { $0.publisher = nil }
            let other = try await kiosk.book("Dune", isbn: nil) { $0.publisher = "Chilton <Books>" }
            try await body(kiosk, kept, other)
        }
    }

    private func request(_ kept: Book, _ other: Book, _ more: String = "") -> String {
        #"{"keep":"\#(kept.id)","others":["\#(other.id)"]\#(more)}"#
    }

    @Test func `lists what was entered twice, with what tells the records apart`() async throws {
        try await withTwoRecords { kiosk, kept, other in
            let page = try await kiosk.send("GET", "/library/tidy").text
            #expect(page.contains("Probably entered twice") && page.contains("Chilton &lt;Books&gt;"))
            #expect(page.contains("978-0-441-17271-9"))
            let found = try await kiosk.send("GET", "/api/books/duplicates")
            let groups = found.list("groups")
            #expect(groups.count == 1 && groups.first?["reason"] as? String == "enteredTwice")
            let books = groups.first?["books"] as? [[String: Any]] ?? []
            #expect(books.map { $0["id"] as? String } == [kept.id.rawValue, other.id.rawValue])
        }
    }

    @Test func `a dry run changes nothing, a merge makes one book, and undo brings both back`() async throws {
        try await withTwoRecords { kiosk, kept, other in
            let dry = try await kiosk.send("POST", "/api/books/merge", request(kept, other, #","dryRun":true"#))
            #expect(dry.status == 200 && dry.text.contains("\"publisher\"") && dry.change == nil)
            #expect(try await kiosk.library.book(other.id)?.copy.deleted == nil)
            let merged = try await kiosk.send("POST", "/api/books/merge", request(kept, other))
            #expect(try await kiosk.library.book(kept.id)?.edition.metadata.publisher == "Chilton <Books>")
            #expect(try await kiosk.library.book(other.id) == nil)
            #expect(try await kiosk.send("GET", "/library/tidy").text.contains("No book is in the library twice"))
            let change = try #require(merged.change)
            _ = try await kiosk.send("POST", "/api/undo", #"{"change":"\#(change)"}"#)
            #expect(try await kiosk.library.book(other.id) != nil)
            #expect(try await kiosk.library.book(kept.id)?.edition.metadata.publisher == nil)
        }
    }

    @Test func `editions with different ISBNs are merged only if that is asked for`() async throws {
        try await withTwoRecords { kiosk, kept, _ in
            let other = try await kiosk.book("Dune", isbn: "9780340960196")
            let refused = try await kiosk.send("POST", "/api/books/merge", request(kept, other))
            #expect(refused.status == 422 && refused.text.contains("are different ISBNs"))
            let merged = try await kiosk.send(
                "POST", "/api/books/merge", request(kept, other, #","joinsEditions":true"#))
            #expect(merged.status == 200)
        }
    }

    @Test func `books that are not the same are offered again only after undo`() async throws {
        try await withTwoRecords { kiosk, kept, other in
            let body = #"{"books":["\#(kept.id)","\#(other.id)"]}"#
            let marked = try await kiosk.send("POST", "/api/books/distinct", body)
            let change = try #require(marked.change)
            #expect(try await kiosk.send("GET", "/library/tidy").text.contains("No book is in the library twice"))
            let again = try await kiosk.send("POST", "/api/books/distinct", body)
            #expect(again.status == 200 && again.change == nil)
            let summary = try await kiosk.library.lastChange()?.summary
            #expect(summary == #"marked "Dune" and 1 more as not the same"#)
            _ = try await kiosk.send("POST", "/api/undo", #"{"change":"\#(change)"}"#)
            #expect(try await kiosk.send("GET", "/library/tidy").text.contains("Chilton &lt;Books&gt;"))
        }
    }

    @Test(arguments: [
        (#"{"books":["x"]}"#, 422), (#"{"books":["x","x"]}"#, 422), (#"{"books":["x","y"]}"#, 404), ("{}", 400),
        (#"{"books":\#((0...50).map { "\($0)" })}"#, 422),
    ]) func `refuses one, unknown and too many books that are not the same`(
        _ body: String, _ status: Int
    ) async throws {
        let kiosk = try await RunningKiosk()
        try await kiosk.use { kiosk in
            let answer = try await kiosk.send("POST", "/api/books/distinct", body)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test(arguments: [
        (#"{"keep":"x","others":[]}"#, 422), (#"{"keep":"x","others":["y"]}"#, 404), (#"{"keep":"x"}"#, 400),
        (#"{"keep":"x","others":\#([String](repeating: "y", count: 51))}"#, 422),
    ]) func `refuses no, unknown and too many books`(_ body: String, _ status: Int) async throws {
        let kiosk = try await RunningKiosk()
        try await kiosk.use { kiosk in
            let answer = try await kiosk.send("POST", "/api/books/merge", body)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test func `counts the books that lack something, and leads to them`() async throws {
        try await withTwoRecords { kiosk, _, _ in
            let page = try await kiosk.send("GET", "/library/tidy").text
            #expect(page.contains(#"href="/library?missing=isbn">No ISBN <strong>1</strong>"#))
            #expect(page.contains(#"href="/library?missing=publisher">No publisher <strong>1</strong>"#))
        }
    }
}
