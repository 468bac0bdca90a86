import Foundation

/// The meaning of a piece of text, which determines its colour. The cursor is shown in reverse video, also if colours
/// are off.
enum Ink { case plain, strong, faint, new, owned, attention, problem, cursor }

/// One line of a screen, before it is cut to the available columns.
struct ScreenLine: Equatable {
    struct Piece: Equatable {
        var text: String
        var ink: Ink

        init(_ text: String, _ ink: Ink = .plain) {
            // Control characters are removed, because titles come from untrusted sources.
            self.text = text.oneLine
            self.ink = ink
        }
    }

    var left: [Piece]
    /// The text at the right margin. If there is not enough room, the left part is cut.
    var right: [Piece]

    init(_ left: [Piece] = [], right: [Piece] = []) {
        self.left = left
        self.right = right
    }

    init(_ text: String, _ ink: Ink = .plain) { self.init([Piece(text, ink)]) }

    static let empty = ScreenLine()

    static func rule(_ title: String = "", columns: Int) -> ScreenLine {
        let head = title.isEmpty ? "" : "── \(title) "
        return ScreenLine(head + String(repeating: "─", count: max(0, columns - head.columns)), .faint)
    }

    /// Returns the line as text that is at most `columns` wide.
    func text(columns: Int, style: Style, isASCII: Bool) -> String {
        let rightWidth = right.reduce(0) { $0 + $1.text.columns }
        let fits = rightWidth > 0 && rightWidth + 8 <= columns
        var room = fits ? columns - rightWidth - 1 : columns
        var out = ""
        for piece in left where room > 0 {
            let text = piece.text.fitted(room)
            room -= text.columns
            out += paint(text, piece.ink, style, isASCII)
        }
        guard fits else { return out }
        out += String(repeating: " ", count: room + 1)
        return out + right.map { paint($0.text, $0.ink, style, isASCII) }.joined()
    }

    private func paint(_ text: String, _ ink: Ink, _ style: Style, _ isASCII: Bool) -> String {
        style.paint(isASCII ? text.inASCII : text, ink)
    }
}

extension Style {
    func paint(_ text: String, _ ink: Ink) -> String {
        switch ink {
        case .plain: text
        case .strong: strong(text)
        case .faint: faint(text)
        case .new: new(text)
        case .owned: owned(text)
        case .attention: attention(text)
        case .problem: problem(text)
        case .cursor: "\u{1B}[7m\(text)\u{1B}[0m"
        }
    }
}

/// Draws the lines of a screen on the terminal. It writes only the lines that changed, all at once, and without flicker
/// on terminals with synchronized output (private mode 2026, which other terminals ignore).
struct ScreenPainter {
    let style: Style
    let isASCII: Bool
    private var shown: [String] = []
    private var columns = 0

    init(style: Style, isASCII: Bool) {
        self.style = style
        self.isASCII = isASCII
    }

    /// Makes the next update draw all lines again.
    mutating func invalidate() { shown = [] }

    /// - Returns: the output that replaces the lines on the terminal with the given lines; empty if nothing changed.
    mutating func update(to lines: [ScreenLine], columns: Int) -> String {
        let texts = lines.map { $0.text(columns: columns, style: style, isASCII: isASCII) }
        let isNew = shown.count != texts.count || columns != self.columns
        var out = isNew ? "\u{1B}[0m\u{1B}[2J" : ""
        for (row, text) in texts.enumerated() where isNew || text != shown[row] {
            out += "\u{1B}[\(row + 1);1H\(text)"
            // After a line of full width, the cursor is still on the last column, so erasing to the end of the line
            // would erase that column.
            if text.columns < columns { out += "\u{1B}[K" }
        }
        shown = texts
        self.columns = columns
        return out.isEmpty ? "" : "\u{1B}[?2026h\(out)\u{1B}[?2026l"
    }
}
