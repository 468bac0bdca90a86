import Bookplate
import Terminal

/// A table of texts with aligned columns.
struct TextTable {
    let header: [String]
    let rows: [[String]]

    /// The number of columns between two cells.
    private static let gap = 2
    /// The width below which a cell is not cut, unless the terminal is too narrow even for that.
    private static let narrowest = 4

    /// - Parameter width: the width of the terminal, to which the widest cells are cut; `nil` to cut none.
    func lines(width: Int?, _ style: Style) -> [String] {
        let widths = widths(within: width)
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0.fitted($1).padded($1) }.joined(
                separator: String(repeating: " ", count: Self.gap))
            return String(padded.reversed().drop { $0 == " " }.reversed())
        }
        return [style.strong(line(header))] + rows.map(line)
    }

    private func widths(within width: Int?) -> [Int] {
        var widths = header.map(\.columns)
        for row in rows { for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.columns) } }
        guard let width else { return widths }
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.narrowest
        {
            // The widest column is narrowed to the next one's width, so that all of the widest share the loss.
            let next = widths.filter { $0 < widths[widest] }.max() ?? 0
            let alike = widths.count { $0 == widths[widest] }
            let loss = max(1, min(excess / alike, widths[widest] - max(next, Self.narrowest)))
            widths[widest] -= loss
            excess -= loss
        }
        return widths
    }
}
