import ArgumentParser
import Bookplate
import Foundation
import Library

/// Only from the trash, so that one slip is never enough; and it cannot be undone, so it asks.
struct LibraryPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Delete books in the trash for good, before their 30 days are over.",
        discussion: """
            With their readings, notes and quotes, and out of the log of changes.
            This cannot be undone; only a backup still has them.

              scan library purge 9780441478125
              scan library purge --all
            """)

    @Argument(
        help: ArgumentHelp(
            "A book in the trash: ISBN, id or words each; quote a name of several words.", valueName: "book"))
    var names: [String] = []
    @Flag(help: "Everything that is in the trash.") var all = false
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if all != names.isEmpty { throw ValidationError("Name the books, or say --all.") }
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        // Where there is no library there is no trash to empty, but no book either.
        guard let library = try all ? wiring.openExistingLibrary() : wiring.requireLibrary() else {
            return tellEmpty()
        }
        var books: [Book] = []
        for name in names { books.append(try await library.book(named: name, inTrash: true)) }
        if all {
            var query = BookQuery()
            query.inTrash = true
            query.limit = .max
            books = try await library.books(matching: query).books
        }
        guard !books.isEmpty else { return tellEmpty() }
        if !output.json { for book in books { Output.shared.line(BookList.line(for: book, width: 80)) } }
        guard
            try Asking.mayGoOn(
                "Delete \(counted(books.count, "book")) for good?", yes: yes, json: output.json, .forGood)
        else { return }
        try await library.deleteForGood(books.map(\.id))
        if output.json {
            for book in books { Output.shared.line(book.json) }
        } else {
            Output.shared.line("\(counted(books.count, "book")) gone for good.")
        }
    }

    private func tellEmpty() {
        if !output.json { Output.shared.note("The trash is empty.") }
    }
}
