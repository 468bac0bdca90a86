import Bookplate

/// One line of text that a person edits in place, on a terminal that does not echo keys. The keys are those of the
/// emacs mode of GNU readline.
///
/// The cursor moves by characters as a reader counts them, so an emoji of several code points is one step.
package struct LineEditor {
    let label: String
    /// The text before the cursor.
    private(set) var before: String
    /// The text from the cursor on.
    private(set) var after = ""
    /// The text that was cut last.
    private var cut = ""
    /// True if the last key cut text. Text that the next key cuts is then added to it.
    private var isCutting = false

    init(label: String, text: String) {
        self.label = label
        before = text
    }

    var text: String { before + after }

    enum Step: Equatable { case editing, done, cancelled }

    /// Handles a key.
    ///
    /// | keys | |
    /// |---|---|
    /// | Left, Right, Ctrl-B, Ctrl-F | one character |
    /// | Ctrl-Left, Ctrl-Right, Alt-B, Alt-F | one word |
    /// | Home, End, Ctrl-A, Ctrl-E | to the beginning or the end |
    /// | Backspace, Delete, Ctrl-D | delete a character |
    /// | Ctrl-K, Ctrl-U | cut to the end or to the beginning |
    /// | Ctrl-W, Alt-Backspace, Alt-D | cut the word before the cursor up to a space, or up to a sign; the next word |
    /// | Ctrl-Y | insert what was cut |
    /// | Ctrl-T | swap the characters around the cursor |
    /// | Enter | end |
    /// | Esc, and Ctrl-D if there is no text | cancel |
    mutating func press(_ key: Keyboard.Key) -> Step {
        let continuesCut = isCutting
        isCutting = false
        switch key {
        case .enter: return .done
        case .escape, .end: return .cancelled
        case .control("d") where text.isEmpty: return .cancelled
        case .character(let character): before.append(character)
        case .paste(let pasted): before += pasted.oneLine
        case .left, .control("b"): moveCursor(to: before.dropLast().endIndex)
        case .right, .control("f"): moveCursor(forwardTo: after.dropFirst().startIndex)
        case .wordLeft: moveCursor(to: wordStart(where: \.isOfWord))
        case .wordRight: moveCursor(forwardTo: wordEnd)
        case .top, .control("a"): moveCursor(to: before.startIndex)
        case .bottom, .control("e"): moveCursor(forwardTo: after.endIndex)
        case .backspace: before = String(before.dropLast())
        case .delete, .control("d"): after = String(after.dropFirst())
        case .control("k"): cut(forwardTo: after.endIndex, continuing: continuesCut)
        case .control("u"): cut(from: before.startIndex, continuing: continuesCut)
        case .control("w"): cut(from: wordStart { !$0.isWhitespace }, continuing: continuesCut)
        case .alt(.delete): cut(from: wordStart(where: \.isOfWord), continuing: continuesCut)
        case .alt("d"): cut(forwardTo: wordEnd, continuing: continuesCut)
        case .control("y"): before += cut
        case .control("t"): transpose()
        case .resumed, .up, .down, .pageUp, .pageDown, .tab, .backTab, .burst, .control, .alt: break
        }
        settle()
        return .editing
    }

    // MARK: Moving and cutting

    private mutating func moveCursor(to place: String.Index) {
        after = before[place...] + after
        before = String(before[..<place])
    }

    private mutating func moveCursor(forwardTo place: String.Index) {
        before += after[..<place]
        after = String(after[place...])
    }

    /// Returns the place where the word before the cursor begins.
    private func wordStart(where isOfWord: (Character) -> Bool) -> String.Index {
        let rest = before.reversed().drop { !isOfWord($0) }.drop(while: isOfWord)
        return rest.startIndex.base
    }

    /// The place where the word after the cursor ends.
    private var wordEnd: String.Index { after.drop { !$0.isOfWord }.drop(while: \.isOfWord).startIndex }

    private mutating func cut(from place: String.Index, continuing: Bool) {
        keep(String(before[place...]), continuing: continuing) { $1 + $0 }
        before = String(before[..<place])
    }

    private mutating func cut(forwardTo place: String.Index, continuing: Bool) {
        keep(String(after[..<place]), continuing: continuing) { $0 + $1 }
        after = String(after[place...])
    }

    private mutating func keep(_ text: String, continuing: Bool, join: (String, String) -> String) {
        isCutting = continuing || !text.isEmpty
        if !text.isEmpty { cut = continuing ? join(cut, text) : text }
    }

    /// Swaps the characters on both sides of the cursor, or the last two characters at the end of the text.
    private mutating func transpose() {
        if after.isEmpty { moveCursor(to: before.dropLast().endIndex) }
        guard let left = before.last, let right = after.first else {
            return moveCursor(forwardTo: after.endIndex)
        }
        before = String(before.dropLast()) + String(right) + String(left)
        after = String(after.dropFirst())
    }

    /// Moves the cursor to the end of the character it is in. This happens if the texts on both sides of it have become
    /// one character, as when a combining mark is typed before a letter.
    private mutating func settle() {
        guard !before.isEmpty, !after.isEmpty else { return }
        let whole = text
        let cursor = whole.utf8.index(whole.startIndex, offsetBy: before.utf8.count)
        var place = whole.startIndex
        while place < cursor { place = whole.index(after: place) }
        (before, after) = (String(whole[..<place]), String(whole[place...]))
    }

    // MARK: Completing

    /// The beginning of a name that can be completed: the text before the cursor, from the last separator on. Nil if it
    /// is empty, or if the cursor is not at the end.
    ///
    /// - Parameter separator: the character between the names of a list; nil if the text is one name.
    func beginning(after separator: Character?) -> String? {
        guard after.isEmpty else { return nil }
        let part = before[(separator.flatMap(before.lastIndex).map(before.index(after:)) ?? before.startIndex)...]
        let text = String(part.drop(while: \.isWhitespace))
        return text.isEmpty ? nil : text
    }

    enum Completion: Equatable {
        /// There is nothing to complete: no name begins with the text, or the text is the name.
        case none
        case completed
        /// Several names begin with the text, which now is what they have in common.
        case several
    }

    /// Completes the end of the text.
    ///
    /// - Parameters:
    ///   - beginning: the result of ``beginning(after:)``.
    ///   - names: the names that begin with it; case and diacritics may differ.
    mutating func complete(_ beginning: String, with names: [String]) -> Completion {
        guard let first = names.first, names != [beginning] else { return .none }
        let common = names.dropFirst().reduce(first) { common, name in
            String(zip(common, name).prefix { $0 == $1 }.map(\.0))
        }
        if names.count == 1 || common.count > beginning.count {
            before = before.dropLast(beginning.count) + common
        }
        return names.count == 1 ? .completed : .several
    }

    // MARK: Drawing

    /// Returns the output that draws the field on the current line, and leaves the terminal's cursor where the person
    /// types.
    ///
    /// - Parameter note: a text after the field.
    func line(width: Int, note: String = "") -> String {
        // The last column stays free, because a terminal's cursor cannot move back from behind it.
        let shown = window(room: max(10, width - label.columns - 5))
        let rest = shown.after + note
        let back = rest.columns == 0 ? "" : "\u{1B}[\(rest.columns)D"
        return "\r\u{1B}[K  \(label): \(shown.before)\(rest)\(back)"
    }

    /// Returns the part of the text around the cursor that fits into `room` columns, one of which is the cursor's at
    /// the end of the text. An ellipsis stands for what is left out. Line breaks are shown as ↵.
    func window(room: Int) -> (before: String, after: String) {
        let (left, right) = (before.map(\.shown), after.map(\.shown))
        let rightWidth = right.reduce(0) { $0 + $1.columns }
        // A third of the room shows what follows the cursor.
        let ahead = min(max(1, rightWidth), max((right.first?.columns ?? 1) + 1, room / 3))
        let head = Self.fitted(left.reversed(), room: room - ahead).reversed().joined()
        return (head, Self.fitted(right, room: room - head.columns).joined())
    }

    /// Returns the first characters, as many as fit into `room` columns, with an ellipsis if some are left out.
    private static func fitted(_ characters: [String], room: Int) -> [String] {
        guard characters.reduce(0, { $0 + $1.columns }) > room else { return characters }
        var used = 1
        let fitting = characters.prefix { character in
            used += character.columns
            return used <= room
        }
        return fitting + ["…"]
    }

    /// Returns the field's text for a full screen, in at most `room` columns, with a mark for the cursor.
    func pieces(room: Int) -> [ScreenLine.Piece] {
        let shown = window(room: room)
        guard let first = shown.after.first else { return [.init(shown.before + "_")] }
        return [.init(shown.before), .init(String(first), .cursor), .init(String(shown.after.dropFirst()))]
    }

    // MARK: Asking

    /// Lets a person edit the text at the keyboard.
    ///
    /// - Returns: nil if the person cancels.
    package static func edit(_ text: String, label: String, with keyboard: Keyboard) async -> String? {
        var editor = LineEditor(label: label, text: text)
        func draw() { Output.shared.printRaw(editor.line(width: terminalSize().columns)) }
        draw()
        for await press in keyboard.presses {
            for key in press.key.typed {
                switch editor.press(key) {
                case .editing: draw()
                case .done, .cancelled:
                    Output.shared.printLine("")
                    return key == .enter ? editor.text : nil
                }
            }
        }
        return nil
    }
}

extension Keyboard.Key {
    /// The keys of a burst, or this key. Where no number is expected, a burst comes from a text expander, which types
    /// as fast as a scanner.
    var typed: [Keyboard.Key] {
        guard case .burst(var burst) = self else { return [self] }
        var keys: [Keyboard.Key] = []
        while let part = burst.next(inField: true) {
            switch part {
            case .code(let text): keys += text.map { .character($0) }
            case .keys(let more): keys += more.map(\.inBurst)
            }
        }
        return keys
    }
}

extension Character {
    fileprivate var isOfWord: Bool { isLetter || isNumber }

    /// The character as an editor shows it.
    fileprivate var shown: String { isNewline ? "↵" : String(self).oneLine }
}
