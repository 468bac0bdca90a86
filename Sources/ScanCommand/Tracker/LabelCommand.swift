import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// The help text for a command that manages tags or shelves, with an example.
struct LabelHelp {
    let abstract: String
    let example: String

    init(_ abstract: String, _ example: String) {
        self.abstract = abstract
        self.example = example
    }
}

/// The texts that differ between the commands for tags and those for shelves. Otherwise, the commands are the same.
protocol LabelTexts {
    static var kind: Label.Kind { get }
    static var plural: String { get }
    /// The help text above the examples.
    static var explanation: String { get }
    static var add: LabelHelp { get }
    static var remove: LabelHelp { get }
    static var rename: LabelHelp { get }
    static var merge: LabelHelp { get }
    static var delete: LabelHelp { get }
}

extension LabelTexts {
    static var noun: String { kind.rawValue }
    /// The names that are completed.
    static var values: CompletedValue { kind == .tag ? .tag : .shelf }
}

/// The texts for tags. A book can have any number of tags.
enum TagTexts: LabelTexts {
    static let kind = Label.Kind.tag
    static let plural = "tags"
    static let explanation = "Case does not matter: SF and sf are the same tag, shown as first entered."
    static let add = LabelHelp("Create a tag and add it to books.", "scan tag add sf dune 9780441478125")
    static let remove = LabelHelp("Remove a tag from books, but keep the tag itself.", "scan tag remove sf dune")
    static let rename = LabelHelp(
        "Rename a tag on all its books.", "scan tag rename sf \"science fiction\"")
    static let merge = LabelHelp(
        "Merge tags into an existing one (to undo this, run 'scan undo').",
        "scan tag merge sci-fi scifi --into \"science fiction\""
    )
    static let delete = LabelHelp(
        "Delete tags, but keep their books (to undo this, run 'scan undo').", "scan tag delete sf")
}

/// The texts for shelves. A book stands on one shelf or on none.
enum ShelfTexts: LabelTexts {
    static let kind = Label.Kind.shelf
    static let plural = "shelves"
    static let explanation = """
        A book stands on one shelf or none. Case does not matter: Attic and attic
        are the same shelf.
        """
    static let add = LabelHelp("Create a shelf and put books on it.", "scan shelf add Attic dune 9780441478125")
    static let remove = LabelHelp("Take books off a shelf, but keep the shelf itself.", "scan shelf remove Attic dune")
    static let rename = LabelHelp(
        "Rename a shelf for all its books.", "scan shelf rename Attic \"Living room\"")
    static let merge = LabelHelp(
        "Merge shelves into an existing one (to undo this, run 'scan undo').",
        "scan shelf merge Hall Lounge --into \"Living room\""
    )
    static let delete = LabelHelp(
        "Delete shelves, but keep their books (to undo this, run 'scan undo').", "scan shelf delete Attic")
}

typealias TagCommand = LabelCommand<TagTexts>
typealias ShelfCommand = LabelCommand<ShelfTexts>

/// The commands `scan tag` and `scan shelf`.
struct LabelCommand<Texts: LabelTexts>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Texts.noun,
            abstract:
                "\(Texts.plural.prefix(1).uppercased() + Texts.plural.dropFirst()): list, add, remove, rename, merge, delete.",
            discussion: """
                \(Texts.explanation)

                  \(Texts.add.example)
                  \(Texts.rename.example)
                  \(Texts.merge.example)
                """,
            subcommands: [List.self, Add.self, Remove.self, Rename.self, Merge.self, Delete.self],
            defaultSubcommand: List.self)
    }

    private static func configuration(
        _ name: String, _ help: LabelHelp
    ) -> CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: help.abstract, discussion: "  " + help.example)
    }

    struct List: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "list", abstract: "List the \(Texts.plural), each with its number of books.",
                discussion: "  scan \(Texts.noun) list")
        }
        @OptionGroup var arrangement: NameListOptions
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json).list(arrangement, printed)
        }
    }

    struct Add: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("add", Texts.add) }
        @Argument(help: "The \(Texts.noun).", completion: .values(Texts.values)) var name: String
        @Argument(
            help: ArgumentHelp(
                "The books: an ISBN, an id or words from the title or authors for each. Put several words in quotes. Without books, the \(Texts.noun) is only created.",
                valueName: "book"), completion: .values(.book))
        var books: [String] = []
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws { try chosen.check(books, isOptional: true) }

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json).add(name, to: books, chosen)
        }
    }

    struct Remove: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("remove", Texts.remove) }
        @Argument(help: "The \(Texts.noun).", completion: .values(Texts.values)) var name: String
        @OptionGroup var books: OptionalBooks
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws { try chosen.check(books.names) }

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json)
                .remove(name, from: books.names, chosen)
        }
    }

    struct Rename: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("rename", Texts.rename) }
        @Argument(help: "The \(Texts.noun).", completion: .values(Texts.values)) var name: String
        @Argument(help: "The new name of the \(Texts.noun).", completion: .values(Texts.values)) var newName: String
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json).rename(name, to: newName)
        }
    }

    struct Merge: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("merge", Texts.merge) }
        @Argument(help: "The \(Texts.plural) to merge.", completion: .values(Texts.values)) var names: [String]
        @Option(help: ArgumentHelp("The \(Texts.noun) to keep.", valueName: "name"), completion: .values(Texts.values))
        var into: String
        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json).merge(names, into: into, yes: yes)
        }
    }

    struct Delete: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("delete", Texts.delete) }
        @Argument(help: "The \(Texts.plural) to delete.", completion: .values(Texts.values)) var names: [String]
        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActions(kind: Texts.kind, paths: paths, json: output.json).delete(names, yes: yes)
        }
    }
}

/// Carries out the commands for tags and shelves, in the same way for both kinds of label.
struct LabelActions {
    let kind: Label.Kind
    let paths: PathOptions
    let json: Bool

    func list(_ arrangement: NameListOptions, _ printed: PrintedListOptions) async throws {
        let printer = try ListPrinter(printed, json: json, .labels)
        guard let library = try Wiring(settings: paths.settings()).openExistingLibrary() else { return printEmpty() }
        let labels = arrangement.arranged(try await library.labels(kind), books: \.books)
        if labels.isEmpty { printEmpty() }
        let width = min(60, labels.map(\.name.oneLine.columns).max() ?? 0)
        try await printer.paged {
            try printer.print(labels, json: \.json) { [Self.line(for: $0, width: width)] }
        }
    }

    func add(_ name: String, to books: [String], _ chosen: QueryActOptions) async throws {
        let wiring = try Wiring(settings: paths.settings())
        let isNew = books.isEmpty && !chosen.isGiven
        let library = try isNew ? wiring.openLibrary() : wiring.requireLibrary()
        let act = kind == .tag ? ("Give", "the tag \(quoted([name]))") : ("Put", "on the shelf \(quoted([name]))")
        guard let copies = try await copies(books, chosen, to: act, library) else { return }
        let done = try await library.addLabel(kind, name, to: copies, at: Date())
        let subject = copies.count == 1 ? "the book" : "all these books"
        let unchanged =
            copies.isEmpty
            ? "the \(kind.rawValue) already exists"
            : kind == .tag
                ? "\(subject) already \(copies.count == 1 ? "has" : "have") the tag"
                : "\(subject) already \(copies.count == 1 ? "stands" : "stand") on the shelf"
        printChanged(
            done,
            copies.isEmpty ? "Created the \(kind.rawValue)" : "Added to \(counted(done.changedBooks, "more book"))",
            unchanged: unchanged)
    }

    func remove(_ name: String, from books: [String], _ chosen: QueryActOptions) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let act =
            kind == .tag ? ("Remove the tag \(quoted([name])) from", "") : ("Take", "off the shelf \(quoted([name]))")
        guard let copies = try await copies(books, chosen, to: act, library) else { return }
        let done = try await library.removeLabel(kind, name, from: copies, at: Date())
        printChanged(
            done, "Removed from \(counted(done.changedBooks, "book"))",
            unchanged: "none of these books \(kind == .tag ? "has the tag" : "stands on the shelf")")
    }

    func rename(_ name: String, to newName: String) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let done = try await library.renameLabel(kind, name, to: newName, at: Date())
        printChanged(done, "Renamed", unchanged: "this is already the name of the \(kind.rawValue)")
    }

    func merge(_ names: [String], into target: String, yes: Bool) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let question = "Merge \(quoted(names)) into \(quoted([target]))?"
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        printChanged(try await library.mergeLabels(kind, names, into: target, at: Date()), "Merged")
    }

    func delete(_ names: [String], yes: Bool) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let question = "Delete the \(kind.rawValue) \(quoted(names))? The books stay in the library."
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        let deleted = try await library.deleteLabels(kind, names, at: Date())
        if !json {
            return Output.shared.printChange(
                deleted.map { "Deleted: \($0.label.name.oneLine), removed from \(counted($0.changedBooks, "book"))" },
                deleted.first?.change)
        }
        for change in deleted { Output.shared.printLine(change.label.json) }
    }

    /// - Returns: the copies of the books that are named or found; `nil` if the person does not agree to change them.
    private func copies(
        _ names: [String], _ chosen: QueryActOptions, to act: (String, String), _ library: LibraryFile
    ) async throws -> [ID<Copy>]? {
        if chosen.isGiven { return try await chosen.books(in: library, to: act, json: json) }
        var copies: [ID<Copy>] = []
        let choosing = Asking.canChoose(json: json, yes: chosen.yes)
        for name in names { copies.append(try await library.book(named: name, choosing: choosing).id) }
        return copies
    }

    /// - Parameter unchanged: the reason if nothing changed.
    private func printChanged(_ done: LabelChange, _ what: String, unchanged: String = "") {
        if json { return Output.shared.printLine(done.label.json) }
        let label = "\(done.label.name.oneLine), \(counted(done.label.books, "book"))"
        Output.shared.printChange(
            ["\(what): \(label)"], done.change, unchanged: "Nothing changed: \(unchanged): \(label).")
    }

    private func printEmpty() {
        if !json {
            Output.shared.printNotice(
                "There is no \(kind.rawValue) yet. To create one, run 'scan \(kind.rawValue) add NAME BOOK'.")
        }
    }

    private static func line(for label: Label, width: Int) -> String {
        "\(label.name.oneLine.padded(width))  \(counted(label.books, "book"))"
    }
}
