import Bookplate
import Exchange
import Kiosk
import Library
import Synchronization

/// Writes the records of the library as JSON or CSV.
final class RecordWriter: Sendable {
    private struct State {
        var text: TextWriter
        var json = JSONWriter()
        var editions = 0
        var books = 0
    }

    private let csv: CSVWriter?
    private let isForOthers: Bool
    // The library exports its records one after the other. The lock only proves this to the compiler.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isForOthers: true to write only public books, without their private fields.
    ///   - sink: receives the text in pieces.
    init(_ kind: ExportKind, isForOthers: Bool = false, to sink: @escaping TextWriter.Sink) throws {
        csv = kind == .csv ? CSVWriter() : nil
        self.isForOthers = isForOthers
        var text = TextWriter(to: sink)
        if let csv { try text.write(csv.header) }
        state = Mutex(State(text: text))
    }

    /// - Returns: the number of editions written so far, which a progress bar can show.
    @discardableResult
    func write(_ record: LibraryRecord) throws -> Int {
        try state.withLock { state in
            guard let record = isForOthers ? record.forOthers : record else { return state.editions }
            if case .book(let book) = record {
                state.editions += 1
                state.books += book.copies.count
            }
            try state.text.write(csv?.rows(of: record) ?? state.json.text(of: record))
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
            if csv == nil { try state.text.write(state.json.end) }
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
