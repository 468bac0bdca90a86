import Bookplate
import FoundationEssentials
import Library
import Station
import Testing

@testable import Kiosk

private let day = CalendarDay("2026-03-17")!

@Suite struct `A refusal` {
    private struct Row {
        let refusal: any Refusal
        let (exit, http, code, hasText): (Int32, Int, String, Bool)

        init(_ refusal: any Refusal, _ exit: Int32, _ http: Int, _ code: String, hasText: Bool = true) {
            (self.refusal, self.exit, self.http, self.code, self.hasText) = (refusal, exit, http, code, hasText)
        }
    }

    /// Every refusal of the domain, the station and the library with its exit status, HTTP status and API code, and
    /// whether pages have a text for it.
    private static let table: [Row] =
        [
            Row(ISBNRefusal.empty, 3, 422, "isbn"),
            Row(ISBNRefusal.unexpectedCharacter("q", position: 3), 3, 422, "isbn"),
            Row(ISBNRefusal.wrongLength(9), 3, 422, "isbn"),
            Row(ISBNRefusal.notDigits("97801X"), 3, 422, "isbn"),
            Row(ISBNRefusal.misplacedX, 3, 422, "isbn"),
            Row(ISBNRefusal.wrongCheckDigit(given: "1", expected: "8", length: 13), 3, 422, "isbn"),
            Row(ISBNRefusal.ean8, 3, 422, "isbn"),
            Row(ReadingRefusal.finishedBeforeStarted(started: day, finished: day), 3, 422, "reading"),
            Row(ReadingRefusal.stoppedBeforeStarted(started: day, stopped: day), 3, 422, "reading"),
            Row(ReadingRefusal.negativePage(-1), 64, 422, "reading"),
            Row(ReadingRefusal.hugePage(9_999_999), 64, 422, "reading"),
            Row(ReadingRefusal.badPercent(101), 64, 422, "reading"),
            Row(ReadingRefusal.closed(.read), 3, 422, "reading"),
            Row(ReadingRefusal.noReading, 3, 422, "reading"),
            Row(ReadingRefusal.noSuchReading, 3, 404, "noSuchReading"),
            Row(ReadingRefusal.wrongEnd(.open), 3, 422, "reading"),
            Row(ReadingRefusal.wrongEnd(.stopped), 3, 422, "reading"),
            Row(ReadingRefusal.wrongEnd(.finished), 3, 422, "reading"),
            Row(ReadingRefusal.twoEnds, 3, 422, "reading"),
            Row(ReadingRefusal.lastReading(.dnf), 3, 422, "reading"),
            Row(ReadingRefusal.sessionRunning(title: "Dune"), 3, 422, "sessionRunning"),
            Row(ReadingRefusal.noSuchEntry, 3, 404, "noSuchEntry"),
            Row(ReadingRefusal.entryInFuture, 3, 422, "reading"),
            Row(ReadingRefusal.entryOfSession, 3, 422, "reading"),
            Row(SessionError.alreadyActive, 3, 422, "alreadyActive"),
            Row(SessionError.notActive, 3, 422, "notActive"),
            Row(SessionError.alreadyEnded, 3, 422, "alreadyEnded"),
            Row(SessionError.entryNotFound, 3, 404, "entryNotFound"),
            Row(SessionError.invalidPageNumber, 3, 422, "invalidPageNumber"),
            Row(SessionError.pageBeyondBook(page: 999, pageCount: 382), 3, 422, "pageBeyondBook"),
            Row(SessionError.sessionTooShort, 3, 422, "sessionTooShort"),
            Row(SessionError.persistenceFailed(LibraryError.coverTooLarge(bytes: 2, limit: 1)), 3, 422, "refused"),
            Row(SessionError.persistenceFailed(LibraryError.diskFull(path: "/b")), 74, 503, "unavailable"),
            Row(SessionError.noSuchSession, 3, 404, "noSuchSession"),
            Row(SessionError.clockWentBackwards(start: Date(timeIntervalSince1970: 0)), 3, 422, "clockWentBackwards"),
            Row(SessionError.startInFuture, 3, 422, "startInFuture"),
            Row(SessionError.endInFuture, 3, 422, "endInFuture"),
            Row(SessionError.endBeforeStart, 3, 422, "endBeforeStart"),
            Row(SessionError.sessionTooLong, 3, 422, "sessionTooLong"),
            Row(SessionError.stillRunning, 3, 422, "stillRunning"),
            Row(TextRefusal.empty(what: "note"), 64, 422, "text"),
            Row(TextRefusal.tooLong(what: "title", limit: 512, count: 600), 64, 422, "text"),
            Row(TextRefusal.farTooLong(what: "description", limit: 10_000), 64, 422, "text"),
            Row(TextRefusal.damaged(what: "shelf"), 64, 422, "text"),
            Row(InputRefusal.outOfRange(what: "page count", range: 1...9), 64, 422, "entry"),
            Row(InputRefusal.badRating(7), 64, 422, "entry"),
            Row(InputRefusal.noLink(what: "info link", text: "x"), 64, 422, "entry"),
            Row(InputRefusal.noIdentifier(text: "x"), 64, 422, "entry"),
            Row(InputRefusal.noDay(what: "date of publication", text: "2025-02-30"), 64, 422, "entry"),
            Row(LabelRefusal.none(what: "tag", name: "sf", near: []), 3, 422, "label"),
            Row(
                LabelRefusal.ambiguous(what: "author", name: "Mann", fits: ["Thomas Mann", "Heinrich Mann"]), 3, 422,
                "label"),
            Row(LabelRefusal.taken(what: "tag", name: "sf", by: "SF"), 3, 422, "label"),
            Row(LabelRefusal.alreadyOne(what: "tag", name: "sf"), 3, 422, "label"),
            Row(MergeRefusal.alreadyOne(title: "Dune"), 3, 422, "merge"),
            Row(
                MergeRefusal.differentISBNs(
                    kept: try! ISBN("9780441478125"), other: try! ISBN("9780140449266")), 3, 422, "merge"),
            Row(MergeRefusal.differentYears(kept: 1961, other: 1987), 3, 422, "merge"),
            Row(MergeRefusal.differentLanguages(kept: "pl", other: "en"), 3, 422, "merge"),
            Row(ReadingRefusal.noSessionToEnd(title: "Dune"), 3, 422, "reading"),
            Row(MergeRefusal.twoOpenReadings(title: "Dune"), 3, 422, "merge"),
            Row(UndoRefusal.noSuchChange, 3, 422, "undo"), Row(RedoRefusal.noSuchChange, 3, 422, "redo"),
            Row(InTrashRefusal(ID()), 3, 422, "inTrash"),
            Row(ConfirmRefusal.needsTitle(try! ISBN("9780441478125")), 3, 422, "needsTitle"),
            Row(AnnotationRefusal.noSuchNote("x"), 3, 404, "notThere"),
            Row(ExchangeError.empty(file: "a.csv"), 66, 422, "importFile"),
            Row(
                ExchangeError.wrongKind(file: "a.pdf", what: "a PDF document", advice: "Export the books as CSV."), 66,
                422, "importFile"),
            Row(ExchangeError.unknownColumns(file: "a.csv", found: ["x"]), 66, 422, "importFile"),
            Row(ExchangeError.foreignJSON(file: "a.json", reason: "x"), 66, 422, "importFile"),
            Row(ExchangeError.newerExport(file: "a.json", version: 9), 66, 422, "importFile"),
            Row(ExchangeError.cutShort(file: "a.json"), 66, 422, "importFile"),
            Row(ExchangeError.notThatFormat(file: "a.csv", .goodreads), 66, 422, "importFile"),
            Row(AnnotationRefusal.noSuchQuote("x"), 3, 404, "notThere"),
            Row(SearchRefusal.badPosition("x"), 64, 400, "badQuery"),
            Row(StationRefusal.badID, 3, 422, "refused"),
            Row(StationRefusal.none, 3, 404, "notThere"),
            Row(StationRefusal.tooMany(limit: 9), 3, 422, "refused"),
            Row(Station.Refusal.gone, 3, 404, "notThere"),
            Row(Station.Refusal.answered, 3, 422, "answered"),
            Row(Station.Refusal.nothingToUndo, 3, 422, "nothingToUndo"),
            Row(Station.Refusal.notNewest, 3, 422, "notNewest"),
            Row(Batch.TickRefusal.needsTitle, 3, 422, "needsTitle"),
            Row(Batch.TickRefusal.answered, 3, 422, "answered"),
            Row(FieldRefusal(field: "note", cause: TextRefusal.empty(what: "note")), 64, 422, "field.note"),
            Row(AccessCodeRefusal.tooShort, 64, 422, "refused"),
            Row(AccessCodeRefusal.tooLong, 64, 422, "refused"),
            Row(AccessCodeRefusal.control, 64, 422, "refused"),
            Row(WishlistLinkRefusal.tooMany, 3, 422, "refused"),
            Row(LibraryError.newerSchema(path: "/b", version: 2, known: 1), 78, 500, "fault", hasText: false),
            Row(LibraryError.foreign(path: "/b", what: "a text"), 65, 500, "fault", hasText: false),
            Row(LibraryError.corrupt(path: "/b", what: "SQLite code 11"), 65, 500, "fault", hasText: false),
            Row(LibraryError.alteredSchema(path: "/b", what: "x"), 65, 500, "fault", hasText: false),
            Row(
                LibraryError.notUpgraded(path: "/b", cause: .diskFull(path: "/b")), 74, 503, "unavailable",
                hasText: false),
            Row(LibraryError.networkFileSystem(path: "/b", type: "nfs"), 78, 500, "fault", hasText: false),
            Row(LibraryError.permission(path: "/b", errno: nil), 77, 500, "fault", hasText: false),
            Row(LibraryError.diskFull(path: "/b"), 74, 503, "unavailable", hasText: false),
            Row(LibraryError.noRoom(path: "/b", needed: 2, free: 1), 74, 503, "unavailable", hasText: false),
            Row(LibraryError.noBackupFolder(path: "/b"), 74, 503, "unavailable", hasText: false),
            Row(LibraryError.inputOutput(path: "/b", code: 5), 74, 503, "unavailable", hasText: false),
            Row(LibraryError.locked(path: "/b"), 75, 503, "unavailable", hasText: false),
            Row(LibraryError.inUse(path: "/b"), 75, 503, "unavailable", hasText: false),
            Row(LibraryError.wouldOverwrite(path: "/b", what: "a text"), 3, 422, "refused", hasText: false),
            Row(LibraryError.otherLibrary(path: "/b"), 3, 422, "refused", hasText: false),
            Row(LibraryError.noSuchBook(ID()), 3, 422, "refused", hasText: false),
            Row(LibraryError.notInTrash(ID()), 3, 422, "refused"),
            Row(LibraryError.noSuchEdition(ID()), 3, 422, "refused", hasText: false),
            Row(LibraryError.noSuchItem(ID()), 3, 422, "refused", hasText: false),
            Row(LibraryError.notWaiting(ID(), .skipped), 3, 422, "refused", hasText: false),
            Row(LibraryError.isbnInUse(try! ISBN("9780441478125")), 3, 422, "refused", hasText: false),
            Row(LibraryError.coverTooLarge(bytes: 2, limit: 1), 3, 422, "refused", hasText: false),
            Row(LibraryError.accessCode(errno: 12), 74, 503, "unavailable", hasText: false),
            Row(LibraryError.constraint(path: "/b", what: "CHECK"), 74, 500, "fault", hasText: false),
        ] + CodeKind.allCases.map { Row(ISBNRefusal.notABook($0), 3, 422, "isbn") }

    @Test func `has the exit status, the HTTP status and the code of its row`() {
        for row in Self.table {
            #expect(row.refusal.kind.exitStatus == row.exit, "\(row.refusal)")
            #expect(row.refusal.httpStatus == row.http, "\(row.refusal)")
            #expect(row.refusal.apiCode == row.code, "\(row.refusal)")
        }
    }

    @Test(arguments: Language.allCases) func `has a text in each language if pages show it`(_ language: Language) throws
    {
        let texts = try #require(try WebFolder().texts[language]).section("refusals")
        for row in Self.table {
            let text = texts[row.refusal.code] ?? texts["code \(row.refusal.code)"]
            #expect((text != nil) == row.hasText, "\(row.refusal.code)")
            if row.hasText, language != .english { #expect(text?.isEmpty == false, "\(row.refusal.code)") }
        }
    }

    @Test(arguments: Language.allCases) func `has a whole sentence in every language, without unfilled placeholders`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let english = try #require(try WebFolder().texts[.english])
        for refusal in Self.table.filter(\.hasText).map(\.refusal) where !refusal.namesFile {
            let words = try #require(texts.message(for: refusal), "\(refusal)")
            #expect(words.hasSuffix(".") || words.contains("https://") || words.contains("goodreads:"), "\(words)")
            #expect(words.first?.isLowercase != true, "\(words)")
            #expect(!words.contains("{") && !words.contains("refusals."), "\(words)")
            if language != .english { #expect(words != english.message(for: refusal), "\(refusal) is still English") }
        }
    }

    @Test func `has the same text and code on every route`() async throws {
        try await RunningKiosk().use { kiosk in
            let book = try await kiosk.book("Dune")
            for (method, path, body, status, code, words) in [
                (
                    "PATCH", "/api/books/\(book.id)", #"{"pageCount": -1}"#, 422, "field.pageCount",
                    "Die Seitenzahl: eine"
                ),
                ("POST", "/api/books", #"{"title": " "}"#, 422, "field.title", "Der Titel ist leer."),
                ("POST", "/api/station/captures", #"{"text": "97804"}"#, 422, "isbn", "hat 5 Ziffern"),
                ("POST", "/api/session/stop", "{}", 422, "notActive", "Es läuft keine Sitzung"),
                ("PATCH", "/api/notes/none", #"{"text": "x"}"#, 404, "notThere", "vielleicht wurde es gelöscht"),
                ("PATCH", "/api/tags", #"{"name": "None", "newName": "x"}"#, 422, "label", "Den Namen „None“ gibt"),
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
            "You cannot have finished the book on 17 March 2018, because you only started it in 2019. "
                + "Change or clear one of the two dates."
        ),
        (
            .german, "2019", "2018-03",
            "Das Buch kann nicht im März 2018 beendet worden sein, weil es erst 2019 begonnen wurde. "
                + "Eines der beiden Daten ändern oder leeren."
        ),
        (
            .german, "2019-03-17", "2018",
            "Das Buch kann nicht 2018 beendet worden sein, weil es erst am 17. März 2019 begonnen wurde. "
                + "Eines der beiden Daten ändern oder leeren."
        ),
        (
            .french, "2019-03-17", "2018-03",
            "Le livre ne peut pas avoir été terminé en mars 2018, car il a été commencé le 17 mars 2019. "
                + "Changez ou effacez l’une des deux dates."
        ),
    ])
    func `names a month or a year as precisely as a day`(
        _ language: Language, _ started: String, _ finished: String, _ words: String
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let days = try [started, finished].map { try #require(CalendarDay($0)) }
        #expect(texts.message(for: ReadingRefusal.finishedBeforeStarted(started: days[0], finished: days[1])) == words)
    }

    @Test(arguments: Language.allCases) func `of an unavailable library gives the reason without file names`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        let english = try #require(try WebFolder().texts[.english])
        let errors: [any Refusal] =
            [
                LibraryError.locked(path: "/b"), LibraryError.diskFull(path: "/b"),
                LibraryError.permission(path: "/b", errno: 1),
            ]
            + [RefusalKind.unavailable, .fault, .refused].map { KioskError($0, "/b is not there.") }
        for error in errors {
            let words = texts.reason(of: error)
            #expect(!words.contains("/b") && !words.contains("{") && !words.contains("refusals."), "\(words)")
            #expect(!words.contains("..") && !words.contains(". ."), "\(words)")
            #expect((words == english.reason(of: error)) == (language == .english), "\(words)")
        }
        let refusal = TextRefusal.empty(what: "note")
        #expect(texts.reason(of: refusal) == texts.message(for: refusal))
    }

    @Test(arguments: Language.allCases) func `of the camera is translated, and so is its advice`(
        _ language: Language
    ) throws {
        let texts = try #require(try WebFolder().texts[language])
        for kind in CameraError.Kind.allCases {
            let words = texts.message(for: CameraError(kind, "The camera fails."))
            #expect((words == "The camera fails.") == (language == .english), "\(kind)")
        }
        let english = try #require(try WebFolder().texts[.english])
        for hint in Hint.allCases {
            let words = try #require(texts.section("script")["hint_\(hint.rawValue)"], "\(hint)")
            #expect((words == english.section("script")["hint_\(hint.rawValue)"]) == (language == .english))
        }
    }
}
