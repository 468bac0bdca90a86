import Bookplate
import Foundation

/// Draws statistics with characters: bars, a calendar of a month, a curve. On terminals without UTF-8, it uses only
/// ASCII characters.
package struct Charts {
    /// The width of the charts, from 40 to 200 columns.
    let width: Int
    package let style: Style
    let isASCII: Bool

    init(width: Int, style: Style, isASCII: Bool) {
        self.width = min(max(40, width), 200)
        self.style = style
        self.isASCII = isASCII
    }

    /// Charts as wide as the terminal; 80 columns if the output is not a terminal.
    package static var forOutput: Charts {
        Charts(
            width: Output.shared.isTerminal ? terminalSize().columns : 80, style: Output.shared.style,
            isASCII: Output.shared.isASCII)
    }

    /// Joins finished lines into one text. Removes the spaces at the ends of the lines, and converts the text to ASCII
    /// if the terminal shows only ASCII. The lines must not contain control characters.
    package func text(of lines: [String]) -> String {
        lines.map { line in
            var text = isASCII ? line.inASCII : line
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }

    /// Returns a progress bar: a ``Track`` in colour.
    func progress(_ fraction: Double, width: Int) -> String {
        let track = Track(fraction, width: width)
        return style.new(track.fullPart(isASCII: isASCII)) + style.faint(track.emptyPart(isASCII: isASCII))
    }

    /// The maximum length of a progress bar, in columns. It grows with the width of the terminal, but more slowly.
    var longestTrack: Int { width / 2 + 10 }

    /// Returns a bar without the track that would show its maximum length. The bar's length is precise to an eighth of
    /// a column, and the bar of any value above zero is visible.
    func bar(_ value: Int, of most: Int, width: Int) -> String {
        guard value > 0, most > 0, width > 0 else { return "" }
        let eighths = max(1, Int((Double(value) / Double(most) * Double(width) * 8).rounded()))
        if isASCII { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
        let rest = eighths % 8
        return String(repeating: "█", count: eighths / 8) + (rest > 0 ? String(Self.widths[rest - 1]) : "")
    }

    /// One row of a bar chart.
    struct Row {
        var label: String
        var value: Int
        /// The text after the bar. If it is nil, the value is shown.
        var detail: String?
    }

    /// Returns the lines of a bar chart. Each line has a label, a bar, and a detail. All bars have the same scale.
    func bars(_ rows: [Row]) -> [String] {
        let labels = rows.map { $0.label.oneLine.fitted(max(14, width / 3)) }
        let details = rows.map { ($0.detail ?? String($0.value)).oneLine }
        let label = labels.map(\.columns).max() ?? 0
        let room = max(0, width - label - 4 - (details.map(\.columns).max() ?? 0))
        let most = rows.map(\.value).max() ?? 0
        return rows.indices.map { index in
            let bar = bar(rows[index].value, of: most, width: room)
            let detail = details[index].fitted(width - label - 3)
            return "  \(labels[index].padded(label)) \(style.owned(bar))\(bar.isEmpty ? "" : " ")\(detail)"
        }
    }

    /// Returns the lines of a chart in which the area below a curve is filled.
    ///
    /// - Parameters:
    ///   - values: the values from 0 to 1, one for each column; nothing is drawn for nil.
    ///   - labels: the labels of the highest and the lowest row, to the left of the chart.
    func curve(_ values: [Double?], labels: (top: String, bottom: String), height: Int = 8) -> [String] {
        let margin = max(labels.top.columns, labels.bottom.columns)
        return (0..<height).reversed().map { row in
            let label = row == height - 1 ? labels.top : row == 0 ? labels.bottom : ""
            let cells = values.map { value -> Character in
                guard let value else { return " " }
                let fill = min(max(0, value), 1) * Double(height) - Double(row)
                if fill >= 1 { return isASCII ? "#" : "█" }
                // A value of zero is visible too, in the lowest row.
                let eighths = max(row == 0 ? 1 : 0, Int((fill * 8).rounded()))
                guard eighths > 0 else { return " " }
                return isASCII ? (eighths >= 4 ? "#" : ".") : Self.heights[min(eighths, 8) - 1]
            }
            let axis = isASCII ? "|" : "│"
            return "  " + String(repeating: " ", count: margin - label.columns) + label + axis
                + style.owned(String(cells))
        }
    }

    /// Returns the lines of a calendar of a month. Weeks begin on Monday, and each day shows its pages and minutes.
    ///
    /// - Parameter days: the days on which something was read. Days outside the month are ignored.
    package func month(_ year: Int, _ month: Int, _ days: [DayStats], today: CalendarDay) -> [String] {
        guard let span = CalendarDay(year: year, month: month)?.span else { return [] }
        let cell = min(11, width / 7)
        let byNumber = Dictionary(days.compactMap { day in day.day.number.map { ($0, day) } }, uniquingKeysWith: { $1 })
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        var lines = [style.faint(names.map { $0.padded(cell) }.joined())]
        // 1970-01-01 was a Thursday.
        let weekday = ((span.lowerBound + 3) % 7 + 7) % 7
        for week in stride(from: span.lowerBound - weekday, through: span.upperBound, by: 7) {
            let numbers = (week..<week + 7).map { span.contains($0) ? $0 : nil }
            func line(_ text: (Int) -> String) -> String { numbers.map { ($0.map(text) ?? "").padded(cell) }.joined() }
            lines.append(
                line { number in
                    let text = String(number - span.lowerBound + 1) + (number == today.number ? "*" : "")
                    return byNumber[number] == nil ? style.faint(text) : style.strong(text)
                })
            for text in [
                line { byNumber[$0].map { $0.pages > 0 ? "\($0.pages)p".fitted(cell - 1) : "-" } ?? "" },
                line { byNumber[$0].map { $0.minutes > 0 ? short(minutes: $0.minutes) : "" } ?? "" },
            ] where text.contains(where: { $0 != " " }) {
                lines.append(style.new(text))
            }
        }
        return lines
    }

    private static let widths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let heights: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}

/// Formats minutes as "45m", or as "12h" if they are ten hours or more, so that the minutes of any day fit into four
/// columns.
private func short(minutes: Int) -> String { minutes < 600 ? "\(minutes)m" : "\(minutes / 60)h".fitted(4) }
