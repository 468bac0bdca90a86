import Bookplate
import FoundationEssentials
import Station
import Testing

@testable import Kiosk

private let day = CalendarDay("2026-03-17")!

@Suite struct `What is refused` {
    private static let refusals: [any Error & Sendable] =
        [
            ISBNRefusal.empty, ISBNRefusal.unexpectedCharacter("q", position: 3), ISBNRefusal.wrongLength(9),
            ISBNRefusal.notDigits("97801X"), ISBNRefusal.misplacedX,
            ISBNRefusal.wrongCheckDigit(given: "1", expected: "8", length: 13), ISBNRefusal.ean8,
            ReadingRefusal.finishedBeforeStarted(started: day, finished: day),
            ReadingRefusal.stoppedBeforeStarted(started: day, stopped: day), ReadingRefusal.negativePage(-1),
            ReadingRefusal.hugePage(9_999_999), ReadingRefusal.badPercent(101), ReadingRefusal.closed(.read),
            ReadingRefusal.noReading, ReadingRefusal.noSuchReading, ReadingRefusal.wrongEnd(.open),
            ReadingRefusal.wrongEnd(.stopped), ReadingRefusal.wrongEnd(.finished), ReadingRefusal.twoEnds,
            ReadingRefusal.lastReading(.dnf), ReadingRefusal.sessionRunning, SessionError.alreadyActive,
            SessionError.notActive, SessionError.entryNotFound, SessionError.invalidPageNumber,
            SessionError.sessionTooShort, SessionError.persistenceFailed(ISBNRefusal.empty), SessionError.noSuchSession,
            SessionError.clockWentBackwards(start: Date(timeIntervalSince1970: 0)), SessionError.startInFuture,
            SessionError.endInFuture, SessionError.endBeforeStart, SessionError.sessionTooLong,
            SessionError.stillRunning,
            TextRefusal.empty(what: "note"), TextRefusal.tooLong(what: "title", limit: 512, count: 600),
            TextRefusal.farTooLong(what: "description", limit: 10_000), TextRefusal.damaged(what: "shelf"),
            InputRefusal.outOfRange(what: "page count", range: 1...9), InputRefusal.badRating(7),
            InputRefusal.noLink(what: "info link", text: "x"), InputRefusal.noIdentifier(text: "x"),
            InputRefusal.noDay(what: "date of publication", text: "2025-02-30"),
            LabelRefusal.none(what: "tag", name: "sf", near: []),
            LabelRefusal.ambiguous(what: "author", name: "Mann", fits: ["Thomas Mann", "Heinrich Mann"]),
            LabelRefusal.taken(what: "tag", name: "sf", by: "SF"), LabelRefusal.alreadyOne(what: "tag", name: "sf"),
            UndoRefusal.noSuchChange, AnnotationRefusal.noSuchNote("x"), SearchRefusal.badPosition("x"),
            StationRefusal.badID,
            StationRefusal.none, StationRefusal.tooMany(limit: 9), Station.Refusal.gone, Station.Refusal.answered,
            Station.Refusal.nothingToUndo, Batch.TickRefusal.needsTitle,
            FieldRefusal(field: "note", cause: TextRefusal.empty(what: "note")),
        ] + CodeKind.allCases.map { ISBNRefusal.notABook($0) }

    @Test(arguments: Language.allCases) func `is said in the language of the page, whole, with nothing left to fill in`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let english = try #require(try WebFolder().texts[.english])
        for refusal in Self.refusals {
            let words = try #require(texts.words(for: refusal), "\(refusal)")
            #expect(words.hasSuffix(".") || words.contains("https://") || words.contains("goodreads:"), "\(words)")
            #expect(words.first?.isLowercase != true, "\(words)")
            #expect(!words.contains("{") && !words.contains("refusals."), "\(words)")
            if language != .english { #expect(words != english.words(for: refusal), "\(refusal) is still English") }
        }
    }

    @Test func `is said so whichever route refuses it, with a word for programs`() async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune")
            for (method, path, body, status, code, words) in [
                (
                    "PATCH", "/api/books/\(book.id)", #"{"pageCount": -1}"#, 422, "field.pageCount",
                    "Die Seitenzahl: eine"
                ),
                ("POST", "/api/books", #"{"title": " "}"#, 422, "field.title", "Leer: der Titel."),
                ("POST", "/api/station/captures", #"{"text": "97804"}"#, 422, "isbn", "hat 5 Ziffern"),
                ("POST", "/api/session/stop", "{}", 422, "notActive", "Es läuft keine Sitzung"),
                ("PATCH", "/api/notes/none", #"{"text": "x"}"#, 404, "notThere", "vielleicht wurde es gelöscht"),
                ("PATCH", "/api/tags", #"{"name": "None", "newName": "x"}"#, 422, "label", "nichts namens „None“"),
                ("GET", "/api/books/none", nil, 404, "notThere", "Das gibt es nicht"),
                ("DELETE", "/api/stations/none", nil, 404, "notThere", "Diese Station gibt es nicht."),
                ("GET", "/api/books?after=nowhere", nil, 400, "badQuery", "Diese Stelle der Liste"),
            ] as [(String, String, String?, Int, String, String)] {
                let answer = try await kiosk.send(method, path, body, headers: ["Accept-Language": "de"])
                #expect(answer.status == status && answer.code == code, "\(path): \(answer.text)")
                #expect(answer.text.contains(words), "\(path): \(answer.text)")
            }
        }
    }

    @Test(arguments: [
        (
            Language.english, "2019", "2018-03-17",
            "It cannot be finished on 17 March 2018, before it was started in 2019. Change or clear one of the two days."
        ),
        (
            .german, "2019", "2018-03",
            "Im März 2018 beendet, aber erst 2019 begonnen: Einen der beiden Tage ändern oder leeren."
        ),
        (
            .german, "2019-03-17", "2018",
            "2018 beendet, aber erst am 17. März 2019 begonnen: Einen der beiden Tage ändern oder leeren."
        ),
        (
            .french, "2019-03-17", "2018-03",
            "Terminé en mars 2018 mais commencé le 17 mars 2019\u{A0}: changez ou effacez l’un des deux jours."
        ),
    ])
    func `is said of a month and of a year as of a day`(
        _ language: Language, _ started: String, _ finished: String, _ words: String
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let days = try [started, finished].map { try #require(CalendarDay($0)) }
        #expect(texts.words(for: ReadingRefusal.finishedBeforeStarted(started: days[0], finished: days[1])) == words)
    }

    @Test(arguments: Language.allCases) func `and why the library takes nothing just now, without its paths`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let english = try #require(try WebFolder().texts[.english])
        let troubles =
            KioskError.Cause.allCases.map { KioskError(.unavailable, "/b is not there.", cause: $0) }
            + [KioskError.Kind.unavailable, .fault, .refused].map { KioskError($0, "/b is not there.") }
        for trouble in troubles {
            let words = texts.reason(of: trouble) { _ in trouble }
            #expect(!words.contains("/b") && !words.contains("{") && !words.contains("refusals."), "\(words)")
            #expect(!words.contains("..") && !words.contains(". ."), "\(words)")
            #expect((words == english.reason(of: trouble) { _ in trouble }) == (language == .english), "\(words)")
        }
        let refusal = TextRefusal.empty(what: "note")
        #expect(texts.reason(of: refusal) { _ in troubles[0] } == texts.words(for: refusal))
    }

    @Test(arguments: Language.allCases) func `and what is wrong with the camera, and what would help it`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        for kind in CameraError.Kind.allCases {
            let words = texts.words(for: CameraError(kind, "The camera fails."))
            #expect((words == "The camera fails.") == (language == .english), "\(kind)")
        }
        let english = try #require(try WebFolder().texts[.english])
        for hint in Hint.allCases {
            let words = try #require(texts.section("script")["hint_\(hint.rawValue)"], "\(hint)")
            #expect((words == english.section("script")["hint_\(hint.rawValue)"]) == (language == .english))
        }
    }
}
