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
            (https://openlibrary.org/developers/dumps).

              scan index build editions.txt.gz authors.txt.gz --out index.sqlite
              scan index info index.sqlite
              BOOKPLATE_INDEX=index.sqlite scan lookup 9780441478125
            """,
        subcommands: [Build.self, Info.self])

    struct Build: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "build",
            abstract: "Build an index, and replace an existing index when the new one is complete.")
        @Argument(help: ArgumentHelp("The dump files, .txt or .txt.gz.", valueName: "file")) var dumps: [String]
        @Option(help: ArgumentHelp("The index file to write.", valueName: "file")) var out: String

        func run() throws {
            let bar = ProgressBar("MB", total: 0)
            let report = try OfflineIndexBuilder.build(dumpFiles: dumps, to: out) { progress in
                bar.set(Int(progress.bytesDone >> 20), of: Int(progress.bytesTotal >> 20))
            }
            bar.finish()
            Output.shared.printNotice(
                "\(report.editions) editions, \(report.isbns) ISBNs, \(report.authors) authors, from \(report.rowsRead) rows."
            )
            let left = [
                (report.wrongColumns, "with the wrong number of columns"), (report.junk, "that are not readable"),
                (report.tooLong, "that are too long"), (report.withoutISBN, "without an ISBN"),
            ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            if !left.isEmpty { Output.shared.printNotice("Rows left out: " + left.joined(separator: ", ") + ".") }
        }
    }

    struct Info: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "info", abstract: "Show the contents of an index.")
        @Argument(help: ArgumentHelp("The index (default: the one in the settings).", valueName: "file")) var file:
            String?
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            guard let path = try file ?? paths.settings()[.index] else {
                throw CommandError(.nothing, "no index is set. Give a file, or build an index with 'scan index build'.")
            }
            let info = try OfflineIndex(path: path).info()
            let json: JSONValue = [
                "path": .string(path), "editions": .integer(info.editions), "isbns": .integer(info.isbns),
                "authors": .integer(info.authors), "builtFrom": JSONValue(info.builtFrom),
                "newest": JSONValue(info.newest),
                "bytes": .integer(Int(info.bytes)),
            ]
            if output.json {
                Output.shared.printLine(json)
            } else {
                Output.shared.printLine("\(info.editions) editions, \(info.isbns) ISBNs, \(info.authors) authors")
                Output.shared.printLine(
                    "built from \(info.builtFrom.joined(separator: ", ")); newest row: \(info.newest ?? "unknown"); \(info.bytes) bytes"
                )
            }
        }
    }
}
