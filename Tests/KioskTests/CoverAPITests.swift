import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite struct `Covers over HTTP` {
    private let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3]
    private let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 9]

    @Test func `are served with the type of their bytes, sandboxed, and cached while unchanged`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let path = "/covers/\(book.edition.id)"
        let none = try await kiosk.send("GET", path)
        #expect(none.status == 404)
        try await kiosk.library.keepCover(png, of: book.edition.id)
        let given = try await kiosk.send("GET", path)
        #expect(given.status == 200 && given.bytes == png && given.headers["content-type"] == "image/png")
        #expect(given.headers["content-security-policy"]?.contains("sandbox") == true)
        #expect(given.headers["x-content-type-options"] == "nosniff")
        let tag = try #require(given.headers["etag"])
        let same = try await kiosk.send("GET", path, headers: ["If-None-Match": tag, "Cache-Control": "no-cache"])
        #expect(same.status == 304 && same.bytes.isEmpty)
        let page = try await kiosk.send("GET", "/books/\(book.id)")
        #expect(page.text.contains("src=\"/covers/\(book.edition.id)?v="))
        try await kiosk.stop()
    }

    @Test func `bytes that are no picture are never served, whatever was stored`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        try await kiosk.library.keepCover(Array("<html><script>".utf8), of: book.edition.id)
        let answer = try await kiosk.send("GET", "/covers/\(book.edition.id)")
        #expect(answer.status == 404)
        for id in ["none", "..%2Flibrary.sqlite", "%00"] {
            let wrong = try await kiosk.send("GET", "/covers/\(id)")
            #expect(wrong.status == 404 || wrong.status == 400, "\(id)")
        }
        try await kiosk.stop()
    }

    @Test func `a person's photo stays until the person removes it`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let path = "/api/books/\(book.id)/cover"
        let kept = try await kiosk.send("PUT", path, bytes: jpeg, type: "image/jpeg")
        #expect(kept.status == 200 && (kept.json["cover"] as? [String: Any])?["own"] as? Bool == true)
        try await kiosk.library.keepCover(png, of: book.edition.id)
        let given = try await kiosk.send("GET", "/covers/\(book.edition.id)")
        #expect(given.bytes == jpeg && given.headers["content-type"] == "image/jpeg")
        let removed = try await kiosk.send("DELETE", path)
        #expect(removed.status == 200 && removed.json["cover"] is NSNull)
        let again = try await kiosk.send("DELETE", path)
        #expect(again.status == 404)
        try await kiosk.stop()
    }

    @Test func `a file that is no picture, is too large or belongs to no book is refused`() async throws {
        let kiosk = try await RunningKiosk()
        let book = try await kiosk.book("Dune")
        let large = jpeg + [UInt8](repeating: 0, count: CoverAPI.maxBytes)
        for (path, bytes, type, status) in [
            (book.id.rawValue, jpeg, "application/octet-stream", 415),
            (book.id.rawValue, [1, 2, 3], "image/jpeg", 415),
            (book.id.rawValue, Array("<svg onload='x'/>".utf8), "image/svg+xml", 415),
            (book.id.rawValue, [], "image/png", 415),
            (book.id.rawValue, large, "image/jpeg", 413), ("none", jpeg, "image/jpeg", 404),
        ] as [(String, [UInt8], String, Int)] {
            let answer = try await kiosk.send("PUT", "/api/books/\(path)/cover", bytes: bytes, type: type)
            #expect(answer.status == status, "\(path) \(type) \(bytes.count)")
        }
        #expect(try await kiosk.library.keptCover(of: book.edition.id) == nil)
        try await kiosk.stop()
    }

    @Test func `a damaged picture is refused, and one that cannot be checked now is not stored`() async throws {
        for (kind, status, code) in [
            (.refused, 422, "unsoundPicture"), (.unavailable, 503, "unavailable"),
        ] as [(RefusalKind, Int, String)] {
            let kiosk = try await RunningKiosk { _, ports in
                ports.readPhoto = { bytes in
                    #expect(bytes == jpeg)
                    throw KioskError(kind, "The photo could not be read.")
                }
            }
            let book = try await kiosk.book("Dune")
            let answer = try await kiosk.send(
                "PUT", "/api/books/\(book.id)/cover", bytes: jpeg, type: "image/jpeg")
            #expect(answer.status == status && answer.code == code)
            #expect(try await kiosk.library.keptCover(of: book.edition.id) == nil)
            try await kiosk.stop()
        }
    }
}
