import ArgumentParser
import Bookplate
import Foundation

/// `scan note list` and `scan quote list`.
struct RemarkListing<Content: PrintedRemark>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let noun = Content.noun
        return CommandConfiguration(
            commandName: "list",
            abstract: "The \(noun)s \(Content.preposition) one book, or the latest \(Content.preposition) all.",
            discussion: "  scan \(noun) list dune\n  scan \(noun) list --limit 10")
    }
    @Argument(help: ArgumentHelp("ISBN, id or words; none means all books.", valueName: "book")) var words: [String] =
        []
    @Option(help: "Of all books: how many of the latest; 50, and with --json all.") var limit: Int?
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more.") }
        if limit != nil, !words.isEmpty {
            throw ValidationError("--limit is for all books; of one book all are shown.")
        }
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        let list = RemarkList(json: output.json)
        guard words.isEmpty else {
            let library = try wiring.requireLibrary()
            let book = try await library.book(named: words.joined(separator: " "))
            return list.show(try await Content.all(of: book.id, in: library).map { Remark($0, on: book) })
        }
        guard let library = try wiring.openExistingLibrary() else {
            return RemarkList.tellEmpty(Content.noun, json: output.json)
        }
        list.showLatest(try await Content.latest(limit ?? (output.json ? .max : 50), in: library))
    }
}

/// `scan note delete` and `scan quote delete`.
struct RemarkDeletion<Content: PrintedRemark>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "delete", abstract: "Delete \(Content.noun)s (scan undo takes it back).",
            discussion: "  scan \(Content.noun) delete 3fa2c1")
    }
    @Argument(help: ArgumentHelp("Their ids or the ends of them.", valueName: Content.noun)) var names: [String]
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        var remarks: [Remark<Content>] = []
        for name in names {
            let remark: Remark<Content> = try await RemarkList.one(name, in: library)
            if !remarks.contains(remark) { remarks.append(remark) }
        }
        let list = RemarkList(json: output.json)
        if !output.json { list.show(remarks) }
        let question = "Delete \(counted(remarks.count, Content.noun))?"
        guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
        try await Content.delete(remarks.map(\.content.id), in: library, at: Date())
        list.tellDeleted(remarks)
    }
}
