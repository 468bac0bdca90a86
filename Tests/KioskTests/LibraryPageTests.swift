import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The Library page` {
    private func add(_ visitor: Caller, _ json: String) async throws {
        let answer = try await visitor.send("POST", "/api/books", json)
        try #require(answer.status == 201, "\(answer.text)")
    }

    @Test(arguments: [
        ("en", "The library is empty"), ("de", "Die Bibliothek ist leer"), ("fr", "La bibliothèque est vide"),
    ])
    func `says what to do while it is empty`(_ language: String, _ words: String) async throws {
        try await withKiosk { visitor in
            let page = try await visitor.get("/library", language: language).text
            #expect(page.contains(words) && page.contains("href=\"/scan\"") && page.contains("href=\"/add\""))
        }
    }

    @Test func `marks what matched in the title, and says where else it matched`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, #"{"title":"Der Zauberberg","note":"Gelesen in Zürich am See."}"#)
            let byTitle = try await visitor.get("/library?q=zauber").text
            #expect(byTitle.contains("Der <mark>Zauber</mark>berg") || byTitle.contains("Der <mark>Zauberberg</mark>"))
            #expect(!byTitle.contains("Matched in"))
            let byNote = try await visitor.get("/library?q=zurich").text
            #expect(byNote.contains("Matched in notes:") && byNote.contains("<mark>Zürich</mark>"))
        }
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "\\\" onerror=alert(1) x=\\\"", "{{title}} {{{title}}}", "a\\u202Eb\\u0000c",
        "&amp;<b>",
    ])
    func `shows titles and names as text`(_ title: String) async throws {
        try await withKiosk { visitor in
            try await add(
                visitor,
                "{\"title\":\"\(title)\",\"authors\":[{\"name\":\"\(title)\"}],\"tags\":[\"\(title)\"],\"shelf\":\"\(title)\"}"
            )
            for path in [
                "/library", "/library?view=grid", "/library/filters", "/library?shelf=%3Cb%3E",
                "/library?q=%3Cscript%3E",
            ] {
                let page = try await visitor.get(path).text
                #expect(!page.contains("<script>alert") && !page.contains("\" onerror") && !page.contains("<b>"))
                #expect(!page.contains("\u{202E}") && !page.contains("\0"))
            }
        }
    }

    @Test func `says that nothing was found, and leads to all books and to the form`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, #"{"title":"Dune"}"#)
            let page = try await visitor.get("/library?q=qwertz+%26&status=read").text
            #expect(page.contains("Nothing found") && page.contains("href=\"/add?title=qwertz%20%26\""))
            #expect(page.contains("href=\"/library?q=qwertz%20%26\""))
            let leadsToForm = try await visitor.get("/library?q=978-0-441-47812-5").text.contains(
                "/add?isbn=978-0-441-47812-5")
            #expect(leadsToForm)
        }
    }

    @Test func `goes on where the page ends`() async throws {
        try await withKiosk { visitor in
            for number in 1...3 { try await add(visitor, #"{"title":"Book \#(number)"}"#) }
            let page = try await visitor.get("/library?limit=2&view=grid").text
            #expect(page.contains("id=\"more\" href=\"/library?view=grid&amp;after="))
            let whole = try await visitor.get("/library?limit=3").text
            #expect(!whole.contains("id=\"more\""))
        }
    }

    @Test func `counts its filters only on their own page, and shows those that are set`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, #"{"title":"Dune","status":"read","tags":["sf"],"rating":4.5}"#)
            let page = try await visitor.get("/library?status=read&tag=sf").text
            #expect(page.contains("href=\"/library?tag=sf\"") && page.contains("href=\"/library?status=read\""))
            #expect(page.contains("data-panel=\"/library/filters?status=read&amp;tag=sf\""))
            #expect(!page.contains("type=\"checkbox\" name=\"tag\""))
            let filters = try await visitor.get("/library/filters?status=read&tag=SF&q=du").text
            #expect(filters.contains("name=\"tag\" value=\"sf\" checked") && filters.contains("value=\"read\" checked"))
            #expect(filters.contains("<input type=\"hidden\" name=\"q\" value=\"du\">"))
        }
    }

    @Test func `shows the trash with the days that are left`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, #"{"title":"Dune"}"#)
            let books = try await visitor.kiosk.library.books(matching: BookQuery()).books
            let book = try #require(books.first)
            _ = try await visitor.kiosk.library.trash([book.id], at: Date())
            let shelf = try await visitor.get("/library").text
            #expect(!shelf.contains("Dune"))
            let trash = try await visitor.get("/library?trash=1").text
            #expect(trash.contains("Dune") && trash.contains("30 days left") && trash.contains("class=\"restore\""))
            #expect(!trash.contains("data-bulk=\"trash\""))
        }
    }

    @Test(arguments: [
        ("", ""), ("Zürich 😀", "Zürich 😀"),
        ("<a href=\"x\" b='c'>&amp;", "&lt;a href=&quot;x&quot; b=&#39;c&#39;&gt;&amp;amp;"),
    ])
    func `escapes what means something in HTML`(_ text: String, _ escaped: String) {
        #expect(PageText().escapeText(text) == escaped)
    }

    @Test func `takes white space for no search`() async throws {
        try await withKiosk { visitor in
            try await add(visitor, #"{"title":"Dune"}"#)
            let page = try await visitor.get("/library?q=+%20&status=").text
            #expect(page.contains("Dune"))
        }
    }
}
