import Bookplate
import Exchange
import Foundation
import Library

extension LibraryBench {
    /// Measures the first book of a generated library, which has all sessions in one reading.
    static let tracking = Part(name: "sessions", title: "A book with 10,000 sessions and as many progress entries") {
        generated in
        let (library, everybody) = (generated.library, generated.library.ofEverybody())
        var query = BookQuery()
        (query.sort, query.isReversed) = (.added, true)
        // It is among the oldest books.
        var most: (book: Book, sessions: Int)?
        for book in try await library.books(matching: query).books {
            let count = try await library.sessionTotals(of: book.id).sessions
            if count > most?.sessions ?? 0 { most = (book, count) }
        }
        guard let book = most?.book else { return [] }
        let (now, zone) = (Date(), TimeZone(identifier: "Europe/Berlin") ?? .current)
        let parts: [(name: String, body: () async throws -> Void)] = [
            ("home", { _ = try await library.home(limit: 5, at: now, in: zone) }),
            ("home of everybody", { _ = try await everybody.home(limit: 5, at: now, in: zone) }),
            ("stats, once they are in memory", { _ = try await library.yearSoFar(at: now, in: zone) }),
            ("stats of everybody", { _ = try await everybody.yearSoFar(at: now, in: zone) }),
            ("stats book", { _ = try await library.stats(of: book.id, at: now, in: zone) }),
            ("its sessions, 50 of them", { _ = try await library.sessions(of: book.id, limit: 50, offset: 0) }),
            ("its sessions, the last 50", { _ = try await library.sessions(of: book.id, limit: 50, offset: 9950) }),
            ("their totals", { _ = try await library.sessionTotals(of: book.id) }),
            ("the book", { _ = try await library.book(book.id) }),
            ("a page that it is on", { [query] in _ = try await library.books(matching: query) }),
        ]
        var lines: [Line] = []
        // Sums over all sessions take longer in a larger library.
        let wanted: (String) -> Double? = { name in
            switch name {
            case "home": generated.copies > 100_000 ? nil : 20
            case "home of everybody", "stats, once they are in memory", "stats of everybody": nil
            default: 20
            }
        }
        for (name, body) in parts {
            var times = Times()
            for round in 0..<9 { try await times.time(isCounted: round > 1, body) }
            lines.append(times.line(name, wanted: wanted(name)))
        }
        var (starts, stops) = (Times(), Times())
        for _ in 0..<9 {
            try await starts.time { try await library.startSession(of: book.id, page: 10, from: nil, at: Date()) }
            let stopped = try await stops.time {
                try await library.stopSession(page: 12, end: nil, forced: true, at: Date())
            }
            _ = try await library.deleteSession(stopped.session.id, at: Date())
        }
        return lines + [starts.line("start a session", wanted: 20), stops.line("stop it", wanted: 20)]
    }

    /// Measures imports into a separate, empty library.
    static let importing = Part(
        name: "import", title: "A Goodreads export into an empty library: of 20,000 rows, then of 100,000"
    ) { generated in
        let rows = generated.copies < 100_000 ? 20_000 : 100_000
        let path = generated.path + "-import"
        defer { for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) } }
        let library = try LibraryFile.open(at: path)
        // Generated before the measurement, and read in pieces like a file.
        var chunks: [[UInt8]] = [Array(goodreadsHeader.utf8)]
        for first in stride(from: 0, to: rows, by: 250) {
            chunks.append((first..<first + 250).flatMap { Array(goodreadsRow($0).utf8) })
        }
        var next = chunks.makeIterator()
        let file = try ImportFile("goodreads_library_export.csv") { next.next() }
        var run = ImportRun(file, into: LibraryImport(into: library, from: "the bench"))
        var times = Times()
        try await times.time { while try await run.next(at: Date()) != nil {} }
        try await library.close()
        let share = 5000 / Double(rows)
        return [
            Line(
                name: "5,000 rows", milliseconds: times.wall[0] * share, cpu: times.cpu[0] * share, wanted: 1000,
                note: "\(Int(Double(rows) / times.wall[0] * 1000)) rows/s, \(run.summary.new) new"
            )
        ]
    }
}

private let goodreadsHeader = """
    Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,\
    Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,\
    Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies

    """

/// A row as in an export of Goodreads. Every title is different, and one author in three has several books.
private func goodreadsRow(_ number: Int) -> String {
    let body = "978" + String(String(1_000_000_000 + number * 7919 % 1_000_000_000).dropFirst())
    let sum = body.utf8.enumerated().reduce(0) { $0 + Int($1.element - 48) * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
    let isbn = number % 12 == 0 ? "" : body + String((10 - sum % 10) % 10)
    let isRead = number % 3 == 0
    let day = String(format: "2%03d/%02d/%02d", number % 25, 1 + number % 12, 1 + number % 28)
    let series = number % 8 == 0 ? " (The Cycle of \(number / 80), #\(1 + number % 9))" : ""
    let fields = [
        "\(number + 1)", "The Garden of \(number)\(series)", "Anna Writer \(number % 30_000)", "", "", "=\"\"",
        "=\"\(isbn)\"", "\(isRead ? number % 6 : 0)", "3.98", "River Press", "Paperback", "\(100 + number % 700)",
        "\(1950 + number % 70)", "", isRead ? day : "", "2024/01/05", number % 4 == 0 ? "fantasy, book club" : "", "",
        isRead ? "read" : "to-read",
        number % 10 == 0 ? "A slow story, and better for it: the ending stays." : "", "", "", isRead ? "1" : "0",
        "\(number % 2)",
    ]
    return fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
}
