import Bookplate

/// What a person names things by: an ISBN, an id, or words that fit one thing only.
extension Shelf where Self: Search {
    /// - Parameter inTrash: where to look.
    /// - Throws: ``Complaint`` when nothing fits, or several things do; then it lists them.
    func book(named name: String, inTrash: Bool = false) async throws -> Book {
        if let book = try await book(ID(rawValue: name.lowercased())), (book.copy.deleted != nil) == inTrash {
            return book
        }
        var matches: [Book]
        var more = 0
        if let isbn = try? ISBN(name) {
            matches = (try await books(with: [isbn])[isbn] ?? []).filter { ($0.copy.deleted != nil) == inTrash }
        } else {
            var query = BookQuery()
            query.text = name
            query.inTrash = inTrash
            query.limit = 10
            let page = try await books(matching: query)
            matches = page.books
            more = page.total - matches.count
        }
        let place = inTrash ? "in the trash" : "in the library"
        guard let first = matches.first else {
            throw Complaint(.nothing, "there is no book \"\(name.prefix(80).printable)\" \(place).")
        }
        guard matches.count == 1 else {
            let list = matches.map { "  \($0.id)  \($0.displayTitle.oneLine), \($0.displayAuthors.oneLine)" }
            let rest = more > 0 ? "\n  and \(more) more" : ""
            throw Complaint(
                .nothing,
                "\"\(name.prefix(80).printable)\" fits several books; name one by its id:\n"
                    + list.joined(separator: "\n") + rest)
        }
        return first
    }
}

extension Intake {
    /// Waiting items by id, the end of an id, or ISBN; all of them when there are no names.
    ///
    /// - Throws: ``Complaint`` when a name fits nothing.
    func waitingItems(named names: [String]) async throws -> [IntakeItem] {
        let waiting = try await items(in: [.waiting])
        guard !names.isEmpty else { return waiting }
        var chosen: [IntakeItem] = []
        for name in names {
            let isbn = try? ISBN(name)
            let ending = name.lowercased()
            let fits = waiting.filter { $0.isbn == isbn || (ending.count >= 4 && $0.id.rawValue.hasSuffix(ending)) }
            guard !fits.isEmpty else {
                throw Complaint(
                    .nothing, "\"\(name.prefix(80).printable)\" is not in the queue; scan intake list shows what is.")
            }
            chosen += fits.filter { item in !chosen.contains { $0.id == item.id } }
        }
        return chosen
    }
}

extension Substring {
    var printable: String { String(self).printable }
}

extension ISBN {
    /// Parses a number that a person typed.
    ///
    /// - Throws: ``Complaint`` that says which digit or rule is wrong.
    init(refusingWith status: ExitStatus, _ text: String) throws {
        do throws(ISBNRefusal) {
            try self.init(text)
        } catch {
            throw Complaint(status, "\"\(text.prefix(80).printable)\" is no ISBN: \(error).")
        }
    }
}
