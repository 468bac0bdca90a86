import ArgumentParser
import Bookplate
import Foundation
import Station
import Terminal

struct IntakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intake", abstract: "The queue of books that were captured but not yet confirmed.",
        discussion: """
              scan intake
              scan intake confirm
              scan intake edit 9783161484100 --title "The one with the blue cover"
              scan intake skip 9783161484100
            """,
        subcommands: [List.self, Confirm.self, Edit.self, Skip.self, Refresh.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the queue, oldest first.",
            discussion: "  scan intake list\n  scan intake list --all --json")

        @Flag(help: "Also list the items that were confirmed or skipped.")
        var all = false
        @Option(name: [.customShort("n"), .long], help: "The maximum number of items (default: all).") var limit: Int?
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        }

        func run() async throws {
            let printer = try ListPrinter(printed, json: output.json, .intake)
            guard let library = try Wiring(settings: paths.settings()).openExistingLibrary() else {
                if !output.json { Output.shared.printNotice("There is no library yet, so the queue is empty.") }
                return
            }
            let items = try await library.items(in: all ? Set(QueueItem.State.allCases) : [.waiting])
            if items.isEmpty, !output.json { Output.shared.printNotice("The queue is empty.") }
            let shown = limit.map { Array(items.prefix($0)) } ?? items
            let ids =
                printer.needsShortIDs ? try await library.shortIDs(of: shown.map(\.id.rawValue), in: .intakeItem) : [:]
            try await printer.paged {
                try printer.print(shown, ids: ids, json: \.json) { [Self.line(for: $0, id: ids[$0.id.rawValue])] }
                if shown.count < items.count, printer.isForPeople {
                    Output.shared.printNotice("\(shown.count) of \(items.count).")
                }
            }
        }

        /// - Parameter id: the short form of the id; `nil` for its last six characters.
        static func line(for item: QueueItem, id: String? = nil) -> String {
            let title = item.metadata?.title?.oneLine ?? item.reason?.oneLine ?? "not looked up yet"
            let state = item.state == .waiting ? "" : " [\(item.state == .skipped ? "skipped" : item.state.rawValue)]"
            let day = CalendarDay(item.captured, in: .current)
            return "\(id ?? String(item.id.rawValue.suffix(6)))  \(item.isbn.hyphenated)  \(day)  \(title)\(state)"
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm",
            abstract: "Confirm captured books one by one, or use --yes to save every book that was identified.",
            discussion: "  scan intake confirm\n  scan intake confirm --yes 9780441478125")

        @Argument(
            help: ArgumentHelp("Ids or ISBNs (default: all waiting items).", valueName: "item"),
            completion: .values(.waitingItem))
        var names: [String] = []

        @OptionGroup var confirming: ConfirmOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let wiring = try Wiring(settings: paths.settings())
            let library = try wiring.openLibrary()
            let items = try await library.waitingItems(named: names)
            let report = ExitReport()
            let events = EventPrinter(json: output.json, report: report)
            let answer = confirming.answer(json: output.json)
            defer { answer.restoreTerminal() }
            var options = Station.Options()
            options.isOffline = wiring.isOffline
            options.saving = answer.saving(anotherCopy: confirming.anotherCopy)
            let lookup = wiring.lookup(library)
            let station = Station(
                flow: wiring.captureFlow(library, lookup), history: library, options: options,
                titles: wiring.titleFinder(library, lookup), names: library)
            let run = CaptureRun(station: station, answer: answer, events: events, open: wiring.open)
            Interrupts.handle { "Interrupted. Books that were not saved are still in the queue." }
            try await run.answer(items)
            await wiring.catchUp(
                library, saved: events.count(.saved), isAttended: !confirming.yes, report)
            try report.end()
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Edit the details of a waiting item before it is saved.",
            discussion: "  scan intake edit 9783161484100 --title \"The one with the blue cover\"")

        @Argument(help: ArgumentHelp("The id or ISBN.", valueName: "item"), completion: .values(.waitingItem))
        var name: String

        @OptionGroup var fields: MetadataOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if fields.isEmpty { throw ValidationError("Say what to change, such as --title.") }
        }

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).openLibrary()
            let items = try await library.waitingItems(named: [name])
            guard let item = items.first, items.count == 1 else {
                let list = items.map { "  " + List.line(for: $0) }.joined(separator: "\n")
                throw CommandError(
                    .nothing,
                    "\"\(name.printable)\" matches several items. Give the id of one of them, which is at the beginning of its line:\n\(list)"
                )
            }
            let edit = try fields.edit()
            try await library.edit(item.id) { metadata, _ in try edit.apply(to: &metadata) }
            guard let kept = try await library.item(item.id) else { return }
            if output.json {
                Output.shared.printLine(kept.json)
            } else {
                Output.shared.printNotice("Changed: \(List.line(for: kept)). To save it, run 'scan intake confirm'.")
            }
        }
    }

    /// Skips items. The library, the hub's protocol and JSON call a skipped item *dismissed*, because this command was
    /// once called `dismiss`.
    struct Skip: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "skip", abstract: "Take items out of the queue without saving them.",
            discussion: "  scan intake skip 9783161484100", aliases: ["dismiss"])

        @Argument(help: ArgumentHelp("Ids or ISBNs.", valueName: "item"), completion: .values(.waitingItem))
        var names: [String]

        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).openLibrary()
            let items = try await library.waitingItems(named: names)
            let change = try await library.skip(items.map(\.id), at: Date())
            for item in items {
                guard output.json, let skipped = try await library.item(item.id) else { continue }
                Output.shared.printLine(skipped.json)
            }
            guard !output.json else { return }
            Output.shared.printNotice(
                change == nil
                    ? "Nothing changed: all these items were saved or skipped in the meantime."
                    : "\(items.count) skipped. To undo this, run 'scan undo'.")
        }
    }

    struct Refresh: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "refresh",
            abstract: "Look up the waiting items that no source has answered about, and fetch missing covers.",
            discussion: "  scan intake refresh\n  scan intake refresh --all")

        @Flag(help: "Look up all waiting items, also those that were found or not found, and ignore cached answers.")
        var all = false

        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let wiring = try Wiring(settings: paths.settings())
            let library = try wiring.openLibrary()
            let report = ExitReport()
            let events = EventPrinter(json: output.json, report: report)
            let bar = ProgressBar("looked up", total: 0, waitingFor: wiring.open)
            let isJSON = output.json
            let show: CaptureFlow.Delivery = { candidates in
                for candidate in candidates {
                    bar.advance()
                    events.reportMissingSources(of: [candidate])
                    events.show([.lookedUp(candidate.item)].compactMap { $0 })
                    if !isJSON { Output.shared.printLine(List.line(for: candidate.item)) }
                }
            }
            let flow = wiring.captureFlow(library, wiring.lookup(library))
            if all {
                try await flow.lookUpAgain(nil, deliver: show)
            } else {
                try await flow.lookUpUnanswered(deliver: show)
            }
            bar.finish()
            let left = try await library.items(in: [.waiting]).count
            if !output.json, left > 0 {
                Output.shared.printNotice(
                    "\(left) waiting. To confirm them, run 'scan intake confirm'. To look up all of them again, run 'scan intake refresh --all'."
                )
            }
            try await wiring.fetchCovers(library, limit: 500, patience: .seconds(600))
            try report.end()
        }
    }
}
