import Bookplate
import Foundation

/// Removes from the texts of MARC records what belongs to the catalogue card, not to the book: the punctuation of ISBD,
/// which separates the elements of a description, and marks for sorting.
enum MarcText {
    /// Returns the text in composed form (NFC), without control characters and without the marks around an article that
    /// is ignored in sorting. Those are control characters too (U+0098 and U+009C of ISO 6429, U+0088 and U+0089 of ISO
    /// 6630), or `<<` and `>>`.
    static func composed(_ text: String) -> String {
        var text = text.cleaned
        if text.contains("<<"), text.contains(">>") {
            text = text.replacing("<<", with: "").replacing(">>", with: "")
        }
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }

    /// Returns the text without the marks with which ISBD introduces the next element: " /", " :", " ;", " =" and ",".
    /// A slash or an equals sign without a space before it belongs to the text.
    static func withoutMarks(_ text: String) -> String {
        if text.isPlainLine, let last = text.utf8.last, !":;,/=".utf8.contains(last) { return text }
        var text = Substring(text.cleanedLine)
        while let last = text.last {
            let isMark = ":;,".contains(last) || ("/=".contains(last) && text.dropLast().last?.isWhitespace == true)
            guard isMark || last.isWhitespace else { break }
            text.removeLast()
        }
        return String(text)
    }

    /// Returns the text without the full stop that ends a description. The full stop of an abbreviation stays: of a
    /// word with up to three letters or with another full stop, such as "Jr.", "etc." and "D.C.", and of "...".
    static func withoutStop(_ text: String) -> String {
        guard text.last == "." else { return text }
        let word = text.dropLast().reversed().prefix { !$0.isWhitespace && $0 != "-" }
        return word.count > 3 && !word.contains(".") ? String(text.dropLast()) : text
    }

    /// Returns the text before a mark of ISBD between two spaces, such as " = " before a title in another language.
    static func part(of text: String, before marks: String...) -> String {
        let ends = marks.compactMap { text.firstRange(of: " \($0) ")?.lowerBound }
        return ends.min().map { String(text[..<$0]) } ?? text
    }

    /// Splits a title such as "Title : subtitle / author".
    ///
    /// - Parameter hasStatement: true if the record has the author in a field of their own. A slash then belongs to the
    ///   title.
    static func title(_ text: String, hasStatement: Bool = false) -> (title: String?, subtitle: String?) {
        let line = text.cleanedLine
        let own = hasStatement ? part(of: line, before: "=") : part(of: line, before: "/", "=")
        guard let mark = own.firstRange(of: " : ") else { return (element(own), nil) }
        return (element(String(own[..<mark.lowerBound])), element(String(own[mark.upperBound...])))
    }

    /// Appends the numbers and names of parts to a title as ISBD does: "Title. Number, name".
    static func title(_ title: String?, parts: [(text: String, isNumber: Bool)]) -> String? {
        var (whole, followsNumber) = (title, false)
        for part in parts {
            guard let text = element(part.text) else { continue }
            if let start = whole {
                let mark = start.last == "." ? " " : followsNumber && !part.isNumber ? ", " : ". "
                whole = FieldLimits.text(start + mark + text, limit: TextLimit.title)
            } else {
                whole = text
            }
            followsNumber = part.isNumber
        }
        return whole
    }

    /// Returns an element of a title, without marks and the full stop at its end.
    static func element(_ text: String?) -> String? {
        text.flatMap { FieldLimits.text(withoutStop(withoutMarks($0)), limit: TextLimit.title) }
    }

    /// Returns the name of a publisher. An abbreviation at its end keeps its full stop.
    ///
    /// - Returns: `nil` for "[s.n.]" and the like, which say that there is none.
    static func publisher(_ text: String?) -> String? {
        guard var name = text.map(withoutMarks) else { return nil }
        for others in ["[u.a.]", "[u. a.]", "[etc.]", "[et al.]", "u.a."] where name.hasSuffix(others) {
            name = withoutMarks(String(name.dropLast(others.count)))
        }
        let last = name.dropLast().reversed().prefix(while: \.isLetter).reversed().map(String.init).joined()
            .lowercased()
        if !abbreviations.contains(where: { last.hasSuffix($0) }) { name = withoutStop(name) }
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        return FieldLimits.publisher(name)
    }

    /// The ends of words that are longer than three letters and nevertheless abbreviated in names of publishers.
    private static let abbreviations = [
        "verl", "univ", "ges", "buchh", "inst", "publ", "akad", "wiss", "impr", "wydaw", "izd",
    ]

    /// Returns the number in a text such as "0-679-45004-1 (acid-free paper)", without the note behind it.
    static func number(_ text: String) -> String {
        String(text.cleanedLine.prefix(while: { $0.isASCII && ($0.isNumber || "-xX ".contains($0)) }))
    }

    /// Returns the note behind the number.
    static func note(_ text: String) -> String { String(text.cleanedLine.dropFirst(number(text).count)) }

    /// Returns the name and the number of a series. Older records have both in one text: "Discworld ; 3".
    static func series(_ text: String?, number: String?) -> (name: String, number: String?)? {
        guard let text,
            let name = FieldLimits.text(
                withoutStop(withoutMarks(part(of: text.cleanedLine, before: "/", "=", ";"))).trimmingBrackets)
        else { return nil }
        let end = text.firstRange(of: " ; ").map { String(text[$0.upperBound...]) }
        return (name, SeriesNumber.number(in: number ?? end))
    }
}

extension String {
    /// The text without brackets around the whole of it.
    fileprivate var trimmingBrackets: String {
        guard let first, let last, (first == "(" && last == ")") || (first == "[" && last == "]") else { return self }
        return String(dropFirst().dropLast())
    }
}
