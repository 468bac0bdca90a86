import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `An edit of many books` {
    private func add(_ client: Client, _ json: String) async throws -> String {
        let answer = try await client.send("POST", "/api/books", json)
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])["id"] as? String
            ?? ""
    }

    private func book(_ client: Client, _ id: String) async throws -> Book {
        try #require(try await client.kiosk.library.book(ID(rawValue: id)))
    }

    @Test func `changes only the given fields, and one undo reverts it`() async throws {
        try await withKiosk { client in
            let dune = try await add(
                client,
                #"{"title":"Dune","tags":["sf","old"],"subjects":["Novel"],"authors":[{"name":"Frank Herbert"}],"language":"en"}"#
            )
            let emma = try await add(client, #"{"title":"Emma","rating":3,"publisher":"Murray"}"#)
            let edit =
                #""ids":["\#(dune)","\#(emma)"],"rating":4.5,"addTags":["classic"],"removeTags":["OLD"],"#
                + #""addSubjects":["Fiction"],"publisher":null,"owned":false,"#
                + #""authors":[{"name":"Ann Other","role":"translator"}]"#
            let preview = try await client.send("POST", "/api/books/edit", "{\(edit),\"dryRun\":true}")
            #expect(preview.status == 200, "\(preview.text)")
            #expect(preview.text.contains(#""books":2,"changed":2"#))
            #expect(
                preview.text.contains(
                    #"{"field":"publisher","changed":1,"was":[{"value":"Murray","count":1}],"others":0}"#),
                "\(preview.text)")
            #expect(try await book(client, dune).copy.rating == nil)

            let done = try await client.send("POST", "/api/books/edit", "{\(edit)}")
            #expect(done.status == 200 && done.text.contains(#""changed":2"#), "\(done.text)")
            let (first, second) = (try await book(client, dune), try await book(client, emma))
            #expect(first.copy.rating == 4.5 && second.copy.rating == 4.5 && !first.copy.isOwned)
            #expect(first.copy.tags == ["classic", "sf"] && second.copy.tags == ["classic"], "\(first.copy.tags)")
            #expect(first.edition.metadata.subjects == ["Novel", "Fiction"])
            #expect(second.edition.metadata.publisher == nil && first.edition.metadata.language == "en")
            #expect(Set(first.edition.metadata.authors.map(\.name)) == ["Frank Herbert", "Ann Other"])

            let change =
                try #require(
                    try JSONSerialization.jsonObject(with: done.body) as? [String: Any])["change"] as? String
            #expect(try await client.send("POST", "/api/undo", "{\"change\":\"\(change ?? "")\"}").status == 200)
            let back = try await book(client, dune)
            #expect(back.copy.rating == nil && back.copy.tags.sorted() == ["old", "sf"] && back.copy.isOwned)
        }
    }

    @Test(arguments: [
        ("", 400, "missingField"), (#","title":"One for all""#, 400, "unknownField"),
        (#","tags":[]"#, 400, "unknownField"),
        (#","rating":4.1"#, 422, "field.rating"), (#","status":"eaten""#, 400, "badField"),
        (#","addTags":[""]"#, 422, "field.addTags"), (#","dryRun":true"#, 400, "missingField"),
    ])
    func `is refused as a whole`(_ more: String, _ status: Int, _ code: String) async throws {
        try await withKiosk { client in
            let dune = try await add(client, #"{"title":"Dune"}"#)
            let answer = try await client.send("POST", "/api/books/edit", #"{"ids":["\#(dune)"]\#(more)}"#)
            #expect(answer.status == status, "\(answer.text)")
            #expect(try answer.code == code)
        }
    }

    @Test func `works through all results of a search piece by piece`() async throws {
        try await withKiosk { client in
            for number in 1...3 { _ = try await add(client, #"{"title":"Book \#(number)"}"#) }
            let done = try await client.send("POST", "/api/books/edit", #"{"query":"q=book","series":"Books"}"#)
            #expect(done.text.contains(#""changed":3"#) && done.text.contains(#""next":null"#), "\(done.text)")
            #expect(try await client.get("/api/books?q=series:books").text.contains("\"total\":3"))
        }
    }
}
