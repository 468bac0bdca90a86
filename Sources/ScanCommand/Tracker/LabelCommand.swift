import ArgumentParser
import Bookplate
import Foundation
import Library

/// What an act on labels does, and an example.
struct LabelHelp {
    let abstract: String
    let example: String

    init(_ abstract: String, _ example: String) {
        self.abstract = abstract
        self.example = example
    }
}

/// What tags and shelves say differently; what they do is the same.
protocol LabelWords {
    static var kind: Label.Kind { get }
    static var plural: String { get }
    /// What stands above the examples of the whole command.
    static var explanation: String { get }
    static var add: LabelHelp { get }
    static var remove: LabelHelp { get }
    static var rename: LabelHelp { get }
    static var merge: LabelHelp { get }
    static var delete: LabelHelp { get }
}

extension LabelWords {
    static var noun: String { kind.rawValue }
}

/// Tags: a book has any number of them.
enum TagWords: LabelWords {
    static let kind = Label.Kind.tag
    static let plural = "tags"
    static let explanation = "Case does not matter: SF and sf are one tag, shown as it was first written."
    static let add = LabelHelp("Make a tag, and put it on books.", "scan tag add sf dune 9780441478125")
    static let remove = LabelHelp("Take a tag off books; the tag stays.", "scan tag remove sf dune")
    static let rename = LabelHelp(
        "Give a tag another name, on all its books.", "scan tag rename sf \"science fiction\"")
    static let merge = LabelHelp(
        "Make several tags one that is there already (scan undo takes it back).",
        "scan tag merge sci-fi scifi --into \"science fiction\""
    )
    static let delete = LabelHelp("Delete tags; their books stay (scan undo takes it back).", "scan tag delete sf")
}

/// Shelves: a book stands on one or on none.
enum ShelfWords: LabelWords {
    static let kind = Label.Kind.shelf
    static let plural = "shelves"
    static let explanation = """
        A book stands on one shelf or none. Case does not matter: Attic and attic
        are one shelf.
        """
    static let add = LabelHelp("Make a shelf, and put books on it.", "scan shelf add Attic dune 9780441478125")
    static let remove = LabelHelp("Take books off a shelf; the shelf stays.", "scan shelf remove Attic dune")
    static let rename = LabelHelp(
        "Give a shelf another name, on all its books.", "scan shelf rename Attic \"Living room\"")
    static let merge = LabelHelp(
        "Make several shelves one that is there already (scan undo takes it back).",
        "scan shelf merge Hall Lounge --into \"Living room\""
    )
    static let delete = LabelHelp(
        "Delete shelves; their books stay (scan undo takes it back).", "scan shelf delete Attic")
}

typealias TagCommand = LabelCommand<TagWords>
typealias ShelfCommand = LabelCommand<ShelfWords>

/// `scan tag` and `scan shelf`.
struct LabelCommand<Words: LabelWords>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Words.noun,
            abstract:
                "\(Words.plural.prefix(1).uppercased() + Words.plural.dropFirst()): list, add, remove, rename, merge, delete.",
            discussion: """
                \(Words.explanation)

                  \(Words.add.example)
                  \(Words.rename.example)
                  \(Words.merge.example)
                """,
            subcommands: [List.self, Add.self, Remove.self, Rename.self, Merge.self, Delete.self],
            defaultSubcommand: List.self)
    }

    private static func configuration(
        _ name: String, _ words: LabelHelp
    ) -> CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: words.abstract, discussion: "  " + words.example)
    }

    struct List: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "list", abstract: "List the \(Words.plural) with their numbers of books.")
        }
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await LabelActs(kind: Words.kind, places: places, json: output.json).list() }
    }

    struct Add: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("add", Words.add) }
        @Argument(help: "The \(Words.noun).") var name: String
        @Argument(
            help: ArgumentHelp(
                "ISBN, id or words each; quote a name of several words. None makes a \(Words.noun) without books.",
                valueName: "book"))
        var books: [String] = []
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActs(kind: Words.kind, places: places, json: output.json).add(name, to: books)
        }
    }

    struct Remove: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("remove", Words.remove) }
        @Argument(help: "The \(Words.noun).") var name: String
        @OptionGroup var books: NamedBooks
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActs(kind: Words.kind, places: places, json: output.json).remove(name, from: books.names)
        }
    }

    struct Rename: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("rename", Words.rename) }
        @Argument(help: "The \(Words.noun).") var name: String
        @Argument(help: "Its new name.") var newName: String
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActs(kind: Words.kind, places: places, json: output.json).rename(name, to: newName)
        }
    }

    struct Merge: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("merge", Words.merge) }
        @Argument(help: "The \(Words.plural) that go.") var names: [String]
        @Option(help: ArgumentHelp("The \(Words.noun) that stays.", valueName: "name")) var into: String
        @Flag(help: "Do not ask.") var yes = false
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActs(kind: Words.kind, places: places, json: output.json).merge(names, into: into, yes: yes)
        }
    }

    struct Delete: AsyncParsableCommand {
        static var configuration: CommandConfiguration { LabelCommand.configuration("delete", Words.delete) }
        @Argument(help: "The \(Words.plural).") var names: [String]
        @Flag(help: "Do not ask.") var yes = false
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await LabelActs(kind: Words.kind, places: places, json: output.json).delete(names, yes: yes)
        }
    }
}

/// What the commands of tags and shelves do: the same, on two kinds of label.
struct LabelActs {
    let kind: Label.Kind
    let places: PathOptions
    let json: Bool

    func list() async throws {
        guard let library = try Wiring(settings: places.settings()).openExistingLibrary() else { return tellEmpty() }
        let labels = try await library.labels(kind)
        if labels.isEmpty { return tellEmpty() }
        let width = min(60, labels.map(\.name.oneLine.columns).max() ?? 0)
        for label in labels {
            if json { Output.shared.line(label.json) } else { Output.shared.line(Self.line(for: label, width: width)) }
        }
    }

    func add(_ name: String, to books: [String]) async throws {
        let wiring = try Wiring(settings: places.settings())
        let library = try books.isEmpty ? wiring.openLibrary() : wiring.requireLibrary()
        let copies = try await copies(books, library)
        let done = try await library.addLabel(kind, name, to: copies, at: Date())
        tell(done, copies.isEmpty ? "The \(kind.rawValue) is there" : "On \(counted(done.changedBooks, "more book"))")
    }

    func remove(_ name: String, from books: [String]) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let done = try await library.removeLabel(kind, name, from: try await copies(books, library), at: Date())
        tell(done, "Off \(counted(done.changedBooks, "book"))")
    }

    func rename(_ name: String, to newName: String) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        tell(try await library.renameLabel(kind, name, to: newName, at: Date()), "Renamed")
    }

    func merge(_ names: [String], into target: String, yes: Bool) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let question = "Merge \(quoted(names)) into \(quoted([target]))?"
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        tell(try await library.mergeLabels(kind, names, into: target, at: Date()), "Merged")
    }

    func delete(_ names: [String], yes: Bool) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let question = "Delete the \(kind.rawValue) \(quoted(names))? The books stay."
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        let gone = try await library.deleteLabels(kind, names, at: Date())
        if !json {
            return Output.shared.changed(
                gone.map { "Deleted: \($0.label.name.oneLine), \(counted($0.changedBooks, "book"))" })
        }
        for change in gone { Output.shared.line(change.label.json) }
    }

    private func copies(_ names: [String], _ library: LibraryFile) async throws -> [ID<Copy>] {
        var copies: [ID<Copy>] = []
        for name in names { copies.append(try await library.book(named: name).id) }
        return copies
    }

    private func tell(_ done: LabelChange, _ what: String) {
        if json { return Output.shared.line(done.label.json) }
        Output.shared.changed(["\(what): \(done.label.name.oneLine), \(counted(done.label.books, "book"))"])
    }

    private func tellEmpty() {
        if !json {
            Output.shared.note("There is no \(kind.rawValue) yet. scan \(kind.rawValue) add NAME BOOK makes the first.")
        }
    }

    private static func line(for label: Label, width: Int) -> String {
        "\(label.name.oneLine.padded(width))  \(counted(label.books, "book"))"
    }
}
