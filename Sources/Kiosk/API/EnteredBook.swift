import Bookplate
import FoundationEssentials
import Hummingbird

/// A book as the form sends it: what a ``BookPatch`` would say of one that is not there yet, and what belongs to its beginning.
struct EnteredBook: Sendable {
    let confirmed: Confirmed
    /// Of the reading that the status makes.
    let dates: DateEdit
    private let note: String?
    private let patch: BookPatch

    private static let names: Set = ["request", "anotherCopy", "started", "finished", "stopped", "note"]

    /// - Throws: ``RequestRefusal`` (400) for what is of another type or unknown, ``FieldRefusal`` for what cannot be.
    init(_ object: SentObject) throws {
        // A wish that it fulfils keeps what is said of it already: what the form leaves empty clears nothing.
        let sent = object.withoutNulls
        let patch = try BookPatch(sent, and: Self.names)
        self.patch = patch
        dates = DateEdit(
            started: try sent.day("started"), finished: try sent.day("finished"), stopped: try sent.day("stopped"))
        note = try sent.text("note").value.flatMap { $0.cleaned(forLimit: TextLimit.note).isEmpty ? nil : $0 }
            .map { note in try FieldRefusal.at("note") { try note.checked(as: "note", limit: TextLimit.note) } }
        var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: Copy(added: .distantPast))
        try patch(&book)
        book.edition.metadata.attribute(to: .person)
        let isWish = try sent.bool("wishlist").value ?? false
        let isOwned = try sent.bool("owned").value ?? false
        let preset = Preset(
            shelf: book.copy.shelf, tags: book.copy.tags, status: book.copy.status, isWishlist: isWish && !isOwned)
        let (edition, request) = (book.edition, try sent.request())
        let anotherCopy = try sent.bool("anotherCopy").value ?? false
        confirmed = try FieldRefusal.at("title") {
            try Confirmed(
                enteredBy: .form, request: request, isbn: edition.isbn, isbnText: edition.isbnText,
                metadata: edition.metadata, preset: preset, anotherCopy: anotherCopy)
        }
    }

    /// What is known of the copy besides status, shelf and tags.
    var facts: @Sendable (inout Copy) throws -> Void {
        { [patch] copy in
            var book = Book(edition: Edition(isbn: nil, metadata: Metadata()), copy: copy)
            try patch(&book)
            copy = book.copy
        }
    }

    func notes(at now: Date) -> [Note] { note.map { [Note(text: $0, created: now)] } ?? [] }
}
