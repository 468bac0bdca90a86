import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Entry {
    public func enter(
        _ confirmed: Confirmed, notes: [Note], dates: DateEdit, at now: Date,
        _ facts: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> SaveResult {
        let notes = try notes.map { try $0.checked(after: nil) }
        return try await change(.save, at: now) { db, id in
            let result = try Saving(db: db, change: id, now: now).save(confirmed)
            let title = quoted(confirmed.metadata.title)
            switch result {
            case .owned, .alreadySaved: return (result, "")
            case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _):
                guard let stored = try StoredBooks.one(db, copy) else { throw LibraryError.noSuchBook(copy) }
                switch result {
                case .wishFulfilled, .restored:
                    // A book that was here before: what a form says now is the person's last word on it.
                    var edition = stored.book.edition
                    for field in confirmed.editedFields { edition.metadata.take(field, from: confirmed.metadata) }
                    try updateEdition(db, stored, to: edition)
                default: break
                }
                var wanted = stored.book.copy
                try facts(&wanted)
                try StoredCopy.store(wanted, at: stored.copyRow, db)
                for note in notes { try note.insert(db, to: stored.copyRow) }
                if dates != DateEdit(), var tracked = try StoredTracker.load(db, copy) {
                    try StoredTracker.store(try tracked.tracker.setDates(dates, of: nil), of: tracked.copyRow, db)
                }
                return (result, "saved \(title)")
            }
        }
    }
}
