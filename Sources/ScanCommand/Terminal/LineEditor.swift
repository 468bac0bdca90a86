/// One field that a person edits in place, on a terminal without echo.
struct LineEditor {
    private(set) var text: String
    private let label: String

    init(label: String, text: String) {
        self.label = label
        self.text = text
    }

    enum Step: Equatable { case editing, done, cancelled }

    /// Takes a key: Enter ends, Esc leaves it as it was, Backspace deletes, Control-U deletes all.
    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .enter: return .done
        case .escape, .end: return .cancelled
        case .resumed: break
        case .backspace: if !text.isEmpty { text.removeLast() }
        case .character("\u{15}"): text = ""
        case .character(let character): text.append(character)
        }
        return .editing
    }

    /// The line as it is shown, from the left margin. A long text shows its end, where the person types.
    func shown(width: Int) -> String {
        let room = max(10, width - label.count - 4)
        var tail = ""
        var used = 0
        for character in text.reversed() {
            if used + character.columns > room { break }
            tail.insert(character, at: tail.startIndex)
            used += character.columns
        }
        return "\r\u{1B}[K  \(label): \(tail.printable)"
    }
}
