import ArgumentParser
import Bookplate
import Exchange
import Foundation
import Library
import Synchronization

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take books over from another tracker, or from an export.",
        discussion: """
            Reads the exports of Goodreads, StoryGraph, LibraryThing (tab-delimited)
            and Openreads, and Bookplate's own CSV and JSON, known by their columns.
            Books that are there already get only what they lack; importing the same
            file again changes nothing. What had to be cut or doubted is flagged and
            kept. scan undo takes the whole import back.

              scan import goodreads_library_export.csv --dry-run
              scan import goodreads_library_export.csv --tag goodreads
              gunzip -c export.json.gz | scan import -
            """)

    @Argument(help: ArgumentHelp("Files; - for standard input.", valueName: "file")) var files: [String]
    @Flag(help: "Say what would happen, and change nothing.") var dryRun = false
    @Flag(help: "Tell every row, not only those with something to say.") var verbose = false
    @Option(
        help: ArgumentHelp(
            "Whose columns they are, if they are not recognised: goodreads, storyGraph, libraryThing, openreads or csv.",
            valueName: "name")) var format: ExchangeFormat?
    @Option(help: ArgumentHelp("Put the books on this shelf.", valueName: "name")) var shelf: String?
    @Option(
        name: .customLong("tag"), help: ArgumentHelp("Give the books this tag (can be repeated).", valueName: "name"))
    var tags: [String] = []
    @Flag(help: "The books are owned, whatever the file says.") var owned = false
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("name a file to import.") }
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input can be read once.") }
        if format == .json { throw ValidationError("JSON is always recognised; --format names a table's tracker.") }
    }

    func run() async throws {
        let preset = try preset()
        let wiring = try Wiring(settings: places.settings())
        let report = ExitReport()
        let saved = SavedCount()
        Interrupts.handle { [dryRun] in dryRun ? nil : saved.lastWords }
        var library: LibraryImport?
        var total = ImportSummary()
        for path in files {
            do {
                let input = try InputFile(path)
                let file = try ImportFile(input.name, as: format, preset: preset, next: input.next)
                if file.format == .json, preset != ImportFile.Preset() {
                    throw CommandError(
                        .usage,
                        "\(input.name) is Bookplate's own JSON, which keeps its own shelves and tags; leave the presets out."
                    )
                }
                // Nothing is made before there is something to put in.
                let target =
                    if let library { library } else { LibraryImport(into: try await open(wiring), from: names) }
                library = target
                try await take(file, input, into: target, saved, &total)
            } catch let error as ExchangeError {
                Output.shared.complain(error.description)
                report.note(.unreadable)
            } catch let error as CommandError where error.status == .unreadable {
                Output.shared.complain(error.description)
                report.note(.unreadable)
            }
        }
        if total.refused > 0 { report.note(.nothing) }
        if library != nil { tell(total) }
        try report.end()
    }

    /// The library itself, or what a dry run takes for it.
    private func open(_ wiring: Wiring) async throws -> LibraryFile {
        guard dryRun else { return try await PatientImport.untilPossible { try wiring.openLibrary() } }
        guard let library = try wiring.openExistingLibrary() else { return try LibraryFile.inMemory() }
        return try await library.temporaryCopy()
    }

    private var names: String {
        files.map { $0 == "-" ? "standard input" : URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", ")
    }

    private func preset() throws -> ImportFile.Preset {
        ImportFile.Preset(
            shelf: try shelf.map { try $0.checked(as: "shelf", limit: TextLimit.name) },
            tags: try tags.map { try $0.checked(as: "tag", limit: TextLimit.name) }, isOwned: owned)
    }

    private func take(
        _ file: ImportFile, _ input: InputFile, into library: LibraryImport, _ saved: SavedCount,
        _ total: inout ImportSummary
    ) async throws {
        let bar = ProgressBar("kB", total: 0)
        defer { bar.finish() }
        if !output.json { Output.shared.note("\(input.name.oneLine): \(file.format.displayName).") }
        var run = ImportRun(file, into: PatientImport(library: library, saved: saved))
        // Also what went in before a file broke off.
        defer { total.add(run.summary) }
        while let results = try await run.next(at: Date()) {
            for result in results { tell(result) }
            bar.set(file.bytesRead >> 10, of: max(input.size, 0) >> 10)
        }
    }

    private func tell(_ result: ImportResult) {
        if output.json { return Output.shared.line(result.json) }
        var isTold = verbose || !result.doubts.isEmpty
        let words: String
        switch result.outcome {
        case .new: words = "new"
        case .merged(_, let filled):
            words = "merged: \(filled.joined(separator: ", "))"
            isTold = isTold || dryRun
        case .unchanged: words = "unchanged"
        case .other(let isNew): words = isNew ? "new" : "unchanged"
        case .refused(let reason):
            words = "refused: \(reason)"
            isTold = true
        }
        guard isTold else { return }
        let title = result.title.map { "\"\($0.oneLine.fitted(60))\" " } ?? ""
        let doubts = result.doubts.isEmpty ? "" : " (flagged: \(result.doubts.joined(separator: "; ").oneLine))"
        Output.shared.line("row \(result.row)  \(title)\(words.oneLine)\(doubts)")
    }

    private func tell(_ total: ImportSummary) {
        if output.json { return Output.shared.line(total.json(isDryRun: dryRun)) }
        if total == ImportSummary() { return Output.shared.note("There are no rows to import. Nothing was changed.") }
        let counts = [
            "\(total.new) new", "\(total.merged) merged", "\(total.unchanged) unchanged", "\(total.flagged) flagged",
            "\(total.refused) refused",
        ].joined(separator: ", ")
        let isChange = total.new + total.merged + total.others > 0
        let rest = dryRun ? " Nothing was changed." : isChange ? " scan undo takes it back." : " Nothing was changed."
        Output.shared.note((dryRun ? "Would be: " : "") + counts + "." + rest)
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

/// An import that another process's lock does not end at once, as little as it does a capture: it is tried again every second.
struct PatientImport: BookImport {
    let library: any BookImport
    let saved: SavedCount
    var limit: Duration = .seconds(120)

    func take(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        do {
            let results = try await Self.untilPossible(limit) { try await library.take(rows, at: now) }
            // Before anything is printed: they are in, whoever interrupts.
            saved.add(results)
            return results
        } catch let error as LibraryError where error.isTransient {
            let error = CommandError(describing: error)
            throw CommandError(error.status, error.description + " " + saved.lastWords)
        }
    }

    /// - Throws: what stood in the way the last time.
    static func untilPossible<Result: Sendable>(
        _ limit: Duration = .seconds(120), _ act: () async throws -> Result
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        var isTold = false
        while true {
            do {
                return try await act()
            } catch let error as LibraryError where error.isTransient && ContinuousClock.now < end {
                if !isTold { Output.shared.complain("\(CommandError(describing: error)) Trying on.") }
                isTold = true
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}

/// How many books are in the library so far, for whoever interrupts.
final class SavedCount: Sendable {
    private let books = Mutex(0)

    func add(_ results: [ImportResult]) {
        var summary = ImportSummary()
        for result in results { summary.count(result) }
        books.withLock { $0 += summary.books }
    }

    var lastWords: String {
        "\(counted(books.withLock { $0 }, "book")) of the file are in the library, each whole; the same command goes on with the rest."
    }
}

/// A file, or standard input, read in chunks; an errno is told as what it means.
final class InputFile {
    /// As errors call it.
    let name: String
    /// In bytes; 0 when it is not known.
    let size: Int
    private let descriptor: Int32
    private static let chunk = 256 << 10

    /// - Parameter path: `-` for standard input.
    /// - Throws: ``CommandError`` when it cannot be opened or is a folder.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.error(name, errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw Self.error(name, errno) }
        guard facts.st_mode & S_IFMT != S_IFDIR else {
            throw CommandError(.unreadable, "cannot read \(name): it is a folder. Name the file in it.")
        }
        size = facts.st_mode & S_IFMT == S_IFREG ? Int(facts.st_size) : 0
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// - Returns: `nil` at the end.
    func next() throws -> [UInt8]? {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            var got = 0
            repeat { got = read(descriptor, buffer.baseAddress, Self.chunk) } while got < 0 && errno == EINTR
            if got < 0 { code = errno }
            count = max(0, got)
        }
        guard code == 0 else { throw Self.error(name, code) }
        return bytes.isEmpty ? nil : bytes
    }

    private static func error(_ name: String, _ code: Int32) -> CommandError {
        CommandError(.unreadable, "cannot read \(name): \(String(cString: strerror(code))).")
    }
}
