/// Reads delimited text row by row (RFC 4180 and what exists beside it) from a stream of any length in bounded memory.
///
/// Our own, because what it must do no library at hand does: SwiftCSV loads the whole text and stops at the first fault. Here a
/// quote that is never closed costs one row and not the rest of a gigabyte: the row is given up at ``rowLimit`` or where its
/// quotes make no sense, its first line is reported, and reading goes on with the next line.
final class DelimitedReader {
    enum Step: Equatable {
        /// ``cell(_:)`` has it.
        case row
        /// Its quotes were not balanced, yet its first line gives all columns.
        case repairedRow
        case refused(String)
        case end
    }

    private struct Cell {
        var start: Int
        var end: Int
        /// Whether it holds doubled quotes.
        var isEscaped: Bool
    }

    private enum Scan {
        case row(end: Int)
        case brokenQuotes
        case tooLong
    }

    /// In bytes: a cell of 10 MB and what stands beside it.
    static let rowLimit = 16 << 20

    /// How many columns a row must have; set when the header is known.
    var columns: Int?
    var delimiter = UInt8(ascii: ",")
    /// As a spreadsheet counts: the header is row 1.
    private(set) var row = 0
    /// Whether a row was met that is UTF-8 beyond ASCII, so that another encoding further on is a fault and no habit.
    private(set) var hasMetUTF8 = false
    /// Whether the row has bytes that are no UTF-8, so that they were read as Windows-1252.
    private(set) var isForeign = false

    private var window: TextWindow
    /// Where the current row begins, and where the next one does.
    private var start = 0
    private var following = 0
    private var cells: [Cell] = []

    init(_ chunks: TextChunks) { window = TextWindow(chunks) }

    var count: Int { cells.count }

    /// Takes the delimiter that the first line has most of: comma, tab or semicolon.
    func chooseDelimiter() throws {
        let end = try lineEnd(from: 0) ?? window.bytes.count
        let line = window.bytes[..<end]
        func count(_ byte: UInt8) -> Int { line.reduce(0) { $0 + ($1 == byte ? 1 : 0) } }
        let candidates = [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")]
        delimiter = candidates.max { count($0) < count($1) } ?? delimiter
    }

    /// Goes on to the next row that is not empty.
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
                    return try resynchronise("a quote is not closed")
                }
                return .row
            case .brokenQuotes:
                return try resynchronise("a quote is not closed, or stands where none can")
            case .tooLong: return try resynchronise("it is longer than \(Self.rowLimit >> 20) MiB")
            }
        }
    }

    /// The row's cell of that column; empty where the file has no such column.
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

    /// The row as it stands in the file, at most `limit` bytes of it as UTF-8.
    func rawText(_ limit: Int) -> String {
        var end = following
        while end > start, window.bytes[end - 1] == lineFeed || window.bytes[end - 1] == carriageReturn { end -= 1 }
        var cut = min(end, start + limit)
        // No letter cut in two.
        for _ in 0..<3 where cut < end && window.bytes[cut] & 0xC0 == 0x80 { cut -= 1 }
        let bytes = window.bytes[start..<cut]
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? (isForeign ? windows1252(bytes) : String(decoding: bytes, as: UTF8.self))
        // SQLite's JSON, and with it undo, takes a text to end at a NUL. What another encoding or these have made longer is cut.
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
    /// Finds the cells of the row at `start`, by the rules alone.
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
                    return window.isDry ? .brokenQuotes : .tooLong
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

    /// Why the row cannot be one of this table; columns that are empty and beyond the last do not count.
    private func fault(end: Int) -> String? {
        guard let columns else { return nil }
        while cells.count > columns, let last = cells.last, last.start >= last.end {
            cells.removeLast()
        }
        return cells.count == columns ? nil : "it has \(cells.count) columns, the header has \(columns)"
    }

    /// Gives the row up: its first line alone is read, every quote that closes nothing taken for a letter.
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

    /// The first quote that a delimiter or the line's end follows.
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

    /// Lets a line go that is longer than a row may be.
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
