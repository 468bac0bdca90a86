/// Parses tesseract's output: the words of a page with their positions, as tab-separated values.
///
/// The twelve columns are level, page, block, paragraph, line, word, left, top, width, height, confidence, text. Level
/// 5 is a word; the rows of the levels above it have no text. Source: tesseract's `TessBaseAPI::GetTSVText`.
enum WordTable {
    private static let header =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"

    /// - Returns: the words, separated by spaces, line by line.
    /// - Throws: ``TesseractError/malformedAnswer`` if the output is not a table with tesseract's twelve columns.
    static func text(_ answer: [UInt8]) throws(TesseractError) -> String {
        guard let table = String(validating: answer, as: UTF8.self) else { throw .malformedAnswer }
        var rows = table.split(separator: "\n", omittingEmptySubsequences: true)
        guard rows.first.map(String.init) == header else { throw .malformedAnswer }
        rows.removeFirst()
        var text = ""
        var last: [Substring]?
        for row in rows {
            let columns = row.split(separator: "\t", maxSplits: 11, omittingEmptySubsequences: false)
            guard columns.count == 12, columns[..<10].allSatisfy({ Int($0) != nil }), Double(columns[10]) != nil else {
                throw .malformedAnswer
            }
            guard columns[0] == "5" else { continue }
            let line = Array(columns[1...4])
            if let last { text += line == last ? " " : "\n" }
            text += columns[11]
            last = line
        }
        return text
    }
}
