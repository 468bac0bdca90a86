import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The books' API` {
    private struct Saved: Decodable {
        var id: String
        var title: String?
        var change: String?
        var status: String
        var tags: [String]
        var shelf: String?
        var owned: Bool
        var wishlist: Bool
    }

    private struct Page: Decodable {
        var hits: [Saved]
        var total: Int
        var exact: Bool
        var next: String?
    }

    private struct Done: Decodable {
        var changed: Int
        var change: String?
    }

    @discardableResult
    private func add(_ client: Client, _ title: String, _ rest: String = "") async throws -> Saved {
        let answer = try await client.send("POST", "/api/books", "{\"title\":\"\(title)\"\(rest)}")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.json(Saved.self)
    }

    private func titles(_ client: Client, _ query: String) async throws -> [String] {
        let answer = try await client.get("/api/books?" + query)
        try #require(answer.status == 200, "\(answer.text)")
        return try answer.json(Page.self).hits.map { $0.title ?? "" }
    }

    @Test func `a book is entered with all fields of the form`() async throws {
        try await withKiosk { client in
            let body = """
                {"request":"a-request-1","title":"  Der Zauberberg ","subtitle":"Roman","isbnText":"978-3-10-048231-0",
                "authors":[{"name":"Thomas Mann"},{"name":"H. T. Lowe-Porter","role":"translator"},{"name":"  "}],
                "publisher":"S. Fischer","publishedDate":"1924-11","pageCount":1001,"language":"de",
                "originalLanguage":"de","authorNationality":"German","format":"physical","series":"GKFA",
                "seriesNumber":"5","description":"Davos.","subjects":["novel"],"previewLink":"https://example.org/a",
                "infoLink":"https://example.org/b","status":"read","started":"2026-01","finished":"2026-03-17",
                "tags":["berge"],"shelf":"Attic","owned":true,"wishlist":false,"favourite":true,"public":true,
                "rating":4.25,"recommendedBy":"Ann","wouldRecommend":true,"dailyGoal":20,"culturalGoal":true,
                "culturalGoalCategory":"German","note":"Snow."}
                """
            let answer = try await client.send("POST", "/api/books", body)
            try #require(answer.status == 201, "\(answer.text)")
            let saved = try answer.json(Saved.self)
            let stored = try await client.kiosk.library.book(ID(rawValue: saved.id))
            let book = try #require(stored)
            #expect(book.edition.metadata.title == "Der Zauberberg" && book.edition.isbn?.digits == "9783100482310")
            #expect(book.edition.metadata.authors.map(\.role) == [.author, .translator])
            #expect(book.edition.metadata.publishedDate == CalendarDay("1924-11"))
            #expect(book.edition.editedFields.isSuperset(of: [.title, .authors, .pageCount, .infoLink]))
            #expect(
                book.copy.rating == 4.25 && book.copy.isFavourite && book.copy.isPublic && book.copy.shelf == "Attic")
            #expect(book.copy.reading?.finished == CalendarDay("2026-03-17"))
            #expect(book.copy.wouldRecommend == true && book.copy.culturalGoalCategory == "German")
            let notes = try await client.kiosk.library.notes(of: book.id).map(\.text)
            #expect(notes == ["Snow."])
        }
    }

    @Test func `the same request twice makes one copy, and an owned edition gets a second one only on request`()
        async throws
    {
        try await withKiosk { client in
            let rest = ",\"isbnText\":\"9780441478125\",\"request\":\"press-twice\""
            let first = try await add(client, "Left Hand", rest)
            let second = try await add(client, "Left Hand", rest)
            #expect(first.id == second.id && first.change != nil && second.change == nil)
            let other = try await client.send("POST", "/api/books", "{\"title\":\"L\",\"isbnText\":\"9780441478125\"}")
            let code = try other.code
            #expect(other.status == 409 && code == "owned")
            try await add(client, "L", ",\"isbnText\":\"9780441478125\",\"anotherCopy\":true")
            let copies = try await titles(client, "").count
            #expect(copies == 2)
        }
    }

    @Test func `an invalid ISBN is kept as text`() async throws {
        try await withKiosk { client in
            let saved = try await add(client, "Wrong", ",\"isbnText\":\"978-0-441-47812-6\"")
            let book = try await client.kiosk.library.book(ID(rawValue: saved.id))
            #expect(book?.edition.isbn == nil && book?.edition.isbnText == "978-0-441-47812-6")
            let known = try await client.get("/api/known?isbn=978-0-441-47812-6").text
            #expect(known.contains("\"isbn13\":null") && !known.contains("\"refusal\":null"))
        }
    }

    @Test func `the form answers one item of the queue with its ISBN, and undo brings it back`()
        async throws
    {
        try await withKiosk { client in
            let library = client.kiosk.library
            let isbn = try ISBN("9780441478125")
            let detection = Detection(isbn: isbn, raw: isbn.digits, origin: .typed)
            let items = try await library.enqueue([detection, detection], preset: Preset(), lease: .zero, at: Date())
            let saved = try await add(client, "Left Hand", ",\"isbnText\":\"9780441478125\"")
            let left = try await library.items(in: [.waiting]).map(\.id)
            #expect(left == [items[1].id])
            let change = try #require(saved.change)
            let undone = try await client.send("POST", "/api/undo", "{\"change\":\"\(change)\"}")
            #expect(undone.status == 200)
            let waiting = try await library.items(in: [.waiting]).map(\.id)
            #expect(waiting == items.map(\.id))
        }
    }

    static let refused: [(body: String, status: Int, code: String)] = [
        ("{}", 422, "field.title"), (#"{"title":" \u200b "}"#, 422, "field.title"),
        (#"{"title":"a","pageCount":1000001}"#, 422, "field.pageCount"),
        (#"{"title":"a","rating":4.1}"#, 422, "field.rating"),
        (#"{"title":"a","status":"eaten"}"#, 400, "badField"),
        (#"{"title":"a","infoLink":"javascript:alert(1)"}"#, 422, "field.infoLink"),
        (#"{"title":"a","started":"2026-02-30"}"#, 422, "field.started"),
        (#"{"title":"a","status":"read","started":"2026-03","finished":"2026-02"}"#, 422, "field.finished"),
        (#"{"title":"a","note":"\#(String(repeating: "x", count: 5001))"}"#, 422, "field.note"),
        (#"{"title":"a","authors":[{"name":"b","role":"ghost"}]}"#, 400, "badField"),
        (#"{"title":"a","dailyGoal":0}"#, 422, "field.dailyGoal"), (#"{"title":7}"#, 400, "badField"),
        (#"{"title":"a","request":"x"}"#, 400, "badField"), (#"{"titel":"a"}"#, 400, "unknownField"),
        ("no", 400, "badJSON"),
    ]

    @Test(arguments: refused)
    func `an invalid value is refused with its field, and nothing is saved`(
        _ body: String, _ status: Int, _ code: String
    ) async throws {
        try await withKiosk { client in
            let answer = try await client.send("POST", "/api/books", body)
            let found = try answer.code
            #expect(answer.status == status && found == code, "\(answer.text)")
            let isEmpty = try await titles(client, "").isEmpty
            #expect(isEmpty)
        }
    }

    static let searches: [(query: String, titles: [String])] = [
        ("q=d%C3%BCne", ["Dune"]), ("status=read&status=reading&sort=title", ["Dune", "Emma"]),
        ("status=read&status=reading&tag=CLASSIC", ["Emma"]), ("shelf=A+%26+B", ["Emma"]),
        ("rating=4&author=frank%20herbert", ["Dune"]), ("wishlist=1", ["Faust"]), ("language=DE&owned=0", ["Faust"]),
        ("favourite=yes&q=&sort=title", ["Emma"]), ("sort=title", ["Dune", "Emma", "Faust"]),
        ("sort=title&reverse=1", ["Faust", "Emma", "Dune"]), ("added=..2001", []),
        ("added=2020..&sort=title", ["Dune", "Emma", "Faust"]), ("q=tag:classic+-lang:de", ["Emma"]),
        ("q=title-", ["Faust", "Emma", "Dune"]), ("q=title-&sort=title", ["Dune", "Emma", "Faust"]),
        ("q=tag:sf+OR+is:wishlist+%2Btitle", ["Dune", "Faust"]), ("q=-tag:sf&status=reading", ["Emma"]),
        ("q=filter:%22my+own%22", ["Faust"]),
    ]

    @Test func `lists are filtered by any of the values of a name and by all names`() async throws {
        try await withKiosk { client in
            try await add(
                client, "Dune", #","status":"read","tags":["sf"],"rating":4.5,"authors":[{"name":"Frank Herbert"}]"#)
            try await add(client, "Emma", #","status":"reading","tags":["classic"],"shelf":"A & B","favourite":true"#)
            try await add(client, "Faust", #","tags":["classic"],"wishlist":true,"owned":false,"language":"de""#)
            _ = try await client.kiosk.library.saveFilter("My own", "lang:de OR tag:none", at: Date())
            for (query, wanted) in Self.searches {
                let found = try await titles(client, query)
                #expect(found == wanted, "\(query)")
            }
        }
    }

    @Test func `a mistake in a search is refused by the API, and left out by the page while a person types`()
        async throws
    {
        try await withKiosk { client in
            try await add(client, "Dune", #","tags":["sf"]"#)
            for path in ["/api/books", "/api/books/facets"] {
                let refused = try await client.get(path + "?q=dune+rating:x")
                #expect(refused.status == 400)
                #expect(try refused.code == "badQuery")
                #expect(refused.text.contains("at character 6 (\\\"rating:x\\\")"), "\(refused.text)")
            }
            for (typed, ignored) in [
                ("du", nil), ("dune+ra", nil), ("dune+rating:", "rating:"), ("dune+rating:x", "rating:x"),
                ("dune+(tag:s", "tag:s"),
                ("%22dun", nil), ("dune+-", nil), ("dune+OR", "OR"),
            ] as [(String, String?)] {
                let page = try await client.get("/library?q=" + typed)
                #expect(page.status == 200)
                let isMatching = !["dune+ra", "dune+(tag:s"].contains(typed)
                #expect(page.text.contains("class=\"hit\"") == isMatching, "\(typed)")
                if typed.contains("(") {
                    #expect(page.text.contains("Left out of the search: ("))
                } else {
                    #expect(
                        page.text.contains("Left out of the search: \(ignored ?? "-")") == (ignored != nil), "\(typed)")
                }
            }
        }
    }

    @Test func `an order that the search names can be reversed`() async throws {
        try await withKiosk { client in
            try await add(client, "Dune", "")
            let page = try await client.get("/library?q=title-&view=grid")
            #expect(page.text.contains("href=\"/library?q=title-&amp;view=grid&amp;sort=title\""))
            let ascending = try await client.get("/library?q=title-&sort=title")
            #expect(ascending.text.contains("href=\"/library?q=title-&amp;sort=title&amp;reverse=1\""))
        }
    }

    @Test func `pages follow one another without gaps or duplicates`() async throws {
        try await withKiosk { client in
            for number in 1...7 { try await add(client, "Book \(number)") }
            var (seen, next): ([String], String?) = ([], nil)
            repeat {
                let after = next.map { "&after=" + PercentEncoding.encoded($0) } ?? ""
                let page = try await client.get("/api/books?sort=title&limit=3" + after).json(Page.self)
                seen += page.hits.compactMap(\.title)
                next = page.next
                #expect(page.exact)
            } while next != nil && seen.count < 20
            #expect(seen == (1...7).map { "Book \($0)" })
        }
    }

    @Test(arguments: [
        "status=eaten", "rating=6", "owned=perhaps", "sort=size", "reverse=1", "view=cube", "limit=0", "limit=501",
        "limit=x", "added=2024-13", "added=yesterweek", "colour=red", "q=%FF", "after=nowhere",
        String(repeating: "tag=a&", count: 201),
    ])
    func `an invalid query is refused with the allowed values`(_ query: String) async throws {
        try await withKiosk { client in
            // Facets have no pages.
            let paths = ["/api/books?", "/library?"] + (query.hasPrefix("after") ? [] : ["/api/books/facets?"])
            for path in paths {
                let answer = try await client.get(path + query)
                let code = answer.status == 400 ? try answer.code : ""
                #expect(answer.status == 400 && code == "badQuery", "\(path)\(query): \(answer.text.prefix(200))")
            }
        }
    }

    @Test func `facets count what each value would give`() async throws {
        try await withKiosk { client in
            try await add(client, "Dune", #","status":"read","tags":["sf"]"#)
            try await add(client, "Emma", #","tags":["classic","sf"]"#)
            let text = try await client.get("/api/books/facets?tag=classic").text
            #expect(text.contains(#""tags":[{"name":"sf","count":2},{"name":"classic","count":1}]"#))
            #expect(text.contains(#""toRead":1"#) && text.contains(#""read":0"#))
        }
    }

    @Test func `many books are changed in one act, and one undo reverts it`() async throws {
        try await withKiosk { client in
            let ids = [try await add(client, "A"), try await add(client, "B")].map { "\"\($0.id)\"" }.joined(
                separator: ",")
            let acts = [
                ("status", #","status":"read""#, "status=read"), ("tag", #","name":" Berge ""#, "tag=berge"),
                ("shelf", #","name":"Attic""#, "shelf=attic"), ("trash", "", "trash=1"),
            ]
            for (act, rest, filter) in acts {
                let done = try await client.send("POST", "/api/books/\(act)", "{\"ids\":[\(ids)]\(rest)}").json(
                    Done.self)
                #expect(done.changed == 2)
                let many = try await titles(client, filter).count
                #expect(many == 2, "\(act)")
                let change = try #require(done.change)
                let undone = try await client.send("POST", "/api/undo", "{\"change\":\"\(change)\"}")
                #expect(undone.status == 200, "\(undone.text)")
                let isEmpty = try await titles(client, filter).isEmpty
                #expect(isEmpty, "\(act)")
            }
        }
    }

    @Test func `an act that changes nothing has no change, and one with a missing book does nothing`()
        async throws
    {
        try await withKiosk { client in
            let book = try await add(client, "A", #","tags":["Berge"],"shelf":"Attic""#)
            let none = try await client.send("POST", "/api/books/tag", "{\"ids\":[\"\(book.id)\"],\"name\":\"berge\"}")
            #expect(none.text == #"{"changed":0,"change":null}"#)
            let gone = try await client.send(
                "POST", "/api/books/tag", "{\"ids\":[\"\(book.id)\",\"nobody\"],\"name\":\"x\"}")
            #expect(gone.status == 422)
            let isEmpty = try await titles(client, "tag=x").isEmpty
            #expect(isEmpty)
            _ = try await client.send("POST", "/api/books/untag", "{\"ids\":[\"\(book.id)\"],\"name\":\"BERGE\"}")
            _ = try await client.send("POST", "/api/books/shelf", "{\"ids\":[\"\(book.id)\"],\"name\":null}")
            let now = try await client.kiosk.library.book(ID(rawValue: book.id))
            #expect(now?.copy.tags == [] && now?.copy.shelf == nil)
        }
    }

    @Test(arguments: [
        ("status", #"{"ids":[]}"#, 422), ("status", #"{"ids":["a"],"status":"eaten"}"#, 422),
        ("tag", #"{"ids":["a"]}"#, 422),
        ("trash", #"{"ids":"all"}"#, 400), ("restore", "{}", 400),
    ])
    func `acts on many books are refused if they lack a value`(_ act: String, _ body: String, _ status: Int)
        async throws
    {
        try await withKiosk { client in
            let found = try await client.send("POST", "/api/books/\(act)", body).status
            #expect(found == status)
        }
    }

    @Test func `more than a thousand books at once are refused`() async throws {
        try await withKiosk { client in
            let ids = (0...1000).map { "\"\($0)\"" }.joined(separator: ",")
            let code = try await client.send("POST", "/api/books/trash", "{\"ids\":[\(ids)]}").code
            #expect(code == "badBooks")
        }
    }

    @Test func `names are completed, the most used first`() async throws {
        try await withKiosk { client in
            try await add(client, "A", #","tags":["Zürich","Zug"],"authors":[{"name":"Ödön"}]"#)
            try await add(client, "B", #","tags":["Zürich"],"shelf":"Zimmer""#)
            let tags = try await client.get("/api/suggestions?kind=tag&beginning=zu").text
            #expect(tags == #"{"suggestions":[{"name":"Zürich","count":2},{"name":"Zug","count":1}]}"#)
            let hasAuthor = try await client.get("/api/suggestions?kind=author&beginning=o").text.contains("Ödön")
            #expect(hasAuthor)
            let hasShelf = try await client.get("/api/suggestions?kind=shelf&limit=1").text.contains("Zimmer")
            #expect(hasShelf)
            for bad in ["", "?kind=book", "?kind=tag&limit=0", "?kind=tag&limit=51"] {
                let refused = try await client.get("/api/suggestions" + bad).status
                #expect(refused == 400)
            }
        }
    }

    @Test func `changes are listed, and only a named one is undone`() async throws {
        try await withKiosk { client in
            try await add(client, "Dune")
            let isListed = try await client.get("/api/changes?limit=5").text.contains("saved")
            #expect(isListed)
            let unnamed = try await client.send("POST", "/api/undo", "{}").status
            #expect(unnamed == 400)
            let left = try await titles(client, "")
            #expect(left == ["Dune"])
            let change = try await client.kiosk.library.changes(limit: 1)[0].id
            for _ in 0..<2 {
                let undone = try await client.send("POST", "/api/undo", "{\"change\":\"\(change)\"}").status
                let without = try await titles(client, "")
                #expect(undone == 200 && without.isEmpty)
                let redone = try await client.send("POST", "/api/redo", "{\"change\":\"\(change)\"}")
                let with = try await titles(client, "")
                #expect(redone.status == 200 && redone.text.contains("\"undone\":null") && with == ["Dune"])
            }
            let again = try await client.send("POST", "/api/redo", "{\"change\":\"\(change)\"}")
            let code = try again.code
            #expect(again.status == 422 && code == "redo")
            let refused = try await client.get("/api/changes?limit=0").status
            #expect(refused == 400)
        }
    }
}
