import Bookplate

/// A number that a person typed or a handheld scanner sent.
public struct TypedNumber: Sendable, Equatable {
    public let text: String
    public let origin: Origin

    public init(text: String, origin: Origin) {
        self.text = text
        self.origin = origin
    }

    /// Returns the detection of the book with this number, as ``BookNumber`` parses it.
    ///
    /// - Throws: ``ISBNRefusal`` if the text is not the number of a book.
    public func detection() throws(ISBNRefusal) -> Detection {
        let number = try BookNumber(text)
        return Detection(isbn: number.isbn, raw: text, addon: number.addon, origin: origin)
    }

    /// True if the text is the number of a book.
    public var isBook: Bool {
        do throws(ISBNRefusal) {
            _ = try detection()
            return true
        } catch {
            return false
        }
    }

    /// Returns the numbers of books in a pasted text. A line is read as one number, or, if it is none, word by word.
    public static func all(inPasted text: String) -> [TypedNumber] {
        text.split(whereSeparator: \.isNewline).flatMap { line in
            let whole = TypedNumber(text: String(line), origin: .typed)
            if whole.isBook { return [whole] }
            return line.split(whereSeparator: \.isWhitespace).map { TypedNumber(text: String($0), origin: .typed) }
                .filter(\.isBook)
        }
    }
}
