import ArgumentParser
import Bookplate
import Foundation

/// What a person can say of a copy on the command line.
struct CopyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The shelf it stands on; \"\" takes it off.", valueName: "name")) var shelf: String?
    @Option(name: .customLong("tag"), help: ArgumentHelp("Add this tag (can be repeated).", valueName: "name"))
    var tags: [String] = []
    @Option(name: .customLong("untag"), help: ArgumentHelp("Take this tag off (can be repeated).", valueName: "name"))
    var untags: [String] = []
    @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf.", valueName: "status")) var status: Copy.Status?
    @Option(help: ArgumentHelp("Stars, 0.25 to 5 in quarters; 0 clears.", valueName: "stars")) var rating: Double?
    @Flag(inversion: .prefixedNo, help: "Whether it is on the wishlist.") var wishlist: Bool?
    @Flag(inversion: .prefixedNo, help: "Whether it is owned.") var owned: Bool?
    @Flag(inversion: .prefixedNo, help: "Whether it is a favourite.") var favourite: Bool?

    var isEmpty: Bool {
        shelf == nil && tags.isEmpty && untags.isEmpty && status == nil && rating == nil && wishlist == nil
            && owned == nil
            && favourite == nil
    }

    /// What was given, checked, as a change.
    ///
    /// - Throws: ``Complaint`` for a name that is too long or a rating that is none.
    func change() throws -> @Sendable (inout Copy) -> Void {
        if let rating, !(0...5).contains(rating) || (rating * 4).rounded() != rating * 4 {
            throw Complaint(.usage, "--rating is 0.25 to 5 in quarters, or 0 for none.")
        }
        let shelf = try shelf.map { $0.isEmpty ? nil : try Self.name($0, "shelf") }
        let tags = try tags.map { try Self.name($0, "tag") }
        let untags = Set(untags.map(Self.folded))
        let (status, rating, wishlist, owned, favourite) = (status, rating, wishlist, owned, favourite)
        return { copy in
            if let shelf { copy.shelf = shelf }
            copy.tags.removeAll { untags.contains(Self.folded($0)) }
            copy.tags += tags
            if let rating { copy.rating = rating == 0 ? nil : rating }
            copy.status = status ?? copy.status
            copy.isOnWishlist = wishlist ?? copy.isOnWishlist
            copy.isOwned = owned ?? copy.isOwned
            copy.isFavourite = favourite ?? copy.isFavourite
        }
    }

    private static func name(_ text: String, _ what: String) throws -> String {
        do throws(TextRefusal) {
            return try text.checked(as: what, limit: TextLimit.name)
        } catch {
            throw Complaint(.usage, error.description + ".")
        }
    }

    /// Without regard to case: upper-case first, so that ß and SS are one.
    private static func folded(_ text: String) -> String { text.uppercased().lowercased() }
}

struct LibraryAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Enter a book by hand; a title is enough.",
        discussion: "  scan library add --title \"Faust\" --author \"Johann Wolfgang von Goethe\" --published 1808")

    @Option(help: ArgumentHelp("Its ISBN; a wrong one is kept as text, with a warning.", valueName: "number")) var isbn:
        String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var preset: PresetOptions
    @Flag(help: "Save another copy of what is owned already.") var anotherCopy = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var metadata = Metadata()
        try fields.change()(&metadata)
        let isbn = checkedISBN()
        let confirmed: Confirmed
        do {
            confirmed = try Confirmed(
                enteredBy: .form, isbn: isbn, isbnText: self.isbn, metadata: metadata, preset: preset.preset(),
                anotherCopy: anotherCopy)
        } catch let refusal as TextRefusal {
            throw Complaint(.usage, refusal.description + ". Give it one with --title.")
        }
        let library = try Wiring(settings: places.settings()).openLibrary()
        guard let result = try await library.add([confirmed], at: Date()).first else { return }
        switch result {
        case .owned(let book):
            throw Complaint(
                .nothing,
                "you have \"\(book.displayTitle.oneLine)\" already, \(book.standing). --another-copy adds a second one."
            )
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy):
            guard let book = try await library.book(copy) else { return }
            if output.json {
                Output.shared.line(book.json)
            } else {
                Output.shared.line("✓ saved   \(BookList.line(for: book, width: 80))")
            }
        }
    }

    private func checkedISBN() -> ISBN? {
        guard let isbn else { return nil }
        do {
            return try ISBN(isbn)
        } catch {
            Output.shared.complain("\"\(isbn.prefix(80).printable)\" is no ISBN: \(error). It is kept as text.")
            return nil
        }
    }
}

struct LibraryEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change what the library says of a book.",
        discussion: "  scan library edit 9780441478125 --shelf Attic --tag sf --rating 4.5")

    @Argument(help: ArgumentHelp("ISBN, id or words.", valueName: "book")) var name: String
    @Option(help: ArgumentHelp("Its right ISBN; \"\" for none.", valueName: "number")) var isbn: String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var copy: CopyOptions
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if fields.isEmpty, copy.isEmpty, isbn == nil {
            throw ValidationError("Say what to change, such as --title or --shelf.")
        }
    }

    func run() async throws {
        let library = try Wiring(settings: places.settings()).openLibrary()
        let (changeEdition, changeCopy) = (try fields.change(), try copy.change())
        let number = try isbn.map { $0.isEmpty ? nil : try ISBN(refusingWith: .usage, $0) }
        let text = isbn
        let named = try await library.book(named: name)
        let (book, _) = try await library.update(named.id, at: Date()) { book in
            changeEdition(&book.edition.metadata)
            changeCopy(&book.copy)
            if let number { (book.edition.isbn, book.edition.isbnText) = (number, number == nil ? nil : text) }
        }
        if output.json {
            Output.shared.line(book.json)
        } else {
            Output.shared.note("Changed: \(book.displayTitle.oneLine). scan undo takes it back.")
        }
    }
}
