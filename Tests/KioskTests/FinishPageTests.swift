import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `The end of a book` {
    private func volume(_ number: String, _ kiosk: RunningKiosk, status: Copy.Status = .toRead) async throws -> Book {
        try await kiosk.book("Volume \(number)", status: status) { ($0.series, $0.seriesNumber) = ("Earthsea", number) }
    }

    @Test func `offers the next volume of the series, or says that it is missing`() async throws {
        let kiosk = try await RunningKiosk()
        try await kiosk.use { kiosk in
            let first = try await volume("1", kiosk, status: .reading)
            func sheet() async throws -> String { try await kiosk.send("GET", "/books/\(first.id)/finish").text }
            #expect(try await sheet().contains("The library has no further volume of Earthsea."))
            let fourth = try await volume("4", kiosk)
            var html = try await sheet()
            #expect(html.contains("Volume 2 of Earthsea is not in the library.") && html.contains("4: Volume 4"))
            #expect(html.contains("value=\"\(fourth.id)\"") && !html.contains("Put it on To Read"))
            _ = try await volume("2", kiosk, status: .read)
            let third = try await volume("3", kiosk, status: .onHold)
            html = try await sheet()
            #expect(html.contains("value=\"\(third.id)\"") && html.contains("Put it on To Read"))
            #expect(!html.contains("is not in the library"))
            let other = try await kiosk.book("Emma", status: .reading)
            let plain = try await kiosk.send("GET", "/books/\(other.id)/finish").text
            #expect(!plain.contains("finish-next") && plain.contains("finish-day"))
            #expect(try await kiosk.send("GET", "/books/nothing/finish").status == 404)
        }
    }

    @Test func `is one change with the rating, the note and the next book, which one undo takes back`() async throws {
        let kiosk = try await RunningKiosk()
        try await kiosk.use { kiosk in
            let (first, second) = (try await volume("1", kiosk, status: .reading), try await volume("2", kiosk))
            let path = "/api/books/\(first.id)/status"
            let done = try await kiosk.send(
                "PUT", path,
                #"{"status": "read", "on": "2026-02-03", "rating": 4.25, "note": "Cold.", "next": "\#(second.id)", "nextStatus": "reading"}"#
            )
            #expect(done.status == 200 && done["finished"] == "2026-02-03")
            func state() async throws -> [String] {
                let whole = try #require(try await kiosk.library.wholeBook(first.id))
                let next = try #require(try await kiosk.library.book(second.id))
                return [
                    whole.book.copy.status.rawValue, whole.book.copy.rating.map { "\($0)" } ?? "-",
                    whole.notes.map(\.text).joined(), next.copy.status.rawValue,
                ]
            }
            #expect(try await state() == ["read", "4.25", "Cold.", "reading"])
            _ = try await kiosk.library.undo(try #require(done.change), at: Date())
            #expect(try await state() == ["reading", "-", "", "toRead"])
            for body in [
                #"{"status": "read", "rating": 4.1}"#, #"{"status": "read", "rating": 6}"#,
                #"{"status": "read", "next": "\#(second.id)"}"#,
                #"{"status": "read", "next": "nothing", "nextStatus": "reading"}"#,
            ] {
                let status = try await kiosk.send("PUT", path, body).status
                #expect((400..<500).contains(status), "\(body)")
                #expect(try await state() == ["reading", "-", "", "toRead"], "\(body)")
            }
        }
    }
}
