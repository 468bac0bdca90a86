import Bookplate
import FoundationEssentials
import GRDB

/// One import into a library: all that it takes is one change, which undo takes back at once.
public actor LibraryImport: BookImport {
    private let library: LibraryFile
    private let name: String
    private var change: ID<Change>?
    /// Copies that rows with identities of their own have become, so that two copies of one edition stay two.
    private var claimed: Set<Int64> = []
    private var books = 0

    /// - Parameter name: what history calls the file.
    public init(into library: LibraryFile, from name: String) {
        self.library = library
        self.name = name
    }

    public func take(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        try await library.setConnection(.manyRows)
        let taken: Result<[ImportResult], any Error>
        do {
            taken = .success(try await takeAll(rows, at: now))
        } catch {
            taken = .failure(error)
        }
        // Back after each call: nobody has to say when an import ends, and the connection may live for months. In a task of its
        // own, because in one that was cancelled GRDB refuses to work.
        try await Task { [library] in try await library.setConnection(.ordinary) }.value
        return try taken.get()
    }

    private func takeAll(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        do {
            return try await take(rows, at: now, eachByItself: false)
        } catch LibraryError.constraint {
            // A row that the schema refuses must not keep its neighbours out. Rare, so that only then each has its savepoint.
            return try await take(rows, at: now, eachByItself: true)
        }
    }

    private func take(_ rows: [ImportRow], at now: Date, eachByItself: Bool) async throws -> [ImportResult] {
        let (name, claimed, books) = (name, claimed, books)
        let part = try await library.change(.importing, continuing: change, at: now) { db, id in
            var saving = ImportSaving(db: db, now: now, claimed: claimed)
            let results = try rows.map { row in try eachByItself ? saving.takeAlone(row) : saving.take(row) }
            let count = books + results.count { $0.isBookInLibrary }
            let part = Part(results: results, change: id, claimed: saving.claimed, books: count)
            return (part, "imported \(count) book\(count == 1 ? "" : "s") from \(name)")
        }
        change = part.change
        self.claimed = part.claimed
        self.books = part.books
        return part.results
    }

    private struct Part: Sendable {
        var results: [ImportResult]
        var change: ID<Change>
        var claimed: Set<Int64>
        var books: Int
    }
}

extension ImportResult {
    fileprivate var isBookInLibrary: Bool {
        switch outcome {
        case .new, .merged: true
        case .unchanged, .other, .refused: false
        }
    }
}

/// How large the transactions are that the writing connection is fit for.
struct ConnectionUse {
    /// In KiB.
    let cache: Int
    /// How long the log grows before it is folded in, in pages.
    let checkpoint: Int

    /// Where statement journals and sorts are kept. Every logged INSERT can fail half-way in its triggers, so SQLite keeps a
    /// journal of it: in files, measured, a hundred small writes a book and a third of an import's time.
    let temporaries: Temporaries

    /// Source: https://www.sqlite.org/pragma.html#pragma_temp_store
    enum Temporaries: Int { case inFiles = 0, inMemory = 2 }

    /// SQLite's defaults.
    static let ordinary = ConnectionUse(cache: 2000, checkpoint: 1000, temporaries: .inFiles)
    /// Hundreds of books: with the defaults the same pages were written over and over.
    static let manyRows = ConnectionUse(cache: 32_768, checkpoint: 8000, temporaries: .inMemory)
}

extension LibraryFile {
    func setConnection(_ use: ConnectionUse) async throws {
        do {
            try await database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA cache_size = -\(use.cache); PRAGMA wal_autocheckpoint = \(use.checkpoint);
                        PRAGMA temp_store = \(use.temporaries.rawValue)
                        """)
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}
