import Bookplate
import Foundation

/// A list from which a person chooses a row. The words that the person types narrow it: a row stays if every word
/// occurs in it, ignoring case and diacritics.
///
/// The list is drawn below the cursor, and is wiped at the end. It is drawn on standard error, so that standard output
/// can carry data. The cursor stays on the first line, with the question, so that the list can be drawn again or wiped
/// even if the terminal was resized.
package struct Chooser {
    package struct Row: Sendable {
        let title: String
        let details: String
        /// A short text at the right margin that tells rows apart that look alike.
        let id: String
        /// Everything in which typed words can occur, folded.
        fileprivate let folded: String

        /// - Parameter hidden: texts that are not shown, but in which typed words can occur too.
        package init(title: String, details: String, id: String, hidden: [String] = []) {
            (self.title, self.details, self.id) = (title, details, id)
            folded = ([title, details, id] + hidden).joined(separator: " ").searchFolded
        }
    }

    enum Step: Equatable {
        case choosing
        /// The place of the row that was taken, in the whole list.
        case taken(Int)
        case cancelled
    }

    /// The largest number of rows that are shown at a time.
    private static let mostShown = 10
    /// The largest number of characters that can be typed.
    private static let longestText = 200

    private let question: String
    private let rows: [Row]
    private let isCut: Bool
    private(set) var text = ""
    /// The places of the rows that have all typed words.
    private var matches: [Int]
    /// The place of the selected row in ``matches``.
    private var selected = 0
    /// The place of the first visible row in ``matches``.
    private var first = 0
    private var page = mostShown
    private var columns = 80
    private var hasKeys = true

    /// - Parameters:
    ///   - question: the question without its question mark, such as "Which book".
    ///   - isCut: true if there are more rows than these.
    package init(_ question: String, rows: [Row], isCut: Bool = false) {
        (self.question, self.rows, self.isCut) = (question, rows, isCut)
        matches = Array(rows.indices)
    }

    /// Adapts the list to the size of the terminal.
    mutating func fit(columns: Int, rows: Int) {
        self.columns = max(20, columns)
        // Besides the rows, there are the question, the keys, and a line of what was on the terminal before.
        hasKeys = rows > 3
        page = max(1, min(Self.mostShown, rows - 3))
        scroll()
    }

    /// Handles a key. A code that a handheld scanner types replaces the typed text. The Enter at its end takes no row,
    /// because nobody has seen yet which rows are left.
    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .enter: return matches.isEmpty ? .choosing : .taken(matches[selected])
        case .escape, .end, .control("d"), .control("g"): return .cancelled
        case .up, .control("k"), .control("p"): select(selected - 1)
        case .down, .control("j"), .control("n"): select(selected + 1)
        case .pageUp: select(selected - page)
        case .pageDown: select(selected + page)
        case .top: select(0)
        case .bottom: select(matches.count - 1)
        case .backspace: narrow(by: String(text.dropLast()))
        case .control("u"): narrow(by: "")
        case .control("w"): narrow(by: text.withoutLastWord)
        case .character(let character): narrow(by: text + String(character))
        case .paste(let pasted): narrow(by: text + pasted.oneLine)
        case .burst(var burst):
            while let part = burst.next(inField: true) {
                switch part {
                case .code(let code): narrow(by: (try? ISBN(code))?.digits ?? code)
                case .keys(let keys):
                    narrow(
                        by: text
                            + keys.map { if case .character(let typed) = $0 { String(typed) } else { " " } }.joined())
                }
            }
        default: break
        }
        return .choosing
    }

    private mutating func narrow(by typed: String) {
        text = String(typed.oneLine.prefix(Self.longestText))
        let words = text.searchFolded.split(separator: " ").map(String.init)
        matches = rows.indices.filter { row in words.allSatisfy { rows[row].folded.contains($0) } }
        select(0)
    }

    private mutating func select(_ place: Int) {
        selected = max(0, min(place, matches.count - 1))
        scroll()
    }

    /// Moves the visible part as little as possible, so that it has the selected row and fills the page.
    private mutating func scroll() {
        first = max(0, min(max(first, selected - page + 1), selected, max(0, matches.count - page)))
    }

    // MARK: Drawing

    /// The question with the typed text, the visible rows, and the keys.
    var lines: [ScreenLine] {
        let label = "\(question) (\(matches.count)/\(rows.count)\(isCut ? "+" : "")): "
        let room = max(10, columns - 1 - label.columns)
        // The end of the text, where the person types, is always visible.
        let end = String(String(text.reversed()).fitted(room).reversed())
        var lines = [ScreenLine([.init(label, .strong), .init(end)])]
        for place in matches.indices.dropFirst(first).prefix(page) {
            let row = rows[matches[place]]
            let isSelected = place == selected
            lines.append(
                ScreenLine(
                    [
                        .init(isSelected ? "▸ " : "  ", .strong), .init(row.title, isSelected ? .strong : .plain),
                        .init(" · " + row.details, isSelected ? .plain : .faint),
                    ], right: [.init(row.id, .faint)]))
        }
        let keys =
            matches.isEmpty
            ? "no match · Ctrl-U clears the text · Esc cancels" : "type to narrow · ↑↓ move · Enter takes · Esc cancels"
        return hasKeys ? lines + [ScreenLine("  " + keys, .faint)] : lines
    }

    /// Returns the output that draws the list from the line of the cursor on, and puts the cursor behind the typed
    /// text.
    func output(style: Style, isASCII: Bool) -> String {
        // The last column stays free, because the cursor of some terminals goes on to the next line there.
        let texts = lines.map { $0.text(columns: columns - 1, style: style, isASCII: isASCII) }
        let up = texts.count > 1 ? "\u{1B}[\(texts.count - 1)A" : ""
        let right = texts.first.map { "\u{1B}[\($0.columns)C" } ?? ""
        return "\r" + texts.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J" + up + "\r" + right
    }
}

extension Chooser {
    /// True if a list can be drawn and a person can answer: standard input and standard error are a terminal that can
    /// move its cursor.
    package static var isPossible: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
            && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" && !$0.isEmpty } == true
    }

    /// Shows the list until the person takes a row, and then prints a line with this row.
    ///
    /// Control-C ends the program. Until then, the program must not have changed anything, because it says so.
    ///
    /// - Returns: the place of the row; `nil` if the person takes none.
    package mutating func choose(with keyboard: Keyboard) async -> Int? {
        let (style, isASCII) = (Output.shared.errorStyle, Output.shared.isASCII)
        let wipe = "\r\u{1B}[J"
        Interrupts.handle { "Nothing changed." }
        Interrupts.onLeaving { Output.shared.printRawNotice(wipe) }
        defer {
            Interrupts.onLeaving(nil)
            Interrupts.handle { nil }
        }
        fitAndDraw(style, isASCII)
        for await press in keyboard.presses {
            switch self.press(press.key) {
            case .choosing: fitAndDraw(style, isASCII)
            case .cancelled:
                Output.shared.printRawNotice(wipe)
                return nil
            case .taken(let place):
                let row = rows[place]
                let line = ScreenLine([.init("Chosen: \(row.title) · \(row.details)")], right: [.init(row.id)])
                Output.shared.printRawNotice(wipe)
                Output.shared.printNotice(line.text(columns: columns - 1, style: style, isASCII: isASCII))
                return place
            }
        }
        return nil
    }

    private mutating func fitAndDraw(_ style: Style, _ isASCII: Bool) {
        let size = terminalSize()
        fit(columns: size.columns, rows: size.rows)
        Output.shared.printRawNotice(output(style: style, isASCII: isASCII))
    }
}

extension String {
    /// The text without its last word and the spaces after it.
    fileprivate var withoutLastWord: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        while let last = rest.last, last != " " { rest.removeLast() }
        return String(rest)
    }
}
