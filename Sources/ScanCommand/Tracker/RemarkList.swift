import Bookplate
import Foundation
import Library

/// What notes and quotes have in common on the command line.
protocol PrintedRemark: Sendable, Equatable {
    var id: ID<Self> { get }
    var text: String { get }
    var created: Date { get }
    /// What stands beside the date: "page 8", "discussion".
    var mark: String? { get }
    static func json(_ remark: Remark<Self>) -> JSONValue
    static var noun: String { get }
    /// "on" or "from" a book.
    static var preposition: String { get }
    static func refusal(_ name: String) -> RemarkRefusal
    /// Those of one book, in its order.
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Self]
    /// Those of all books, newest first.
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Remark<Self>]
    static func named(_ name: String, in library: LibraryFile) async throws -> [Remark<Self>]
    static func delete(_ ids: [ID<Self>], in library: LibraryFile, at now: Date) async throws
}

extension Note: PrintedRemark {
    var mark: String? { kind == .note ? nil : kind.rawValue }
    static func json(_ remark: Remark<Note>) -> JSONValue { remark.json }
    static let noun = "note"
    static let preposition = "on"
    static func refusal(_ name: String) -> RemarkRefusal { .noSuchNote(name) }
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Note] {
        try await library.notes(of: copy)
    }
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Remark<Note>] {
        try await library.latestNotes(limit: limit)
    }
    static func named(_ name: String, in library: LibraryFile) async throws -> [Remark<Note>] {
        try await library.notes(named: name)
    }
    static func delete(_ ids: [ID<Note>], in library: LibraryFile, at now: Date) async throws {
        _ = try await library.deleteNotes(ids, at: now)
    }
}

extension Quote: PrintedRemark {
    var mark: String? { page.map { "page \($0)" } }
    static func json(_ remark: Remark<Quote>) -> JSONValue { remark.json }
    static let noun = "quote"
    static let preposition = "from"
    static func refusal(_ name: String) -> RemarkRefusal { .noSuchQuote(name) }
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Quote] {
        try await library.quotes(of: copy)
    }
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Remark<Quote>] {
        try await library.latestQuotes(limit: limit)
    }
    static func named(_ name: String, in library: LibraryFile) async throws -> [Remark<Quote>] {
        try await library.quotes(named: name)
    }
    static func delete(_ ids: [ID<Quote>], in library: LibraryFile, at now: Date) async throws {
        _ = try await library.deleteQuotes(ids, at: now)
    }
}

/// Prints notes and quotes.
struct RemarkList {
    let json: Bool
    var zone = TimeZone.current

    /// The one that is meant.
    ///
    /// - Parameter name: its id or the end of it.
    /// - Throws: ``Complaint`` when several fit, ``RemarkRefusal`` when none does.
    static func one<Content: PrintedRemark>(
        _ name: String, in library: LibraryFile
    ) async throws -> Remark<Content> {
        let fits = try await Content.named(name, in: library)
        guard let first = fits.first else { throw Content.refusal(name) }
        guard fits.count == 1 else {
            let list = fits.map { "  \($0.content.id)  \($0.book.displayTitle.oneLine)" }.joined(separator: "\n")
            throw Complaint(
                .nothing, "\"\(name.prefix(80).printable)\" fits several; name one by more of its id:\n\(list)")
        }
        return first
    }

    /// All of each, as a book's page shows it.
    func show<Content: PrintedRemark>(_ remarks: [Remark<Content>]) {
        if remarks.isEmpty { return Self.tellEmpty(Content.noun, json: json) }
        for remark in remarks {
            if json {
                Output.shared.line(Content.json(remark))
            } else {
                for line in Self.lines(remark.content, zone, Output.shared.style) { Output.shared.line(line) }
            }
        }
    }

    /// One line each, with its book.
    func showLatest<Content: PrintedRemark>(_ remarks: [Remark<Content>]) {
        if remarks.isEmpty { return Self.tellEmpty(Content.noun, json: json) }
        let width = Output.shared.isTerminal ? max(60, terminalSize().columns) : 200
        for remark in remarks {
            if json {
                Output.shared.line(Content.json(remark))
            } else {
                let content = remark.content
                let head = "\(content.id.rawValue.suffix(6))  \(CalendarDay(content.created, in: zone))  "
                let text = "\(remark.book.displayTitle.oneLine): \(content.text.oneLine)"
                Output.shared.line(head + text.fitted(width - head.columns))
            }
        }
    }

    /// The id's end, the date and what else there is, then the text with its line breaks, set in.
    static func lines(_ content: some PrintedRemark, _ zone: TimeZone, _ style: Style) -> [String] {
        let head = [CalendarDay(content.created, in: zone).description, content.mark].compactMap(\.self)
        return ["  " + style.faint("\(content.id.rawValue.suffix(6))  \(head.joined(separator: " · "))")]
            + content.text.printable.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }

    /// Tells that something was done to one.
    func tell<Content: PrintedRemark>(_ what: String, _ remark: Remark<Content>) {
        if json { return Output.shared.line(Content.json(remark)) }
        Output.shared.changed([
            "\(what) \(Content.preposition) \(remark.book.displayTitle.oneLine): \(remark.content.id.rawValue.suffix(6))"
        ])
    }

    func tellDeleted<Content: PrintedRemark>(_ remarks: [Remark<Content>]) {
        if !json { return Output.shared.changed(["\(counted(remarks.count, Content.noun)) deleted."]) }
        for remark in remarks { Output.shared.line(Content.json(remark)) }
    }

    static func tellEmpty(_ noun: String, json: Bool) {
        if !json { Output.shared.note("There is no \(noun) yet. scan \(noun) add BOOK TEXT writes the first.") }
    }
}
