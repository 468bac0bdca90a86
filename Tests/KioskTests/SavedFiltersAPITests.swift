import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `Saved filters` {
    /// The searches of the Library page and their queries, which must find the same books.
    static let addresses: [(address: String, query: String)] = [
        ("q=dune", "dune"), ("status=read&status=reading", "(status:read OR status:reading)"),
        ("tag=sf&tag=none", "(tag:\"sf\" OR tag:\"none\")"), ("shelf=A+%26+B", "shelf:\"A & B\""),
        ("author=Frank+Herbert", "author:\"Frank Herbert\""), ("language=de&owned=0", "language:de -is:owned"),
        ("rating=4&rating=unrated", "(rating:4 OR rating:unrated)"), ("wishlist=1", "is:wishlist"),
        ("missing=cover&missing=shelf", "(missing:cover OR missing:shelf)"),
        ("year=1960..1969&pages=..299", "year:1960..1969 pages:..299"),
        ("format=audiobook&publisher=Ace", "publisher:\"Ace\" format:audiobook"),
        ("added=this+year&sort=title", "added:\"this year\" title+"),
        ("q=dune+OR+emma&status=read", "(dune OR emma) status:read"),
        ("sort=rating&favourite=1", "is:favourite rating-"), ("sort=title&reverse=1&q=d", "d title-"),
        ("finished=2024-03..&view=grid", "finished:2024-03.."), ("owned=1&owned=0", ""), ("view=grid", ""),
        ("added=-30d..", "added:-30d.."),
    ]

    @Test func `are queries that find what the page shows`() async throws {
        try await withKiosk { client in
            for json in [
                #"{"title":"Dune","status":"read","tags":["sf"],"rating":4.5,"authors":[{"name":"Frank Herbert"}],"publishedDate":"1965","pageCount":250,"publisher":"Ace","format":"audiobook"}"#,
                #"{"title":"Emma","status":"reading","tags":["classic"],"shelf":"A & B","favourite":true,"owned":true}"#,
                #"{"title":"Faust","tags":["none"],"wishlist":true,"owned":false,"language":"de"}"#,
            ] {
                let answer = try await client.send("POST", "/api/books", json)
                try #require(answer.status == 201, "\(answer.text)")
            }
            for (address, query) in Self.addresses {
                let parsed = try LibraryAddress(address, zone: .gmt, now: Date())
                #expect(parsed.savedQuery == query, "\(address)")
                guard !query.isEmpty else { continue }
                let saved = try await client.send(
                    "POST", "/api/filters", "{\"name\":\"x\",\"address\":\"\(address)\"}")
                #expect(saved.status == 201, "\(address): \(saved.text)")
                let page = address.split(separator: "&").filter { $0 != "view=grid" }.joined(separator: "&")
                let (shown, found) = (
                    try await client.get("/api/books?" + page).text, try await client.get("/api/books?q=filter:x").text
                )
                #expect(Self.ids(shown) == Self.ids(found), "\(address)")
            }
        }
    }

    private static func ids(_ text: String) -> [String] { text.matches(of: /\{"id":"([^"]+)"/).map { String($0.1) } }

    @Test func `are listed, renamed, deleted and undone`() async throws {
        try await withKiosk { client in
            let saved = try await client.send("POST", "/api/filters", #"{"name":"Short","query":"pages:..200"}"#)
            #expect(saved.status == 201, "\(saved.text)")
            let object = try #require(try JSONSerialization.jsonObject(with: saved.body) as? [String: Any])
            let id = try #require(object["id"] as? String)
            let renamed = try await client.send("PATCH", "/api/filters/\(id)", #"{"name":"Brief"}"#)
            #expect(renamed.status == 200 && renamed.text.contains("\"Brief\""))
            let page = try await client.get("/library?q=filter:Brief").text
            #expect(page.contains("class=\"chip saved\"") && page.contains("id=\"delete-filter\""))
            let gone = try await client.send("DELETE", "/api/filters/\(id)", "{}")
            let change =
                try #require(
                    try JSONSerialization.jsonObject(with: gone.body) as? [String: Any])["change"] as? String
            #expect(try await client.get("/api/filters").text.contains("\"filters\":[]"))
            #expect(try await client.send("POST", "/api/undo", "{\"change\":\"\(change ?? "")\"}").status == 200)
            #expect(try await client.get("/api/filters").text.contains("\"Brief\""))
        }
    }

    @Test(
        arguments: [
            (#"{"name":"x"}"#, 400, "missingField"),
            (#"{"name":"x","query":"a","address":"q=a"}"#, 400, "missingField"),
            (#"{"name":"x","query":"rating:x"}"#, 400, "badQuery"), (#"{"name":"","query":"a"}"#, 422, "field.name"),
            (#"{"name":"x","query":"filter:x"}"#, 400, "badQuery"),
            (#"{"name":"x","address":"trash=1"}"#, 400, "badField"),
            (#"{"name":"x","address":"colour=red"}"#, 400, "badQuery"), (#"{"name":"x","query":""}"#, 422, nil),
        ] as [(String, Int, String?)])
    func `are refused with their reason`(_ body: String, _ status: Int, _ code: String?) async throws {
        try await withKiosk { client in
            let answer = try await client.send("POST", "/api/filters", body)
            #expect(answer.status == status, "\(answer.text)")
            if let code { #expect(try answer.code == code) }
        }
    }
}
