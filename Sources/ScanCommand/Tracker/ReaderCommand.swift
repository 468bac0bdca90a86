import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct ReaderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reader",
        abstract: "Readers of the household: list, add, rename, colour, delete, restore, pin, unlock, lock.",
        discussion: """
            Books, shelves and tags belong to all. Status, readings, sessions, ratings,
            favourites, wishlist and stats are each reader's own. A library has one reader
            until you add another; then both get names.

            --reader NAME, BOOKPLATE_READER or the setting `reader` choose the reader of
            every other command, by default the first. Only their reader sees notes and
            quotes that are added with --private.

              scan reader add Anna --first Ben
              scan reading start dune --reader anna
              scan import goodreads.csv --reader anna
              scan export csv --reader anna --to anna.csv
            """,
        subcommands: [
            ReaderList.self, Add.self, Rename.self, Colour.self, Delete.self, Restore.self, SetPIN.self, Unlock.self,
            Lock.self,
        ],
        defaultSubcommand: ReaderList.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a reader.", discussion: "  scan reader add Anna --first Ben")
        @Argument(help: ArgumentHelp("The name of the new reader.", valueName: "name")) var name: String
        @Option(
            help: ArgumentHelp("The name of the first reader, as long as that reader has none.", valueName: "name"))
        var first: String?
        @OptionGroup var action: ReaderAction

        func run() async throws {
            try await action.run("Added") { try await $0.addReader(name, naming: first, at: $1) }
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Rename a reader.", discussion: "  scan reader rename Anna Anne")
        @Argument(help: ArgumentHelp("The reader.", valueName: "name"), completion: .values(.reader)) var name: String
        @Argument(help: ArgumentHelp("The new name.", valueName: "new-name")) var newName: String
        @OptionGroup var action: ReaderAction

        func run() async throws {
            try await action.run("Renamed") { try await $0.renameReader(action.reader(name, $0), to: newName, at: $1) }
        }
    }

    struct Colour: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "colour", abstract: "Choose one of the eight colours of a reader.",
            discussion: "  scan reader colour Anna 3")
        @Argument(help: ArgumentHelp("The reader.", valueName: "name"), completion: .values(.reader)) var name: String
        @Argument(help: ArgumentHelp("The colour, from 1 to 8.", valueName: "number")) var colour: Int
        @OptionGroup var action: ReaderAction

        func validate() throws {
            if !(1...8).contains(colour) { throw ValidationError("The colour must be from 1 to 8.") }
        }

        func run() async throws {
            try await action.run("Changed") {
                try await $0.colourReader(action.reader(name, $0), colour - 1, at: $1)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Move a reader, with all that is the reader's own, to the trash for 30 days. Books stay.",
            discussion: "  scan reader delete Anna")
        @Argument(help: ArgumentHelp("The reader.", valueName: "name"), completion: .values(.reader)) var name: String
        @OptionGroup var action: ReaderAction

        func run() async throws {
            try await action.run("Deleted") { try await $0.deleteReader(action.reader(name, $0), at: $1) }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Take a reader out of the trash.",
            discussion: "  scan reader restore Anna")
        @Argument(help: ArgumentHelp("The reader.", valueName: "name"), completion: .values(.deletedReader)) var name:
            String
        @OptionGroup var action: ReaderAction

        func run() async throws {
            try await action.run("Restored") { library, now in
                let deleted = try await library.deletedReaders()
                return try await library.restoreReader(action.reader(name, among: deleted), at: now)
            }
        }
    }
}

/// The commands about PINs.
extension ReaderCommand {
    struct SetPIN: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pin", abstract: "Set the PIN of a reader, or remove it.",
            discussion: """
                With a PIN, the reader's private notes and quotes are shown only after the PIN
                was given: in the kiosk when the reader is chosen, at a terminal with
                'scan reader unlock'. It keeps siblings out, but not somebody who has the
                library's file.

                  scan reader pin Anna
                """)
        @Argument(
            help: ArgumentHelp("The reader (default: the first one).", valueName: "name"), completion: .values(.reader))
        var name: String?
        @Flag(help: "Remove the PIN.") var remove = false
        @OptionGroup var action: ReaderAction

        func run() async throws {
            let library = try action.library()
            let reader = try await action.reader(name, library)
            let pin = try remove ? nil : SecretLine.readNew(["PIN: ", "Repeat the PIN: "], "PIN")
            try await library.setPIN(pin, of: reader, holder: TerminalSession.current, at: Date())
            Output.shared.printLine(remove ? "The PIN is removed." : "The PIN is set.")
        }
    }

    struct Unlock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock",
            abstract: "Show the private notes and quotes of a reader with a PIN in this terminal, for 15 minutes.",
            discussion: "  scan reader unlock Anna")
        @Argument(
            help: ArgumentHelp("The reader (default: the first one).", valueName: "name"), completion: .values(.reader))
        var name: String?
        @OptionGroup var action: ReaderAction

        func run() async throws {
            let library = try action.library()
            let reader = try await action.reader(name, library)
            guard let holder = TerminalSession.current else {
                throw CommandError(
                    .unavailable,
                    "cannot identify this terminal session, so no reader can be unlocked in it. Check that /proc is mounted"
                )
            }
            let now = Date()
            guard try await !library.isUnlocked(reader, holder: holder, at: now) else {
                return Output.shared.printNotice("The reader is not locked.")
            }
            guard let pin = SecretLine.read("PIN: ") else { throw CommandError(.usage, "no PIN was entered") }
            switch try await library.unlock(reader, pin: pin, holder: holder, from: "terminal", at: now) {
            case .right, .noCode: Output.shared.printLine("Unlocked in this terminal for 15 minutes.")
            case .wrong: throw CommandError(.nothing, "that is not the PIN")
            case .throttled(let seconds):
                throw CommandError(.unavailable, "too many wrong PINs. Try again in \(seconds) s")
            }
        }
    }

    struct Lock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: "Lock a reader again in this terminal.",
            discussion: "  scan reader lock Anna")
        @Argument(
            help: ArgumentHelp("The reader (default: the first one).", valueName: "name"), completion: .values(.reader))
        var name: String?
        @OptionGroup var action: ReaderAction

        func run() async throws {
            let library = try action.library()
            let reader = try await action.reader(name, library)
            if let holder = TerminalSession.current { try await library.lock(reader, holder: holder) }
            Output.shared.printLine("Locked.")
        }
    }
}

/// Lists the readers.
struct ReaderList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the readers.", discussion: "  scan reader list")
    @OptionGroup var printed: PrintedListOptions
    @OptionGroup var action: ReaderAction

    func run() async throws {
        let printer = try ListPrinter(printed, json: action.output.json, .readers)
        let readers = try await action.library().readers()
        try await printer.paged {
            try printer.print(readers, json: \.json) { [$0.name?.oneLine ?? "(without a name)"] }
        }
    }
}

/// The options of the commands that change readers.
struct ReaderAction: ParsableArguments {
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    /// Opens the library for the first reader, because the reader of the settings may be the one who was deleted.
    func library() throws -> LibraryFile { try Wiring(settings: paths.settings()).requireLibrary(for: nil) }

    func run(_ verb: String, _ act: (LibraryFile, Date) async throws -> ReaderChange) async throws {
        let library = try library()
        let result = try await act(library, Date())
        if output.json { return Output.shared.printLine(result.reader.json) }
        Output.shared.printChange(
            ["\(verb): \(result.reader.name?.oneLine ?? "")"], result.change, unchanged: "Nothing changed.")
    }

    /// - Parameter name: the name of the reader; `nil` for the first one.
    func reader(_ name: String?, _ library: LibraryFile) async throws -> ID<Reader> {
        let readers = try await library.readers()
        guard let name else { return readers[0].id }
        return try reader(name, among: readers)
    }

    func reader(_ name: String, among readers: [Reader]) throws -> ID<Reader> {
        guard let found = readers.first(where: { $0.isNamed(name) }) else {
            throw ReaderRefusal.unknown(name: name, known: readers.compactMap(\.name))
        }
        return found.id
    }
}
