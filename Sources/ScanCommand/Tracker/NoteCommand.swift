import ArgumentParser
import Bookplate
import Foundation
import Library

struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note", abstract: "Notes on books: list, add, edit, delete.",
        discussion: """
            A note is named by its id or the end of it, as the list shows it.

              scan note add dune "The footnotes are half the fun."
              scan note add dune - < thoughts.txt
              scan note list dune
              scan note edit 3fa2c1 "The footnotes are all the fun."
            """,
        subcommands: [RemarkListing<Note>.self, Add.self, Edit.self, RemarkDeletion<Note>.self],
        defaultSubcommand: RemarkListing<Note>.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Write a note on a book.",
            discussion: "  scan note add dune \"Ask Ada about the ending.\" --kind discussion")
        @Argument(help: ArgumentHelp("ISBN, id or words; quote a name of several words.", valueName: "book"))
        var name: String
        @Argument(help: "The note, at most 5,000 characters; - takes it from standard input.") var text: String
        @Option(help: "note, or discussion for a book club.") var kind: Note.Kind = .note
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let book = try await library.book(named: name)
            let now = Date()
            let note = Note(kind: kind, text: try EnteredText.read(text, as: "note"), created: now)
            RemarkList(json: output.json).tell("Noted", try await library.add(note, to: book.id, at: now))
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change a note; its date stays.",
            discussion: "  scan note edit 3fa2c1 \"It was the butler.\"")
        @Argument(help: ArgumentHelp("Its id or the end of it.", valueName: "note")) var name: String
        @Argument(help: "The new text; - takes it from standard input.") var text: String?
        @Option(help: "note or discussion.") var kind: Note.Kind?
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if text == nil, kind == nil { throw ValidationError("Say what to change: a text, or --kind.") }
        }

        func run() async throws {
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let note: Remark<Note> = try await RemarkList.one(name, in: library)
            let text = try text.map { try EnteredText.read($0, as: "note") }
            let kind = kind
            let edited = try await library.editNote(note.content.id, at: Date()) { note in
                note.text = text ?? note.text
                note.kind = kind ?? note.kind
            }
            RemarkList(json: output.json).tell("Changed the note", edited)
        }
    }
}

extension Note.Kind: ExpressibleByArgument {}
