import ArgumentParser
import Bookplate
import Exchange
import Foundation
import Library
import Synchronization
import SystemPackage

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the library as JSON or CSV, or the timeline of what was read.",
        discussion: """
            json: everything, one object a line in one array; the same library gives
            the same bytes, and scan import brings all of it back.
            csv: one row a book, Goodreads' columns first and then ours, safe to open
            in a spreadsheet.
            timeline: what was started, read in sessions, finished and given up, in
            order; CSV, or with --json one object a line.

              scan export > library.json
              scan export csv --to books.csv
              scan export csv --public --to for-friends.csv
              scan export timeline --to timeline.csv
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable { case json, csv, timeline }

    @Argument(help: "json, csv or timeline.") var format: Format = .json
    @Option(help: ArgumentHelp("The file to write; else standard output.", valueName: "file")) var to: String?
    @Flag(help: "Replace the file if it is there.") var force = false
    @Flag(
        name: .customLong("public"),
        help: "For others: only books marked public, without notes, quotes, shelves, sessions and goals.")
    var isPublic = false
    @Flag(name: .customLong("json"), help: "The timeline as JSON, one object a line.") var isJSON = false
    @OptionGroup var places: PathOptions

    func validate() throws {
        if isJSON, format == .csv { throw ValidationError("--json goes with timeline; csv is CSV.") }
        if isPublic, format == .timeline {
            throw ValidationError("--public goes with json and csv: the timeline is of all that was read.")
        }
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        let library = try wiring.requireLibrary()
        if format == .timeline { return try await exportTimeline(of: library) }
        let bar = ProgressBar("editions", total: 0)
        defer { bar.finish() }
        let total = try await library.editionCount()
        let file = try to.map { try OutputFile($0, mayReplace: force) }
        // The library gives its records out one after the other; the lock only says so to the compiler.
        let sink = Mutex(try Sink(format: format, isForOthers: isPublic, file: file))
        try await library.export { record in
            let editions = try sink.withLock { sink in
                try sink.take(record)
                return sink.editions
            }
            if editions.isMultiple(of: 256) { bar.set(editions, of: total) }
        }
        let books = try sink.withLock { sink in
            try sink.finish()
            return sink.books
        }
        if let to { Output.shared.note("\(counted(books, "book")) written to \(to).") }
    }

    private func exportTimeline(of library: LibraryFile) async throws {
        var outlet = Outlet(file: try to.map { try OutputFile($0, mayReplace: force) })
        if !isJSON { try outlet.put(CSVWriter.line(TimelineEvent.columns)) }
        // As above: one event after the other.
        let sink = Mutex(outlet)
        try await library.timeline(in: .current) { [isJSON] event in
            try sink.withLock { try $0.put(isJSON ? event.json.text + "\n" : CSVWriter.line(event.cells)) }
        }
        try sink.withLock { try $0.finish() }
        if let to { Output.shared.note("The timeline is written to \(to).") }
    }

    /// Text on its way to a file or to standard output, some 64 KB at a time.
    private struct Outlet {
        let file: OutputFile?
        private var buffer = ""

        init(file: OutputFile?) { self.file = file }

        mutating func put(_ text: String) throws {
            buffer += text
            if buffer.utf8.count > 1 << 16 { try flush() }
        }

        mutating func finish() throws {
            try flush()
            try file?.finish()
        }

        private mutating func flush() throws {
            if let file { try file.write(buffer) } else { Output.shared.raw(buffer) }
            buffer = ""
        }
    }

    private struct Sink {
        let isForOthers: Bool
        private var outlet: Outlet
        private let csv: CSVWriter?
        private var json = JSONWriter()
        /// Records so far, which the bar counts.
        private(set) var editions = 0
        /// Copies so far: what backup, import and the library's lists call books.
        private(set) var books = 0

        init(format: Format, isForOthers: Bool, file: OutputFile?) throws {
            self.isForOthers = isForOthers
            outlet = Outlet(file: file)
            csv = format == .csv ? CSVWriter() : nil
            if let csv { try outlet.put(csv.header) }
        }

        mutating func take(_ record: LibraryRecord) throws {
            guard let record = isForOthers ? record.forOthers : record else { return }
            if case .book(let book) = record {
                editions += 1
                books += book.copies.count
            }
            try outlet.put(csv?.rows(of: record) ?? json.text(of: record))
        }

        mutating func finish() throws {
            if csv == nil { try outlet.put(json.end) }
            try outlet.finish()
        }
    }
}

/// A file that is there whole or not at all: written beside its place, synced, then renamed into it.
final class OutputFile {
    private let path: String
    private let partial: String
    private let mayReplace: Bool
    private var descriptor: Int32
    private var isFinished = false

    /// - Parameter mayReplace: whether an older file may go; a database never does.
    /// - Throws: ``CommandError``.
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

    /// Puts the file in its place.
    func finish() throws {
        guard fsync(descriptor) == 0 else { throw error(errno) }
        try checkTarget()
        guard rename(partial, path) == 0 else { throw error(errno) }
        isFinished = true
        let folder = open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw error(errno) }
        defer { close(folder) }
        // A file system that cannot sync folders says EINVAL.
        guard fsync(folder) == 0 || errno == EINVAL else { throw error(errno) }
    }

    private func checkTarget() throws {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw CommandError(.usage, "\(path) is no file that could be replaced; name another.")
        }
        guard mayReplace else { throw CommandError(.usage, "\(path) is there already; --force replaces it.") }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error(errno) }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 15)
        let count = read(file, &head, head.count)
        guard count < head.count || !head.elementsEqual("SQLite format 3".utf8) else {
            throw CommandError(
                .usage, "\(path) is a database, perhaps the library itself; it is not replaced. Name another file.")
        }
    }

    private func error(_ code: Int32) -> CommandError {
        CommandError(
            code == EACCES || code == EPERM || code == EROFS ? .permission : .inputOutput,
            "cannot write \(path): \(String(cString: strerror(code))).")
    }
}
