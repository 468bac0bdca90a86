import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// A book as a text that a person changes in their editor: a line `field: value` for each field. The options of `scan
/// library edit` check and apply what was changed.
struct BookText {
    typealias BookChange = @Sendable (inout Book) throws -> Void

    /// The lines that are refused, numbered from 0, with the reasons.
    struct Refusals: Error { var reasons: [(line: Int, reason: String)] }

    /// The text for a book.
    let text: String
    /// The values of the fields in ``text``.
    private let values: [String: Entry]

    /// The values of a field, and the line on which it begins.
    private struct Entry {
        var line: Int
        /// The items of a list, the lines of a text, or one value; empty for an empty field.
        var values: [String] = []
    }

    init(_ book: Book) {
        text = Self.head(book) + Self.fields.map { $0.lines(of: book).joined(separator: "\n") + "\n" }.joined()
        let (entries, _) = Self.parse(text)
        values = entries
    }

    private static func head(_ book: Book) -> String {
        """
        # \(book.displayTitle.oneLine): change what you like, save, and close the editor.
        # Only what you change is stored. To change nothing, leave the text as it is, or delete all of it.
        # An empty field is cleared, and one whose line is missing stays as it is. Lines that begin with # are comments.
        # A list has an item on each line. The lines of a description, and the items of a list, begin with two spaces.


        """
    }

    // MARK: Reading

    /// Returns the changes for the fields that differ from ``text``.
    ///
    /// - Throws: ``Refusals`` for lines that are not understood and for values that no book can have.
    func changes(in edited: String) throws(Refusals) -> [BookChange] {
        var (entries, reasons) = Self.parse(edited)
        var changes: [BookChange] = []
        for field in Self.fields {
            guard let entry = entries.removeValue(forKey: field.name) else { continue }
            let old = values[field.name]?.values ?? []
            guard entry.values != old else { continue }
            do {
                changes.append(try field.change(old, entry.values))
            } catch {
                reasons.append((entry.line, Self.reason(error, field, entry.values)))
            }
        }
        guard reasons.isEmpty else { throw Refusals(reasons: reasons) }
        return changes
    }

    private static func reason(_ error: any Error, _ field: Field, _ values: [String]) -> String {
        switch error {
        // An option's name is the field's name after two hyphens.
        case let error as CommandError: String(error.description.trimmingPrefix("--").prefix { $0 != "\n" })
        case is any Refusal: "\(error)"
        default: "\"\(values.joined(separator: " ").oneLine.fitted(40))\" is no value of \(field.name)"
        }
    }

    private static func parse(_ text: String) -> (entries: [String: Entry], reasons: [(line: Int, reason: String)]) {
        var entries: [String: Entry] = [:]
        var reasons: [(line: Int, reason: String)] = []
        var current: Field?
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("#") { continue }
            if let field = current, words.isEmpty || line.first?.isWhitespace == true || line.hasPrefix("- ") {
                if words.isEmpty, field.kind != .text { continue }
                if field.kind == .line {
                    reasons.append((number, "\(field.name) has only one line"))
                } else {
                    entries[field.name]?.values.append(field.kind == .list ? item(words) : unindented(line))
                }
            } else if let colon = line.firstIndex(of: ":"),
                let field = fields.first(where: { $0.name == line[..<colon] })
            {
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                if entries[field.name] != nil { reasons.append((number, "\(field.name) is there twice")) }
                entries[field.name] = Entry(line: number, values: value.isEmpty ? [] : [value])
                current = field
            } else if !words.isEmpty {
                reasons.append((number, "this line begins with no field. To continue the field above, indent it"))
            }
        }
        // The empty line below a text does not belong to it.
        for name in entries.keys {
            while entries[name]?.values.last?.isEmpty == true { entries[name]?.values.removeLast() }
        }
        return (entries, reasons)
    }

    private static func item(_ words: String) -> String {
        words.hasPrefix("-") ? words.dropFirst().trimmingCharacters(in: .whitespaces) : words
    }

    private static func unindented(_ line: Substring) -> String {
        if line.hasPrefix("\t") { return String(line.dropFirst()) }
        return String(line.dropFirst(line.prefix(2).prefix { $0 == " " }.count))
    }

    private static let refused = "# Refused: "

    /// Returns the text with the reasons above the lines that are refused.
    static func marked(_ text: String, _ refusals: Refusals) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (line, reason) in refusals.reasons.sorted(by: { $0.line > $1.line }) {
            lines.insert(refused + reason.oneLine, at: min(line, lines.count))
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the text without the reasons of an earlier refusal.
    static func unmarked(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix(refused) }
            .joined(separator: "\n")
    }
}

// MARK: - Editing

extension BookText {
    /// Lets a person change the book in their editor, until everything is accepted or the person gives up. What is
    /// changed is stored in one change; everything else stays as it is in the library by then.
    ///
    /// - Returns: the book as it is now, and the change; nil if the person changed nothing.
    static func edit(_ book: Book, in library: LibraryFile) async throws -> (book: Book, change: ID<Change>?)? {
        let form = BookText(book)
        let file = try EditedFile(named: "book.txt")
        defer { file.remove() }
        var text = form.text
        while let edited = try file.edit(text).map(unmarked) {
            do {
                let changes = try form.changes(in: edited)
                return try await library.update(book.id, at: Date()) { book in
                    // Somebody may have deleted the book meanwhile. The editor then opens again and says so.
                    try book.checkOutsideTrash()
                    for change in changes { try change(&book) }
                }
            } catch let refusals as Refusals {
                text = marked(edited, refusals)
            } catch let refusal as any Refusal where [.invalid, .refused].contains(refusal.kind) {
                text = marked(edited, Refusals(reasons: [(0, "\(refusal)")]))
            }
        }
        return nil
    }
}

// MARK: - The fields

extension BookText {
    fileprivate struct Field {
        enum Kind {
            case line, list
            /// Several lines.
            case text
        }

        let name: String
        var kind = Kind.line
        /// A comment on the allowed values; empty if they are obvious.
        var hint = ""
        let values: (Book) -> [String]
        /// Returns the change from the old values to the new ones.
        let change: (_ old: [String], _ new: [String]) throws -> BookChange

        func lines(of book: Book) -> [String] {
            let values = values(book)
            let comment = hint.isEmpty ? [] : ["# \(hint)"]
            switch kind {
            case .line: return comment + ["\(name): \(values.first ?? "")".trimmingCharacters(in: .whitespaces)]
            case .list: return comment + ["\(name):"] + values.map { "  - \($0)" }
            case .text: return comment + ["\(name):"] + values.map { $0.isEmpty ? "" : "  \($0)" }
            }
        }
    }

    /// The fields in the order of the text.
    fileprivate static var fields: [Field] {
        [
            line("title", .metadata) { $0.edition.metadata.title },
            line("subtitle", .metadata) { $0.edition.metadata.subtitle },
            list(
                "authors", .metadata, option: "author",
                hint: "in the order of the title page; with a role: Ann Goldstein:translator, :editor, :illustrator, …"
            ) { $0.edition.metadata.authors.map { $0.role == .author ? $0.name : "\($0.name):\($0.role.rawValue)" } },
            line("author-nationality", .metadata, hint: "of the first author") {
                $0.edition.metadata.authorNationality
            },
            line("publisher", .metadata) { $0.edition.metadata.publisher },
            line("published", .metadata, hint: "1969, 1969-03, 1969-03-17, or as it is printed in the book") {
                $0.edition.metadata.publishedDateText ?? $0.edition.metadata.publishedDate?.description
            },
            line("pages", .metadata, cleared: "0") { $0.edition.metadata.pageCount.map(String.init) },
            line("language", .metadata, hint: "codes of ISO 639, such as en") { $0.edition.metadata.language },
            line("original-language", .metadata) { $0.edition.metadata.originalLanguage },
            line("format", .metadata, hint: Metadata.Format.allCases.map(\.rawValue).joined(separator: ", ")) {
                $0.edition.metadata.format?.rawValue
            },
            line("series", .metadata) { $0.edition.metadata.series },
            line("series-number", .metadata) { $0.edition.metadata.seriesNumber },
            list("subjects", .metadata, option: "subject") { $0.edition.metadata.subjects },
            Field(
                name: "description", kind: .text,
                values: { lines($0.edition.metadata.description) },
                change: { try Options.metadata.change(["--description", $1.joined(separator: "\n")]) }),
            Field(name: "isbn", values: { values($0.edition.isbn?.hyphenated ?? $0.edition.isbnText) }, change: isbn),
            line("cover-url", .metadata) { $0.edition.metadata.coverURL },
            line("preview-link", .metadata) { $0.edition.metadata.previewLink },
            line("info-link", .metadata) { $0.edition.metadata.infoLink },
            Field(
                name: "identifiers", kind: .list, hint: "in other systems, such as goodreads:44767458",
                values: { identifiers(of: $0.edition.metadata) }, change: identifiers),
            line("shelf", .copy) { $0.copy.shelf },
            Field(name: "tags", kind: .list, values: { $0.copy.tags.map(\.oneLine) }, change: tags),
            line("status", .copy, hint: Copy.Status.allCases.map(\.displayName).joined(separator: ", ")) {
                $0.copy.status.displayName
            },
            line("rating", .facts, cleared: "0", hint: "0.25 to 5 stars") { $0.copy.rating.map(Copy.text(ofRating:)) },
            flag("owned", .facts) { $0.copy.isOwned },
            flag("wishlist", .copy) { $0.copy.isOnWishlist },
            flag("favourite", .facts) { $0.copy.isFavourite },
            line("recommended-by", .facts) { $0.copy.recommendedBy },
            flag("would-recommend", .facts, cleared: "--clear-would-recommend", hint: "yes, no, or nothing") {
                $0.copy.wouldRecommend
            },
            flag("public", .facts, hint: "yes to include the book in exports for other people") { $0.copy.isPublic },
            line("daily-goal", .facts, cleared: "0", hint: "pages per day") { $0.copy.dailyGoal.map(String.init) },
            Field(
                name: "cultural-goal", hint: "the category for which the book counts, such as African Literature",
                values: { values($0.copy.countsForCulturalGoal ? $0.copy.culturalGoalCategory ?? "yes" : nil) },
                change: {
                    try Options.facts.change($1.isEmpty ? ["--no-cultural-goal"] : ["--cultural-goal=\($1[0])"])
                }),
            line("added", .facts, hint: "the day on which the book was added") {
                CalendarDay($0.copy.added, in: .current).description
            },
        ]
    }

    /// The options that check and apply a field.
    fileprivate enum Options {
        case metadata, copy, facts

        func change(_ arguments: [String]) throws -> BookChange {
            switch self {
            case .metadata:
                let edit = try MetadataOptions.parse(arguments).edit()
                return { try edit.apply(to: &$0.edition.metadata) }
            case .copy:
                let change = try CopyOptions.parse(arguments).change()
                return { change(&$0.copy) }
            case .facts:
                let change = try CopyFactOptions.parse(arguments).change()
                return { change(&$0.copy) }
            }
        }
    }

    /// A field with one value, whose option has the same name.
    ///
    /// - Parameter cleared: the option's value that clears the field.
    private static func line(
        _ name: String, _ options: Options, cleared: String = "", hint: String = "",
        _ value: @escaping (Book) -> String?
    ) -> Field {
        Field(
            name: name, hint: hint, values: { values(value($0)) },
            change: { try options.change($1.isEmpty ? ["--\(name)", cleared] : ["--\(name)=\($1[0])"]) })
    }

    /// A field that is yes or no.
    ///
    /// - Parameter cleared: the option for an empty field; nil if the field cannot be empty.
    private static func flag(
        _ name: String, _ options: Options, cleared: String? = nil, hint: String = "",
        _ value: @escaping (Book) -> Bool?
    ) -> Field {
        Field(
            name: name, hint: hint, values: { values(value($0).map { $0 ? "yes" : "no" }) },
            change: { _, new in
                let option =
                    switch new.first?.lowercased() {
                    case "yes": "--\(name)"
                    case "no": "--no-\(name)"
                    case nil: cleared
                    default: String?.none
                    }
                guard let option else { throw CommandError(.usage, "\(name) is either yes or no") }
                return try options.change([option])
            })
    }

    /// A list, whose option is repeated for each item.
    private static func list(
        _ name: String, _ options: Options, option: String, hint: String = "", _ items: @escaping (Book) -> [String]
    ) -> Field {
        Field(
            name: name, kind: .list, hint: hint, values: { items($0).map(\.oneLine) },
            change: { try options.change($1.isEmpty ? ["--\(option)", ""] : $1.map { "--\(option)=\($0)" }) })
    }

    private static func values(_ value: String?) -> [String] {
        value.map(\.oneLine).map { $0.isEmpty ? [] : [$0] } ?? []
    }

    private static func lines(_ text: String?) -> [String] {
        text?.printable.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    private static func isbn(_ old: [String], _ new: [String]) throws -> BookChange {
        let number = try new.first.map { try EnteredNumber($0) }
        EnteredNumber.warn(number)
        return { ($0.edition.isbn, $0.edition.isbnText) = (number?.isbn, number?.text) }
    }

    /// Adds the tags that are new, and removes those that are missing now.
    private static func tags(_ old: [String], _ new: [String]) throws -> BookChange {
        let (before, after) = (Set(old.map(\.caseFolded)), Set(new.map(\.caseFolded)))
        return try Options.copy.change(
            new.filter { !before.contains($0.caseFolded) }.map { "--tag=\($0)" }
                + old.filter { !after.contains($0.caseFolded) }.map { "--untag=\($0)" })
    }

    private static func identifiers(of metadata: Metadata) -> [String] {
        metadata.identifiers.sorted { $0.key < $1.key }.flatMap { scheme, values in
            values.map { "\(scheme):\($0)".oneLine }
        }
    }

    /// Replaces the identifiers of each scheme in which something differs.
    private static func identifiers(_ old: [String], _ new: [String]) throws -> BookChange {
        func scheme(_ identifier: String) -> String { identifier.prefix { $0 != ":" }.lowercased() }
        let (before, after) = (Dictionary(grouping: old, by: scheme), Dictionary(grouping: new, by: scheme))
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
        return try Options.metadata.change(
            changed.flatMap { after[$0] ?? ["\($0):"] }.map { "--identifier=\($0)" })
    }
}
