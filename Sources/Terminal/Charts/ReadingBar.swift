import Bookplate

/// The progress through a book, as text and as a bar: `Page 145 of 382 ████░░░░░░ 38%`.
package struct ReadingBar {
    let amount: ProgressEntry.Amount
    /// The number of pages of the edition; nil if unknown.
    let pageCount: Int?

    package init(amount: ProgressEntry.Amount, pageCount: Int?) { (self.amount, self.pageCount) = (amount, pageCount) }

    /// The text, in characters that this terminal can show.
    package var textForOutput: String { text(isASCII: Output.shared.isASCII) }

    /// - Parameter width: the number of columns of the bar.
    func text(width: Int = 10, isASCII: Bool = false) -> String {
        var words: [String] = []
        if let page = amount.page {
            let count = pageCount.flatMap { $0 > 0 ? " of \($0)" : nil }
            words.append("Page \(page)\(count ?? "")")
        }
        if let part = amount.fraction(of: pageCount) {
            let track = Track(part, width: width)
            words.append("\(track.text(isASCII: isASCII)) \(ProgressEntry.Amount.wholePercent(part))%")
        }
        if amount.isBeyond(pageCount) { words.append("(beyond the last page)") }
        return words.joined(separator: " ")
    }
}

/// A progress bar that is partly filled. It is empty only if nothing is done, and full only if everything is done.
struct Track {
    let filled: Int
    let empty: Int

    /// - Parameters:
    ///   - part: the part to fill, as a fraction from 0 to 1.
    ///   - width: the width in columns.
    init(_ part: Double, width: Int) {
        let part = min(max(0, part), 1)
        var cells = Int((part * Double(width)).rounded(.down))
        if part > 0 { cells = max(1, cells) }
        if part < 1 { cells = min(cells, width - 1) }
        filled = max(0, cells)
        empty = max(0, width - filled)
    }

    func fullPart(isASCII: Bool) -> String { String(repeating: isASCII ? "#" : "█", count: filled) }
    func emptyPart(isASCII: Bool) -> String { String(repeating: isASCII ? "." : "░", count: empty) }
    func text(isASCII: Bool) -> String { fullPart(isASCII: isASCII) + emptyPart(isASCII: isASCII) }
}
