import Bookplate
import Hummingbird
import Synchronization

/// One book as JSON, and what is done to it.
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
            Route(.get, "/api/books/:id/figures", for: .household, figures),
        ]
    }

    private func book(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        guard let whole = try await parts.library.wholeBook(context.id(of: Copy.self)) else {
            throw RequestRefusal.notThere("book")
        }
        guard context.isGuest else { return JSONAnswer(whole.json) }
        guard whole.book.copy.deleted == nil else { throw RequestRefusal.notThere("book") }
        return JSONAnswer(whole.book.forGuests.json)
    }

    private func change(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.json(SentObject.self)
        return try await parts.acting(on: copy) {
            let (patch, seen) = (try BookPatch(sent, and: [SeenValues.name]), try SeenValues(sent))
            return try await update(copy) { book in
                let tags = book.copy.tags
                try seen.check { $0 == "tags" ? [] : book.shown($0) }
                try patch(&book)
                book.copy.tags = seen.merged("tags", into: tags, said: book.copy.tags)
            }
        }
    }

    /// One tag beside the others, whatever another screen does to those meanwhile.
    private func addTag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await changeTags(request, context) { tags, name in tags.append(name) }
    }

    private func removeTag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await changeTags(request, context) { tags, name in
            tags.removeAll { $0.lowercased() == name.lowercased() }
        }
    }

    private func changeTags(
        _ request: Request, _ context: KioskContext, _ change: @escaping @Sendable (inout [String], String) -> Void
    ) async throws -> JSONAnswer {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.json(SentObject.self)
        try sent.only(["name"])
        let sentName = try sent.text("name").value ?? ""
        return try await parts.acting(on: copy) {
            let name = try FieldRefusal.at("name") { try sentName.checked(as: "tag", limit: TextLimit.name) }
            return try await update(copy) { change(&$0.copy.tags, name) }
        }
    }

    private func update(_ copy: ID<Copy>, _ edit: @escaping @Sendable (inout Book) throws -> Void) async throws
        -> JSONAnswer
    {
        let before = Mutex<Book?>(nil)
        let (book, change) = try await parts.library.update(copy, at: parts.ports.now()) { book in
            try book.checkOutsideTrash()
            before.withLock { $0 = book }
            try edit(&book)
        }
        return JSONAnswer(book.json.with(change: before.withLock { $0 } == book ? nil : change))
    }

    private func trash(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await mark(context) { try await parts.library.trash([$0], at: parts.ports.now()) }
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await mark(context) { try await parts.library.restore([$0], at: parts.ports.now()) }
    }

    private func mark(
        _ context: KioskContext, _ act: (ID<Copy>) async throws -> ID<Change>?
    ) async throws -> JSONAnswer {
        let copy = try context.id(of: Copy.self)
        guard try await parts.library.book(copy) != nil else { throw RequestRefusal.notThere("book") }
        let change = try await act(copy)
        guard let book = try await parts.library.book(copy) else { throw RequestRefusal.notThere("book") }
        return JSONAnswer(book.json.with(change: change))
    }

    /// Another copy of the same edition, owned, To Read. A book without an ISBN is entered once more: nothing else says that two
    /// are the same.
    private func addCopy(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let copy = try context.id(of: Copy.self)
        let sent = try await request.json(SentObject.self)
        try sent.only(["request"])
        let name = try sent.request()
        guard let book = try await parts.library.book(copy) else { throw RequestRefusal.notThere("book") }
        try book.checkOutsideTrash()
        var metadata = book.edition.metadata
        // A copy of something that never had one goes by what it is shown as.
        metadata.title = metadata.title ?? book.displayTitle
        let confirmed = try Confirmed(
            enteredBy: .form, request: name,
            isbn: book.edition.isbn, isbnText: book.edition.isbnText, metadata: metadata, anotherCopy: true)
        let result = try await parts.library.add([confirmed], at: parts.ports.now())
        switch result.first {
        case .saved(let id, _)?, .wishFulfilled(let id, _)?, .restored(let id, _)?, .alreadySaved(let id)?:
            guard let added = try await parts.library.book(id) else { throw RequestRefusal.notThere("book") }
            return JSONAnswer(added.json.with(change: result[0].change), status: .created)
        case .owned(let owned)?: return JSONAnswer(owned.json.with(change: nil))
        case nil: throw RequestRefusal.notThere("book")
        }
    }

    private func figures(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let ports = parts.ports
        let figures = try await parts.library.stats(of: context.id(of: Copy.self), at: ports.now(), in: ports.zone)
        guard let figures else { throw RequestRefusal.notThere("book") }
        return JSONAnswer(figures.json)
    }
}

extension Book {
    /// Without what concerns other people and the reader's plans.
    var forGuests: Book {
        var book = self
        (book.copy.recommendedBy, book.copy.wouldRecommend, book.copy.dailyGoal) = (nil, nil, nil)
        return book
    }
}
