/// Reads delimited text row by row (RFC 4180 and its common variants) from a stream of any length in bounded memory.
///
/// No available library does this: SwiftCSV loads the whole text and stops at the first error. Here, a quotation mark
/// that is never closed costs only one row, and not the rest of the file. If a row is longer than ``rowLimit`` or has
/// unmatched quotation marks, only its first line is read as a row, and reading continues with the next line.
final class DelimitedReader {
    enum Step: Equatable {
        /// A row whose cells are available through ``cell(_:)``.
        case row
        /// A row with unmatched quotation marks, of which only the first line was read. That line has the right number
        /// of columns.
        case repairedRow
        case refused(String)
        case end
    }

    private struct Cell {
        var start: Int
        var end: Int
        /// True if the cell contains doubled quotation marks.
        var isEscaped: Bool
    }

    private enum Scan {
        case row(end: Int)
        case brokenQuotes
        case tooLong
    }

    /// The size limit of a row in bytes, with room for a cell of 10 MB and the other cells.
    static let rowLimit = 16 << 20

    /// The number of columns that a row must have; `nil` until the header is known.
    var columns: Int?
    var delimiter = UInt8(ascii: ",")
    /// The number of the current row as in a spreadsheet, where the header is row 1.
    private(set) var row = 0
    /// True if a row had non-ASCII characters in UTF-8. A later row in another encoding is then flagged.
    private(set) var hasMetUTF8 = false
    /// True if the current row is not valid UTF-8 and was therefore read as Windows-1252.
    private(set) var isForeign = false

    private var window: TextWindow
    /// The position of the current row.
    private var start = 0
    /// The position of the next row.
    private var following = 0
    private var cells: [Cell] = []

    init(_ chunks: TextChunks) { window = TextWindow(chunks) }

    var count: Int { cells.count }

    /// Chooses the delimiter: the character among comma, tab and semicolon that is most frequent in the first line.
    func chooseDelimiter() throws {
        let end = try lineEnd(from: 0) ?? window.bytes.count
        let line = window.bytes[..<end]
        func count(_ byte: UInt8) -> Int { line.reduce(0) { $0 + ($1 == byte ? 1 : 0) } }
        let candidates = [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")]
        delimiter = candidates.max { count($0) < count($1) } ?? delimiter
    }

    /// Reads the next row that is not empty.
    func next() throws -> Step {
        while true {
            start = following
            isForeign = false
            cells.removeAll(keepingCapacity: true)
            if start > 1 << 19 || start == window.bytes.count {
                window.drop(before: start)
                (start, following) = (0, 0)
            }
            guard let first = try window.byte(start) else { return .end }
            row += 1
            if first == lineFeed || first == carriageReturn {
                following = try window.afterBreak(start)
                continue
            }
            switch try scan() {
            case .row(let end):
                following = try window.afterBreak(end)
                if let reason = fault(end: end) {
                    guard
                        window.bytes[start..<end].contains(where: { $0 == lineFeed || $0 == carriageReturn })
                    else { return .refused(reason) }
                    return try resynchronise("a quotation mark is not closed")
                }
                return .row
            case .brokenQuotes:
                return try resynchronise("a quotation mark is not closed, or is misplaced")
            case .tooLong: return try resynchronise("the row is longer than \(Self.rowLimit >> 20) MiB")
            }
        }
    }

    /// Returns the cell of a column in the current row; empty if the file has no such column.
    func cell(_ column: Int?) -> String {
        guard let column, cells.indices.contains(column) else { return "" }
        let cell = cells[column]
        guard cell.start < cell.end else { return "" }
        guard cell.isEscaped else { return text(window.bytes[cell.start..<cell.end]) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(cell.end - cell.start)
        var index = cell.start
        while index < cell.end {
            bytes.append(window.bytes[index])
            index += window.bytes[index] == quote ? 2 : 1
        }
        return text(bytes[...])
    }

    /// Returns the text of the current row as it is in the file, at most `limit` bytes of UTF-8.
    func rawText(_ limit: Int) -> String {
        var end = following
        while end > start, window.bytes[end - 1] == lineFeed || window.bytes[end - 1] == carriageReturn { end -= 1 }
        var cut = min(end, start + limit)
        // Does not cut a character in two.
        for _ in 0..<3 where cut < end && window.bytes[cut] & 0xC0 == 0x80 { cut -= 1 }
        let bytes = window.bytes[start..<cut]
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? (isForeign ? windows1252(bytes) : String(decoding: bytes, as: UTF8.self))
        // NULs are replaced, because they would end the text in SQLite's JSON functions, which undo uses. The
        // replacements make the text longer, so it is cut again.
        return String((text.utf8.contains(0) ? text.replacing("\0", with: "\u{2400}") : text).cut(atBytes: limit))
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) {
            if !hasMetUTF8, text.utf8.contains(where: { $0 >= 0x80 }) { hasMetUTF8 = true }
            return text
        }
        isForeign = true
        return windows1252(bytes)
    }
}

private let quote = UInt8(ascii: "\"")

extension DelimitedReader {
    /// Finds the cells of the current row by the rules of RFC 4180.
    private func scan() throws -> Scan {
        var position = start
        while true {
            guard position - start <= Self.rowLimit else { return .tooLong }
            guard try window.byte(position) == quote else {
                guard
                    let end = try window.firstBreak(
                        or: delimiter, from: position, before: start + Self.rowLimit)
                else { return .tooLong }
                cells.append(Cell(start: position, end: end, isEscaped: false))
                guard try window.byte(end) == delimiter else { return .row(end: end) }
                position = end + 1
                continue
            }
            var search = position + 1
            var isEscaped = false
            var close: Int
            repeat {
                guard let found = try window.find(quote, from: search, before: start + Self.rowLimit) else {
                    return window.isAtEnd ? .brokenQuotes : .tooLong
                }
                close = found
                guard try window.byte(found + 1) == quote else { break }
                isEscaped = true
                search = found + 2
            } while true
            cells.append(Cell(start: position + 1, end: close, isEscaped: isEscaped))
            switch try window.byte(close + 1) {
            case delimiter: position = close + 2
            case nil, lineFeed, carriageReturn: return .row(end: close + 1)
            default: return .brokenQuotes
            }
        }
    }

    /// Returns the reason why the row does not match the header; `nil` if it matches. Empty cells after the last column
    /// are ignored.
    private func fault(end: Int) -> String? {
        guard let columns else { return nil }
        while cells.count > columns, let last = cells.last, last.start >= last.end {
            cells.removeLast()
        }
        return cells.count == columns ? nil : "the row has \(cells.count) columns, but the header has \(columns)"
    }

    /// Reads only the first line of a row that cannot be read as a whole. Unmatched quotation marks in this line count
    /// as ordinary characters. The next row begins on the next line.
    private func resynchronise(_ reason: String) throws -> Step {
        cells.removeAll(keepingCapacity: true)
        guard let end = try lineEnd(from: start) else {
            try skipLine()
            return .refused(reason)
        }
        following = try window.afterBreak(end)
        var position = start
        while true {
            let isQuoted = position < end && window.bytes[position] == quote
            let close = isQuoted ? closingQuote(from: position + 1, before: end) : nil
            if let close {
                cells.append(Cell(start: position + 1, end: close, isEscaped: false))
                position = close + 1
            } else {
                let stop = window.bytes[position..<end].firstIndex(of: delimiter) ?? end
                cells.append(Cell(start: position, end: stop, isEscaped: false))
                position = stop
            }
            guard position < end else { break }
            position += 1
        }
        return columns == nil || fault(end: end) == nil ? .repairedRow : .refused(reason)
    }

    /// Returns the position of the first quotation mark that is followed by a delimiter or the end of the line.
    private func closingQuote(from position: Int, before end: Int) -> Int? {
        var index = position
        while index < end {
            if window.bytes[index] == quote, index + 1 == end || window.bytes[index + 1] == delimiter {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Skips a line longer than ``rowLimit``.
    private func skipLine() throws {
        while true {
            if let end = window.bytes[start...].firstIndex(where: {
                $0 == lineFeed || $0 == carriageReturn
            }) {
                following = try window.afterBreak(end)
                return
            }
            window.drop(before: window.bytes.count)
            (start, following) = (0, 0)
            guard try window.fill() else { return }
        }
    }

    private func lineEnd(from position: Int) throws -> Int? {
        try window.firstBreak(or: lineFeed, from: position, before: start + Self.rowLimit)
    }
}
