import ArgumentParser
import Bookplate
import Foundation
import Library

struct QuoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quote", abstract: "Quotes from books: list, add, edit, delete.",
        discussion: """
            A quote is named by its id or the end of it, as the list shows it.

              scan quote add dune "Fear is the mind-killer." --page 8
              scan quote list dune
              scan quote edit 3fa2c1 --page 9
            """,
        subcommands: [RemarkListing<Quote>.self, Add.self, Edit.self, RemarkDeletion<Quote>.self],
        defaultSubcommand: RemarkListing<Quote>.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Copy a passage out of a book.",
            discussion: "  scan quote add dune \"Fear is the mind-killer.\" --page 8")
        @Argument(help: ArgumentHelp("ISBN, id or words; quote a name of several words.", valueName: "book"))
        var name: String
        @Argument(help: "The passage, at most 5,000 characters; - takes it from standard input.") var text: String
        @Option(help: "The page it is on.") var page: Int?
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try NumberLimit.check(page, as: "page", in: NumberLimit.pages)
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let book = try await library.book(named: name)
            let now = Date()
            let quote = Quote(text: try EnteredText.read(text, as: "quote"), page: page, created: now)
            RemarkList(json: output.json).tell("Quoted", try await library.add(quote, to: book.id, at: now))
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change a quote; its date stays.",
            discussion: "  scan quote edit 3fa2c1 --page 9")
        @Argument(help: ArgumentHelp("Its id or the end of it.", valueName: "quote")) var name: String
        @Argument(help: "The new text; - takes it from standard input.") var text: String?
        @Option(help: "The page it is on; 0 clears.") var page: Int?
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if text == nil, page == nil { throw ValidationError("Say what to change: a text, or --page.") }
        }

        func run() async throws {
            let page = page
            if page != 0 { try NumberLimit.check(page, as: "page", in: NumberLimit.pages) }
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let quote: Remark<Quote> = try await RemarkList.one(name, in: library)
            let text = try text.map { try EnteredText.read($0, as: "quote") }
            let edited = try await library.editQuote(quote.content.id, at: Date()) { quote in
                quote.text = text ?? quote.text
                if let page { quote.page = page == 0 ? nil : page }
            }
            RemarkList(json: output.json).tell("Changed the quote", edited)
        }
    }
}
