import Bookplate

/// Writes a list for people in Markdown: one item for each copy outside the trash, with its notes and quotes below it.
/// Much is left out, so the file cannot be imported.
///
/// Source: CommonMark 0.31, 2.4 (backslash escapes) and 5.2 (list items).
public struct MarkdownWriter: Sendable {
    public init() {}

    /// Returns the items of a book, without copies in the trash. The text is empty for any other record.
    public func items(for record: LibraryRecord) -> String {
        guard case .book(let book) = record else { return "" }
        return book.copies.filter { $0.copy.deleted == nil }.map { item(book.edition, $0) }.joined()
    }

    private func item(_ edition: Edition, _ record: CopyRecord) -> String {
        let (data, copy) = (edition.metadata, record.copy)
        let title = [Edition.displayTitle(data.title, edition.isbn), data.subtitle].compactMap(\.self)
            .joined(separator: ": ")
        var line = "- **\(Self.escaped(title))**"
        if !data.authorNames.isEmpty { line += " by \(Self.escaped(data.authorNames.joined(separator: ", ")))" }
        if let year = data.publishedDate?.year { line += " (\(year))" }
        if let publisher = data.publisher { line += ", \(Self.escaped(publisher))" }
        let wish = copy.isOnWishlist ? "wishlist" : nil
        let standing = [copy.status.displayName, copy.rating.map(Copy.stars), wish].compactMap(\.self)
        line += "; \(standing.joined(separator: ", "))"
        if !copy.tags.isEmpty { line += "; \(Self.escaped(copy.tags.joined(separator: ", ")))" }
        return line + "\n" + record.notes.map(Self.item).joined() + record.quotes.map(Self.item).joined()
    }

    private static func item(_ note: Note) -> String {
        let kind = note.kind == .note ? "Note" : "Discussion"
        let lines = lines(note.text)
        return "  - \(note.isPrivate ? "Private \(kind.lowercased())" : kind): \(lines[0])\n"
            + lines.dropFirst().map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined()
    }

    private static func item(_ quote: Quote) -> String {
        var lines = lines(quote.text)
        lines[lines.count - 1] += quote.page.map { " (p. \($0))" } ?? ""
        return lines.enumerated().map { index, line in
            (index == 0 ? "  - >" : "    >") + (line.isEmpty ? "\n" : " \(line)\n")
        }.joined()
    }

    /// Returns the escaped lines of a text, at least one. A backslash keeps the break between two lines of a paragraph.
    private static func lines(_ text: String) -> [String] {
        let lines = text.cleaned.split(separator: "\n", omittingEmptySubsequences: false)
            .map { escaped(String($0), beginsLine: true) }
        return lines.enumerated().map { index, line in
            let isBroken = !line.isEmpty && index + 1 < lines.count && !lines[index + 1].isEmpty
            return isBroken ? line + "\\" : line
        }
    }

    /// Returns the text in one line, in which every character stands for itself.
    ///
    /// - Parameter beginsLine: true if the text may stand at the beginning of a line, where more characters have a
    ///   meaning.
    static func escaped(_ text: String, beginsLine: Bool = false) -> String {
        let text = text.cleanedLine
        var result = ""
        result.reserveCapacity(text.utf8.count + 16)
        // A number with a full stop or a bracket begins a list.
        var isInNumber = beginsLine
        for (index, character) in text.unicodeScalars.enumerated() {
            let isDigit = ("0"..."9").contains(character)
            let isSpecial =
                switch character {
                case "\\", "`", "*", "_", "[", "]", "<", ">", "&", "|", "~", "^", "$": true
                case "#", "+", "-", "=", ":": beginsLine && index == 0
                case ".", ")": index > 0 && isInNumber
                default: false
                }
            if isSpecial { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(character)
            isInNumber = isInNumber && isDigit
        }
        return result
    }
}
