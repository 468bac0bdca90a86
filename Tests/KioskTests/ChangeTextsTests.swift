import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

@Suite(.timeLimit(.minutes(5))) struct `The summary of a change` {
    private static let texts = WebFolder.bundled.map(\.texts)

    private func summary(_ sentence: String, in language: Language) throws -> String {
        let texts = try Self.texts.get()
        let summaries = ChangeTexts(try #require(texts[language]), english: try #require(texts[.english]))
        let change = Change(id: ID(), at: Date(timeIntervalSince1970: 0), device: "", kind: .edit, summary: sentence)
        return summaries.summary(of: change).text
    }

    @Test(arguments: [
        (#"saved "Dune" and 23 more"#, "„Dune“ und 23 weitere gespeichert", "Enregistré : « Dune » et 23 autres"),
        (#"moved to the trash: "Emma""#, "In den Papierkorb gelegt: „Emma“", "Mis à la corbeille : « Emma »"),
        (#"tagged "Emma" with "sf""#, "„Emma“ mit „sf“ verschlagwortet", "Étiquette « sf » mise : « Emma »"),
        (#""Dune": Read, rated"#, "„Dune“: Gelesen, bewertet", "« Dune » : Lu, évalué"),
        (#""Dune": page 1200"#, "„Dune“: Seite 1.200", "« Dune » : page 1\u{202F}200"),
        (#""Dune": 37.5%"#, "„Dune“: 37,5 %", "« Dune » : 37,5 %"),
        (
            #""Dune": session of 30 min to page 52"#, "„Dune“: Sitzung von 30 Min. bis Seite 52",
            "« Dune » : séance de 30 min jusqu’à la page 52"
        ),
        (
            #"renamed the author "Mann, T." to "Thomas Mann" on 3 books"#,
            "Autor „Mann, T.“ in „Thomas Mann“ umbenannt (3 Bücher)",
            "Auteur « Mann, T. » renommé en « Thomas Mann » (3 livres)"
        ),
        (
            #"sorted the author "Ann Mann" as "Mann, Ann""#, "Autor „Ann Mann“ unter „Mann, Ann“ eingeordnet",
            "Auteur « Ann Mann » classé à « Mann, Ann »"
        ),
        (
            "imported 1 book from books.csv", "1 Buch aus „books.csv“ importiert",
            "Importé : 1 livre depuis « books.csv »"
        ),
        (
            #"marked "Dune" and 1 more as not the same"#, "„Dune“ und 1 weiteres als nicht dasselbe markiert",
            "« Dune » et 1 autre : pas le même livre"
        ),
        // A title that looks like another form.
        (
            #"tagged "Alone with "Her" with "Him"" with "sf""#,
            "„Alone with \"Her\" with \"Him\"“ mit „sf“ verschlagwortet",
            "Étiquette « sf » mise : « Alone with \"Her\" with \"Him\" »"
        ),
        ("did something new", "did something new", "did something new"),
    ])
    func `is in the language of the page, with its titles, numbers and names`(
        _ sentence: String, _ german: String, _ french: String
    ) throws {
        let plain = { (text: String) in text.replacing("\u{A0}", with: " ") }
        #expect(plain(try summary(sentence, in: .german)) == plain(german))
        #expect(plain(try summary(sentence, in: .french)) == plain(french))
    }

    @Test(arguments: [
        (#"saved "Dune" and 23 more"#, "saved “Dune” and 23 more"),
        (#""Dune": page 1200"#, "“Dune”: page 1,200"),
        ("changed the setting dailyGoal", "changed the setting “Pages per day”"),
        ("did something new", "did something new"),
    ])
    func `has the names of settings and quotation marks of the pages in English, too`(
        _ sentence: String, _ shown: String
    ) throws {
        #expect(try summary(sentence, in: .english) == shown)
    }

    @Test func `is in the language of the page for everything that a household does`() async throws {
        try await withWebKiosk { kiosk in
            func send(_ method: String, _ path: String, _ body: String = "{}") async throws -> String {
                let answer = try await kiosk.ask(method, path, body: body)
                #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.status) \(answer.body)")
                return answer.text("id") ?? ""
            }
            let dune = try await send("POST", "/api/books", #"{"title": "Dune", "pageCount": 400, "tags": ["sf"]}"#)
            let emma = try await send("POST", "/api/books", #"{"title": "Emma", "shelf": "Attic"}"#)
            let book = "/api/books/\(dune)"
            _ = try await send("PATCH", book, #"{"subtitle": "A novel", "rating": 4}"#)
            for status in ["reading", "onHold", "reading"] {
                _ = try await send("PUT", book + "/status", #"{"status": "\#(status)"}"#)
            }
            _ = try await send("POST", book + "/progress", #"{"page": 12}"#)
            _ = try await send("POST", book + "/progress", #"{"percent": 12.5}"#)
            _ = try await send("POST", book + "/readings", #"{"started": "2019", "finished": "2020"}"#)
            _ = try await send("PUT", book + "/dates", #"{"started": "2026-01-01"}"#)
            let start = kiosk.clock.now.addingTimeInterval(-90_000).rfc3339
            let session = try await send(
                "POST", book + "/sessions/past",
                #"{"start": "\#(start)", "minutes": 30, "startPage": 12, "endPage": 40}"#)
            _ = try await send("PATCH", "/api/sessions/\(session)", #"{"minutes": 40}"#)
            _ = try await send("DELETE", "/api/sessions/\(session)")
            _ = try await send("POST", book + "/sessions")
            for (kind, body) in [("notes", #"{"text": "Sand", "kind": "note"}"#), ("quotes", #"{"text": "Fear"}"#)] {
                let id = try await send("POST", book + "/" + kind, body)
                _ = try await send("PATCH", "/api/\(kind)/\(id)", #"{"text": "More"}"#)
                _ = try await send("DELETE", "/api/\(kind)/\(id)")
            }
            _ = try await send("POST", book + "/tags", #"{"name": "desert"}"#)
            _ = try await send("DELETE", book + "/tags", #"{"name": "desert"}"#)
            _ = try await send("PUT", "/api/settings/dailyGoal", #"{"value": 20}"#)
            _ = try await send("DELETE", "/api/books/\(emma)")
            _ = try await send("POST", "/api/books/\(emma)/restore")
            let library = kiosk.library
            let now = kiosk.clock.now
            _ = try await library.renameLabel(.tag, "sf", to: "SF", at: now)
            _ = try await library.addLabel(.shelf, "Cellar", to: [ID(rawValue: emma)], at: now)
            _ = try await library.mergeLabels(.shelf, ["Cellar"], into: "Attic", at: now)
            _ = try await library.removeLabel(.shelf, "Attic", from: [ID(rawValue: emma)], at: now)
            _ = try await library.deleteLabels(.shelf, ["Attic"], at: now)
            _ = try await library.addReader("Ben", naming: "Ada", at: now)
            for language in ["de", "fr"] {
                let page = try await kiosk.ask("GET", "/changes", [("Accept-Language", language)]).body
                let english = page.matches(of: /<span lang="en">([^<]*)/).map { String($0.1) }
                #expect(english.isEmpty, "\(language): \(english)")
                #expect(page.components(separatedBy: "<span lang=\"\(language)\">").count > 25)
            }
            let shown = try await kiosk.ask("GET", "/api/changes?limit=1", [("Accept-Language", "de")]).body
            #expect(
                shown.contains(#""summary":"added the reader \"Ben\"""#) && shown.contains("Leser „Ben“ hinzugefügt"))
        }
    }
}
