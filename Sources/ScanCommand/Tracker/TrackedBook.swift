import ArgumentParser
import Bookplate
import Foundation
import Glibc
import Library
import SystemPackage

/// The book that an act of the tracker is about: words on the command line, or the only one that is being read.
struct TrackedBook: ParsableArguments {
    @Argument(
        help: ArgumentHelp("ISBN, id or words; left out, the only book in Reading.", valueName: "book")) var words:
        [String] = []
}

extension Book {
    /// What one of its readings is now, in the words of the status that it has or had.
    func stateName(of reading: Reading) -> String {
        switch reading.state {
        case .open: reading.id == copy.reading?.id ? copy.status.displayName : Copy.Status.reading.displayName
        case .finished: Copy.Status.read.displayName
        case .stopped: Copy.Status.dnf.displayName
        case .cancelled: "taken back"
        }
    }
}

extension LibraryFile {
    /// - Parameter words: empty for the only book in Reading.
    /// - Throws: ``CommandError`` when there is no such book, or several are meant.
    func trackedBook(_ words: some Collection<String>) async throws -> Book {
        // A name that came out empty is no name left out.
        guard words.isEmpty else { return try await book(named: words.joined(separator: " ")) }
        var query = BookQuery()
        query.statuses = [.reading]
        query.limit = 10
        let page = try await books(matching: query)
        guard let first = page.books.first else {
            throw CommandError(.nothing, "no book is being read now. Name the book: its ISBN, id or words.")
        }
        guard page.total == 1 else {
            let list = page.books.map { "  \($0.id)  \($0.displayTitle.oneLine), \($0.displayAuthors.oneLine)" }
            throw CommandError(
                .nothing,
                "\(page.total) books are being read now; name the one that you mean:\n" + list.joined(separator: "\n"))
        }
        return first
    }

    /// - Parameter number: as histories show it, from 1; `nil` for the reading that the book shows.
    func reading(_ number: Int?, of book: Book) throws -> Reading? {
        guard let number else { return book.copy.reading }
        let readings = book.copy.countedReadings
        guard readings.indices.contains(number - 1) else {
            throw CommandError(
                .nothing,
                "\(quoted([book.displayTitle])) has no reading \(number): it has \(counted(readings.count, "reading")). "
                    + "scan reading history shows them.")
        }
        return readings[number - 1]
    }

    /// - Parameter name: an id or the end of one, four characters at least.
    func session(named name: String) async throws -> SessionRecord {
        let name = name.lowercased()
        let fits = (4...64).contains(name.utf8.count) ? try await sessions(endingIn: name) : []
        guard let first = fits.first else {
            throw CommandError(
                .nothing, "there is no session \"\(name.prefix(80).printable)\". scan session list shows them.")
        }
        guard fits.count == 1 else {
            throw CommandError(.nothing, "\"\(name.printable)\" fits several sessions; name one by its whole id.")
        }
        return first
    }
}

/// Opens the library, does one act and tells what became of the reading.
struct ReadingAct {
    let places: PathOptions
    let output: OutputOptions

    /// - Parameters:
    ///   - unchanged: what to say when nothing changed.
    ///   - act: gives `nil` when the person does not want it after all.
    func run(
        unchanged: String? = nil, _ act: (LibraryFile, When) async throws -> TrackingResult?
    ) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        guard let result = try await act(library, .here) else { return }
        // On standard error, so also beside JSON.
        if result.sessionStillRuns { Output.shared.note("Its session is still running: scan session stop ends it.") }
        if output.json { return Output.shared.line(result.json) }
        Output.shared.line(Self.line(for: result.book, result.reading))
        if result.isBeyondLastPage {
            Output.shared.note(
                "That is beyond the last page, and kept as you said it. scan library edit --pages puts a wrong page count right."
            )
        }
        if result.change == nil {
            Output.shared.note(unchanged ?? "Nothing changed.")
        } else {
            Output.shared.note("scan undo takes it back.")
        }
    }

    /// `Dune · Reading · started 2026-11-21 · Page 145 of 382 ████░░░░░░ 38 %`
    static func line(for book: Book, _ reading: Reading?) -> String {
        let parts = [book.displayTitle.oneLine, book.copy.status.displayName] + (reading.map { days(of: $0) } ?? [])
        let bar = reading.flatMap { $0.state == .cancelled ? nil : $0.progress }
            .map { ReadingBar(amount: $0.amount, pageCount: book.edition.metadata.pageCount).textForOutput }
        return (parts + [bar].compactMap(\.self)).joined(separator: " · ")
    }

    /// What is known of its days; of a cancelled one nothing is shown.
    static func days(of reading: Reading) -> [String] {
        guard reading.state != .cancelled else { return [] }
        let days = [("started", reading.started), ("finished", reading.finished), ("stopped", reading.stopped)]
        return days.compactMap { name, day in day.map { "\(name) \($0)" } }
    }
}

/// A text that a person gives as an argument, or with `-` on standard input: what an editor or another program writes.
enum EnteredText {
    /// More than any text that is kept, so that a stream without end is not read for ever.
    private static let mostBytes = 1 << 20

    /// - Throws: ``CommandError`` when standard input is no text or has no end in sight; how long the text may be is not
    ///   checked here.
    static func read(_ argument: String, as what: String) throws -> String {
        guard argument == "-" else { return argument }
        if isatty(STDIN_FILENO) == 1 { Output.shared.note("Type the \(what); Control-D on a line of its own ends it.") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= mostBytes {
            let room = min(buffer.count, mostBytes + 1 - bytes.count)
            do {
                let count = try buffer.withUnsafeMutableBytes {
                    try FileDescriptor.standardInput.read(into: .init(rebasing: $0[..<room]))
                }
                if count == 0 { break }
                bytes += buffer[..<count]
            } catch let error as Errno {
                throw CommandError(.unreadable, "cannot read the \(what) from standard input: \(error).")
            }
        }
        guard bytes.count <= mostBytes else {
            throw CommandError(
                .usage, "the \(what) on standard input is larger than 1 MB; the limit is \(TextLimit.note) characters.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.unreadable, "the \(what) on standard input is not valid UTF-8; save it as UTF-8 first.")
        }
        return text
    }
}
