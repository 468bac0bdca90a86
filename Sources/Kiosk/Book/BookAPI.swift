import Bookplate
import Hummingbird

/// Serves a book as JSON, and edits, deletes, restores and copies books.
struct BookAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/books/:id", for: .guests, book),
            Route(.patch, "/api/books/:id", for: .household, change),
            Route(.delete, "/api/books/:id", for: .household, trash),
            Route(.post, "/api/books/:id/restore", for: .household, restore),
            Route(.post, "/api/books/:id/tags", for: .household, addTag),
            Route(.delete, "/api/books/:id/tags", for: .household, removeTag),
            Route(.post, "/api/books/:id/copies", for: .household, addCopy),
            Route(.get, "/api/books/:id/figures", for: .household, stats),
        ]
    }

    private func book(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let whole = try await context.library.wholeBook(context.id(of: Copy.self)) else {
            throw RequestRefusal.notFound("book")
        }
        guard context.isGuest else { return JSONResponse(whole.json) }
        guard whole.book.copy.deleted == nil else { throw RequestRefusal.notFound("book") }
        return JSONResponse(whole.book.forGuests.json)
    }

    private func change(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        return try await context.perform(on: copy) {
            let (patch, precondition) = (
                try BookPatch(sent, and: [EditPrecondition.memberName]), try EditPrecondition(sent)
            )
            return try await update(copy, context) { book in
                let tags = book.copy.tags
                try precondition.check { $0 == "tags" ? [] : book.shownValues($0) }
                try patch(&book)
                book.copy.tags = precondition.merged("tags", into: tags, wanted: book.copy.tags)
            }
        }
    }

    /// Adds one tag. The request does not contain the other tags, because another screen may be changing them.
    private func addTag(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await changeTags(request, context) { tags, name in tags.append(name) }
    }

    private func removeTag(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await changeTags(request, context) { tags, name in
            tags.removeAll { $0.lowercased() == name.lowercased() }
        }
    }

    private func changeTags(
        _ request: Request, _ context: KioskContext, _ edit: @escaping @Sendable (inout [String], String) -> Void
    ) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["name"])
        let sentName = try sent.text("name").value ?? ""
        return try await context.perform(on: copy) {
            let name = try FieldRefusal.at("name") { try sentName.checked(as: "tag", limit: TextLimit.name) }
            return try await update(copy, context) { edit(&$0.copy.tags, name) }
        }
    }

    private func update(
        _ copy: ID<Copy>, _ context: KioskContext, _ edit: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> JSONResponse {
        let (book, change) = try await context.library.update(copy, at: parts.ports.now()) { book in
            try book.checkOutsideTrash()
            try edit(&book)
        }
        return JSONResponse(book.json.with(change: change))
    }

    private func trash(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await move(context) { try await context.library.trash([$0], at: parts.ports.now()) }
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await move(context) { try await context.library.restore([$0], at: parts.ports.now()) }
    }

    private func move(
        _ context: KioskContext, _ act: (ID<Copy>) async throws -> ID<Change>?
    ) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        guard try await context.library.book(copy) != nil else { throw RequestRefusal.notFound("book") }
        let change = try await act(copy)
        guard let book = try await context.library.book(copy) else { throw RequestRefusal.notFound("book") }
        return JSONResponse(book.json.with(change: change))
    }

    /// Adds another copy of the same edition. The copy is owned and has the status "To Read". If the book has no ISBN,
    /// the copy gets a new edition, because nothing identifies the existing one.
    private func addCopy(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.object()
        try sent.checkMembers(["request"])
        let name = try sent.request()
        guard let book = try await context.library.book(copy) else { throw RequestRefusal.notFound("book") }
        try book.checkOutsideTrash()
        var metadata = book.edition.metadata
        // If the book has no title, the copy gets the displayed title.
        metadata.title = metadata.title ?? book.displayTitle
        let confirmed = try Confirmed(
            enteredBy: .form, request: name,
            isbn: book.edition.isbn, isbnText: book.edition.isbnText, metadata: metadata, anotherCopy: true)
        let result = try await context.library.add([confirmed], at: parts.ports.now())
        if case .owned(let owned)? = result.first { return JSONResponse(owned.json.with(change: nil)) }
        guard let saved = result.first, let added = try await context.library.book(saved.copy) else {
            throw RequestRefusal.notFound("book")
        }
        return JSONResponse(added.json.with(change: saved.change), status: .created)
    }

    private func stats(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let ports = parts.ports
        let stats = try await context.library.stats(of: context.id(of: Copy.self), at: ports.now(), in: ports.zone)
        guard let stats else { throw RequestRefusal.notFound("book") }
        return JSONResponse(stats.json)
    }
}

extension Book {
    /// The book as guests may see it. It has no recommendations, because they concern other people, and no daily goal,
    /// because it is the reader's own plan.
    var forGuests: Book {
        var book = self
        (book.copy.recommendedBy, book.copy.wouldRecommend, book.copy.dailyGoal) = (nil, nil, nil)
        return book
    }
}

extension KioskContext {
    /// Performs an action on a book. If the action fails because the book does not exist or is in the trash, the error
    /// says so.
    ///
    /// - Throws: ``RequestRefusal`` (404) if the book does not exist, ``InTrashRefusal`` if it is in the trash, or the
    ///   action's error.
    func perform<Result>(on copy: ID<Copy>, _ action: () async throws -> Result) async throws -> Result {
        do {
            return try await action()
        } catch {
            // A refusal with its own code is specific enough.
            if error is RequestRefusal { throw error }
            if let refusal = error as? any Refusal, refusal.apiCode != refusal.kind.apiCode { throw error }
            guard let book = try await library.book(copy) else { throw RequestRefusal.notFound("book") }
            try book.checkOutsideTrash()
            throw error
        }
    }
}
