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
    private func add(_ visitor: Caller, _ title: String, _ rest: String = "") async throws -> Saved {
        let answer = try await visitor.send("POST", "/api/books", "{\"title\":\"\(title)\"\(rest)}")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.json(Saved.self)
    }

    private func titles(_ visitor: Caller, _ query: String) async throws -> [String] {
        let answer = try await visitor.get("/api/books?" + query)
        try #require(answer.status == 200, "\(answer.text)")
        return try answer.json(Page.self).hits.map { $0.title ?? "" }
    }

    @Test func `a book is entered with everything that a person can say of it`() async throws {
        try await withKiosk { visitor in
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
            let answer = try await visitor.send("POST", "/api/books", body)
            try #require(answer.status == 201, "\(answer.text)")
            let saved = try answer.json(Saved.self)
            let stored = try await visitor.kiosk.library.book(ID(rawValue: saved.id))
            let book = try #require(stored)
            #expect(book.edition.metadata.title == "Der Zauberberg" && book.edition.isbn?.digits == "9783100482310")
            #expect(book.edition.metadata.authors.map(\.role) == [.author, .translator])
            #expect(book.edition.metadata.publishedDate == CalendarDay("1924-11"))
            #expect(book.edition.editedFields.isSuperset(of: [.title, .authors, .pageCount, .infoLink]))
            #expect(
                book.copy.rating == 4.25 && book.copy.isFavourite && book.copy.isPublic && book.copy.shelf == "Attic")
            #expect(book.copy.reading?.finished == CalendarDay("2026-03-17"))
            #expect(book.copy.wouldRecommend == true && book.copy.culturalGoalCategory == "German")
            let notes = try await visitor.kiosk.library.notes(of: book.id).map(\.text)
            #expect(notes == ["Snow."])
        }
    }

    @Test func `the same request twice makes one copy, an owned edition a second one only when told`() async throws {
        try await withKiosk { visitor in
            let rest = ",\"isbnText\":\"9780441478125\",\"request\":\"press-twice\""
            let first = try await add(visitor, "Left Hand", rest)
            let second = try await add(visitor, "Left Hand", rest)
            #expect(first.id == second.id && first.change != nil && second.change == nil)
            let other = try await visitor.send("POST", "/api/books", "{\"title\":\"L\",\"isbnText\":\"9780441478125\"}")
            let code = try other.code
            #expect(other.status == 409 && code == "owned")
            try await add(visitor, "L", ",\"isbnText\":\"9780441478125\",\"anotherCopy\":true")
            let copies = try await titles(visitor, "").count
            #expect(copies == 2)
        }
    }

    @Test func `a wrong ISBN stays as text`() async throws {
        try await withKiosk { visitor in
            let saved = try await add(visitor, "Wrong", ",\"isbnText\":\"978-0-441-47812-6\"")
            let book = try await visitor.kiosk.library.book(ID(rawValue: saved.id))
            #expect(book?.edition.isbn == nil && book?.edition.isbnText == "978-0-441-47812-6")
            let known = try await visitor.get("/api/known?isbn=978-0-441-47812-6").text
            #expect(known.contains("\"isbn13\":null") && !known.contains("\"refusal\":null"))
        }
    }

    @Test func `one item that the form answers leaves the intake, the others stay, and undo brings it back`()
        async throws
    {
        try await withKiosk { visitor in
            let library = visitor.kiosk.library
            let isbn = try ISBN("9780441478125")
            let detection = Detection(isbn: isbn, raw: isbn.digits, origin: .typed)
            let items = try await library.enqueue([detection, detection], preset: Preset(), lease: .zero, at: Date())
            let saved = try await add(visitor, "Left Hand", ",\"isbnText\":\"9780441478125\"")
            let left = try await library.items(in: [.waiting]).map(\.id)
            #expect(left == [items[1].id])
            let change = try #require(saved.change)
            let undone = try await visitor.send("POST", "/api/undo", "{\"change\":\"\(change)\"}")
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
    func `what cannot be is refused at its field, and nothing is saved`(
        _ body: String, _ status: Int, _ code: String
    ) async throws {
        try await withKiosk { visitor in
            let answer = try await visitor.send("POST", "/api/books", body)
            let told = try answer.code
            #expect(answer.status == status && told == code, "\(answer.text)")
            let isEmpty = try await titles(visitor, "").isEmpty
            #expect(isEmpty)
        }
    }

    static let searches: [(query: String, titles: [String])] = [
        ("q=d%C3%BCne", ["Dune"]), ("status=read&status=reading&sort=title", ["Dune", "Emma"]),
        ("status=read&status=reading&tag=CLASSIC", ["Emma"]), ("shelf=A+%26+B", ["Emma"]),
        ("rating=4&author=frank%20herbert", ["Dune"]), ("wishlist=1", ["Faust"]), ("language=DE&owned=0", ["Faust"]),
        ("favourite=yes&q=&sort=title", ["Emma"]), ("sort=title", ["Dune", "Emma", "Faust"]),
        ("sort=title&reverse=1", ["Faust", "Emma", "Dune"]), ("added=..2001", []),
        ("added=2020..&sort=title", ["Dune", "Emma", "Faust"]),
    ]

    @Test func `lists take the filters of the address, either within one and all between them`() async throws {
        try await withKiosk { visitor in
            try await add(
                visitor, "Dune", #","status":"read","tags":["sf"],"rating":4.5,"authors":[{"name":"Frank Herbert"}]"#)
            try await add(visitor, "Emma", #","status":"reading","tags":["classic"],"shelf":"A & B","favourite":true"#)
            try await add(visitor, "Faust", #","tags":["classic"],"wishlist":true,"owned":false,"language":"de""#)
            for (query, wanted) in Self.searches {
                let found = try await titles(visitor, query)
                #expect(found == wanted, "\(query)")
            }
        }
    }

    @Test func `pages follow one another without gap or double`() async throws {
        try await withKiosk { visitor in
            for number in 1...7 { try await add(visitor, "Book \(number)") }
            var (seen, next): ([String], String?) = ([], nil)
            repeat {
                let after = next.map { "&after=" + PercentEncoding.encoded($0) } ?? ""
                let page = try await visitor.get("/api/books?sort=title&limit=3" + after).json(Page.self)
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
    func `what cannot be asked for is answered with what can`(_ query: String) async throws {
        try await withKiosk { visitor in
            // Facets have no places.
            let paths = ["/api/books?", "/library?"] + (query.hasPrefix("after") ? [] : ["/api/books/facets?"])
            for path in paths {
                let answer = try await visitor.get(path + query)
                let code = answer.status == 400 ? try answer.code : ""
                #expect(answer.status == 400 && code == "badQuery", "\(path)\(query): \(answer.text.prefix(200))")
            }
        }
    }

    @Test func `facets count what each value would give`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, "Dune", #","status":"read","tags":["sf"]"#)
            try await add(visitor, "Emma", #","tags":["classic","sf"]"#)
            let text = try await visitor.get("/api/books/facets?tag=classic").text
            #expect(text.contains(#""tags":[{"name":"sf","count":2},{"name":"classic","count":1}]"#))
            #expect(text.contains(#""toRead":1"#) && text.contains(#""read":0"#))
        }
    }

    @Test func `many books change in one act, and one undo takes it back`() async throws {
        try await withKiosk { visitor in
            let ids = [try await add(visitor, "A"), try await add(visitor, "B")].map { "\"\($0.id)\"" }.joined(
                separator: ",")
            let acts = [
                ("status", #","status":"read""#, "status=read"), ("tag", #","name":" Berge ""#, "tag=berge"),
                ("shelf", #","name":"Attic""#, "shelf=attic"), ("trash", "", "trash=1"),
            ]
            for (act, rest, filter) in acts {
                let done = try await visitor.send("POST", "/api/books/\(act)", "{\"ids\":[\(ids)]\(rest)}").json(
                    Done.self)
                #expect(done.changed == 2)
                let many = try await titles(visitor, filter).count
                #expect(many == 2, "\(act)")
                let change = try #require(done.change)
                let undone = try await visitor.send("POST", "/api/undo", "{\"change\":\"\(change)\"}")
                #expect(undone.status == 200, "\(undone.text)")
                let isEmpty = try await titles(visitor, filter).isEmpty
                #expect(isEmpty, "\(act)")
            }
        }
    }

    @Test func `an act that changes nothing has no change, and one with a book that is not there does nothing`()
        async throws
    {
        try await withKiosk { visitor in
            let book = try await add(visitor, "A", #","tags":["Berge"],"shelf":"Attic""#)
            let none = try await visitor.send("POST", "/api/books/tag", "{\"ids\":[\"\(book.id)\"],\"name\":\"berge\"}")
            #expect(none.text == #"{"changed":0,"change":null}"#)
            let gone = try await visitor.send(
                "POST", "/api/books/tag", "{\"ids\":[\"\(book.id)\",\"nobody\"],\"name\":\"x\"}")
            #expect(gone.status == 422)
            let isEmpty = try await titles(visitor, "tag=x").isEmpty
            #expect(isEmpty)
            _ = try await visitor.send("POST", "/api/books/untag", "{\"ids\":[\"\(book.id)\"],\"name\":\"BERGE\"}")
            _ = try await visitor.send("POST", "/api/books/shelf", "{\"ids\":[\"\(book.id)\"],\"name\":null}")
            let now = try await visitor.kiosk.library.book(ID(rawValue: book.id))
            #expect(now?.copy.tags == [] && now?.copy.shelf == nil)
        }
    }

    @Test(arguments: [
        ("status", #"{"ids":[]}"#, 422), ("status", #"{"ids":["a"],"status":"eaten"}"#, 422),
        ("tag", #"{"ids":["a"]}"#, 422),
        ("trash", #"{"ids":"all"}"#, 400), ("restore", "{}", 400),
    ])
    func `acts on many books say what they need`(_ act: String, _ body: String, _ status: Int) async throws {
        try await withKiosk { visitor in
            let told = try await visitor.send("POST", "/api/books/\(act)", body).status
            #expect(told == status)
        }
    }

    @Test func `more than a thousand books at once are refused`() async throws {
        try await withKiosk { visitor in
            let ids = (0...1000).map { "\"\($0)\"" }.joined(separator: ",")
            let code = try await visitor.send("POST", "/api/books/trash", "{\"ids\":[\(ids)]}").code
            #expect(code == "badBooks")
        }
    }

    @Test func `names are completed, the most used first`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, "A", #","tags":["Zürich","Zug"],"authors":[{"name":"Ödön"}]"#)
            try await add(visitor, "B", #","tags":["Zürich"],"shelf":"Zimmer""#)
            let tags = try await visitor.get("/api/suggestions?kind=tag&beginning=zu").text
            #expect(tags == #"{"suggestions":[{"name":"Zürich","count":2},{"name":"Zug","count":1}]}"#)
            let hasAuthor = try await visitor.get("/api/suggestions?kind=author&beginning=o").text.contains("Ödön")
            #expect(hasAuthor)
            let hasShelf = try await visitor.get("/api/suggestions?kind=shelf&limit=1").text.contains("Zimmer")
            #expect(hasShelf)
            for bad in ["", "?kind=book", "?kind=tag&limit=0", "?kind=tag&limit=51"] {
                let refused = try await visitor.get("/api/suggestions" + bad).status
                #expect(refused == 400)
            }
        }
    }

    @Test func `changes are listed, and none is undone that was not named`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, "Dune")
            let isTold = try await visitor.get("/api/changes?limit=5").text.contains("saved")
            #expect(isTold)
            let unnamed = try await visitor.send("POST", "/api/undo", "{}").status
            #expect(unnamed == 400)
            let left = try await titles(visitor, "")
            #expect(left == ["Dune"])
            let refused = try await visitor.get("/api/changes?limit=0").status
            #expect(refused == 400)
        }
    }
}
