import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print each change to the library as it happens, until Control-C.",
        discussion: """
            Prints one line for each change that any program on this machine makes to
            the library, and one for each undo and redo. With --json, the keys are those
            of 'scan undo --list --json', with the change's id as "change", the kinds
            undo and redo as well, and "books", the ids of at most 1000 books. A batch
            is one change that goes on: each part of it is one line with the same id. Use
            --since to go on after a change, for example after a restart.

              scan events --json
              scan events --since 5f0c9a1e
            """)

    @Option(
        help: ArgumentHelp(
            "First print what happened after this change: its id, or the end of the id.", valueName: "change"),
        completion: .values(.change))
    var since: String?
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        var start: ID<Change>?
        if let since { start = try await library.change(named: since, command: "undo").id }
        var feed = try await library.feed(after: start)
        // It says when changes begin to be seen, and goes to standard error, so it is printed with JSON too.
        Output.shared.printNotice("Waiting for changes. Control-C ends this.")
        let changes = library.changes { Output.shared.printError("\(CommandError(describing: $0)) Trying again.") }
        for await _ in changes {
            let (events, next) = try await library.events(of: feed, at: Date())
            feed = next
            for event in events { Output.shared.printLine(output.json ? event.json.text : event.line(.current)) }
        }
    }
}

extension ChangeEvent {
    fileprivate var json: JSONValue {
        let renamed = change.json.members.map { key, value -> (key: String, value: JSONValue) in
            switch key {
            case "id": (key: "change", value: value)
            case "at": (key: key, value: .string(at.rfc3339))
            case "kind": (key: key, value: .string(kindName))
            default: (key: key, value: value)
            }
        }
        return .object(renamed + [("books", .array(books.map { .string($0.rawValue) }))])
    }

    /// Returns the line for a person, like those of `scan undo --list`.
    fileprivate func line(_ localTime: LocalTime) -> String {
        let what =
            switch kind {
            case .made: ""
            case .undone: "undone: "
            case .redone: "redone: "
            }
        return
            "\(change.id.rawValue.suffix(8))  \(localTime.dateTime(at))  \(change.device.oneLine)  \(what)\(change.summary.oneLine)"
    }

    private var kindName: String {
        switch kind {
        case .made: change.kind.rawValue
        case .undone: "undo"
        case .redone: "redo"
        }
    }
}
