import Bookplate
import FoundationEssentials

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
