import Bookplate
import Hummingbird

/// The reading tracker over HTTP: status, progress, and the times through a book.
struct ReadingAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.put, "/api/books/:id/status", for: .household, setStatus),
            Route(.post, "/api/books/:id/progress", for: .household, record),
            Route(.patch, "/api/books/:id/progress/:entry", for: .household, correct),
            Route(.delete, "/api/books/:id/progress/:entry", for: .household, forget),
            Route(.put, "/api/books/:id/dates", for: .household, setDates),
            Route(.post, "/api/books/:id/readings", for: .household, add),
            Route(.put, "/api/books/:id/readings/:reading/dates", for: .household, setDates),
            Route(.delete, "/api/books/:id/readings/:reading", for: .household, delete),
            Route(.get, "/api/books/:id/readings/:reading/progress", for: .household, progress),
        ]
    }

    private func setStatus(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let sent = try await request.json(SentObject.self)
        try sent.only(["status", "on"])
        let status = try sent.word("status", Copy.Status.self).required(as: "status")
        let day = try sent.day("on").value
        return try await act(context) {
            try await parts.library.setStatus(status, of: $0, on: day, at: parts.ports.now())
        }
    }

    private func record(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let sent = try await request.json(SentObject.self)
        try sent.only(["page", "percent", "at"])
        guard let amount = try Self.amount(sent) else { throw Self.oneOfTwo }
        let past = try sent.instant("at").value
        return try await act(context) {
            try await parts.library.recordProgress(amount, of: $0, on: past, at: parts.ports.now())
        }
    }

    /// What is left out stays as it was.
    private func correct(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let entry = try context.id("entry", of: ProgressEntry.self)
        let sent = try await request.json(SentObject.self)
        try sent.only(["page", "percent", "at"])
        let edit = ProgressEdit(amount: try Self.amount(sent), at: try sent.instant("at").value)
        return try await act(context) {
            try await parts.library.editProgress(entry, of: $0, edit, at: parts.ports.now())
        }
    }

    private func forget(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let entry = try context.id("entry", of: ProgressEntry.self)
        return try await act(context) {
            try await parts.library.deleteProgress(entry, of: $0, at: parts.ports.now())
        }
    }

    private static let oneOfTwo = SentObject.refusal(
        "page", "a page, or \"percent\" a percentage: one of the two")

    private static func amount(_ sent: SentObject) throws -> ProgressEntry.Amount? {
        switch (try sent.integer("page").value, try sent.number("percent").value) {
        case (let page?, nil): .page(page)
        case (nil, let percent?): .percent(percent)
        case (nil, nil): nil
        case (_?, _?): throw oneOfTwo
        }
    }

    private func setDates(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let sent = try await request.json(SentObject.self)
        try sent.only(["started", "finished", "stopped"])
        let edit = DateEdit(
            started: try sent.day("started"), finished: try sent.day("finished"), stopped: try sent.day("stopped"))
        let reading = context.parameters.get("reading").map { ID<Reading>(rawValue: $0) }
        return try await act(context) {
            try await parts.library.setDates(edit, of: $0, reading: reading, at: parts.ports.now())
        }
    }

    private func add(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let sent = try await request.json(SentObject.self)
        try sent.only(["started", "finished", "stopped"])
        let (started, finished, stopped) = (
            try sent.day("started").value, try sent.day("finished").value, try sent.day("stopped").value
        )
        return try await act(context, status: .created) {
            try await parts.library.addReading(
                to: $0, started: started, finished: finished, stopped: stopped, at: parts.ports.now())
        }
    }

    private func delete(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let reading = try context.id("reading", of: Reading.self)
        return try await act(context) {
            try await parts.library.deleteReading(reading, of: $0, at: parts.ports.now())
        }
    }

    private func act(
        _ context: KioskContext, status: HTTPResponse.Status = .ok, _ act: (ID<Copy>) async throws -> TrackingResult
    ) async throws -> JSONAnswer {
        let copy = try context.id(of: Copy.self)
        return try await parts.acting(on: copy) {
            let result = try await act(copy)
            return JSONAnswer(
                result.json.with("sessionStillRuns", .bool(result.sessionStillRuns)).with(change: result.change),
                status: status)
        }
    }

    /// The entries of a reading's history, newest first.
    private func progress(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id("reading", of: Reading.self)
        let book = try await parts.library.book(context.id(of: Copy.self))
        guard let book, let reading = book.copy.readings.first(where: { $0.id == id }) else {
            throw RequestRefusal.notThere("reading")
        }
        let entries = try await parts.library.progress(
            of: id, limit: try request.number("limit", in: 1...1000, or: 50),
            offset: try request.number("offset", in: 0...1_000_000, or: 0))
        return JSONAnswer(book.json(of: reading, with: entries))
    }
}
