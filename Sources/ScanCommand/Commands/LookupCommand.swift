import ArgumentParser
import Bookplate
import Foundation
import Terminal

struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Look up ISBNs at the metadata sources, without saving anything.",
        discussion: """
            Queries the library, the cache of earlier answers and the offline index, then
            Open Library and the catalogue of the number's country, both at once, then
            the other sources for what is still missing, and merges the answers.
            --refresh skips the library and the cache.

            With --json, `source` is library, offlineIndex, openLibrary, googleBooks, or
            a catalogue: dnb, bnf, bn, libris, openBD, k10plus, loc or citoid. `reason`
            says why there is no record, and `notAsked` which sources were left out.

              scan lookup 9780441478125
              scan lookup --json --refresh 0-441-47812-3
            """)

    @Argument(help: ArgumentHelp("The ISBNs, with or without hyphens.", valueName: "isbn"))
    var numbers: [String]

    @Flag(help: "Query the sources even if the answer is already known.")
    var refresh = false

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let report = ExitReport()
        let inputs = numbers.map { number in
            (number, Result { try ISBN(refusingWith: .nothing, number) })
        }
        let isbns = inputs.compactMap { if case .success(let isbn) = $0.1 { isbn } else { nil as ISBN? } }
        let wiring = try Wiring(settings: paths.settings(), isForAllReaders: true)
        let library = try wiring.openExistingLibrary()
        var known: [ISBN: [Book]] = [:]
        if let library, !refresh { known = try await library.books(with: isbns) }
        var answers: [ISBN: LookupAnswer] = [:]
        for (isbn, books) in known {
            guard let edition = books.first?.edition else { continue }
            answers[isbn] = LookupAnswer(isbn: isbn, outcome: .found(edition.metadata, from: .library))
        }
        let unknown = isbns.filter { answers[$0] == nil }
        if !unknown.isEmpty {
            let bar = ProgressBar("looked up", total: unknown.count, waitingFor: wiring.open)
            for await answer in wiring.lookup(library).lookUp(unknown, refresh: refresh) {
                answers[answer.isbn] = answer
                bar.advance()
            }
            bar.finish()
        }
        for (input, number) in inputs {
            switch number {
            case .success(let isbn):
                guard let answer = answers[isbn] else { continue }
                switch answer.outcome {
                case .found: break
                case .notFound: report.record(.nothing)
                case .temporary, .blocked, .badData: report.record(.unavailable)
                }
                if output.json { Output.shared.printLine(answer.json(input: input)) } else { show(answer) }
            case .failure(let error):
                report.record(.nothing)
                Output.shared.printError("\(error)")
                if output.json {
                    Output.shared.printLine(LookupAnswer.refusalJSON(input: input, reason: "\(error)"))
                }
            }
        }
        try report.end()
    }

    private func show(_ answer: LookupAnswer) {
        let number = answer.isbn.hyphenated
        switch answer.outcome {
        case .found(let metadata, let source):
            let facts = [
                metadata.authorNames.joined(separator: ", "), metadata.publisher ?? "",
                metadata.publishedDateText ?? "",
                metadata.pageCount.map { "\($0) pages" } ?? "",
            ].filter { !$0.isEmpty }.map(\.oneLine).joined(separator: " · ")
            let title = [metadata.title, metadata.subtitle].compactMap { $0?.oneLine }.joined(separator: ": ")
            Output.shared.printLine("\(number)  \(Output.shared.style.strong(title.isEmpty ? "(no title)" : title))")
            Output.shared.printLine("  \(facts)")
            if metadata.isWeakMatch {
                Output.shared.printLine(
                    "  " + Output.shared.style.attention("possibly another book, because the source gives no ISBN"))
            }
            Output.shared.printLine(
                "  " + Output.shared.style.faint(source.displayName + (answer.isCached ? ", cached" : "")))
        case .notFound(let asked):
            Output.shared.printLine(
                "\(number)  not found; queried: \(asked.map(\.displayName).joined(separator: ", "))")
        case .temporary(let failure): Output.shared.printError("\(number): \(failure). Try again later.")
        case .blocked(let failure): Output.shared.printError("\(number): \(failure).")
        case .badData(let failure): Output.shared.printError("\(number): \(failure).")
        }
        for skipped in answer.notAsked {
            Output.shared.printNotice("  not queried: \(skipped.source.displayName) (\(skipped.reason.oneLine))")
        }
    }
}
