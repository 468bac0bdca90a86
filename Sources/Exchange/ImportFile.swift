import Bookplate
import FoundationEssentials

/// A file on its way into the library: recognised by what is in it, never by its name, then read row by row in bounded memory.
public final class ImportFile {
    /// What every row of a file gets beside what the file says. Our own JSON takes none of it.
    public struct Preset: Sendable, Equatable {
        public var shelf: String?
        public var tags: [String] = []
        /// The books are owned, whatever the file says.
        public var isOwned = false

        public init(shelf: String? = nil, tags: [String] = [], isOwned: Bool = false) {
            self.shelf = shelf
            self.tags = tags
            self.isOwned = isOwned
        }
    }

    private enum Source {
        case table(DelimitedReader, any TrackerRow.Type, columns: [String: Int])
        case json(JSONLines)
    }

    public let format: ExchangeFormat
    private let source: Source
    private let preset: Preset
    private let counter: Counter
    /// How often each book was met of those that have no number.
    private var marks: [UInt64: Int] = [:]

    /// How much of the file has been read, in bytes.
    public var bytesRead: Int { counter.bytes }

    private final class Counter { var bytes = 0 }

    /// - Parameters:
    ///   - name: what errors call it.
    ///   - format: for a table whose columns are not recognised although the person knows whose they are.
    ///   - next: the file's next bytes, at most some hundred kilobytes; `nil` at its end.
    /// - Throws: ``ExchangeError``, and what `next` throws.
    public init(
        _ name: String, as format: ExchangeFormat? = nil, preset: Preset = Preset(),
        next: @escaping () throws -> [UInt8]?
    ) throws {
        let counter = Counter()
        self.counter = counter
        self.preset = preset
        let chunks = try TextChunks {
            let chunk = try next()
            counter.bytes += chunk?.count ?? 0
            return chunk
        }
        if let (what, advice) = FileKind.foreign(chunks.head) {
            throw ExchangeError.wrongKind(file: name, what: what, advice: advice)
        }
        let first = chunks.head.first { $0 > 0x20 && $0 < 0x80 }
        guard first != nil else {
            throw chunks.head.isEmpty || chunks.head.allSatisfy { $0 <= 0x20 && $0 != 0 }
                ? ExchangeError.empty(file: name)
                : .wrongKind(file: name, what: "no text", advice: "Export the books as CSV.")
        }
        if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
            source = .json(try JSONLines(chunks, file: name))
            self.format = .json
            return
        }
        let reader = DelimitedReader(chunks)
        let columns = try Self.header(reader, name)
        guard
            let tracker = trackers.first(where: {
                $0.format == format ?? $0.format && (format != nil || $0.isIts(Set(columns.keys)))
            })
        else {
            throw ExchangeError.unknownColumns(
                file: name, found: columns.sorted { $0.value < $1.value }.prefix(12).map { String($0.key.beginning) })
        }
        guard columns["title"] != nil else { throw ExchangeError.notThatFormat(file: name, tracker.format) }
        source = .table(reader, tracker, columns: columns)
        self.format = tracker.format
    }

    /// - Returns: the columns by their names in lower case; of two alike the first.
    private static func header(_ reader: DelimitedReader, _ name: String) throws -> [String: Int] {
        try reader.chooseDelimiter()
        switch try reader.next() {
        case .end: throw ExchangeError.empty(file: name)
        case .refused(let reason):
            throw ExchangeError.wrongKind(file: name, what: "no table: \(reason)", advice: "Export the books as CSV.")
        case .row, .repairedRow: break
        }
        var columns: [String: Int] = [:]
        for index in 0..<min(reader.count, 1000) {
            let column = String(reader.cell(index).prefix(200)).cleaned.lowercased()
            if !column.isEmpty, columns[column] == nil { columns[column] = index }
        }
        guard reader.count <= 1000, !columns.isEmpty else {
            throw ExchangeError.wrongKind(file: name, what: "no table", advice: "Export the books as CSV.")
        }
        reader.columns = reader.count
        return columns
    }

    /// - Returns: `nil` at the end of the file.
    public func nextRow() throws -> ImportRow? {
        switch source {
        case .json(let lines): return try lines.next()
        case .table(let reader, let tracker, let columns):
            var draft = RowDraft(reader, columns)
            switch try reader.next() {
            case .end: return nil
            case .refused(let reason): return .refused(row: reader.row, reason: reason)
            case .repairedRow: draft.doubt("its quotes are not balanced; it was read as one line")
            case .row: break
            }
            let own = tracker.read(&draft)
            guard draft.metadata.title != nil || draft.isbn != nil else {
                return .refused(row: reader.row, reason: "it has neither a title nor an ISBN")
            }
            apply(&draft)
            let request = own ?? derivedRequest(&draft)
            return .book(draft.book(source: format.rawValue, request: request))
        }
    }

    /// For trackers that number nothing. A book that comes again gets a request of its own, the same in every import of the file.
    private func derivedRequest(_ draft: inout RowDraft) -> String {
        let mark = draft.mark
        let count = (marks[mark] ?? 0) + 1
        marks[mark] = count
        let request = "\(format.rawValue):\(String(mark, radix: 16))"
        guard count > 1 else { return request }
        draft.isFurther = true
        draft.doubt("the book stands in an earlier row too; what this one says of it was added there")
        return "\(request):\(count)"
    }

    private func apply(_ draft: inout RowDraft) {
        if let shelf = preset.shelf { draft.copy.shelf = shelf }
        draft.copy.tags += preset.tags.filter { !draft.copy.tags.contains($0) }
        if preset.isOwned { draft.copy.isOwned = true }
    }
}

/// Brings a file into the library, some hundred rows at a time, so that others can write in between. While the library writes some
/// rows, the next are read.
public struct ImportRun {
    private let file: ImportFile
    private let library: any BookImport
    private let rowsAtOnce: Int
    private var ahead: Result<[ImportRow], any Error>?
    /// What ended the reading; told when what was read before it is in the library.
    private var failure: (any Error)?
    public private(set) var summary = ImportSummary()

    /// In bytes of the file: rows of megabytes go in fewer at once.
    private static let bytesAtOnce = 8 << 20

    public init(_ file: ImportFile, into library: any BookImport, rowsAtOnce: Int = 500) {
        self.file = file
        self.library = library
        self.rowsAtOnce = rowsAtOnce
    }

    /// Takes the next rows in.
    ///
    /// - Returns: what became of them, durable by now; `nil` when the file is at its end.
    public mutating func next(at now: Date) async throws -> [ImportResult]? {
        let rows = if let ahead { try ahead.get() } else { try read() }
        guard !rows.isEmpty else { return nil }
        let library = library
        async let taken = library.take(rows, at: now)
        do {
            ahead = .success(try read())
        } catch {
            ahead = .failure(error)
        }
        let results = try await taken
        for result in results { summary.count(result) }
        return results
    }

    private mutating func read() throws -> [ImportRow] {
        if let failure { throw failure }
        var rows: [ImportRow] = []
        let before = file.bytesRead
        do {
            while rows.count < rowsAtOnce, file.bytesRead - before < Self.bytesAtOnce, let row = try file.nextRow() {
                rows.append(row)
            }
        } catch {
            guard !rows.isEmpty else { throw error }
            failure = error
        }
        return rows
    }
}
