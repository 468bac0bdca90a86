import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Remarks {
    public func notes(of copy: ID<Copy>) async throws -> [Note] { try await read { try Note.fetch($0, of: copy) } }

    public func quotes(of copy: ID<Copy>) async throws -> [Quote] { try await read { try Quote.fetch($0, of: copy) } }

    public func latestNotes(limit: Int) async throws -> [Remark<Note>] {
        try await read { try Note.latest($0, limit: limit) }
    }

    public func latestQuotes(limit: Int) async throws -> [Remark<Quote>] {
        try await read { try Quote.latest($0, limit: limit) }
    }

    public func notes(named name: String) async throws -> [Remark<Note>] {
        try await read { try Note.named($0, name) }
    }

    public func quotes(named name: String) async throws -> [Remark<Quote>] {
        try await read { try Quote.named($0, name) }
    }

    public func add(_ note: Note, to copy: ID<Copy>, at now: Date) async throws -> Remark<Note> {
        try await add(note, to: copy, at: now, as: "a note")
    }

    public func add(_ quote: Quote, to copy: ID<Copy>, at now: Date) async throws -> Remark<Quote> {
        try await add(quote, to: copy, at: now, as: "a quote")
    }

    public func editNote(
        _ id: ID<Note>, at now: Date, _ change: @escaping @Sendable (inout Note) throws -> Void
    ) async throws -> Remark<Note> {
        try await edit(id, at: now, as: "a note", or: RemarkRefusal.noSuchNote(id.rawValue), change)
    }

    public func editQuote(
        _ id: ID<Quote>, at now: Date, _ change: @escaping @Sendable (inout Quote) throws -> Void
    ) async throws -> Remark<Quote> {
        try await edit(id, at: now, as: "a quote", or: RemarkRefusal.noSuchQuote(id.rawValue), change)
    }

    public func deleteNotes(_ ids: [ID<Note>], at now: Date) async throws -> ID<Change> {
        try await delete(ids, at: now, as: "note", or: RemarkRefusal.noSuchNote)
    }

    public func deleteQuotes(_ ids: [ID<Quote>], at now: Date) async throws -> ID<Change> {
        try await delete(ids, at: now, as: "quote", or: RemarkRefusal.noSuchQuote)
    }

    public func importFlags(on copy: ID<Copy>) async throws -> [ImportFlag] {
        try await read { try ImportFlag.fetch($0, on: copy) }
    }

    public func wholeBook(_ copy: ID<Copy>) async throws -> WholeBook? {
        try await read { db in
            guard let entry = try StoredBooks.one(db, copy) else { return nil }
            return WholeBook(
                book: entry.book, notes: try Note.fetch(db, of: copy), quotes: try Quote.fetch(db, of: copy),
                flags: try ImportFlag.fetch(db, on: copy))
        }
    }

    private func add<Content: StoredRemark>(
        _ content: Content, to copy: ID<Copy>, at now: Date, as what: String
    ) async throws -> Remark<Content> {
        let content = try content.checked(after: nil)
        return try await change(.edit, at: now) { db, change in
            guard let book = try StoredBooks.one(db, copy) else { throw LibraryError.noSuchBook(copy) }
            try book.book.checkOutsideTrash()
            try content.insert(db, to: book.copyRow)
            guard var stored = try Content.one(db, content.id) else { throw LibraryError.noSuchBook(copy) }
            stored.change = change
            return (stored, "added \(what) to \(quoted(book.book.displayTitle))")
        }
    }

    private func edit<Content: StoredRemark>(
        _ id: ID<Content>, at now: Date, as what: String, or refusal: RemarkRefusal,
        _ change: @escaping @Sendable (inout Content) throws -> Void
    ) async throws -> Remark<Content> {
        try await self.change(.edit, at: now) { db, logged in
            guard var remark = try Content.one(db, id) else { throw refusal }
            try remark.book.checkOutsideTrash()
            let old = remark.content
            try change(&remark.content)
            if remark.content != old { try remark.content.checked(after: old).update(db) }
            guard var stored = try Content.one(db, id) else { throw refusal }
            stored.change = stored.content == old ? nil : logged
            return (stored, "edited \(what) on \(quoted(stored.book.displayTitle))")
        }
    }

    private func delete<Content: StoredRemark>(
        _ ids: [ID<Content>], at now: Date, as what: String, or refusal: @escaping @Sendable (String) -> RemarkRefusal
    ) async throws -> ID<Change> {
        try await change(.edit, at: now) { db, change in
            var titles: [String] = []
            for id in ids {
                guard let remark = try Content.one(db, id) else { throw refusal(id.rawValue) }
                try remark.book.checkOutsideTrash()
                try db.run("DELETE FROM \(Content.table) WHERE uuid = ?", [id.rawValue])
                if !titles.contains(remark.book.displayTitle) { titles.append(remark.book.displayTitle) }
            }
            let count = ids.count == 1 ? "a \(what)" : "\(ids.count) \(what)s"
            return (change, "deleted \(count) on \(quoted(titles))")
        }
    }
}
