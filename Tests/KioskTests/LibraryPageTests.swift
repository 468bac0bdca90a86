import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The Library page` {
    private func add(_ client: Client, _ json: String) async throws {
        let answer = try await client.send("POST", "/api/books", json)
        try #require(answer.status == 201, "\(answer.text)")
    }

    @Test(arguments: [
        ("en", "Fill your library"), ("de", "Die Bibliothek füllen"), ("fr", "Remplissez votre bibliothèque"),
    ])
    func `says what to do while it is empty`(_ language: String, _ words: String) async throws {
        try await withKiosk { client in
            let page = try await client.get("/library", language: language).text
            #expect(
                page.contains(words) && page.contains("href=\"/scan\"") && page.contains("href=\"/add\"")
                    && page.contains("href=\"/import\""))
        }
    }

    @Test func `marks the match in the title, or names the field that matched`() async throws {
        try await withKiosk { client in
            try await add(client, #"{"title":"Der Zauberberg","note":"Gelesen in Zürich am See."}"#)
            let byTitle = try await client.get("/library?q=zauber").text
            #expect(byTitle.contains("Der <mark>Zauber</mark>berg") || byTitle.contains("Der <mark>Zauberberg</mark>"))
            #expect(!byTitle.contains("Matched in"))
            let byNote = try await client.get("/library?q=zurich").text
            #expect(byNote.contains("Matched in notes:") && byNote.contains("<mark>Zürich</mark>"))
        }
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "\\\" onerror=alert(1) x=\\\"", "{{title}} {{{title}}}", "a\\u202Eb\\u0000c",
        "&amp;<b>",
    ])
    func `shows titles and names as text`(_ title: String) async throws {
        try await withKiosk { client in
            try await add(
                client,
                "{\"title\":\"\(title)\",\"authors\":[{\"name\":\"\(title)\"}],\"tags\":[\"\(title)\"],\"shelf\":\"\(title)\"}"
            )
            for path in [
                "/library", "/library?view=grid", "/library/filters", "/library?shelf=%3Cb%3E",
                "/library?q=%3Cscript%3E",
            ] {
                let page = try await client.get(path).text
                #expect(!page.contains("<script>alert") && !page.contains("\" onerror") && !page.contains("<b>"))
                #expect(!page.contains("\u{202E}") && !page.contains("\0"))
            }
        }
    }

    @Test func `says that nothing was found, and links to all books and to the form`() async throws {
        try await withKiosk { client in
            try await add(client, #"{"title":"Dune"}"#)
            let page = try await client.get("/library?q=qwertz+%26&status=read").text
            #expect(page.contains("Nothing found") && page.contains("href=\"/add?title=qwertz%20%26\""))
            #expect(page.contains("href=\"/library?q=qwertz%20%26\""))
            let leadsToForm = try await client.get("/library?q=978-0-441-47812-5").text.contains(
                "/add?isbn=978-0-441-47812-5")
            #expect(leadsToForm)
        }
    }

    @Test func `links to the next page at the end of the list`() async throws {
        try await withKiosk { client in
            for number in 1...3 { try await add(client, #"{"title":"Book \#(number)"}"#) }
            let page = try await client.get("/library?limit=2&view=grid").text
            #expect(page.contains("id=\"more\" href=\"/library?view=grid&amp;after="))
            let whole = try await client.get("/library?limit=3").text
            #expect(!whole.contains("id=\"more\""))
        }
    }

    @Test func `counts the filters only in their panel, and shows the active ones`() async throws {
        try await withKiosk { client in
            try await add(client, #"{"title":"Dune","status":"read","tags":["sf"],"rating":4.5}"#)
            let page = try await client.get("/library?status=read&tag=sf").text
            #expect(page.contains("href=\"/library?tag=sf\"") && page.contains("href=\"/library?status=read\""))
            #expect(page.contains("data-panel=\"/library/filters?status=read&amp;tag=sf\""))
            #expect(!page.contains("type=\"checkbox\" name=\"tag\""))
            #expect(page.contains("href=\"/library/tidy\">Tidy up</a>"))
            let filters = try await client.get("/library/filters?status=read&tag=SF&q=du").text
            #expect(filters.contains("name=\"tag\" value=\"sf\" checked") && filters.contains("value=\"read\" checked"))
            #expect(filters.contains("<input type=\"hidden\" name=\"q\" value=\"du\">"))
        }
    }

    @Test func `shows the trash with the days left`() async throws {
        try await withKiosk { client in
            try await add(client, #"{"title":"Dune"}"#)
            let books = try await client.kiosk.library.books(matching: BookQuery()).books
            let book = try #require(books.first)
            _ = try await client.kiosk.library.trash([book.id], at: Date())
            let shelf = try await client.get("/library").text
            #expect(!shelf.contains("Dune"))
            let trash = try await client.get("/library?trash=1").text
            #expect(trash.contains("Dune") && trash.contains("30 days left") && trash.contains("class=\"restore\""))
            #expect(!trash.contains("data-bulk=\"trash\""))
        }
    }

    @Test(arguments: [
        ("", ""), ("Zürich 😀", "Zürich 😀"),
        ("<a href=\"x\" b='c'>&amp;", "&lt;a href=&quot;x&quot; b=&#39;c&#39;&gt;&amp;amp;"),
    ])
    func `escapes the special characters of HTML`(_ text: String, _ escaped: String) {
        #expect(HTMLEscaping().escapeText(text) == escaped)
    }

    @Test func `ignores a search for white space`() async throws {
        try await withKiosk { client in
            try await add(client, #"{"title":"Dune"}"#)
            let page = try await client.get("/library?q=+%20&status=").text
            #expect(page.contains("Dune"))
        }
    }
}
