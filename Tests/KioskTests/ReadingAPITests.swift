import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `The reading tracker over HTTP` {
    @Test func `a status is set by the rules, and undone`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let reading = try await kiosk.send(
            "PUT", "/api/books/\(book.id)/status", #"{"status": "reading", "on": "2026-02-01"}"#)
        #expect(reading["status"] == "reading" && reading["started"] == "2026-02-01" && reading.number("page") == 0)
        #expect(reading.json["sessionStillRuns"] as? Bool == false)
        let read = try await kiosk.send("PUT", "/api/books/\(book.id)/status", #"{"status": "read", "on": "2026-02"}"#)
        #expect(read["finished"] == "2026-02" && read.number("progress") == 1)
        let same = try await kiosk.send("PUT", "/api/books/\(book.id)/status", #"{"status": "read"}"#)
        #expect(same.json["change"] is NSNull)
        _ = try await kiosk.library.undo(try #require(read.change), at: Date())
        #expect(try await kiosk.library.book(book.id)?.copy.status == .reading)
        try await kiosk.stop()
    }

    @Test func `a page or a percentage is recorded, and a page beyond the last is reported`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .reading)
        let page = try await kiosk.send("POST", "/api/books/\(book.id)/progress", #"{"page": 145}"#)
        #expect(page.number("page") == 145 && page.json["beyondLastPage"] as? Bool == false && page.change != nil)
        let beyond = try await kiosk.send("POST", "/api/books/\(book.id)/progress", #"{"page": 400}"#)
        #expect(beyond.json["beyondLastPage"] as? Bool == true && beyond.number("progress") == 1)
        let percent = try await kiosk.send("POST", "/api/books/\(book.id)/progress", #"{"percent": 37.5}"#)
        #expect(percent.number("percent") == 37.5)
        let id = try #require(page["id"])
        let entries = try await kiosk.send("GET", "/api/books/\(book.id)/readings/\(id)/progress?limit=2")
        #expect(entries.list("entries").map { $0["percent"] as? Double } == [37.5, nil])
        for (body, status) in [
            (#"{"page": -1}"#, 422), (#"{"percent": 101}"#, 422), ("{}", 400), (#"{"page": 1, "percent": 1}"#, 400),
            (#"{"page": 5, "at": "yesterday"}"#, 400),
        ] {
            let answer = try await kiosk.send("POST", "/api/books/\(book.id)/progress", body)
            #expect(answer.status == status, "\(body)")
        }
        let broken = try await kiosk.send(
            "POST", "/api/books/\(book.id)/progress", #"{"page": 12.5}"#, headers: ["Accept-Language": "de"])
        #expect(broken.status == 400 && broken.text.contains("Eine Seite ist eine ganze Zahl"))
        for path in ["readings/none/progress", "readings/\(id)/progress?limit=0", "readings/\(id)/progress?offset=x"] {
            let answer = try await kiosk.send("GET", "/api/books/\(book.id)/\(path)")
            #expect(answer.status == (path.contains("none") ? 404 : 400), "\(path)")
        }
        try await kiosk.stop()
    }

    @Test func `dates may be a month or a year, are cleared by null, and never end before they begin`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .read)
        let path = "/api/books/\(book.id)/dates"
        let dated = try await kiosk.send("PUT", path, #"{"started": "2026-01", "finished": "2026"}"#)
        #expect(dated["started"] == "2026-01" && dated["finished"] == "2026")
        let refused = try await kiosk.send("PUT", path, #"{"finished": "2025-12-31"}"#)
        #expect(refused.status == 422 && refused.code == "reading")
        let cleared = try await kiosk.send("PUT", path, #"{"started": null}"#)
        #expect(cleared.json["started"] is NSNull && cleared["finished"] == "2026")
        let wrong = try await kiosk.send("PUT", path, #"{"started": "2026-02-30"}"#)
        #expect(wrong.status == 422 && wrong.code == "field.started")
        try await kiosk.stop()
    }

    @Test func `an earlier reading is added, dated and deleted; the one that counts stays`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .read)
        // If one of two readings has no dates, it counts as the earlier one.
        _ = try await kiosk.send("PUT", "/api/books/\(book.id)/dates", #"{"finished": "2020"}"#)
        let added = try await kiosk.send(
            "POST", "/api/books/\(book.id)/readings", #"{"started": "1999-07", "finished": "1999-08"}"#)
        #expect(added.status == 201 && added.number("number") == 1 && added["state"] == "finished")
        let id = try #require(added["id"])
        let dated = try await kiosk.send("PUT", "/api/books/\(book.id)/readings/\(id)/dates", #"{"started": "1998"}"#)
        #expect(dated["id"] == id && dated["started"] == "1998")
        let deleted = try await kiosk.send("DELETE", "/api/books/\(book.id)/readings/\(id)")
        #expect(deleted.status == 200 && deleted.change != nil)
        let gone = try await kiosk.send("DELETE", "/api/books/\(book.id)/readings/\(id)")
        #expect(gone.status == 404 && gone.code == "noSuchReading")
        let counted = try #require(try await kiosk.library.book(book.id)?.copy.reading?.id)
        let kept = try await kiosk.send("DELETE", "/api/books/\(book.id)/readings/\(counted)")
        #expect(kept.status == 422 && kept.code == "reading")
        try await kiosk.stop()
    }

    @Test func `the figures are what scan stats book prints`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune", status: .reading)
        _ = try await kiosk.send("POST", "/api/books/\(book.id)/progress", #"{"page": 145}"#)
        let answer = try await kiosk.send("GET", "/api/books/\(book.id)/figures")
        #expect(answer.number("pages") == 145 && answer.list("readings").count == 1)
        try await kiosk.stop()
    }
}
