import Bookplate

/// Parses tesseract's output: the words of a page with their positions, as tab-separated values.
///
/// The twelve columns are level, page, block, paragraph, line, word, left, top, width, height, confidence, text. Level
/// 5 is a word; the rows of the levels above it have no text. Source: tesseract's `TessBaseAPI::GetTSVText`.
enum WordTable {
    private static let header =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"

    /// A word, with the numbers that tell its line, its height in pixels, and the confidence from 0 to 100.
    struct Word: Equatable {
        var line: [Substring]
        var height: Int
        var confidence: Double
        var text: Substring
    }

    /// - Throws: ``TesseractError/malformedAnswer`` if the output is not a table with tesseract's twelve columns.
    static func words(_ answer: [UInt8]) throws(TesseractError) -> [Word] {
        guard let table = String(validating: answer, as: UTF8.self) else { throw .malformedAnswer }
        var rows = table.split(separator: "\n", omittingEmptySubsequences: true)
        guard rows.first.map(String.init) == header else { throw .malformedAnswer }
        rows.removeFirst()
        var words: [Word] = []
        for row in rows {
            let columns = row.split(separator: "\t", maxSplits: 11, omittingEmptySubsequences: false)
            guard columns.count == 12, columns[..<10].allSatisfy({ Int($0) != nil }),
                let confidence = Double(columns[10])
            else { throw .malformedAnswer }
            guard columns[0] == "5" else { continue }
            words.append(
                Word(
                    line: Array(columns[1...4]), height: Int(columns[9]) ?? 0, confidence: confidence, text: columns[11]
                ))
        }
        return words
    }
}

extension [WordTable.Word] {
    /// The words, separated by spaces, line by line.
    var text: String {
        lines.map { $0.map(\.text).joined(separator: " ") }.joined(separator: "\n")
    }

    /// The words of each line, in reading order.
    private var lines: [[WordTable.Word]] {
        var lines: [[WordTable.Word]] = []
        for word in self {
            if lines.last?.last?.line == word.line { lines[lines.count - 1].append(word) } else { lines.append([word]) }
        }
        return lines
    }

    /// The lines of words that were read with confidence. Specks and ornaments are read as words as well, but with
    /// little confidence, or without letters.
    var printedLines: [PrintedLine] {
        lines.compactMap { words in
            let sure = words.filter { $0.confidence >= 60 && $0.text.contains(where: \.isLetter) }
            let text = sure.map(\.text).joined(separator: " ")
            guard text.count(where: \.isLetter) >= 3 else { return nil }
            return PrintedLine(text: text, height: sure.map(\.height).max() ?? 0)
        }
    }
}
