/// The text that is printed in a picture.
public struct PrintedPage: Sendable, Equatable {
    public var isbns: [PrintedISBN]
    /// The lines in reading order, without those that could not be read with confidence.
    public var lines: [PrintedLine]

    public init(isbns: [PrintedISBN] = [], lines: [PrintedLine] = []) {
        self.isbns = isbns
        self.lines = lines
    }

    /// Makes the page of a photo from its bar codes, because an ISBN in a bar code is more certain than any print.
    ///
    /// - Returns: `nil` if none of them is an ISBN.
    public init?(barcodes: [Symbol]) throws(ISBNRefusal) {
        guard let code = barcodes.first(where: { $0.kind == .isbn }) else { return nil }
        self.init(isbns: [PrintedISBN(isbn: try code.isbn(), text: code.payload)])
    }

    /// The words that are probably the title, because they are printed in the largest letters: the tallest line and
    /// those beside it that are at least three quarters as tall. At most 12 words; empty if nothing was read.
    public var title: String {
        guard let tallest = lines.indices.max(by: { lines[$0].height < lines[$1].height }) else { return "" }
        let isTall = { (line: PrintedLine) in 4 * line.height >= 3 * lines[tallest].height }
        let start = lines[..<tallest].lastIndex { !isTall($0) }.map { $0 + 1 } ?? 0
        let words = lines[start...].prefix(while: isTall).flatMap { $0.text.split(separator: " ") }
        return words.prefix(12).joined(separator: " ")
    }

    /// The other lines, the largest letters first. One of them may be the author.
    public var otherLines: [String] {
        let title = Set(title.split(separator: " "))
        return lines.filter { !title.isSuperset(of: $0.text.split(separator: " ")) }
            .sorted { $0.height > $1.height }.map(\.text)
    }
}

/// One line of print.
public struct PrintedLine: Sendable, Equatable {
    public var text: String
    /// The height of its tallest word in pixels.
    public var height: Int

    public init(text: String, height: Int) {
        self.text = text
        self.height = height
    }
}
