import Bookplate
import FoundationEssentials
import Hummingbird

/// Sets a book's status, and edits its progress and its readings.
struct ReadingAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.put, "/api/books/:id/status", for: .household, setStatus),
            Route(.post, "/api/books/:id/progress", for: .household, record),
            Route(.patch, "/api/books/:id/progress/:entry", for: .household, correct),
            Route(.delete, "/api/books/:id/progress/:entry", for: .household, deleteProgress),
            Route(.put, "/api/books/:id/dates", for: .household, setDates),
            Route(.post, "/api/books/:id/readings", for: .household, add),
            Route(.put, "/api/books/:id/readings/:reading/dates", for: .household, setDates),
            Route(.delete, "/api/books/:id/readings/:reading", for: .household, delete),
            Route(.get, "/api/books/:id/readings/:reading/progress", for: .household, progress),
        ]
    }

    private func setStatus(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers([
            "status", "on", "session", "page", "end", "force", "rating", "note", "next", "nextStatus",
        ])
        let status = try sent.choice("status", Copy.Status.self).required(as: "status")
        let day = try sent.day("on").value
        let session = try sent.text("session").value.map(ID<Session>.init(rawValue:))
        let (page, end) = (try sent.page("page").value, try sent.instant("end").value)
        let isForced = try sent.bool("force").value ?? false
        guard session != nil || (page == nil && end == nil && !isForced) else {
            throw RequestRefusal(.badField, "\"page\", \"end\" and \"force\" need \"session\".")
        }
        let opinion = Opinion(
            rating: try Self.rating(sent),
            note: try sent.text("note").value.map { Note(text: $0, created: parts.ports.now()) })
        let next = try sent.text("next").value.map { next in
            NextBook(
                ID(rawValue: next), try sent.choice("nextStatus", Copy.Status.self).required(as: "nextStatus"))
        }
        return try await perform(context) {
            try await context.library.setStatus(
                status, of: $0, on: day,
                ending: session.map { SessionEnd($0, page: page, end: end, isForced: isForced) }, opinion: opinion,
                then: next, at: parts.ports.now())
        }
    }

    /// Returns the rating in stars; `nil` to keep the rating.
    private static func rating(_ sent: RequestObject) throws -> Double? {
        guard let rating = try sent.number("rating").value else { return nil }
        guard Copy.isRating(rating) else { throw InputRefusal.badRating(rating) }
        return rating
    }

    private func record(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["page", "percent", "at"])
        guard let amount = try Self.amount(sent) else { throw Self.oneOfTwo }
        let past = try sent.instant("at").value
        return try await perform(context) {
            try await context.library.recordProgress(amount, of: $0, on: past, at: parts.ports.now())
        }
    }

    /// Corrects a progress entry. Absent members leave their fields as they are.
    private func correct(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let entry = try context.id("entry", of: ProgressEntry.self)
        let sent = try await request.object()
        try sent.checkMembers(["page", "percent", "at"])
        let edit = ProgressEdit(amount: try Self.amount(sent), at: try sent.instant("at").value)
        return try await perform(context) {
            try await context.library.editProgress(entry, of: $0, edit, at: parts.ports.now())
        }
    }

    private func deleteProgress(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let entry = try context.id("entry", of: ProgressEntry.self)
        return try await perform(context) {
            try await context.library.deleteProgress(entry, of: $0, at: parts.ports.now())
        }
    }

    private static let oneOfTwo = RequestRefusal(.badField, "The request must contain either \"page\" or \"percent\".")

    private static func amount(_ sent: RequestObject) throws -> ProgressEntry.Amount? {
        switch (try sent.page("page").value, try sent.number("percent").value) {
        case (let page?, nil): .page(page)
        case (nil, let percent?): .percent(percent)
        case (nil, nil): nil
        case (_?, _?): throw oneOfTwo
        }
    }

    private func setDates(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["started", "finished", "stopped"])
        let edit = DateEdit(
            started: try sent.day("started"), finished: try sent.day("finished"), stopped: try sent.day("stopped"))
        let reading = context.parameters.get("reading").map { ID<Reading>(rawValue: $0) }
        return try await perform(context) {
            try await context.library.setDates(edit, of: $0, reading: reading, at: parts.ports.now())
        }
    }

    private func add(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["started", "finished", "stopped"])
        let (started, finished, stopped) = (
            try sent.day("started").value, try sent.day("finished").value, try sent.day("stopped").value
        )
        return try await perform(context, status: .created) {
            try await context.library.addReading(
                to: $0, started: started, finished: finished, stopped: stopped, at: parts.ports.now())
        }
    }

    private func delete(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let reading = try context.id("reading", of: Reading.self)
        return try await perform(context) {
            try await context.library.deleteReading(reading, of: $0, at: parts.ports.now())
        }
    }

    private func perform(
        _ context: KioskContext, status: HTTPResponse.Status = .ok, _ action: (ID<Copy>) async throws -> TrackingResult
    ) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        return try await context.perform(on: copy) {
            let result = try await action(copy)
            let json = result.json.appending([("sessionStillRuns", .bool(result.sessionStillRuns))])
            return JSONResponse(json.with(change: result.change), status: status)
        }
    }

    /// Responds with the progress entries of a reading, the newest first.
    private func progress(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id("reading", of: Reading.self)
        let book = try await context.library.book(context.id(of: Copy.self))
        guard let book, let reading = book.copy.readings.first(where: { $0.id == id }) else {
            throw RequestRefusal.notFound("reading")
        }
        let entries = try await context.library.progress(
            of: id, limit: try request.number("limit", in: 1...1000, or: 50),
            offset: try request.number("offset", in: 0...1_000_000, or: 0))
        return JSONResponse(book.json(of: reading, with: entries))
    }
}

/// Starts, stops, lists and edits reading sessions.
struct SessionAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/session", for: .household, running),
            Route(.post, "/api/session/stop", for: .household, stop),
            Route(.get, "/api/books/:id/sessions", for: .household, list),
            Route(.post, "/api/books/:id/sessions", for: .household, start),
            Route(.post, "/api/books/:id/sessions/past", for: .household, addPast),
            Route(.get, "/api/sessions/:id", for: .household, one),
            Route(.patch, "/api/sessions/:id", for: .household, edit),
            Route(.delete, "/api/sessions/:id", for: .household, delete),
        ]
    }

    private var now: Date { parts.ports.now() }

    /// Responds with the running session and the service's current time, by which the page sets its clock.
    private func running(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let (record, now) = (try await context.library.runningSession(), now)
        return JSONResponse(["running": record?.json(at: now) ?? .null, "now": .string(now.rfc3339)])
    }

    private func start(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["page", "start"])
        let (page, start) = (try sent.page("page").value, try sent.instant("start").value)
        return try await perform(context, on: copy, status: .created) {
            try await context.library.startSession(of: copy, page: page, from: start, at: now)
        }
    }

    private func stop(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["session", "page", "end", "force"])
        let session = try sent.text("session").value.map(ID<Session>.init(rawValue:))
        let (page, end) = (try sent.page("page").value, try sent.instant("end").value)
        let forced = try sent.bool("force").value ?? false
        return try await perform(context) {
            try await context.library.stopSession(session, page: page, end: end, forced: forced, at: now)
        }
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        guard try await context.library.book(copy) != nil else { throw RequestRefusal.notFound("book") }
        let sessions = try await context.library.sessions(
            of: copy, limit: try request.number("limit", in: 1...1000, or: 50),
            offset: try request.number("offset", in: 0...1_000_000, or: 0))
        let (totals, now) = (try await context.library.sessionTotals(of: copy), now)
        return JSONResponse([
            "sessions": .array(sessions.map { $0.json(at: now) }),
            "totals": [
                "sessions": .integer(totals.sessions), "minutes": .integer(totals.minutes),
                "pages": .integer(totals.pages), "pace": JSONValue(totals.meanPace),
                "lastRead": JSONValue(totals.lastRead?.rfc3339),
            ],
        ])
    }

    /// Adds a past session that goes from `start` to `end`, or that lasts a number of `minutes`.
    private func addPast(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["start", "end", "minutes", "startPage", "endPage"])
        return try await perform(context, on: copy, status: .created) {
            let start = try sent.instant("start").required(as: "start")
            let length = try Self.minutes(sent).map { start.addingTimeInterval(Double($0) * 60) }
            let end = try length ?? sent.instant("end").required(as: "end")
            let (first, last) = (try sent.page("startPage").value, try sent.page("endPage").value)
            return try await context.library.addSession(
                of: copy, start: start, end: end, startPage: first, endPage: last, at: now)
        }
    }

    private func one(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Session.self)
        guard
            let record = try await context.library.sessions(endingIn: id.rawValue).first(where: { $0.session.id == id })
        else { throw SessionError.noSuchSession }
        return JSONResponse(record.json(at: now))
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Session.self)
        let sent = try await request.object()
        try sent.checkMembers(["start", "end", "minutes", "startPage", "endPage"])
        return try await perform(context) {
            let edit = SessionEdit(
                start: try sent.instant("start").value, end: try sent.instant("end").value,
                minutes: try Self.minutes(sent), startPage: try sent.page("startPage").value,
                endPage: try sent.page("endPage"))
            return try await context.library.editSession(id, edit, at: now)
        }
    }

    private func delete(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Session.self)
        return try await perform(context) { try await context.library.deleteSession(id, at: now) }
    }

    /// Returns the length of a session in minutes; `nil` if the request has none. It must be at most a day, so that
    /// adding it to a date cannot exceed the range of dates.
    private static func minutes(_ sent: RequestObject) throws -> Int? {
        let minutes = try sent.integer("minutes").value
        if let minutes, minutes > 1440 { throw SessionError.sessionTooLong }
        try NumberLimit.check(minutes, as: "length in minutes", in: 1...1440)
        return minutes
    }

    private func perform(
        _ context: KioskContext, on copy: ID<Copy>? = nil, status: HTTPResponse.Status = .ok,
        _ action: () async throws -> SessionRecord
    ) async throws -> JSONResponse {
        let record = if let copy { try await context.perform(on: copy, action) } else { try await action() }
        return JSONResponse(record.json(at: now).with(change: record.change), status: status)
    }
}
