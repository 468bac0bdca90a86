import Bookplate
import Foundation
import Library
import Station
import Testing

@testable import Kiosk

@Suite(.timeLimit(.minutes(5))) struct `A text of the pages` {
    private func texts(_ language: Language) throws -> Texts {
        try #require(try WebFolder.bundled.get().texts[language])
    }

    @Test(arguments: [
        (Language.english, "0 days", "1 day", "2 days", "1,200 days"),
        (.german, "0 Tage", "1 Tag", "2 Tage", "1.200 Tage"),
        (.french, "0 jour", "1 jour", "2 jours", "1\u{202F}200 jours"),
    ])
    func `has a singular and a plural, with thousands separated`(
        _ language: Language, _ none: String, _ one: String, _ two: String, _ many: String
    ) throws {
        let texts = try texts(language)
        for (count, words) in [(0, none), (1, one), (2, two), (1200, many)] {
            #expect(texts("book.days", count: count) == words)
            #expect(texts("stats.nDays", n: count) == words)
        }
    }

    @Test func `uses the singular for one and a half in French`() throws {
        for (language, pace, words) in [
            (Language.english, 1.0, "1 page per hour"), (.english, 1.5, "1.5 pages per hour"),
            (.german, 1.04, "1 Seite pro Stunde"), (.french, 1.5, "1,5 page par heure"),
            (.french, 2, "2 pages par heure"),
        ] { #expect(try texts(language)("stats.pagesAnHour", n: pace) == words) }
    }

    @Test func `is filled in with a title as it is`() throws {
        let texts = try texts(.english)
        #expect(
            texts("library.messageTag", count: 1, ["name": "{count}|{name}"])
                == "Added the tag “{count}|{name}” to 1 book")
        #expect(texts.status(.toRead, of: "{status}") == "Status of {status}: To Read")
    }

    @Test func `has French typography`() throws {
        #expect(
            Language.french.typeset("« Oui » ; c'est : non ?") == "«\u{A0}Oui\u{A0}»\u{A0}; c’est\u{A0}: non\u{A0}?")
        #expect(Language.german.typeset("Was ist : das ?") == "Was ist : das ?")
        #expect(try texts(.french)("book.from", ["sources": "x"]) == "Source\u{A0}: x.")
    }

    @Test(arguments: [
        ("en", "English", "Englisch", "anglais"), ("de", "German", "Deutsch", "allemand"),
        ("de-AT", "German (AT)", "Deutsch (AT)", "allemand (AT)"), ("tlh", "tlh", "tlh", "tlh"),
    ])
    func `names a language in the user's language`(
        _ code: String, _ english: String, _ german: String, _ french: String
    )
        throws
    {
        #expect(try texts(.english).language(code: code) == english)
        #expect(try texts(.german).language(code: code) == german)
        #expect(try texts(.french).language(code: code) == french)
    }

    @Test(arguments: Language.allCases)
    func `for roles and formats is the same in the form, on the Book page and in the charts`(
        _ language: Language
    ) async throws {
        let texts = try texts(language)
        let headers = ["Accept-Language": language.rawValue]
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune") {
                $0.authors.append(Contributor(name: "Ann", role: .translator))
                $0.format = .audiobook
                $0.language = "de"
                $0.pageCount = 3600
            }
            let (role, format) = (texts.label(for: Contributor.Role.translator), texts.label(for: .audiobook))
            let page = try await kiosk.send("GET", "/books/\(book.id)", headers: headers).text
            #expect(page.contains("Ann (\(role))") && page.contains(">\(format)</button>"))
            #expect(page.contains(">\(texts.language(code: "de"))</button>") && page.contains("data-raw=\"de\""))
            #expect(page.contains(">\(texts.grouped(3600))</button>") && page.contains("data-raw=\"3600\""))
            let form = try await kiosk.send("GET", "/books/\(book.id)/edit", headers: headers).text
            #expect(
                form.contains(">\(role.capitalisedFirst)</option>") && form.contains(" selected>\(format)</option>"))
            let stats = try await kiosk.send("GET", "/stats?period=all", headers: headers).text
            #expect(stats.contains(">\(format)</a></th>"))
            let list = try await kiosk.send("GET", "/library?language=de", headers: headers).text
            #expect(list.contains(": \(texts.language(code: "de"))"))
        }
    }

    @Test(arguments: [
        (Language.english, ["on 17 March 1969", "in March 1969", "in 1969", "on 1 January 2026"]),
        (.german, ["am 17. März 1969", "im März 1969", "1969", "am 1. Januar 2026"]),
        (.french, ["le 17 mars 1969", "en mars 1969", "en 1969", "le 1er janvier 2026"]),
    ])
    func `names a date as precisely as it is known`(_ language: Language, _ words: [String]) throws {
        let days = try ["1969-03-17", "1969-03", "1969", "2026-01-01"].map { try #require(CalendarDay($0)) }
        let texts = try texts(language)
        #expect(days.map(texts.when) == words)
    }

    @Test(arguments: [(Language.english, "None", "None"), (.german, "Keines", "Keines"), (.french, "Aucune", "Aucun")])
    func `has the gender of the missing thing`(_ language: Language, _ shelf: String, _ format: String) async throws {
        try await withStation { station in
            let scan = try await station.get("/scan", language: language.rawValue)
            #expect(scan.contains("id=\"preset-shelf\" ") && scan.contains("placeholder=\"\(shelf)\""))
            let book = try await station.kiosk.book("Dune")
            let page = try await station.get("/books/\(book.id)", language: language.rawValue)
            #expect(page.contains("[[&quot;&quot;,&quot;\(format)&quot;]"))
        }
    }

    @Test func `for screen readers names the field of a value and the book of a button`() async throws {
        try await withStation { station in
            let book = try await station.kiosk.book("Dune", status: .reading) { $0.language = "en" }
            for (language, names) in [
                ("en", ["Title: Dune", "Language: English", "Status of Dune: To Read", "Started: ", "Shelf: empty"]),
                ("de", ["Titel: Dune", "Sprache: Englisch", "Status von Dune: Zu lesen", "Begonnen: ", "Regal: leer"]),
                (
                    "fr",
                    ["Titre: Dune", "Langue: anglais", "Statut de Dune\u{A0}: À lire", "Commencé: ", "Étagère: vide"]
                ),
            ] {
                let page = try await station.get("/books/\(book.id)", language: language)
                for name in names { #expect(page.contains("aria-label=\"\(name)"), "\(language): \(name)") }
            }
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            try await station.send("PATCH", "/api/station/rows/\(item)", #"{"title":"Emma"}"#)
            for (language, names) in [
                ("en", ["Edit: Emma", "Look up again: Emma", "Skip: Emma", "Save: Emma"]),
                ("de", ["Bearbeiten: Emma", "Erneut nachschlagen: Emma", "Überspringen: Emma", "Speichern: Emma"]),
                ("fr", ["Modifier: Emma", "Relancer la recherche: Emma", "Passer: Emma", "Enregistrer: Emma"]),
            ] {
                let page = try await station.get("/intake", language: language)
                for name in names { #expect(page.contains("aria-label=\"\(name)\""), "\(language): \(name)") }
            }
            let home = try await station.get("/home")
            #expect(
                home.contains("aria-label=\"Update page: Dune\"") && home.contains("aria-label=\"Start session: Dune\"")
            )
        }
    }

    @Test func `of 512 characters is shortened on the page and complete in its tooltip`() async throws {
        let title = String(repeating: "Dune", count: 128)
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book(title)
            let page = try await kiosk.send("GET", "/books/\(book.id)").text
            #expect(
                page.contains("title=\"\(title)\"")
                    && page.contains("<span class=\"clamp\" dir=\"auto\">\(title)</span>"))
            let css = try await kiosk.send("GET", "/assets/book.css").text
            #expect(css.contains("-webkit-line-clamp: 4"))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The station on the pages` {
    @Test func `has its device's name, and this one is called so`() async throws {
        let kiosk = try await RunningKiosk(station: "vm") { _, ports in ports.device = "vm" }
        try await kiosk.use { kiosk in
            let station = StationClient(kiosk: kiosk)
            _ = try await station.capture("9780441478125")
            for (language, words) in [("en", "This station"), ("de", "Diese Station"), ("fr", "Cette station")] {
                let page = try await station.get("/intake", language: language)
                #expect(page.contains("<span class=\"faint\">\(words)</span>") && !page.contains(">vm<"))
            }
        }
        let other = try await RunningKiosk(station: "attic") { _, ports in ports.device = "vm" }
        try await other.use { kiosk in
            let station = StationClient(kiosk: kiosk)
            _ = try await station.capture("9780441478125")
            #expect(try await station.get("/intake").contains("<span class=\"faint\">attic</span>"))
        }
    }

    @Test func `says in the language of each page why a code is no book`() async throws {
        let hub = EventHub()
        let texts = try WebFolder.bundled.get().texts
        var listeners = Language.allCases.map { hub.events(in: $0).makeAsyncIterator() }
        let number = TypedNumber(text: "4006381333931", origin: .scanner)
        let refused = CaptureEvent(refused: number, .notABook(.ean13))
        let lost = Detection(isbn: try ISBN("9780441172719"), raw: "9780441172719", origin: .camera)
        for news: Station.News in [
            .refused(refused, .notABook(.ean13)), .camera(.failed(CameraError(.busy, "It is busy."))),
            .notCaptured([lost], LibraryError.locked(path: "/b")),
        ] {
            hub.send(try #require(news.event(texts)))
        }
        for (index, (reason, camera, missed)) in [
            (
                "This is the code of a product", "It is busy.",
                "The book was not captured. Another program has locked the library."
            ),
            (
                "Das ist ein Warencode", "Ein anderes Programm",
                "Das Buch wurde nicht erfasst. Ein anderes Programm hält"
            ),
            (
                "C’est un code de produit", "Un autre programme",
                "Le livre n’a pas été saisi. Un autre programme a verrouillé"
            ),
        ].enumerated() {
            let refused = await listeners[index].next().map(String.init(buffer:))
            #expect(refused?.contains("\"reason\":\"\(reason)") == true && refused?.contains("4006381333931") == true)
            let state = await listeners[index].next().map(String.init(buffer:))
            #expect(state?.contains("\"text\":\"\(camera)") == true)
            let isMissed = await listeners[index].next().map(String.init(buffer:))
            #expect(isMissed?.contains("\"reason\":\"\(missed)") == true)
        }
    }

    @Test(arguments: [
        (
            "en", "“many” is not a valid value for “Pages per day”. Enter a whole number",
            "is not a valid value for “Guests may browse”"
        ),
        ("de", "„many“ passt nicht zu „Seiten am Tag“. Eine ganze Zahl", "passt nicht zu „Gäste dürfen stöbern“"),
        (
            "fr", "«\u{A0}many\u{A0}» ne convient pas à «\u{A0}Pages par jour\u{A0}». Entrez",
            "ne convient pas à «\u{A0}Les invités"
        ),
    ])
    func `refuses a setting's value in the language of the page`(
        _ language: String, _ number: String, _ flag: String
    ) async throws {
        try await RunningKiosk().use { kiosk in
            for (name, words) in [("dailyGoal", number), ("guestView", flag)] {
                let answer = try await kiosk.send(
                    "PUT", "/api/settings/\(name)", #"{"value": "many"}"#, headers: ["Accept-Language": language])
                #expect(answer.status == 422 && answer.code == "refused")
                #expect(answer.text.contains(words), "\(answer.text)")
            }
        }
    }

    @Test(arguments: [
        ("/stats?period=own&from=2026-03-02&to=2026-03-01", "Der letzte Tag des Zeitraums liegt vor dem ersten."),
        (
            "/stats?period=own&from=gestern",
            "Die Daten des Zeitraums in der Form 2026-03-17, 2026-03 oder 2026 eingeben"
        ),
        ("/library?added=gestern", "„gestern“ ist hier nicht möglich."),
    ])
    func `refuses a URL that a person typed in their language`(_ path: String, _ words: String) async throws {
        try await RunningKiosk().use { kiosk in
            let page = try await kiosk.send("GET", path, headers: ["Accept": "text/html", "Accept-Language": "de"])
            #expect(page.status == 400 && page.text.contains(words), "\(page.text)")
        }
    }
}
