import Bookplate
import Exchange
import Kiosk
import Library
import Synchronization

/// A format in which books are exported.
enum BookFormat: String, CaseIterable {
    case json, csv, bibtex, markdown

    init(_ kind: ExportKind) {
        self =
            switch kind {
            case .json: .json
            case .csv: .csv
            }
    }
}

/// Writes records of the library in one of the formats. Only JSON holds the trash.
final class RecordWriter: Sendable {
    private struct State {
        var text: TextWriter
        var json = JSONWriter()
        var bibTeX = BibTeXWriter()
        var csv = CSVWriter()
        var editions = 0
        var books = 0
    }

    private let format: BookFormat
    private let markdown = MarkdownWriter()
    private let isForOthers: Bool
    // The library exports its records one after the other. The lock only proves this to the compiler.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isForOthers: true to write only public books, without their private fields.
    ///   - sink: receives the text in pieces.
    init(_ format: BookFormat, isForOthers: Bool = false, to sink: @escaping TextWriter.Sink) throws {
        self.format = format
        self.isForOthers = isForOthers
        var text = TextWriter(to: sink)
        if format == .csv { try text.write(CSVWriter().header) }
        state = Mutex(State(text: text))
    }

    /// - Returns: the number of editions written so far, which a progress bar can show.
    @discardableResult
    func write(_ record: LibraryRecord) throws -> Int {
        try state.withLock { state in
            guard let record = isForOthers ? record.forOthers : record else { return state.editions }
            if case .book(let book) = record {
                state.editions += 1
                state.books += book.copies.count { format == .json || $0.copy.deleted == nil }
            }
            let text =
                switch format {
                case .json: state.json.text(of: record)
                case .csv: state.csv.rows(of: record)
                case .bibtex: state.bibTeX.entry(for: record)
                case .markdown: markdown.items(for: record)
                }
            try state.text.write(text)
            return state.editions
        }
    }

    /// Writes the end of the export.
    ///
    /// - Returns: the number of copies that were written. Messages call copies books, as they do for backups, imports
    ///   and lists.
    @discardableResult
    func finish() throws -> Int {
        try state.withLock { state in
            if format == .json { try state.text.write(state.json.end) }
            try state.text.finish()
            return state.books
        }
    }
}

/// Collects text and passes it on in pieces of about 64 KB.
struct TextWriter {
    typealias Sink = @Sendable (String) throws -> Void

    private let sink: Sink
    private var buffer = ""

    init(to sink: @escaping Sink) { self.sink = sink }

    mutating func write(_ text: String) throws {
        buffer += text
        if buffer.utf8.count > 1 << 16 { try finish() }
    }

    /// Passes on the text that is left in the buffer.
    mutating func finish() throws {
        try sink(buffer)
        buffer = ""
    }
}
