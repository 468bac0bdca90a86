import Bookplate
import Foundation
import TestTools
import Testing

@testable import Kiosk

@Suite struct `A wishlist link` {
    private struct Shared {
        let kiosk: WebKiosk
        let id: String
        let path: String
    }

    private static func add(_ kiosk: WebKiosk, _ title: String, wishlist: Bool, by author: String = "N. K. Jemisin")
        async throws -> String
    {
        let answer = try await kiosk.ask(
            "POST", "/api/books",
            body: """
                {"title": "\(title)", "authors": [{"name": "\(author)"}], "publishedDate": "2015",
                "owned": \(!wishlist), "wishlist": \(wishlist), "tags": ["secret tag"]}
                """)
        #expect(answer.status == 201, "\(answer.body)")
        return try #require(answer.text("id"))
    }

    private static func make(_ kiosk: WebKiosk) async throws -> (id: String, path: String, address: String) {
        let answer = try await kiosk.ask("POST", "/api/wishlist-links", body: "{}")
        #expect(answer.status == 201, "\(answer.body)")
        let address = try #require(answer.text("address"))
        let path = try #require(address.firstRange(of: "/w/")).lowerBound
        return (try #require(answer.text("link.id")), String(address[path...]), address)
    }

    private func withLink(_ body: (Shared) async throws -> Void) async throws {
        try await withWebKiosk { kiosk async throws in
            let wish = try await Self.add(kiosk, "The Fifth Season", wishlist: true)
            _ = try await kiosk.ask("POST", "/api/books/\(wish)/notes", body: #"{"text": "heliotrope velvet"}"#)
            _ = try await Self.add(kiosk, "Owned Already", wishlist: false)
            let made = try await Self.make(kiosk)
            try await body(Shared(kiosk: kiosk, id: made.id, path: made.path))
        }
    }

    @Test func `shows the wishlist to anybody, and nothing else`() async throws {
        try await withLink { shared async throws in
            for language in ["en", "de", "fr"] {
                let page = try await shared.kiosk.askAsStranger(
                    "GET", shared.path, [("Accept", "text/html"), ("Accept-Language", language)])
                #expect(page.status == 200)
                #expect(page.body.contains("The Fifth Season") && page.body.contains("N. K. Jemisin"))
                #expect(page.body.contains("2015"))
                for hidden in ["Owned Already", "heliotrope", "secret tag", "/books/", "/home", "/api/"] {
                    #expect(!page.body.contains(hidden), "\(hidden)")
                }
            }
            let page = try await shared.kiosk.askAsStranger("GET", shared.path)
            #expect(page["set-cookie"] == nil && page["referrer-policy"] == "no-referrer")
            #expect(page["x-robots-tag"] == "noindex, nofollow" && page["cache-control"] == "no-store")
            // The household sees what everybody sees.
            let own = try await shared.kiosk.ask("GET", shared.path).body
            #expect(!own.contains("href=\"/home\"") && own.contains("The Fifth Season"))
            // The link opens nothing else, and the page changes nothing.
            #expect(try await shared.kiosk.askAsStranger("GET", "/api/books").status == 401)
            #expect(try await shared.kiosk.askAsStranger("POST", shared.path, body: "{}").status == 405)
            let foreign = try await shared.kiosk.ask("GET", shared.path, host: "evil.example")
            #expect(foreign.status == 403 && !foreign.body.contains("Fifth"))
        }
    }

    @Test func `is opened as before while guests may browse`() async throws {
        try await withLink { shared async throws in
            try await shared.kiosk.library.set("guestView", to: "1", at: shared.kiosk.clock.now)
            let page = try await shared.kiosk.askAsStranger("GET", shared.path).body
            #expect(page.contains("The Fifth Season") && !page.contains("Owned Already") && !page.contains("/books/"))
        }
    }

    @Test func `shows only the covers of its books`() async throws {
        try await withWebKiosk { kiosk async throws in
            let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 7, count: 64)
            var editions: [String] = []
            for (title, wishlist) in [("Wished", true), ("Owned", false)] {
                let copy = try await Self.add(kiosk, title, wishlist: wishlist)
                let book = try #require(try await kiosk.library.book(ID(rawValue: copy)))
                try await kiosk.library.keepOwnCover(png, of: book.edition.id)
                editions.append(book.edition.id.rawValue)
            }
            let path = try await Self.make(kiosk).path
            let page = try await kiosk.askAsStranger("GET", path).body
            #expect(page.contains("src=\"\(path)/covers/\(editions[0])\""))
            #expect(try await kiosk.askAsStranger("GET", "\(path)/covers/\(editions[0])").status == 200)
            #expect(try await kiosk.askAsStranger("GET", "\(path)/covers/\(editions[1])").status == 404)
            #expect(try await kiosk.askAsStranger("GET", "/covers/\(editions[0])").status == 401)
            let wrong = "/w/" + String(repeating: "0", count: 32)
            #expect(try await kiosk.askAsStranger("GET", "\(wrong)/covers/\(editions[0])").status == 404)
        }
    }

    @Test func `that is revoked or wrong is a page that does not exist`() async throws {
        try await withLink { shared async throws in
            let kiosk = shared.kiosk
            let html = [("Accept", "text/html")]
            #expect(try await kiosk.ask("DELETE", "/api/wishlist-links/\(shared.id)").status == 200)
            #expect(try await kiosk.ask("DELETE", "/api/wishlist-links/\(shared.id)").status == 404)
            let unknown = try await kiosk.askAsStranger("GET", "/no-such-page", html)
            for path in [shared.path, "/w/" + String(repeating: "f", count: 32), "/w/x", "/w/%00"] {
                let answer = try await kiosk.askAsStranger("GET", path, html)
                #expect(answer.status == unknown.status && unknown.status == 404, "\(path)")
                let plain = { (text: String) in text.replacing(/[0-9a-f]{16,}|data-made-at="\d+"/, with: "") }
                #expect(plain(answer.body) == plain(unknown.body), "\(path)")
            }
        }
    }

    @Test func `is not found by trying, and the tries cost nothing`() async throws {
        try await withLink { shared async throws in
            let kiosk = shared.kiosk
            for guess in 0..<20 {
                let token = String(repeating: "0", count: 30) + "\(guess + 10)"
                #expect(try await kiosk.askAsStranger("GET", "/w/\(token)", from: "127.0.0.9").status == 404)
            }
            // From this address, even the right token is not looked up; from another one, it is.
            #expect(try await kiosk.askAsStranger("GET", shared.path, from: "127.0.0.9").status == 404)
            #expect(try await kiosk.askAsStranger("GET", shared.path, from: "127.0.0.8").status == 200)
            kiosk.clock.advance(by: 61)
            #expect(try await kiosk.askAsStranger("GET", shared.path, from: "127.0.0.9").status == 200)
        }
    }

    @Test func `is made, listed and revoked by the household alone, and its token is shown once`() async throws {
        try await withLink { shared async throws in
            let kiosk = shared.kiosk
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            for (method, path) in [
                ("GET", "/api/wishlist-links"), ("POST", "/api/wishlist-links"),
                ("DELETE", "/api/wishlist-links/\(shared.id)"),
            ] {
                let body = method == "GET" ? nil : "{}"
                #expect(try await kiosk.askAsStranger(method, path, body: body).status == 401, "\(method)")
            }
            #expect(try await kiosk.askAsStranger("GET", "/wishlist-links", [("Accept", "text/html")]).status == 303)
            let token = shared.path.dropFirst("/w/".count)
            #expect(token.utf8.count == 32)
            _ = try await kiosk.askAsStranger("GET", shared.path)
            for path in ["/api/wishlist-links", "/wishlist-links"] {
                let answer = try await kiosk.ask("GET", path).body
                #expect(answer.contains(shared.id) && !answer.contains(token))
            }
            #expect(try await kiosk.ask("GET", "/wishlist-links").body.contains("last used"))
            let file = try Data(contentsOf: URL(fileURLWithPath: kiosk.kiosk.folder + "/library.sqlite"))
            #expect(file.range(of: Data(token.utf8)) == nil)
        }
    }

    @Test func `is one of at most ten of a reader, and shows that reader's wishlist`() async throws {
        try await withLink { shared async throws in
            let kiosk = shared.kiosk
            let anna = try await kiosk.ask("POST", "/api/readers", body: #"{"name": "Anna", "first": "Ben"}"#)
            let header = [("Bookplate-Reader", try #require(anna.text("id")))]
            let other = try await kiosk.ask("POST", "/api/wishlist-links", header, body: "{}")
            let path = try #require(other.text("address")?.split(separator: "/").last)
            let page = try await kiosk.askAsStranger("GET", "/w/\(path)").body
            #expect(!page.contains("The Fifth Season") && page.contains("There are no books on this wishlist"))
            // One reader's links are not in the other's list, and are not revoked there.
            #expect(try await !kiosk.ask("GET", "/api/wishlist-links", header).body.contains(shared.id))
            #expect(try await kiosk.ask("DELETE", "/api/wishlist-links/\(shared.id)", header).status == 404)
            for _ in 1..<WishlistLink.limit { _ = try await Self.make(kiosk) }
            let tooMany = try await kiosk.ask("POST", "/api/wishlist-links", body: "{}")
            #expect(tooMany.status == 422 && tooMany.body.contains("already 10 links"))
        }
    }

    @Test func `leads to an address at which other devices reach the service`() async throws {
        let own = [MachineAddress("127.0.0.2", interface: "lan0")]
        try await withWebKiosk({ configuration, ports in
            configuration.ownAddresses = { own }
            ports.network = NetworkChoice(stored: { "0.0.0.0" }, store: { _ in })
        }) { kiosk async throws in
            #expect(try await Self.make(kiosk).address.hasPrefix("http://localhost:\(kiosk.port)/w/"))
            #expect(try await kiosk.ask("GET", "/wishlist-links").body.contains("only this machine reaches"))
            _ = try await kiosk.ask("PUT", "/api/access-code", body: #"{"code": "kumquat 7"}"#)
            let made = try await kiosk.ask("POST", "/api/wishlist-links", body: "{}")
            let address = try #require(made.text("address"))
            #expect(address.hasPrefix("http://127.0.0.2:\(kiosk.port)/w/"))
            struct Answer: Decodable {
                struct Code: Decodable { let side: Int, path: String }
                let code: Code
            }
            let code = try JSONDecoder().decode(Answer.self, from: Data(made.body.utf8)).code
            #expect(try `A QR code`.read(code.side, code.path) == [address])
            // Behind a proxy with https, the page's own address is the right one.
            let cookie = try #require(try await kiosk.signIn().cookie)
            let proxied = try await kiosk.askAsStranger(
                "POST", "/api/wishlist-links", [("Cookie", cookie), ("Origin", "https://\(WebKiosk.stranger)")],
                body: "{}")
            #expect(proxied.text("address")?.hasPrefix("https://\(WebKiosk.stranger)/w/") == true)
        }
    }
}
