import ArgumentParser
import Bookplate
import Foundation
import Library
import Station
import Terminal

struct FindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find a book by its title, and save the edition that you choose.",
        discussion: """
            For books without a bar code. Asks the offline index, Open Library, Google
            Books and the catalogue of your language, and lists the editions, the best
            first. Press the number of one to save it, or give it with --take.

            --language is an ISO 639 code such as de. By default, it is the language of
            this system. Of the catalogues, dnb answers for de, bnf for fr, bn for pl, and
            libris for sv.

              scan find "die welt von gestern" --author zweig
              scan find solaris --take 2 --shelf Attic
              scan find solaris --json --offline
            """)

    @Argument(help: ArgumentHelp("Words of the title.", valueName: "title")) var words: [String]
    @Option(help: ArgumentHelp("Words of the author's name.", valueName: "name")) var author: String?
    @Option(help: ArgumentHelp("Your language, for the national catalogue.", valueName: "code")) var language: String?
    @Option(help: ArgumentHelp("Save the edition with this number.", valueName: "number")) var take: Int?
    @Flag(help: "Save another copy if you already own the book.") var anotherCopy = false
    @OptionGroup var preset: PresetOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let query = TitleQuery(title: words.joined(separator: " "), author: author) else {
            throw CommandError(.usage, "the title has no letter or digit to search for.")
        }
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.openExistingLibrary()
        let finder = wiring.titleFinder(library)
        if !output.json { Output.shared.showStatus("  searching …") }
        let (answer, choices) = try await finder.find(query, language: language)
        Output.shared.showStatus("")
        if let take {
            guard choices.indices.contains(take - 1) else {
                try report(answer)
                throw CommandError(.usage, "there is no edition \(take); \(counted(choices.count, "edition")) found.")
            }
            return try await save(choices[take - 1], finder, wiring)
        }
        if output.json {
            Output.shared.printLine(answer.json(query, choices))
        } else if !choices.isEmpty, let keyboard = Keyboard.open() {
            showFailures(answer)
            var list = EditionList(choices)
            let chosen = await list.choose(with: keyboard)
            keyboard.close()
            guard let chosen else { return }
            return try await save(choices[chosen], finder, wiring)
        } else {
            EditionList(choices).show()
            showFailures(answer)
        }
        try report(answer)
    }

    /// Prints the sources that failed or were left out, because they may know other editions.
    private func showFailures(_ answer: TitleAnswer) {
        guard !answer.offers.isEmpty else { return }
        for failure in answer.failures {
            Output.shared.printNotice("  not answered: \(failure.error.description.oneLine)")
        }
    }

    /// Ends with the status for an answer without editions.
    private func report(_ answer: TitleAnswer) throws {
        guard let reason = answer.reason else { return }
        if !output.json {
            for skipped in answer.notAsked {
                Output.shared.printNotice("  not queried: \(skipped.source.displayName) (\(skipped.reason.oneLine))")
            }
        }
        let isOver = answer.outcome == .notFound
        let error = CommandError(
            isOver ? .nothing : .unavailable,
            isOver ? "\(reason). Try fewer words, or enter it with 'scan library add'." : "\(reason).")
        guard output.json else { throw error }
        throw ExitCode(error.status.rawValue)
    }

    private func save(_ choice: EditionChoice, _ finder: TitleFinder, _ wiring: Wiring) async throws {
        let confirmed = try Confirmed(
            enteredBy: .form, isbn: choice.offer.isbn, metadata: await finder.record(of: choice.offer),
            preset: preset.preset(), anotherCopy: anotherCopy)
        let library = try wiring.openLibrary()
        let result = try await library.enter(confirmed, notes: [], dates: DateEdit(), at: Date()) { _ in }
        try await LibraryAddCommand.show(result, in: library, output)
        let report = ExitReport()
        await wiring.catchUp(library, saved: 1, isAttended: true, report)
        try report.end()
    }
}
