import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `Sessions over HTTP` {
    private func ago(_ seconds: Double) -> String { Date().addingTimeInterval(-seconds).rfc3339 }

    @Test func `one runs, with the service's time, and ends with its page`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let none = try await kiosk.send("GET", "/api/session")
        #expect(none.json["running"] is NSNull && none["now"].flatMap { Date(rfc3339: $0) } != nil)
        let started = try await kiosk.send(
            "POST", "/api/books/\(book.id)/sessions", #"{"start": "\#(ago(1800))", "page": 10}"#)
        #expect(started.status == 201 && started.json["running"] as? Bool == true && started.change != nil)
        let running = try await kiosk.send("GET", "/api/session")
        #expect((running.json["running"] as? [String: Any])?["id"] as? String == started["id"])
        let page = try await kiosk.send("GET", "/books/\(book.id)")
        #expect(page.text.contains("data-clock=") && page.text.contains("data-stop"))
        let second = try await kiosk.send("POST", "/api/books/\(book.id)/sessions", "{}")
        #expect(second.status == 422 && second.code == "alreadyActive")
        let back = try await kiosk.send("POST", "/api/session/stop", #"{"page": 9}"#)
        #expect(back.status == 422 && back.code == "invalidPageNumber")
        let ended = try await kiosk.send("POST", "/api/session/stop", #"{"page": 40}"#)
        #expect(ended.status == 200 && ended.number("minutes") == 30 && ended.number("pagesRead") == 30)
        #expect(try await kiosk.library.book(book.id)?.copy.reading?.progress?.amount == .page(40))
        let again = try await kiosk.send("POST", "/api/session/stop", "{}")
        #expect(again.status == 422 && again.code == "notActive")
        _ = try await kiosk.library.undo(try #require(ended.change), at: Date())
        #expect(try await kiosk.library.runningSession() != nil)
        try await kiosk.stop()
    }

    @Test func `one of less than a minute is refused, and kept as a minute with force`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        _ = try await kiosk.send("POST", "/api/books/\(book.id)/sessions", "{}")
        let short = try await kiosk.send("POST", "/api/session/stop", #"{"page": 3}"#)
        #expect(short.status == 422 && short.code == "sessionTooShort")
        let forced = try await kiosk.send("POST", "/api/session/stop", #"{"page": 3, "force": true}"#)
        #expect(forced.status == 200 && forced.number("minutes") == 1)
        try await kiosk.stop()
    }

    @Test func `one whose start lies in the future needs an explicit end`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let ahead = Date().addingTimeInterval(7200)
        _ = try await kiosk.library.startSession(of: book.id, page: 0, from: nil, at: ahead)
        let unknown = try await kiosk.send("POST", "/api/session/stop", #"{"page": 3}"#)
        #expect(unknown.status == 422 && unknown.code == "clockWentBackwards")
        let end = ahead.addingTimeInterval(600).rfc3339
        let ended = try await kiosk.send("POST", "/api/session/stop", #"{"page": 3, "end": "\#(end)"}"#)
        #expect(ended.status == 200 && ended.number("minutes") == 10)
        try await kiosk.stop()
    }

    @Test func `one ends with its book's reading, and its clock is on every page until then`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let start = #"{"start": "\#(ago(1800))", "page": 10}"#
        let session = try #require(try await kiosk.send("POST", "/api/books/\(book.id)/sessions", start)["id"])
        for page in ["/home", "/library", "/scan", "/settings", "/books/\(book.id)"] {
            let head = try await kiosk.send("GET", page).text
            #expect(head.contains("A session for “Dune” is running.") && head.contains("data-clock"), "\(page)")
        }
        let path = "/api/books/\(book.id)/status"
        let refused = try await kiosk.send("PUT", path, #"{"status": "read"}"#)
        #expect(refused.status == 422 && refused.code == "sessionRunning")
        let partial = try await kiosk.send("PUT", path, #"{"status": "read", "page": 40}"#)
        #expect(partial.status == 400)
        let bulk = try await kiosk.send("POST", "/api/books/status", #"{"ids": ["\#(book.id)"], "status": "dnf"}"#)
        #expect(bulk.status == 422 && bulk.code == "sessionRunning")
        let another = try await kiosk.send("PUT", path, #"{"status": "read", "session": "x", "page": 40}"#)
        #expect(another.status == 422 && another.code == "alreadyEnded")
        let read = try await kiosk.send("PUT", path, #"{"status": "read", "session": "\#(session)", "page": 40}"#)
        #expect(read.status == 200 && read["status"] == "read")
        #expect(read.json["sessionStillRuns"] as? Bool == false)
        #expect(try await kiosk.library.runningSession() == nil)
        #expect(try await !kiosk.send("GET", "/home").text.contains("data-clock=\""))
        try await kiosk.stop()
    }

    @Test func `past ones are added, corrected, listed a page at a time, and deleted`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .reading)
        let past = "/api/books/\(book.id)/sessions/past"
        var ids: [String] = []
        for index in 0..<5 {
            let start = ago(Double(86_400 - index * 3600))
            let added = try await kiosk.send(
                "POST", past,
                #"{"start": "\#(start)", "minutes": 30, "startPage": \#(index * 10), "endPage": \#(index * 10 + 10)}"#)
            #expect(added.status == 201 && added.number("pace") == 20)
            ids.append(try #require(added["id"]))
        }
        let list = try await kiosk.send("GET", "/api/books/\(book.id)/sessions?limit=2&offset=1")
        #expect(list.list("sessions").map { $0["id"] as? String } == [ids[3], ids[2]])
        #expect((list.json["totals"] as? [String: Any])?["sessions"] as? Int == 5)

        let edited = try await kiosk.send("PATCH", "/api/sessions/\(ids[4])", #"{"minutes": 40, "endPage": null}"#)
        #expect(edited.number("minutes") == 40 && edited.json["endPage"] is NSNull && edited.change != nil)
        let same = try await kiosk.send("PATCH", "/api/sessions/\(ids[4])", #"{"minutes": 40}"#)
        #expect(same.json["change"] is NSNull)
        let deleted = try await kiosk.send("DELETE", "/api/sessions/\(ids[0])")
        #expect(deleted.status == 200 && deleted.change != nil)
        for (method, path, body, status, code) in [
            ("DELETE", "/api/sessions/\(ids[0])", nil, 404, "noSuchSession"),
            ("PATCH", "/api/sessions/none", "{}", 404, "noSuchSession"),
            ("POST", past, #"{"minutes": 5}"#, 400, "missingField"),
            ("POST", past, #"{"start": "\#(ago(60))", "minutes": 5}"#, 422, "endInFuture"),
            ("POST", past, #"{"start": "\#(ago(600))", "minutes": 2000}"#, 422, "sessionTooLong"),
            ("POST", past, #"{"start": "\#(ago(600))", "minutes": 0}"#, 422, "entry"),
            (
                "POST", past, #"{"start": "\#(ago(6000))", "minutes": 5, "startPage": 9, "endPage": 2}"#, 422,
                "invalidPageNumber"
            ),
        ] as [(String, String, String?, Int, String)] {
            let answer = try await kiosk.send(method, path, body)
            #expect(answer.status == status && answer.code == code, "\(path) \(body ?? "")")
        }
        try await kiosk.stop()
    }
}
