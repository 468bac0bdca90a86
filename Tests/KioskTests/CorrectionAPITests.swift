import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `Corrections of the reading history over HTTP` {
    /// Runs the body with a book of 382 pages and progress entries for pages 14 and 200, newest first.
    private func withHistory(
        _ body: (RunningKiosk, _ path: String, _ entries: [ProgressEntry]) async throws -> Void
    ) async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune", status: .reading)
            for page in [14, 200] {
                _ = try await kiosk.send("POST", "/api/books/\(book.id)/progress", "{\"page\": \(page)}")
            }
            try await body(kiosk, "/api/books/\(book.id)/progress", try await entries(kiosk, book.id))
        }
    }

    private func entries(_ kiosk: RunningKiosk, _ id: ID<Copy>) async throws -> [ProgressEntry] {
        guard let reading = try await kiosk.library.book(id)?.copy.reading else { return [] }
        return try await kiosk.library.progress(of: reading.id, limit: 20, offset: 0)
    }

    @Test func `change a page, its unit or its day, and can be undone`() async throws {
        try await withHistory { kiosk, path, entries in
            let wrong = entries[0].id
            let right = try await kiosk.send("PATCH", "\(path)/\(wrong)", #"{"page": 20}"#)
            #expect(right.status == 200 && right.number("page") == 20)
            let percent = try await kiosk.send("PATCH", "\(path)/\(wrong)", #"{"percent": 10.5}"#)
            #expect(percent.number("percent") == 10.5 && percent.json["page"] is NSNull)
            // The entry is dated earlier, so that the other one is the latest.
            let dated = try await kiosk.send("PATCH", "\(path)/\(wrong)", #"{"at": "2026-01-02T10:00:00Z"}"#)
            #expect(dated.number("page") == 14)
            let same = try await kiosk.send("PATCH", "\(path)/\(wrong)", #"{"percent": 10.5}"#)
            #expect(same.status == 200 && same.json["change"] is NSNull)
            for change in [dated, percent, right].compactMap(\.change) {
                let undone = try await kiosk.send("POST", "/api/undo", "{\"change\": \"\(change)\"}")
                #expect(undone.status == 200)
            }
            let reading = try #require(right["id"])
            let now = try await kiosk.send("GET", path.replacing("/progress", with: "/readings/\(reading)/progress"))
            #expect(now.list("entries").compactMap { $0["page"] as? Int } == [200, 14])
        }
    }

    @Test func `delete an entry, and undo restores it`() async throws {
        try await withHistory { kiosk, path, entries in
            let gone = try await kiosk.send("DELETE", "\(path)/\(entries[0].id)")
            #expect(gone.status == 200 && gone.number("page") == 14)
            let again = try await kiosk.send("DELETE", "\(path)/\(entries[0].id)")
            #expect(again.status == 404 && again.code == "noSuchEntry")
            _ = try await kiosk.library.undo(try #require(gone.change), at: Date())
            let back = try await kiosk.send("PATCH", "\(path)/\(entries[0].id)", #"{"page": 201}"#)
            #expect(back.number("page") == 201)
        }
    }

    @Test(arguments: [
        (#"{"page": -1}"#, 422, "reading", "no page -1"),
        (#"{"percent": 101}"#, 422, "reading", "0 to 100"),
        (#"{"at": "2999-01-01T00:00:00Z"}"#, 422, "reading", "in the future"),
        (#"{"at": "yesterday"}"#, 400, "badField", "time"), (#"{"page": 1, "percent": 1}"#, 400, "badField", "either"),
        (#"{"pages": 1}"#, 400, "unknownField", "pages"),
    ])
    func `are refused with the reason`(_ body: String, _ status: Int, _ code: String, _ word: String) async throws {
        try await withHistory { kiosk, path, entries in
            let refused = try await kiosk.send("PATCH", "\(path)/\(entries[0].id)", body)
            #expect(refused.status == status && refused.code == code && refused.text.contains(word), "\(refused.text)")
        }
    }

    @Test func `of the last page of a session are made at the session`() async throws {
        try await withHistory { kiosk, path, entries in
            let added = try await kiosk.send(
                "POST", path.replacing("progress", with: "sessions/past"),
                #"{"start": "2026-01-02T20:00:00Z", "minutes": 30, "startPage": 1, "endPage": 9}"#)
            let session = try #require(added["id"])
            let copy = ID<Copy>(rawValue: try #require(added["copyId"]))
            let own = try #require(try await self.entries(kiosk, copy).first { $0.session?.rawValue == session })
            let refused = try await kiosk.send("PATCH", "\(path)/\(own.id)", #"{"page": 8}"#)
            #expect(refused.status == 422 && refused.text.contains("when a session ended"))
            let one = try await kiosk.send("GET", "/api/sessions/\(session)")
            #expect(one.status == 200 && one["id"] == session && one.number("endPage") == 9)
            let none = try await kiosk.send("GET", "/api/sessions/\(session.suffix(12))")
            #expect(none.status == 404 && none.code == "noSuchSession")
            let page = try await kiosk.send("GET", "/books/\(copy)").text
            // The page shows the session once, among the sessions.
            #expect(page.contains("data-session=\"\(session)\"") && page.contains("data-entry=\"\(entries[0].id)\""))
            #expect(!page.contains("data-entry=\"\(own.id)\""))
        }
    }

    @Test func `are possible for each entry, however many there are`() async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune", status: .reading)
            for page in 1...80 { _ = try await kiosk.library.recordProgress(.page(page), of: book.id, at: Date()) }
            func count(_ page: Answered) -> Int { page.text.components(separatedBy: "data-entry=").count - 1 }
            let first = try await kiosk.send("GET", "/books/\(book.id)")
            #expect(count(first) == ShownEntries.atFirst)
            let reading = try #require(try await kiosk.library.book(book.id)?.copy.reading?.id)
            let all = try await kiosk.library.progress(of: reading, limit: 200, offset: 0).count
            #expect(first.text.contains("?reading=\(reading)&amp;entries=0#reading-\(reading)"))
            let more = try await kiosk.send("GET", "/books/\(book.id)?reading=\(reading)&entries=0")
            #expect(count(more) == ShownEntries.atATime && more.text.contains("entries=60#reading"))
            let last = try await kiosk.send("GET", "/books/\(book.id)?reading=\(reading)&entries=60")
            #expect(count(last) == all - 60 && last.text.contains("entries=0#reading"))
            #expect(more.text.utf8.count < 90_000)
            let wrong = try await kiosk.send("GET", "/books/\(book.id)?reading=\(reading)&entries=x")
            #expect(wrong.status == 400)
        }
    }
}
