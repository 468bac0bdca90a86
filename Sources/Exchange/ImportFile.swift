import Bookplate
import FoundationEssentials

/// A file to import. Its format is recognised by its contents, never by its name. It is read row by row in bounded
/// memory.
public final class ImportFile {
    private enum Source {
        case table(DelimitedReader, any TrackerRow.Type, columns: [String: Int])
        case json(JSONLines)
    }

    public let format: ExchangeFormat
    private let source: Source
    private let preset: ImportPreset
    private let counter: Counter
    /// The number of rows so far for each book without an id. The key is the fingerprint of the book.
    private var occurrences: [UInt64: Int] = [:]

    /// The number of bytes that have been read from the file.
    public var bytesRead: Int { counter.bytes }

    private final class Counter { var bytes = 0 }

    /// - Parameters:
    ///   - name: the name of the file, for error messages.
    ///   - format: the format of a table whose columns are not recognised; `nil` to recognise the format by the
    ///     columns.
    ///   - jsonLimit: the size limit, in bytes, of a line of Bookplate's own JSON, and of a JSON file whose layout was
    ///     changed by another tool.
    ///   - next: returns the next bytes of the file, at most a few hundred kilobytes; `nil` at the end of the file.
    /// - Throws: ``ExchangeError``, and any error of `next`.
    public init(
        _ name: String, as format: ExchangeFormat? = nil, preset: ImportPreset = ImportPreset(),
        jsonLimit: Int = 64 << 20, next: @escaping () throws -> [UInt8]?
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
                : .wrongKind(file: name, what: "not a text file", advice: "Export the books as CSV.")
        }
        if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
            source = .json(try JSONLines(chunks, file: name, limit: jsonLimit))
            self.format = .json
            return
        }
        let reader = DelimitedReader(chunks)
        let columns = try Self.header(reader, name)
        guard
            let tracker = trackers.first(where: {
                $0.format == format ?? $0.format && (format != nil || $0.matches(Set(columns.keys)))
            })
        else {
            throw ExchangeError.unknownColumns(
                file: name, found: columns.sorted { $0.value < $1.value }.prefix(12).map { String($0.key.excerpt) })
        }
        guard columns["title"] != nil else { throw ExchangeError.notThatFormat(file: name, tracker.format) }
        source = .table(reader, tracker, columns: columns)
        self.format = tracker.format
    }

    /// - Returns: the index of each column by its name in lower case. If two columns have the same name, the first one
    ///   counts.
    private static func header(_ reader: DelimitedReader, _ name: String) throws -> [String: Int] {
        try reader.chooseDelimiter()
        switch try reader.next() {
        case .end: throw ExchangeError.empty(file: name)
        case .refused(let reason):
            throw ExchangeError.wrongKind(
                file: name, what: "not a table: \(reason)", advice: "Export the books as CSV.")
        case .row, .repairedRow: break
        }
        var columns: [String: Int] = [:]
        for index in 0..<min(reader.count, 1000) {
            let column = String(reader.cell(index).prefix(200)).cleaned.lowercased()
            if !column.isEmpty, columns[column] == nil { columns[column] = index }
        }
        guard reader.count <= 1000, !columns.isEmpty else {
            throw ExchangeError.wrongKind(file: name, what: "not a table", advice: "Export the books as CSV.")
        }
        reader.columns = reader.count
        return columns
    }

    /// - Returns: the next row; `nil` at the end of the file.
    public func nextRow() throws -> ImportRow? {
        switch source {
        case .json(let lines): return try lines.next()
        case .table(let reader, let tracker, let columns):
            var draft = RowDraft(reader, columns)
            switch try reader.next() {
            case .end: return nil
            case .refused(let reason): return .refused(row: reader.row, reason: reason)
            case .repairedRow: draft.addDoubt("the row has unmatched quotation marks, so only its first line was read")
            case .row: break
            }
            let own = tracker.read(&draft)
            guard draft.metadata.title != nil || draft.isbn != nil else {
                return .refused(row: reader.row, reason: "the row has neither a title nor an ISBN")
            }
            apply(&draft)
            let request = own ?? derivedRequest(&draft)
            return .book(draft.book(source: format.rawValue, request: request))
        }
    }

    /// Returns the request id of a row in a file from a reading-tracker app that gives its books no ids. The request id
    /// ensures that importing the file twice makes no second copy: a row gets the same id in every import of the file.
    /// If a book has several rows, each row gets a different id.
    private func derivedRequest(_ draft: inout RowDraft) -> String {
        let fingerprint = draft.fingerprint
        let count = (occurrences[fingerprint] ?? 0) + 1
        occurrences[fingerprint] = count
        let request = "\(format.rawValue):\(String(fingerprint, radix: 16))"
        guard count > 1 else { return request }
        draft.isFurther = true
        draft.addDoubt("an earlier row has the same book; the data of this row was added to that book")
        return "\(request):\(count)"
    }

    private func apply(_ draft: inout RowDraft) {
        if let shelf = preset.shelf { draft.copy.shelf = shelf }
        draft.copy.tags += preset.tags.filter { !draft.copy.tags.contains($0) }
        if preset.isOwned { draft.copy.isOwned = true }
    }
}

/// Imports a file, a few hundred rows at a time, so that other processes can write to the library in between. The next
/// rows are read while the library saves the previous rows.
public struct ImportRun {
    private let file: ImportFile
    private let library: any BookImport
    private let rowsAtOnce: Int
    private var ahead: Result<[ImportRow], any Error>?
    /// The error that ended the reading of the file. It is thrown after the rows before it have been saved.
    private var failure: (any Error)?
    public private(set) var summary = ImportSummary()

    /// The size limit of one batch, in bytes of the file. Very long rows are therefore saved only a few at a time.
    private static let bytesAtOnce = 8 << 20

    public init(_ file: ImportFile, into library: any BookImport, rowsAtOnce: Int = 500) {
        self.file = file
        self.library = library
        self.rowsAtOnce = rowsAtOnce
    }

    /// Imports the next rows.
    ///
    /// - Returns: the results for these rows, which are on disk; `nil` at the end of the file.
    public mutating func next(at now: Date) async throws -> [ImportResult]? {
        let rows = if let ahead { try ahead.get() } else { try read() }
        guard !rows.isEmpty else { return nil }
        let library = library
        async let saved = library.importRows(rows, at: now)
        do {
            ahead = .success(try read())
        } catch {
            ahead = .failure(error)
        }
        let results = try await saved
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
