import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// Compares a book with what each source has, and takes fields from them.
struct LibrarySourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "Compare a book with the record of each source, and choose field by field.",
        discussion: """
            Asks every source that is switched on, and shows for each field which values
            they give; a check mark is at what the library has. --take sets a field to
            the value of a source. No refresh changes it afterwards, and `scan undo`
            takes it back.

            A book without an ISBN is looked for by its title and author, in the edition
            of the same year; check that a record is of your edition.

            The fields are title, subtitle, authors, publisher, publishedDate, pageCount,
            language, originalLanguage, format, series, subjects, description and
            coverURL; the sources are those of `scan lookup`.

              scan library sources 9780441478125
              scan library sources 9780441478125 --take publisher=googleBooks
            """)

    @OptionGroup var named: NamedBook
    @Option(
        name: .customLong("take"), parsing: .singleValue,
        help: ArgumentHelp("Take a field from a source (can be repeated).", valueName: "field=source"))
    var taken: [String] = []
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let choices = try taken.map(Self.choice)
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.requireLibrary()
        let book = try await library.book(named: named.name, choosing: Asking.canChoose(json: output.json))
        guard book.edition.isbn != nil || book.edition.titleQuery != nil else {
            throw CommandError(.nothing, "\(quoted([book.displayTitle])) has neither an ISBN nor a title to look for.")
        }
        if !output.json { Output.shared.showStatus("  asking the sources …") }
        let records = await wiring.lookup(library).records(of: book.edition, language: Wiring.systemLanguage)
        Output.shared.showStatus("")
        if choices.isEmpty {
            show(book, records)
        } else {
            try await take(choices, from: records, for: book, in: library)
        }
        guard !records.contains(where: { $0.metadata != nil }) else { return }
        let isOutage = records.contains(where: \.hasFailed) || !records.contains { $0.answer == .notFound }
        throw ExitCode(isOutage ? ExitStatus.unavailable.rawValue : ExitStatus.nothing.rawValue)
    }

    private static func choice(_ text: String) throws -> (field: Metadata.Field, source: SourceName) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let field = Metadata.Field(rawValue: parts[0]), FieldComparison.fields.contains(field)
        else {
            throw CommandError(
                .usage,
                "\"\(text.prefix(40).printable)\" does not name a field. Write --take field=source with one of the fields "
                    + FieldComparison.fields.map(\.rawValue).joined(separator: ", ") + ".")
        }
        guard let source = SourceName(rawValue: parts[1]) else {
            throw CommandError(
                .usage,
                "\"\(parts[1].prefix(40).printable)\" is not a source. The sources are offlineIndex, \(SourceOrder.standard.text)."
            )
        }
        return (field, source)
    }

    private func take(
        _ choices: [(field: Metadata.Field, source: SourceName)], from records: [SourceRecord], for book: Book,
        in library: LibraryFile
    ) async throws {
        var taken: [Metadata.Field: Metadata] = [:]
        for (field, source) in choices {
            guard let record = records.first(where: { $0.source == source }) else {
                throw CommandError(.nothing, "\(source.displayName) was not asked about this book.")
            }
            guard let metadata = record.metadata, metadata.text(of: field) != nil else {
                let reason = record.reason ?? "it has no \(field.label) for this book"
                throw CommandError(record.hasFailed ? .unavailable : .nothing, "\(source.displayName): \(reason).")
            }
            taken[field] = metadata
        }
        let (now, change) = try await library.take(taken, for: book.id, at: Date())
        if output.json { return Output.shared.printLine(now.json) }
        Output.shared.printChange(
            ["Changed: \(now.displayTitle.oneLine)"], change,
            unchanged: "Nothing changed: \(quoted([now.displayTitle])) already has these values.")
    }

    private func show(_ book: Book, _ records: [SourceRecord]) {
        let comparisons = FieldComparison.all(book.edition.metadata, with: records)
        if output.json { return Output.shared.printLine(Self.json(book, comparisons, records)) }
        let (style, width) = (Output.shared.style, terminalSize().columns)
        Output.shared.printLine(style.strong(book.displayTitle.oneLine))
        for comparison in comparisons {
            for (place, value) in comparison.values.enumerated() {
                let label = (place == 0 ? comparison.field.label : "").padded(18)
                let sources = value.sources.map(\.displayName).joined(separator: ", ")
                let own = value.sources.isEmpty ? "only in the library" : sources
                let room = max(20, width - 22)
                Output.shared.printLine("\(label)\(value.isCurrent ? "✓" : " ") \(value.text.oneLine.fitted(room))")
                Output.shared.printLine(String(repeating: " ", count: 20) + style.faint(own.fitted(room)))
            }
        }
        if book.edition.isbn == nil {
            Output.shared.printNotice(
                "  The book has no ISBN. A record that was found by its title may be another edition's.")
        }
        for record in records {
            guard let reason = record.reason else { continue }
            Output.shared.printNotice("  \(record.source.displayName): \(reason.oneLine)")
        }
    }

    private static func json(
        _ book: Book, _ comparisons: [FieldComparison], _ records: [SourceRecord]
    ) -> JSONValue {
        [
            "id": .string(book.id.rawValue), "isbn13": JSONValue(book.edition.isbn?.digits),
            "fields": .array(
                comparisons.map { comparison in
                    [
                        "field": .string(comparison.field.rawValue),
                        "values": .array(
                            comparison.values.map { value in
                                [
                                    "text": .string(value.text), "sources": JSONValue(value.sources.map(\.rawValue)),
                                    "current": .bool(value.isCurrent),
                                ]
                            }),
                    ]
                }),
            "sources": .array(
                records.map { record in
                    [
                        "source": .string(record.source.rawValue), "found": .bool(record.metadata != nil),
                        "reason": JSONValue(record.reason),
                    ]
                }),
        ]
    }
}
