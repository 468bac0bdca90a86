import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

/// Two people edit a book on two screens.
@Suite(.timeLimit(.minutes(5))) struct `A concurrent edit on another screen` {
    @Test func `of any field is reported once before it is replaced`() async throws {
        let fields: [(name: String, was: String, theirs: String, mine: String)] = [
            ("title", #""Dune""#, #""Dune Messiah""#, #""Düne""#), ("publisher", #""Ace""#, "null", #""Hodder""#),
            ("subtitle", "null", #""Two""#, #""Three""#), ("pageCount", "412", "400", "500"),
            (
                "authors", #"[{"role": "author", "name": "Frank Herbert"}]"#,
                #"[{"name":"F. Herbert","role":"author"}]"#,
                #"[{"name": "Herbert"}]"#
            ),
            ("subjects", #"["sf"]"#, "[]", #"["desert"]"#), ("format", "null", #""digital""#, #""audiobook""#),
            ("isbnText", #""978-0-441-17271-9""#, #""978-0-14-143951-8""#, #""9780306406157""#),
            ("publishedDate", #""1965""#, #""1965-08""#, #""1966""#), ("shelf", "null", #""Hall""#, #""Attic""#),
            ("description", #""A\nB""#, #""A\n\nB""#, "null"), ("rating", "4.5", "2", "5"),
        ]
        for (name, was, theirs, mine) in fields {
            let kiosk = try await RunningKiosk()
            let book = try await kiosk.book("Dune", isbn: "978-0-441-17271-9") {
                ($0.publisher, $0.pageCount, $0.subjects, $0.description) = ("Ace", 412, ["sf"], "A\nB")
                ($0.publishedDateText, $0.publishedDate) = ("1965", CalendarDay("1965"))
            }
            let path = "/api/books/\(book.id)"
            _ = try await kiosk.send("PATCH", path, #"{"rating": 4.5}"#)
            _ = try await kiosk.send("PATCH", path, "{\"\(name)\": \(theirs)}")
            let before = try await kiosk.library.book(book.id)
            let refused = try await kiosk.send("PATCH", path, "{\"\(name)\": \(mine), \"was\": {\"\(name)\": \(was)}}")
            #expect(refused.status == 409 && refused.code == "changed.\(name)", "\(refused.text)")
            #expect(refused.text.contains("\"now\":\(theirs)"), "\(refused.text)")
            #expect(try await kiosk.library.book(book.id) == before)
            let saved = try await kiosk.send("PATCH", path, "{\"\(name)\": \(mine), \"was\": {\"\(name)\": \(theirs)}}")
            #expect(saved.status == 200, "\(name): \(saved.text)")
            try await kiosk.stop()
        }
    }

    @Test func `is no conflict if the values are the same or none is expected`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "978-0-441-17271-9") {
            ($0.publisher, $0.description) = ("Ace", "A\nB")
            ($0.publishedDateText, $0.publishedDate) = ("August 1965", CalendarDay("1965-08"))
        }
        for (name, mine, was) in [
            ("publisher", #""Chilton""#, #""Ace ""#), ("publisher", #""Chilton""#, #""Hodder""#),
            ("description", #""C""#, #""A\r\nB""#), ("subtitle", #""Two""#, #""""#),
            // As pages show them.
            ("isbnText", #""0-441-17271-7""#, #""978-0-441-17271-9""#), ("publishedDate", #""1966""#, #""1965-08""#),
        ] {
            let answer = try await kiosk.send(
                "PATCH", "/api/books/\(book.id)", "{\"\(name)\": \(mine), \"was\": {\"\(name)\": \(was)}}")
            #expect(answer.status == 200, "\(name): \(answer.text)")
        }
        // Without an expected value, any value is replaced.
        #expect(try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"publisher": "Ace"}"#).status == 200)
        for bad in [#"{"publisher": "x", "was": "Ace"}"#, #"{"publisher": "x", "were": {}}"#] {
            #expect(try await kiosk.send("PATCH", "/api/books/\(book.id)", bad).status == 400, "\(bad)")
        }
        try await kiosk.stop()
    }

    @Test(arguments: [
        (wanted: #"["a", "b", "sf"]"#, was: #"["a", "b"]"#, result: ["a", "b", "lent", "sf"]),
        (wanted: #"["a"]"#, was: #"["a", "b"]"#, result: ["a", "lent"]),
        (wanted: #"["a", "lent"]"#, was: #"["a", "b"]"#, result: ["a", "lent"]),
        (wanted: "null", was: #"["a", "b"]"#, result: ["lent"]), (wanted: #"["a"]"#, was: "null", result: ["a"]),
    ]) func `of tags is merged with this one`(_ wanted: String, _ was: String, _ result: [String]) async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        _ = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"tags": ["a", "b"]}"#)
        _ = try await kiosk.send("POST", "/api/books/\(book.id)/tags", #"{"name": "lent"}"#)
        let answer = try await kiosk.send(
            "PATCH", "/api/books/\(book.id)", "{\"tags\": \(wanted), \"was\": {\"tags\": \(was)}}")
        #expect(answer.status == 200 && answer.json["tags"] as? [String] == result, "\(answer.text)")
        try await kiosk.stop()
    }

    @Test func `a book restored from the trash gets the form's values, and undo reverts all of it`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", isbn: "978-0-441-17271-9")
        _ = try await kiosk.send("PATCH", "/api/books/\(book.id)", #"{"title": "Dune, again", "rating": 1}"#)
        _ = try await kiosk.send("DELETE", "/api/books/\(book.id)")
        let before = try await kiosk.library.book(book.id)
        let known = try await kiosk.send("GET", "/api/known?isbn=9780441172719")
        #expect(known["trashed"] == "Dune, again" && known.json["owned"] is NSNull)
        let saved = try await kiosk.send(
            "POST", "/api/books",
            #"{"title": "Der Wüstenplanet", "isbnText": "978-0-441-17271-9", "pageCount": 555, "owned": true}"#)
        #expect(saved.status == 201 && saved["id"] == book.id.rawValue, "\(saved.text)")
        #expect(saved["title"] == "Der Wüstenplanet" && saved.number("pageCount") == 555)
        // Empty fields of the form clear nothing.
        #expect(saved.number("rating") == 1 && saved.list("authors").first?["name"] as? String == "Frank Herbert")
        _ = try await kiosk.library.undo(try #require(saved.change), at: Date())
        #expect(try await kiosk.library.book(book.id) == before)
        try await kiosk.stop()
    }

    @Test func `of a note or a quote is reported in the language of the page`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        for kind in ["notes", "quotes"] {
            let added = try await kiosk.send("POST", "/api/books/\(book.id)/\(kind)", #"{"text": "Spice."}"#)
            let path = "/api/\(kind)/\(try #require(added["id"]))"
            _ = try await kiosk.send("PATCH", path, #"{"text": "Melange."}"#)
            let refused = try await kiosk.send(
                "PATCH", path, #"{"text": "Sand.", "was": {"text": "Spice."}}"#, headers: ["Accept-Language": "de"])
            #expect(refused.status == 409 && refused.code == "changed.text")
            #expect(refused.text.contains("an einem anderen Bildschirm geändert. Jetzt steht dort: Melange."))
            let saved = try await kiosk.send("PATCH", path, #"{"text": "Sand.", "was": {"text": "Melange."}}"#)
            #expect(saved["text"] == "Sand.")
        }
        try await kiosk.stop()
    }

    @Test func `that ended the session keeps Stop from ending another one`() async throws {
        let kiosk = try await RunningKiosk()
        let (dune, emma) = (try await kiosk.book("Dune"), try await kiosk.book("Emma"))
        let first = try await kiosk.send("POST", "/api/books/\(dune.id)/sessions", "{}")
        let id = try #require(first["id"])
        let stop = "{\"session\": \"\(id)\", \"force\": true}"
        #expect(try await kiosk.send("POST", "/api/session/stop", stop).status == 200)
        #expect(try await kiosk.send("POST", "/api/session/stop", stop).code == "alreadyEnded")
        _ = try await kiosk.send("POST", "/api/books/\(emma.id)/sessions", "{}")
        let refused = try await kiosk.send("POST", "/api/session/stop", stop)
        #expect(refused.status == 422 && refused.code == "alreadyEnded")
        #expect(try await kiosk.library.runningSession()?.copy == emma.id)
        try await kiosk.stop()
    }

    @Test func `is known to a page that begins to listen later`() async throws {
        let rig = try await StationRig()
        let page = try await rig.kiosk.send("GET", "/home").text
        let made = try #require(page.firstMatch(of: /data-made-at="(\d+)"/).flatMap { Int($0.1) })
        _ = try await rig.kiosk.book("Dune")
        var change = made
        // The library is checked for changes five times a second.
        while change <= made {
            let events = try await rig.open("/api/events")
            let hello = try await events.read(until: "}\n\n")
            change = try #require(hello.firstMatch(of: /"change":(\d+)/).flatMap { Int($0.1) })
            events.close()
        }
        try await rig.stop()
    }
}
