import ArgumentParser
import Bookplate
import Foundation
import Lookup
import Terminal

struct IndexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index", abstract: "The offline index: a metadata source that needs no network.",
        discussion: """
            The index is built from Open Library's dumps of editions and, optionally, of
            authors and works. Each dump may be a text file or compressed with gzip
            (https://openlibrary.org/developers/dumps). If a build is interrupted, the
            same command resumes it where it stopped.

              scan index build editions.txt.gz authors.txt.gz --out index.sqlite
              scan index build editions.txt.gz authors.txt.gz --language de,en \\
                --out index.sqlite
              scan index update editions.txt.gz authors.txt.gz
              scan index info index.sqlite
              BOOKPLATE_INDEX=index.sqlite scan lookup 9780441478125
            """,
        subcommands: [Build.self, Update.self, Info.self])

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "build",
            abstract: "Build an index, and replace an existing index when the new one is complete.",
            discussion: "  scan index build editions.txt --out index.sqlite")
        @Argument(help: ArgumentHelp("The dump files, .txt or .txt.gz.", valueName: "file"), completion: .dumps)
        var dumps: [String]
        @Option(help: ArgumentHelp("The index file to write.", valueName: "file"), completion: .file()) var out: String
        @Option(
            help: ArgumentHelp(
                "Keep only editions in these languages, such as de,en.",
                discussion: "If an edition states no language, that of its ISBN counts.", valueName: "codes"),
            completion: .values(.language))
        var language: String?
        @Option(
            help: ArgumentHelp(
                "Keep only editions from these countries, such as DE,AT,CH.",
                discussion: "If an edition states no country, those of its ISBN count.", valueName: "codes"))
        var country: String?
        @Flag(help: "Keep only editions with an ISBN, and no words for finding titles.") var numbersOnly = false

        func run() throws {
            let options = try OfflineIndexOptions(
                languages: IndexCommand.codes(language), countries: IndexCommand.codes(country),
                isNumbersOnly: numbersOnly)
            try IndexCommand.printReport { progress in
                try OfflineIndexBuilder.build(dumpFiles: dumps, to: out, options: options, progress: progress)
            }
        }
    }

    struct Update: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Build an index again from newer dumps, with the same options.",
            discussion: """
                Until the new index is complete, the old one goes on answering.

                  scan index update editions.txt --out index.sqlite
                """)
        @Argument(help: ArgumentHelp("The dump files, .txt or .txt.gz.", valueName: "file"), completion: .dumps)
        var dumps: [String]
        @Option(
            help: ArgumentHelp("The index file (default: the one in the settings).", valueName: "file"),
            completion: .file(extensions: ["sqlite"]))
        var out: String?
        @OptionGroup var paths: PathOptions

        func run() throws {
            let path = try IndexCommand.path(out, paths)
            try IndexCommand.printReport { progress in
                try OfflineIndexBuilder.update(path, from: dumps, progress: progress)
            }
        }
    }

    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "info", abstract: "Show the contents of an index.",
            discussion: "  scan index info index.sqlite")
        @Argument(
            help: ArgumentHelp("The index (default: the one in the settings).", valueName: "file"),
            completion: .file(extensions: ["sqlite"]))
        var file: String?
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let path = try IndexCommand.path(file, paths)
            let info = try OfflineIndex(path: path).info()
            let wordBytes = info.bytes - info.numberBytes
            if output.json {
                let json: JSONValue = [
                    "path": .string(path), "editions": .integer(info.editions), "isbns": .integer(info.isbns),
                    "authors": .integer(info.authors), "builtFrom": JSONValue(info.builtFrom),
                    "newest": JSONValue(info.newest), "languages": JSONValue(info.options.languages),
                    "countries": JSONValue(info.options.countries), "numbersOnly": .bool(info.options.isNumbersOnly),
                    "bytes": .integer(Int(info.bytes)), "numberBytes": .integer(Int(info.numberBytes)),
                    "wordBytes": .integer(Int(wordBytes)),
                ]
                Output.shared.printLine(json)
                return
            }
            Output.shared.printLine("\(info.editions) editions, \(info.isbns) ISBNs, \(info.authors) authors")
            Output.shared.printLine(
                "built from \(info.builtFrom.joined(separator: ", ")); newest row: \(info.newest ?? "unknown"); \(info.bytes) bytes"
            )
            Output.shared.printLine(
                "\(info.numberBytes) bytes for numbers, "
                    + (info.options.isNumbersOnly
                        ? "no words for titles" : "\(wordBytes) bytes for the words of titles"))
            let kept = [("languages", info.options.languages), ("countries", info.options.countries)].filter {
                !$0.1.isEmpty
            }.map { "only \($0.0) \($0.1.joined(separator: ", "))" }
            if !kept.isEmpty { Output.shared.printLine(kept.joined(separator: "; ")) }
        }
    }

    private static func path(_ given: String?, _ paths: PathOptions) throws -> String {
        if let path = try given ?? paths.settings()[.index] { return path }
        throw CommandError(.nothing, "no index is set. Give a file, or build an index with 'scan index build'.")
    }

    private static func codes(_ text: String?) -> [String] {
        guard let text else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    /// Builds an index, shows the progress and prints the result.
    private static func printReport(
        _ build: ((OfflineIndexBuilder.Progress) -> Void) throws -> OfflineIndexBuilder.Report
    ) throws {
        let bars = (reading: ProgressBar("MB", total: 0), writing: ProgressBar("parts of the index", total: 0))
        let report = try build { progress in
            switch progress.stage {
            case .reading: bars.reading.set(Int(progress.done >> 20), of: Int(progress.total >> 20))
            case .writing:
                bars.reading.finish()
                bars.writing.set(Int(progress.done), of: Int(progress.total))
            }
        }
        bars.reading.finish()
        bars.writing.finish()
        if report.isResumed { Output.shared.printNotice("Resumed an interrupted build.") }
        Output.shared.printNotice(
            "\(report.editions) editions, \(report.isbns) ISBNs, \(report.authors) authors, from \(report.rowsRead) rows."
        )
        let left = [
            (report.wrongColumns, "with the wrong number of columns"), (report.junk, "that are not readable"),
            (report.tooLong, "that are too long"), (report.withoutISBN, "without a title or an ISBN"),
            (report.notInSubset, "of other languages or countries"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !left.isEmpty { Output.shared.printNotice("Rows left out: " + left.joined(separator: ", ") + ".") }
    }
}
