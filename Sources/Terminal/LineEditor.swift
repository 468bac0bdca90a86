/// One line of text that a person edits in place, on a terminal that does not echo keys.
package struct LineEditor {
    private(set) var text: String
    let label: String

    init(label: String, text: String) {
        self.label = label
        self.text = text
    }

    enum Step: Equatable { case editing, done, cancelled }

    /// Handles a key. Enter ends the editing, Esc cancels it, Backspace deletes a character, and Control-U deletes the
    /// whole text.
    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .enter: return .done
        case .escape, .end: return .cancelled
        case .resumed, .up, .down, .pageUp, .pageDown, .top, .bottom, .tab, .burst: break
        case .backspace: if !text.isEmpty { text.removeLast() }
        case .character("\u{15}"): text = ""
        case .character(let character): text.append(character)
        case .paste(let pasted): text += pasted.oneLine
        }
        return .editing
    }

    /// Returns the output that draws the field on the current line.
    func line(width: Int) -> String {
        "\r\u{1B}[K  \(label): \(end(room: max(10, width - label.count - 4)))"
    }

    /// Returns the end of the text, where the person types, in at most `room` columns.
    func end(room: Int) -> String {
        var tail = ""
        var used = 0
        for character in text.reversed() {
            if used + character.columns > room { break }
            tail.insert(character, at: tail.startIndex)
            used += character.columns
        }
        return tail.printable
    }

    /// Lets a person edit the text at the keyboard.
    ///
    /// - Returns: nil if the person cancels.
    package static func edit(_ text: String, label: String, with keyboard: Keyboard) async -> String? {
        var editor = LineEditor(label: label, text: text)
        func draw() { Output.shared.printRaw(editor.line(width: terminalSize().columns)) }
        draw()
        for await press in keyboard.presses {
            var keys = [press.key]
            // A text expander types as fast as a scanner.
            if case .burst(var burst) = press.key {
                keys = []
                while let part = burst.next(inField: true) {
                    switch part {
                    case .code(let text): keys += text.map { .character($0) }
                    case .keys(let more): keys += more
                    }
                }
            }
            for key in keys {
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
