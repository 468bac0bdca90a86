import ArgumentParser
import Bookplate
import Exchange
import Foundation
import Library
import Synchronization
import SystemCalls
import SystemPackage
import Terminal

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the library as JSON, CSV, BibTeX or Markdown, or export the reading timeline.",
        discussion: """
            json: everything, as one array with one object per line. An unchanged
            library always gives an identical file, and 'scan import' restores it all.
            csv: one row per book, with Goodreads' columns first and then Bookplate's.
            The file is safe to open in a spreadsheet program.
            bibtex: a bibliography for biber and BibTeX, one entry per edition. Much is
            left out, so it cannot be imported.
            markdown: a list for people, with notes and quotes. It cannot be imported.
            timeline: when you started each book, read in it, and finished it or stopped
            reading it, earliest first. The output is CSV or, with --json, one object per
            line.

              scan export > library.json
              scan export csv --to books.csv
              scan export csv --public --to for-friends.csv
              scan export bibtex --query "tag:thesis" --to thesis.bib
              scan export bibtex --to books.bib
              scan export markdown --to books.md
              scan export timeline --to timeline.csv
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, csv, bibtex, markdown, timeline

        /// The format of the books; `nil` for the timeline.
        var ofBooks: BookFormat? { BookFormat(rawValue: rawValue) }
    }

    @Argument(help: "The format: 'json', 'csv', 'bibtex', 'markdown' or 'timeline'.") var format: Format = .json
    @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"), completion: .file())
    var to: String?
    @Flag(help: "Replace the file if it exists.") var force = false
    @Option(
        help: ArgumentHelp("Only the books that match this query, as in 'scan library list'.", valueName: "query"),
        completion: .values(.query))
    var query: String?
    @Flag(
        name: .customLong("public"),
        help: "Export for other people: only public books, without notes, quotes, shelves, sessions and goals.")
    var isPublic = false
    @Flag(name: .customLong("json"), help: "Write the timeline as JSON, one object per line.") var isJSON = false
    @OptionGroup var paths: PathOptions

    func validate() throws {
        if isJSON, format != .timeline, format != .json {
            throw ValidationError("--json works with timeline, but not with \(format.rawValue).")
        }
        if isPublic, format == .timeline {
            throw ValidationError("--public does not work with timeline, which always covers all books.")
        }
        if let query, query.allSatisfy(\.isWhitespace) {
            throw ValidationError("The query is empty. To export all books, leave out --query.")
        }
        if query != nil, format == .timeline {
            throw ValidationError("--query does not work with timeline, which always covers all books.")
        }
    }

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.requireLibrary()
        guard let books = format.ofBooks else { return try await exportTimeline(of: library) }
        var chosen: Set<ID<Copy>>?
        if let query {
            chosen = Set(try await library.books(matchingQuery: QueryParser.query(fromArguments: [query])).map(\.id))
        }
        let bar = ProgressBar("editions", total: 0)
        defer { bar.finish() }
        let total = try await library.editionCount()
        let file = try to.map { try OutputFile($0, mayReplace: force) }
        let writer = try RecordWriter(books, isForOthers: isPublic, to: Self.sink(file))
        try await library.export { [chosen] record in
            guard let record = chosen.map({ record.only($0) }) ?? record else { return }
            let editions = try writer.write(record)
            if editions.isMultiple(of: 256) { bar.set(editions, of: total) }
        }
        let count = try writer.finish()
        try file?.finish()
        if let to { Output.shared.printNotice("Wrote \(counted(count, "book")) to \(to).") }
    }

    private func exportTimeline(of library: LibraryFile) async throws {
        let file = try to.map { try OutputFile($0, mayReplace: force) }
        var text = TextWriter(to: Self.sink(file))
        if !isJSON { try text.write(CSVWriter.line(TimelineEvent.columns)) }
        // The events come one after another. The lock only proves this to the compiler.
        let writer = Mutex((text: text, events: 0))
        let bar = ProgressBar("events", total: 0)
        defer { bar.finish() }
        try await library.timeline(in: .current) { [isJSON] event in
            let events = try writer.withLock { writer in
                try writer.text.write(isJSON ? event.json.text + "\n" : CSVWriter.line(event.cells))
                writer.events += 1
                return writer.events
            }
            if events.isMultiple(of: 1024) { bar.set(events, of: 0) }
        }
        try writer.withLock { try $0.text.finish() }
        try file?.finish()
        if let to { Output.shared.printNotice("Wrote the timeline to \(to).") }
    }

    /// Returns a function that writes text to the file, or to standard output if there is no file.
    private static func sink(_ file: OutputFile?) -> TextWriter.Sink {
        guard let file else { return { Output.shared.printData($0) } }
        return { try file.write($0) }
    }
}

extension LibraryRecord {
    /// Returns the record with only some of the copies.
    ///
    /// - Returns: `nil` for a book without any of them, and for what belongs to the whole library: settings, and names
    ///   without books.
    fileprivate func only(_ copies: Set<ID<Copy>>) -> LibraryRecord? {
        switch self {
        case .library, .reader: return self
        case .setting, .author, .shelf, .tag: return nil
        case .book(var book):
            book.copies.removeAll { !copies.contains($0.copy.id) }
            return book.copies.isEmpty ? nil : .book(book)
        }
    }
}

/// A file that is replaced atomically. The new content is written to a temporary file beside the final path, synced,
/// and then renamed.
final class OutputFile: Sendable {
    private let path: String
    private let partial: String
    private let mayReplace: Bool
    private let file: FileDescriptor

    /// - Parameter mayReplace: true to replace an existing file; a database is never replaced.
    /// - Throws: ``CommandError`` if the file cannot be written or may not be replaced.
    init(_ path: String, mayReplace: Bool) throws {
        self.path = path
        self.mayReplace = mayReplace
        partial = "\(path).partial-\(getpid())"
        try Self.check(path, mayReplace: mayReplace)
        file = try Self.naming(path) { [partial] in
            try FileDescriptor.open(
                FilePath(partial), .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        }
    }

    deinit {
        try? file.close()
        // After finish() there is no such file.
        unlink(partial)
    }

    func write(_ text: String) throws { try Self.naming(path) { _ = try file.writeAll(text.utf8) } }

    /// Syncs the file and renames it to its final path.
    func finish() throws {
        try Self.check(path, mayReplace: mayReplace)
        try Self.naming(path) {
            do throws(FileError) { try commitFile(partial, to: path) } catch { throw error.errno }
        }
    }

    /// Checks that there is no file at the path, or that the file there may be replaced.
    private static func check(_ path: String, mayReplace: Bool) throws {
        guard let facts = try? FilePath(path).stat(followTargetSymlink: false) else { return }
        guard facts.type == .regular else {
            throw CommandError(.usage, "\(path) is not a regular file, so it cannot be replaced. Choose another file.")
        }
        guard mayReplace else { throw CommandError(.usage, "\(path) already exists. To replace it, use --force.") }
        var head = [UInt8](repeating: 0, count: 15)
        try naming(path) {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            _ = try file.closeAfter { try head.withUnsafeMutableBytes { try file.read(into: $0) } }
        }
        guard !head.elementsEqual("SQLite format 3".utf8) else {
            throw CommandError(
                .usage,
                "\(path) is a database, possibly the library itself, so it was not replaced. Choose another file.")
        }
    }

    /// Runs the body. If the body fails, the path of the file is added to the error.
    private static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as Errno {
            let isPermission = [.permissionDenied, .notPermitted, .readOnlyFileSystem].contains(error)
            throw CommandError(isPermission ? .permission : .inputOutput, "cannot write \(path): \(error).")
        }
    }
}
