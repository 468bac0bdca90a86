import ArgumentParser
import Bookplate
import Foundation
import Station

struct IntakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intake", abstract: "The queue of what was captured and is not confirmed yet.",
        subcommands: [List.self, Confirm.self, Edit.self, Dismiss.self, Refresh.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the queue, oldest first.")

        @Flag(help: "Also what was confirmed or dismissed.")
        var all = false

        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            guard let library = try Wiring(settings: places.settings()).openExistingLibrary() else {
                if !output.json { Output.shared.note("There is no library yet, so nothing waits.") }
                return
            }
            let items = try await library.items(in: all ? Set(IntakeItem.State.allCases) : [.waiting])
            if items.isEmpty, !output.json { Output.shared.note("Nothing waits in the queue.") }
            for item in items {
                if output.json { Output.shared.line(item.json) } else { Output.shared.line(Self.line(for: item)) }
            }
        }

        static func line(for item: IntakeItem) -> String {
            let title = item.metadata?.title?.oneLine ?? item.reason?.oneLine ?? "not looked up yet"
            let state = item.state == .waiting ? "" : " [\(item.state.rawValue)]"
            return "\(item.id.rawValue.suffix(6))  \(item.isbn.hyphenated)  \(item.captured.utcDay)  \(title)\(state)"
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm", abstract: "Go through the queue card by card, or save with --yes what is found.",
            discussion: "  scan intake confirm\n  scan intake confirm --yes 9780441478125")

        @Argument(help: ArgumentHelp("Ids or ISBNs; none means all.", valueName: "item"))
        var names: [String] = []

        @OptionGroup var confirming: ConfirmOptions
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let wiring = try Wiring(settings: places.settings())
            let library = try wiring.openLibrary()
            let items = try await library.waitingItems(named: names)
            let report = ExitReport()
            let events = EventPrinter(json: output.json, report: report)
            let answer = confirming.answer(json: output.json)
            defer { answer.giveBackTerminal() }
            var options = Station.Options()
            options.isOffline = wiring.isOffline
            options.saving = answer.saving(anotherCopy: confirming.anotherCopy)
            let station = Station(flow: wiring.captureFlow(library), history: library, options: options)
            let run = CaptureRun(station: station, answer: answer, events: events, report: report)
            Interrupts.handle { "Interrupted. What was not saved is still in the queue." }
            try await run.answer(items)
            await wiring.catchUp(library, saved: events.count(.saved))
            try report.end()
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change what a waiting item would be saved with.",
            discussion: "  scan intake edit 9783161484100 --title \"The one with the blue cover\"")

        @Argument(help: ArgumentHelp("The id or ISBN.", valueName: "item"))
        var name: String

        @OptionGroup var fields: MetadataOptions
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if fields.isEmpty { throw ValidationError("Say what to change, such as --title.") }
        }

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openLibrary()
            let items = try await library.waitingItems(named: [name])
            guard let item = items.first, items.count == 1 else {
                let list = items.map { "  " + List.line(for: $0) }.joined(separator: "\n")
                throw CommandError(
                    .nothing, "\"\(name.printable)\" fits several items; name one by the id in front:\n\(list)")
            }
            let edit = try fields.edit()
            try await library.edit(item.id) { metadata, _ in try edit.apply(to: &metadata) }
            guard let kept = try await library.item(item.id) else { return }
            if output.json {
                Output.shared.line(kept.json)
            } else {
                Output.shared.note("Kept: \(List.line(for: kept)). scan intake confirm saves it.")
            }
        }
    }

    struct Dismiss: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dismiss", abstract: "Take items out of the queue without saving them.",
            discussion: "  scan intake dismiss 9783161484100")

        @Argument(help: ArgumentHelp("Ids or ISBNs.", valueName: "item"))
        var names: [String]

        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openLibrary()
            let items = try await library.waitingItems(named: names)
            _ = try await library.dismiss(items.map(\.id), at: Date())
            for item in items {
                guard output.json, let dismissed = try await library.item(item.id) else { continue }
                Output.shared.line(dismissed.json)
            }
            if !output.json { Output.shared.note("\(items.count) dismissed. scan undo takes it back.") }
        }
    }

    struct Refresh: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "refresh", abstract: "Look up what waits, and fetch missing covers.")

        @Flag(help: "Ask for everything that waits, due or not, and pass over the answer cache.")
        var all = false

        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let wiring = try Wiring(settings: places.settings())
            let library = try wiring.openLibrary()
            let report = ExitReport()
            let events = EventPrinter(json: output.json, report: report)
            let bar = ProgressBar("looked up", total: 0)
            let isJSON = output.json
            let show: CaptureFlow.Delivery = { candidates in
                for candidate in candidates {
                    bar.advance()
                    if candidate.lacksASource { report.note(.unavailable) }
                    events.show([.lookedUp(candidate.item)].compactMap { $0 })
                    if !isJSON { Output.shared.line(List.line(for: candidate.item)) }
                }
            }
            let flow = wiring.captureFlow(library)
            if all {
                try await flow.lookUpAgain(nil, deliver: show)
            } else {
                try await flow.lookUpDue(deliver: show)
            }
            bar.finish()
            let left = try await library.items(in: [.waiting]).count
            if !output.json, left > 0 {
                Output.shared.note("\(left) waiting. scan intake confirm goes through them; --all asks for every one.")
            }
            try await wiring.fetchCovers(library, limit: 500, patience: .seconds(600))
            try report.end()
        }
    }
}
