import Bookplate
import Foundation
import Library
import TestTools
import Testing

@testable import Kiosk

@Suite(.timeLimit(.minutes(5))) struct `A number on the keypad` {
    @Test(arguments: [
        ("9", "9"), ("978", "978"), ("9780", "978-0"), ("97804", "978-0-4"), ("978044", "978-0-44"),
        ("978044147812", "978-0-441-47812"), ("9780441478125", "978-0-441-47812-5"), ("97931", "979-31"),
        ("9783161484", "978-3-16-1484"), ("0441478123", "0-441-47812-3"), ("044147812", "0-441-47812"),
        ("080442957X", "0-8044-2957-X"), ("978-3 16", "978-3-16"),
    ])
    func `has the hyphens that are certain whatever follows`(_ typed: String, _ hyphenated: String) {
        #expect(ISBNAPI.hyphenated(typed) == hyphenated)
    }

    @Test(arguments: ["9790", "97804414781250", "12345678901", "X123", "978X"])
    func `has none if it is not the beginning of an ISBN`(_ typed: String) {
        #expect(ISBNAPI.hyphenated(typed) == nil)
    }

    @Test func `is answered with its error over HTTP`() async throws {
        try await withStation { station in
            let right = try await station.get("/api/isbn?text=0-441-47812-3")
            #expect(right == #"{"isbn13":"9780441478125","hyphenated":"0-441-47812-3","error":null}"#)
            let short = try await station.get("/api/isbn?text=97804")
            #expect(short.contains(#""isbn13":null,"hyphenated":"978-0-4","error":"This number has 5 digits"#))
            let wrong = try await station.get("/api/isbn?text=9780441478126")
            #expect(wrong.contains("should be 5, not 6"))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The Scan page` {
    @Test func `says what to do before the first book`() async throws {
        try await withStation { station in
            let page = try await station.get("/scan")
            #expect(page.contains("Ready for the first book"))
            #expect(page.contains(#"data-state="none""#))
            #expect(!page.contains(#"id="save-all""#))
        }
    }

    @Test func `labels the progress bar of the photos`() async throws {
        try await withStation { station in
            let page = try await station.get("/scan")
            let name = try #require(page.firstMatch(of: /<progress [^>]*aria-labelledby="([^"]+)"/)?.output.1)
            #expect(page.contains("<span id=\"\(name)\">"))
        }
    }

    @Test func `shows the newest book in the card, and all in the list, newest first`() async throws {
        try await withStation { station in
            let first = try await station.capture("9780441478125")
            let second = try await station.capture("9780441172719")
            let page = try await station.get("/scan")
            #expect(page.contains(#"id="card" data-live data-row="\#(second)" data-for="""#))
            let places = try [second, first].map { try #require(page.range(of: "id=\"row-\($0)\"")).lowerBound }
            #expect(places[0] < places[1])
            let other = try await station.get("/scan?row=\(first)")
            #expect(other.contains(#"id="card" data-live data-row="\#(first)" data-for="\#(first)""#))
        }
    }

    @Test func `opens the form for a missing title, without a Save button beside it`() async throws {
        try await withStation { station in
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            let page = try await station.get("/scan")
            #expect(page.contains("Unknown to all sources"))
            #expect(page.contains(#"<form class="edit" id="card-form" data-row="\#(item)" data-keys>"#))
            #expect(!page.contains(#"id="card-save""#))
            let row = try #require(page.split(separator: #"id="row-\#(item)""#).dropFirst().first).split(
                separator: "</li>")[0]
            #expect(row.contains(#"class="tick" role="checkbox" aria-checked="false""#))
        }
    }

    @Test func `names the books that it saves, so that later ones wait`() async throws {
        try await withStation { station in
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            try await station.send("PATCH", "/api/station/rows/\(item)", #"{"title":"The Left Hand of Darkness"}"#)
            let page = try await station.get("/scan")
            #expect(page.contains(#"data-saves="[&quot;\#(item)&quot;]">Save 1 book<"#))
            try await station.send("POST", "/api/station/rows/\(item)/save", #"{"anotherCopy":false}"#)
            let saved = try await station.get("/scan?row=\(item)")
            #expect(saved.contains("Undo saving 1 book"))
            // There is one Undo, and it undoes the act that it shows, not a later act of another page.
            let acts = saved.matches(of: /data-act="POST \/api\/station\/undo" data-body="([^"]*)"/).map(\.output.1)
            let change = try #require(saved.firstMatch(of: /data-change="([^"]+)"/)?.output.1)
            #expect(acts == ["{&quot;change&quot;:&quot;\(change)&quot;}"])
            #expect(!saved.contains(#"id="save-all""#))
        }
    }

    @Test func `has the row again at once when its save is undone on another page`() async throws {
        try await withStation { station in
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            try await station.send("PATCH", "/api/station/rows/\(item)", #"{"title":"The Left Hand of Darkness"}"#)
            try await station.send("POST", "/api/station/rows/\(item)/save", #"{"anotherCopy":false}"#)
            let saved = try await station.get("/scan?row=\(item)")
            let change = try #require(saved.firstMatch(of: /data-change="([^"]+)"/)?.output.1)
            try await station.send("POST", "/api/undo", #"{"change":"\#(change)"}"#)
            let page = try await station.get("/scan?row=\(item)")
            #expect(page.contains(#"id="card-save""#) && !page.contains("data-change="))
        }
    }

    @Test func `offers another copy of an owned book, but not on Enter`() async throws {
        try await withStation { station in
            var metadata = Metadata()
            metadata.title = "Dune"
            let dune = try Confirmed(
                enteredBy: .form, isbn: ISBN("9780441172719"), metadata: metadata, preset: Preset(shelf: "Attic"))
            _ = try await station.kiosk.library.add([dune], continuing: nil, at: Date())
            _ = try await station.capture("9780441172719")
            let page = try await station.get("/scan")
            #expect(page.contains("Already in the library, on Attic since "))
            #expect(page.contains(#"id="card-copy" data-key="c""#))
            #expect(!page.contains(#"data-key="Enter""#))
        }
    }

    @Test func `says that a book is in the library without being owned, so that nobody expects a second record`()
        async throws
    {
        try await withStation { station in
            let library = station.kiosk.library
            for (isbn, message) in [
                ("9780441172719", "In the library, but not as owned. Saving marks it as owned."),
                ("9780441478125", "In the trash. Saving restores it."),
            ] {
                var metadata = Metadata()
                metadata.title = "A book"
                let book = try Confirmed(enteredBy: .form, isbn: ISBN(isbn), metadata: metadata)
                let copy = try #require(try await library.add([book], continuing: nil, at: Date()).first).copy
                if message.contains("trash") {
                    _ = try await library.trash([copy], continuing: nil, at: Date())
                } else {
                    _ = try await library.update([copy], continuing: nil, at: Date()) { $0.isOwned = false }
                }
                let row = try await station.capture(isbn)
                try await station.becomes("found", row)
                #expect(try await station.get("/scan?row=\(row)").contains(message))
            }
        }
    }

    @Test func `offers to clear a book that was captured twice once one of the two is saved`() async throws {
        try await withStation { station in
            let first = try await station.capture("9780441478125")
            try await station.becomes("notFound", first)
            try await station.send("PATCH", "/api/station/rows/\(first)", #"{"title":"The Left Hand of Darkness"}"#)
            let second = try await station.capture("9780441478125")
            try await station.becomes("again", second)
            #expect(!(try await station.get("/scan?row=\(second)")).contains(#"id="clear-owned""#))
            try await station.send("POST", "/api/station/rows/\(first)/save", #"{"anotherCopy":false}"#)
            var page = ""
            try await wait(for: "the row to be owned") {
                page = try await station.get("/scan?row=\(second)")
                return page.contains(#"id="clear-owned""#)
            }
            #expect(page.contains(#"data-body="{&quot;ids&quot;:[&quot;\#(second)&quot;]}">Skip 1 owned book<"#))
            #expect(page.contains("Already in the library since "))
        }
    }

    @Test func `lists saved books below the open ones until they are cleared, and can still undo their save`()
        async throws
    {
        try await withStation { station in
            let first = try await station.capture("9780441478125")
            let second = try await station.capture("9780441172719")
            for item in [first, second] { try await station.becomes("notFound", item) }
            try await station.send("PATCH", "/api/station/rows/\(second)", #"{"title":"Dune"}"#)
            try await station.send("POST", "/api/station/rows/\(second)/save", #"{"anotherCopy":false}"#)
            let page = try await station.get("/scan")
            let places = try ["row-\(first)", "clear-saved", "row-\(second)"].map {
                try #require(page.range(of: "id=\"\($0)\"")).lowerBound
            }
            #expect(places == places.sorted() && page.contains("<span>1 saved</span>"))
            // The card shows the newest capture, even if it is saved.
            #expect(page.contains(#"id="card" data-live data-row="\#(second)""#))
            try await station.send("POST", "/api/station/clear", "{}")
            let cleared = try await station.get("/scan")
            #expect(!cleared.contains("row-\(second)") && !cleared.contains("clear-saved"))
            let change = try #require(cleared.firstMatch(of: /data-change="([^"]+)"/)?.output.1)
            try await station.send("POST", "/api/station/undo", #"{"change":"\#(change)"}"#)
            #expect(try await station.get("/scan").contains("row-\(second)"))
        }
    }

    @Test func `shows a hostile title as text`() async throws {
        try await withStation { station in
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            let title = #"<script>alert(1)</script>\" onerror=x {{t}} \u202Egnp.exe"#
            try await station.send("PATCH", "/api/station/rows/\(item)", #"{"title":"\#(title)"}"#)
            for path in ["/scan", "/intake"] {
                let page = try await station.get(path)
                #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onerror=x {{t}} gnp.exe"))
                #expect(!page.contains("<script>alert"))
            }
        }
    }

    @Test func `reports the state of camera and network and the number of missing titles`() async throws {
        let rig = try await StationRig()
        let station = StationClient(kiosk: rig.kiosk)
        let lamps = try await station.get("/api/station/lamps")
        #expect(lamps.contains(#""camera":{"state":"none""#))
        #expect(lamps.hasSuffix(#""offline":true,"untitled":0}"#))
        for (isbn, status) in [
            ("9780441013593", "found"), ("9780441478125", "notFound"), ("9780306406157", "unavailable"),
        ] {
            try await station.becomes(status, station.capture(isbn))
        }
        #expect(try await station.get("/api/station/lamps").hasSuffix(#""untitled":1}"#))
        try await rig.stop()
    }

    @Test(arguments: [("en", "Keys"), ("de", "Tasten"), ("fr", "Touches")])
    func `lists all keyboard shortcuts in every language`(_ language: String, _ title: String) async throws {
        try await withStation { station in
            let page = try await station.get("/keys", language: language)
            #expect(page.contains(">\(title)</h1>"))
            // A missing text would be shown by its key.
            #expect(!page.contains(">keys."))
        }
    }
}
