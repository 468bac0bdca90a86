import Bookplate
import FoundationEssentials
import Hummingbird

/// Lists, adds, edits and deletes notes and quotes.
struct AnnotationAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/books/:id/notes", for: .household, notes),
            Route(.post, "/api/books/:id/notes", for: .household, addNote),
            Route(.patch, "/api/notes/:id", for: .household, editNote),
            Route(.delete, "/api/notes/:id", for: .household, deleteNote),
            Route(.get, "/api/books/:id/quotes", for: .household, quotes),
            Route(.post, "/api/books/:id/quotes", for: .household, addQuote),
            Route(.patch, "/api/quotes/:id", for: .household, editQuote),
            Route(.delete, "/api/quotes/:id", for: .household, deleteQuote),
        ]
    }

    private func notes(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["notes": .array(try await whole(context).notes.map(\.json))])
    }

    private func quotes(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["quotes": .array(try await whole(context).quotes.map(\.json))])
    }

    private func whole(_ context: KioskContext) async throws -> WholeBook {
        guard let whole = try await context.library.wholeBook(context.id(of: Copy.self)) else {
            throw RequestRefusal.notFound("book")
        }
        return whole
    }

    private func addNote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["text", "kind", "private"])
        let now = parts.ports.now()
        let note = Note(
            kind: try sent.choice("kind", Note.Kind.self).value ?? .note,
            text: try sent.text("text").value ?? "", created: now,
            isPrivate: try sent.bool("private").value ?? false)
        return try await context.perform(on: copy) {
            let annotation = try await context.library.add(note, to: copy, at: now)
            return JSONResponse(annotation.json.with(change: annotation.change), status: .created)
        }
    }

    private func editNote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Note.self)
        let sent = try await request.object()
        try sent.checkMembers(["text", "kind", "private", EditPrecondition.memberName])
        let precondition = try EditPrecondition(sent)
        let (text, kind) = (try sent.text("text"), try sent.choice("kind", Note.Kind.self).value)
        let isPrivate = try sent.bool("private").value
        let annotation = try await context.library.editNote(id, at: parts.ports.now()) { note in
            try precondition.check { $0 == "text" ? [.string(note.text)] : [] }
            note.text = text == .keep ? note.text : text.value ?? ""
            note.kind = kind ?? note.kind
            note.isPrivate = isPrivate ?? note.isPrivate
        }
        return JSONResponse(annotation.json.with(change: annotation.change))
    }

    private func deleteNote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Note.self)
        let change = try await context.library.deleteNotes([id], at: parts.ports.now())
        return JSONResponse(["id": .string(id.rawValue), "change": .string(change.rawValue)])
    }

    private func addQuote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["text", "page", "private"])
        let now = parts.ports.now()
        let quote = Quote(
            text: try sent.text("text").value ?? "", page: try sent.page("page").value, created: now,
            isPrivate: try sent.bool("private").value ?? false)
        return try await context.perform(on: copy) {
            let annotation = try await context.library.add(quote, to: copy, at: now)
            return JSONResponse(annotation.json.with(change: annotation.change), status: .created)
        }
    }

    private func editQuote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Quote.self)
        let sent = try await request.object()
        try sent.checkMembers(["text", "page", "private", EditPrecondition.memberName])
        let precondition = try EditPrecondition(sent)
        let (text, page) = (try sent.text("text"), try sent.page("page"))
        let isPrivate = try sent.bool("private").value
        let annotation = try await context.library.editQuote(id, at: parts.ports.now()) { quote in
            try precondition.check { ["text": [.string(quote.text)], "page": [JSONValue(quote.page)]][$0] ?? [] }
            quote.text = text == .keep ? quote.text : text.value ?? ""
            quote.page = page.applied(to: quote.page)
            quote.isPrivate = isPrivate ?? quote.isPrivate
        }
        return JSONResponse(annotation.json.with(change: annotation.change))
    }

    private func deleteQuote(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Quote.self)
        let change = try await context.library.deleteQuotes([id], at: parts.ports.now())
        return JSONResponse(["id": .string(id.rawValue), "change": .string(change.rawValue)])
    }
}
