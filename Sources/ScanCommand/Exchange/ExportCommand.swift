import ArgumentParser
import Bookplate
import Exchange
import Foundation
import Library
import Synchronization
import SystemPackage
import Terminal

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the library as JSON or CSV, or export the reading timeline.",
        discussion: """
            json: everything, as one array with one object per line. The same library
            always gives the same bytes, and 'scan import' restores all of it.
            csv: one row per book, with Goodreads' columns first and then Bookplate's.
            The file is safe to open in a spreadsheet.
            timeline: the start of each book, its sessions, and its end (finished or
            given up), in order of time, as CSV or with --json as one object per line.

              scan export > library.json
              scan export csv --to books.csv
              scan export csv --public --to for-friends.csv
              scan export timeline --to timeline.csv
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case json, csv, timeline }

    @Argument(help: "The format: json, csv or timeline.") var format: Format = .json
    @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file")) var to: String?
    @Flag(help: "Replace the file if it exists.") var force = false
    @Flag(
        name: .customLong("public"),
        help: "Export for others: only books marked public, without notes, quotes, shelves, sessions and goals.")
    var isPublic = false
    @Flag(name: .customLong("json"), help: "Write the timeline as JSON, one object per line.") var isJSON = false
    @OptionGroup var paths: PathOptions

    func validate() throws {
        if isJSON, format == .csv { throw ValidationError("--json works with timeline, but not with csv.") }
        if isPublic, format == .timeline {
            throw ValidationError("--public works only with json and csv. The timeline always covers all books.")
        }
    }

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.requireLibrary()
        if format == .timeline { return try await exportTimeline(of: library) }
        let bar = ProgressBar("editions", total: 0)
        defer { bar.finish() }
        let total = try await library.editionCount()
        let file = try to.map { try OutputFile($0, mayReplace: force) }
        // The library exports its records one after the other. The lock only proves this to the compiler.
        let writer = Mutex(try RecordWriter(format: format, isForOthers: isPublic, file: file))
        try await library.export { record in
            let editions = try writer.withLock { writer in
                try writer.write(record)
                return writer.editions
            }
            if editions.isMultiple(of: 256) { bar.set(editions, of: total) }
        }
        let books = try writer.withLock { writer in
            try writer.finish()
            return writer.books
        }
        if let to { Output.shared.printNotice("Wrote \(counted(books, "book")) to \(to).") }
    }

    private func exportTimeline(of library: LibraryFile) async throws {
        var text = TextWriter(file: try to.map { try OutputFile($0, mayReplace: force) })
        if !isJSON { try text.write(CSVWriter.line(TimelineEvent.columns)) }
        // The events also come one after the other, and the lock only proves this to the compiler.
        let writer = Mutex(text)
        try await library.timeline(in: .current) { [isJSON] event in
            try writer.withLock { try $0.write(isJSON ? event.json.text + "\n" : CSVWriter.line(event.cells)) }
        }
        try writer.withLock { try $0.finish() }
        if let to { Output.shared.printNotice("Wrote the timeline to \(to).") }
    }

    /// Writes text to a file or to standard output, about 64 KB at a time.
    private struct TextWriter {
        let file: OutputFile?
        private var buffer = ""

        init(file: OutputFile?) { self.file = file }

        mutating func write(_ text: String) throws {
            buffer += text
            if buffer.utf8.count > 1 << 16 { try flush() }
        }

        mutating func finish() throws {
            try flush()
            try file?.finish()
        }

        private mutating func flush() throws {
            if let file { try file.write(buffer) } else { Output.shared.printRaw(buffer) }
            buffer = ""
        }
    }

    /// Writes the records of the library as JSON or CSV.
    private struct RecordWriter {
        let isForOthers: Bool
        private var text: TextWriter
        private let csv: CSVWriter?
        private var json = JSONWriter()
        /// The number of editions so far, which the progress bar shows.
        private(set) var editions = 0
        /// The number of copies so far. The program calls them books, as for backups, imports and lists.
        private(set) var books = 0

        init(format: Format, isForOthers: Bool, file: OutputFile?) throws {
            self.isForOthers = isForOthers
            text = TextWriter(file: file)
            csv = format == .csv ? CSVWriter() : nil
            if let csv { try text.write(csv.header) }
        }

        mutating func write(_ record: LibraryRecord) throws {
            guard let record = isForOthers ? record.forOthers : record else { return }
            if case .book(let book) = record {
                editions += 1
                books += book.copies.count
            }
            try text.write(csv?.rows(of: record) ?? json.text(of: record))
        }

        mutating func finish() throws {
            if csv == nil { try text.write(json.end) }
            try text.finish()
        }
    }
}

/// A file that is replaced atomically. It is written beside its final path, synced, and then renamed.
final class OutputFile {
    private let path: String
    private let partial: String
    private let mayReplace: Bool
    private var descriptor: Int32
    private var isFinished = false

    /// - Parameter mayReplace: true to replace an existing file; a database is never replaced.
    /// - Throws: ``CommandError`` if the file cannot be written or may not be replaced.
    init(_ path: String, mayReplace: Bool) throws {
        self.path = path
        self.mayReplace = mayReplace
        partial = "\(path).partial-\(getpid())"
        descriptor = -1
        try checkTarget()
        descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw error(errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isFinished { unlink(partial) }
    }

    func write(_ text: String) throws {
        do {
            try FileDescriptor(rawValue: descriptor).writeAll(text.utf8)
        } catch let failure as Errno {
            throw error(failure.rawValue)
        }
    }

    /// Syncs the file and renames it to its final path.
    func finish() throws {
        guard fsync(descriptor) == 0 else { throw error(errno) }
        try checkTarget()
        guard rename(partial, path) == 0 else { throw error(errno) }
        isFinished = true
        let folder = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw error(errno) }
        defer { close(folder) }
        // EINVAL means that the file system cannot sync folders.
        guard fsync(folder) == 0 || errno == EINVAL else { throw error(errno) }
    }

    private func checkTarget() throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.usage, "\(path) is not a regular file, so it cannot be replaced. Choose another file.")
        }
        guard mayReplace else { throw CommandError(.usage, "\(path) already exists. To replace it, use --force.") }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error(errno) }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 15)
        let count = read(file, &head, head.count)
        guard count < head.count || !head.elementsEqual("SQLite format 3".utf8) else {
            throw CommandError(
                .usage,
                "\(path) is a database, possibly the library itself, so it is not replaced. Choose another file.")
        }
    }

    private func error(_ code: Int32) -> CommandError {
        CommandError(
            code == EACCES || code == EPERM || code == EROFS ? .permission : .inputOutput,
            "cannot write \(path): \(String(cString: strerror(code))).")
    }
}
