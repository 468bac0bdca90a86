import ArgumentParser
import Async
import Bookplate
import Exchange
import Foundation
import Library
import Synchronization
import SystemPackage
import Terminal

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import books from another tracker, or from an export.",
        discussion: """
            Reads the exports of Goodreads, StoryGraph, LibraryThing (tab-delimited)
            and Openreads, and Bookplate's own CSV and JSON. The format is recognised
            by the columns. In books that you already have, only empty fields are
            filled in, so importing the same file again changes nothing. If a value was
            shortened or is doubtful, the row is flagged, and its original text is kept.
            To undo a whole import, run 'scan undo'.

              scan import goodreads_library_export.csv --dry-run
              scan import goodreads_library_export.csv --tag goodreads
              gunzip -c export.json.gz | scan import -
            """)

    @Argument(
        help: ArgumentHelp("The files to import; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["csv", "tsv", "json", "jsonl"])) var files: [String]
    @Flag(help: "Show what would happen, without changing anything.") var dryRun = false
    @Flag(help: "Print every row, not only flagged and refused ones.") var verbose = false
    @Option(
        help: ArgumentHelp(
            "The format, if it is not recognised: goodreads, storyGraph, libraryThing, openreads or csv.",
            valueName: "name")) var format: ExchangeFormat?
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Put the books on this shelf.", valueName: "name"),
        completion: .values(.shelf))
    var shelf: String?
    @Option(
        name: [.customShort("t"), .customLong("tag")],
        help: ArgumentHelp("Add this tag to the books (can be repeated).", valueName: "name"),
        completion: .values(.tag))
    var tags: [String] = []
    @Flag(help: "Mark the books as owned, even if the file says otherwise.") var owned = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("Name a file to import.") }
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input (-) can be given only once.") }
        if format == .json { throw ValidationError("JSON is always recognised. --format works only for tables.") }
    }

    func run() async throws {
        let preset = try ImportPreset(enteredShelf: shelf, tags: tags, isOwned: owned)
        let wiring = try Wiring(settings: paths.settings())
        let report = ExitReport()
        let saved = SavedCount()
        Interrupts.handle { [dryRun] in dryRun ? nil : saved.summary }
        var library: LibraryImport?
        var total = ImportSummary()
        for (argument, path) in zip(files, FilePath.paths(of: files)) {
            do {
                let input = try InputFile(argument, at: path)
                let file = try ImportFile(input.name, as: format, preset: preset, next: input.next)
                if file.format == .json, preset != ImportPreset() {
                    throw CommandError(
                        .usage,
                        "\(input.name) is Bookplate's own JSON, which contains shelves and tags already. Leave out --shelf, --tag and --owned."
                    )
                }
                // The library is opened only now, so that none is created if no file can be read.
                let target: LibraryImport
                if let library {
                    target = library
                } else {
                    let opened = try await open(wiring)
                    guard let opened = try await chooseReader(opened, wiring, file.format) else { return }
                    target = LibraryImport(into: opened, from: names)
                }
                library = target
                try await importRows(of: file, input, into: target, saved, &total)
            } catch let error as ExchangeError {
                Output.shared.printError(error.description)
                report.record(.unreadable)
            } catch let error as CommandError where error.status == .unreadable {
                Output.shared.printError(error.description)
                report.record(.unreadable)
            }
        }
        if total.refused > 0 { report.record(.nothing) }
        if let library { printTotal(total, await library.change) }
        try report.end()
    }

    /// Opens the library, or a copy in memory for a dry run.
    private func open(_ wiring: Wiring) async throws -> LibraryFile {
        guard dryRun else { return try await PatientImport.retryWhileBusy { try wiring.openLibrary() } }
        guard let library = try wiring.openExistingLibrary() else { return try LibraryFile.inMemory() }
        return try await library.temporaryCopy()
    }

    /// Asks whose the books of a file are, if there are several readers, none was chosen, and somebody can be asked.
    /// Bookplate's own JSON says it.
    ///
    /// - Returns: `nil` if the person gives no answer.
    private func chooseReader(
        _ library: LibraryFile, _ wiring: Wiring, _ format: ExchangeFormat
    ) async throws -> LibraryFile? {
        let names = try await library.readers().compactMap(\.name)
        guard names.count > 1, wiring.settings[.reader] == nil, format != .json else { return library }
        guard !output.json, !files.contains("-"), isatty(STDIN_FILENO) == 1 else {
            if !output.json {
                Output.shared.printNotice("Importing for \(names[0].oneLine). For another reader, use --reader.")
            }
            return library
        }
        guard let name = Asking.name("Whose books are these?", among: names) else { return nil }
        return try library.reading(asNamed: name, holder: TerminalSession.current)
    }

    private var names: String {
        files.map { $0 == "-" ? "standard input" : URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", ")
    }

    private func importRows(
        of file: ImportFile, _ input: InputFile, into library: LibraryImport, _ saved: SavedCount,
        _ total: inout ImportSummary
    ) async throws {
        let bar = ProgressBar("kB", total: 0)
        defer { bar.finish() }
        if !output.json { Output.shared.printNotice("\(input.name.oneLine): \(file.format.displayName).") }
        var run = ImportRun(file, into: CountedImport(library: PatientImport(library: library), saved: saved))
        // This also counts the rows before an error.
        defer { total.add(run.summary) }
        while let results = try await run.next(at: Date()) {
            for result in results { printResult(result) }
            bar.set(file.bytesRead >> 10, of: max(input.size, 0) >> 10)
        }
    }

    private func printResult(_ result: ImportResult) {
        if output.json { return Output.shared.printLine(result.json) }
        var isShown = verbose || !result.doubts.isEmpty
        let text: String
        switch result.outcome {
        case .new: text = "new"
        case .merged(_, let filled):
            text = "merged: \(filled.joined(separator: ", "))"
            isShown = isShown || dryRun
        case .unchanged: text = "unchanged"
        case .other(let isNew): text = isNew ? "new" : "unchanged"
        case .refused(let reason):
            text = "refused: \(reason)"
            isShown = true
        }
        guard isShown else { return }
        let title = result.title.map { "\"\($0.oneLine.fitted(60))\" " } ?? ""
        let doubts = result.doubts.isEmpty ? "" : " (flagged: \(result.doubts.joined(separator: "; ").oneLine))"
        Output.shared.printLine("row \(result.row)  \(title)\(text.oneLine)\(doubts)")
    }

    private func printTotal(_ total: ImportSummary, _ change: ID<Change>?) {
        if output.json { return Output.shared.printLine(total.json(isDryRun: dryRun)) }
        if total == ImportSummary() {
            return Output.shared.printNotice("There are no rows to import. Nothing was changed.")
        }
        let counts = [
            "\(total.new) new", "\(total.merged) merged", "\(total.unchanged) unchanged", "\(total.flagged) flagged",
            "\(total.refused) refused",
        ].joined(separator: ", ")
        let outcome = dryRun || change == nil ? " Nothing was changed." : " To undo this, run 'scan undo'."
        Output.shared.printNotice((dryRun ? "Would be: " : "") + counts + "." + outcome)
    }
}

extension ImportSummary {
    fileprivate mutating func add(_ other: ImportSummary) {
        new += other.new
        merged += other.merged
        unchanged += other.unchanged
        flagged += other.flagged
        refused += other.refused
        others += other.others
    }
}

extension ExchangeFormat: ExpressibleByArgument {
    public init?(argument: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = format
    }
}

/// An import that waits, up to a time limit, while another process keeps the library locked or while the library's disk
/// is full. It tries again every second.
struct PatientImport: BookImport {
    let library: any BookImport
    var limit: Duration = .seconds(120)

    func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        try await Self.retryWhileBusy(limit) { try await library.importRows(rows, at: now) }
    }

    /// Carries out an act. If it fails with a transient error, tries again every second until the time limit.
    ///
    /// - Throws: the last error, if the act still fails at the time limit.
    static func retryWhileBusy<Result: Sendable>(
        _ limit: Duration = .seconds(120), _ act: () async throws -> Result
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        var isReported = false
        return try await retry(act) { error in
            guard let error = error as? LibraryError, error.isTransient, ContinuousClock.now < end else { return false }
            if !isReported { Output.shared.printError("\(CommandError(describing: error)) Trying again every second.") }
            isReported = true
            return true
        }
    }
}

/// An import that counts the books, so that a message can say how far it came.
struct CountedImport: BookImport {
    let library: any BookImport
    let saved: SavedCount

    func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        do {
            let results = try await library.importRows(rows, at: now)
            // The books are counted before anything is printed, so that the count is right if the user interrupts the
            // import.
            saved.add(results)
            return results
        } catch let error as LibraryError where error.isTransient {
            let error = CommandError(describing: error)
            throw CommandError(error.status, error.description + " " + saved.summary)
        }
    }
}

/// Counts the books that were imported so far, for the message that is printed if the import is interrupted.
final class SavedCount: Sendable {
    private let books = Mutex(0)

    func add(_ results: [ImportResult]) {
        var summary = ImportSummary()
        for result in results { summary.count(result) }
        books.withLock { $0 += summary.books }
    }

    var summary: String {
        "\(counted(books.withLock { $0 }, "book")) imported so far. Run the same command again to import the rest."
    }
}

/// A file, or standard input, that is read in chunks.
final class InputFile {
    /// The name of the file in error messages.
    let name: String
    /// The size in bytes; 0 if it is not known.
    let size: Int
    private let file: FileDescriptor
    private static let chunk = 256 << 10

    /// - Parameters:
    ///   - argument: the name of the file as it was given, or `-` for standard input.
    ///   - path: the path of the file; not used for standard input.
    /// - Throws: ``CommandError`` if the path cannot be opened or is a folder.
    init(_ argument: String, at path: FilePath) throws {
        let name = argument == "-" ? "standard input" : argument
        self.name = name
        do {
            file =
                argument == "-" ? .standardInput : try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            let facts = try file.stat()
            guard facts.type != .directory else {
                throw CommandError(.unreadable, "cannot read \(name): it is a folder. Name a file in it.")
            }
            size = facts.type == .regular ? Int(facts.size) : 0
        } catch let error as Errno {
            throw Self.error(name, error)
        }
    }

    deinit { if file != .standardInput { try? file.close() } }

    /// - Returns: the next chunk, or `nil` at the end.
    /// - Throws: ``CommandError`` if the next chunk cannot be read.
    func next() throws -> [UInt8]? {
        do {
            let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            return bytes.isEmpty ? nil : bytes
        } catch let error as Errno {
            throw Self.error(name, error)
        }
    }

    private static func error(_ name: String, _ error: Errno) -> CommandError {
        CommandError(.unreadable, "cannot read \(name): \(error).")
    }
}
