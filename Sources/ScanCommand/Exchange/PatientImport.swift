import Bookplate
import Foundation
import Library
import Synchronization

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
        } catch let error as LibraryError where error.mayPass {
            let complaint = Failure.complaint(for: error)
            throw Complaint(complaint.status, complaint.description + " " + saved.lastWords)
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
            } catch let error as LibraryError where error.mayPass && ContinuousClock.now < end {
                if !isTold { Output.shared.complain("\(Failure.complaint(for: error)) Trying on.") }
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
