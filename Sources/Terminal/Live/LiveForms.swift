import Bookplate
import Station

/// A number that a person is typing. It is checked after every key.
struct NumberInput {
    private(set) var editor = LineEditor(label: "ISBN", text: "")

    /// Returns true if a number can begin with this character: that is, if it is a digit or `]`. Handheld scanners send
    /// the prefix `]E0`.
    static func begins(with character: Character) -> Bool {
        character.isASCII && (character.isNumber || character == "]")
    }

    var text: String { editor.text }

    mutating func press(_ key: Keyboard.Key) -> LineEditor.Step { editor.press(key) }

    /// Returns the output that draws the number and its verdict on the current line.
    func line(width: Int) -> String {
        editor.line(width: max(20, width - 40), note: "  \(verdict.text.fitted(36))")
    }

    /// The text beside the number: "✓ 978-0-441-47812-5: press Enter to capture", the number of digits so far, or the
    /// error.
    var verdict: (text: String, ink: Ink) {
        do throws(ISBNRefusal) {
            return ("✓ \(try BookNumber(text).isbn.hyphenated): press Enter to capture", .new)
        } catch {
            switch error {
            case .wrongLength(let count) where count < 13: return (counted(count, "digit"), .faint)
            case .empty: return ("press Esc to cancel", .faint)
            default: return ("✕ \(error)", .problem)
            }
        }
    }
}

/// The form in which a person edits the preset of the batch. It has four lines.
struct PresetForm {
    enum Step {
        case editing, done(Preset), cancelled, refused(String)
        /// The person wants a name completed. Pass the names that begin with the text to ``complete(with:)``.
        case complete(NameKind, beginning: String)
    }

    static let labels = [
        "Shelf", "Tags (separated by commas)", "Status (Space changes it)", "Wishlist (Space changes it)",
    ]
    private var shelf: LineEditor
    private var tags: LineEditor
    private var preset: Preset
    private(set) var index = 0
    /// The names that complete the field; nil if none are listed.
    private(set) var note: String?
    /// True if the key before was Tab, and a name was completed or the names were listed.
    private var isCompleting = false

    init(_ preset: Preset) {
        self.preset = preset
        shelf = LineEditor(label: "", text: preset.shelf ?? "")
        tags = LineEditor(label: "", text: preset.tags.joined(separator: ", "))
    }

    var texts: [String] {
        [shelf.text, tags.text, preset.status.displayName, preset.isWishlist ? "yes: a wish, not owned" : "no: owned"]
    }

    /// The field that is being edited; nil if it is no text.
    var editor: LineEditor? { index == 0 ? shelf : index == 1 ? tags : nil }

    mutating func press(_ key: Keyboard.Key) -> Step {
        let wasCompleting = isCompleting
        (note, isCompleting) = (nil, false)
        switch key {
        case .escape, .end: return .cancelled
        case .enter where index == 3: return finish()
        case .tab where !wasCompleting:
            guard let beginning = editor?.beginning(after: separator) else { return move(by: 1) }
            return .complete(index == 0 ? .shelf : .tag, beginning: beginning)
        case .enter, .tab, .down, .control("n"): return move(by: 1)
        case .up, .backTab, .control("p"): return move(by: -1)
        case .control("s"): return finish()
        case .character(" ") where index == 2:
            let all = Copy.Status.allCases
            let position = all.firstIndex(of: preset.status) ?? 0
            preset.status = all[(position + 1) % all.count]
        case .character(" ") where index == 3: preset.isWishlist.toggle()
        default:
            if index == 0, shelf.press(key) == .cancelled { return .cancelled }
            if index == 1, tags.press(key) == .cancelled { return .cancelled }
        }
        return .editing
    }

    /// Completes the name at the end of the field, or lists the names. If there is nothing to complete, it goes to the
    /// next field.
    ///
    /// - Parameter names: the names that begin with the text.
    mutating func complete(with names: [String]) -> Step {
        guard let beginning = editor?.beginning(after: separator) else { return move(by: 1) }
        switch index == 0 ? shelf.complete(beginning, with: names) : tags.complete(beginning, with: names) {
        case .none: return move(by: 1)
        case .completed: break
        case .several: note = names.map(\.oneLine).joined(separator: " · ")
        }
        isCompleting = true
        return .editing
    }

    private var separator: Character? { index == 1 ? "," : nil }

    private mutating func move(by steps: Int) -> Step {
        index = min(3, max(0, index + steps))
        return .editing
    }

    private mutating func finish() -> Step {
        do throws(TextRefusal) {
            preset.shelf = shelf.text.cleaned.isEmpty ? nil : shelf.text
            preset.tags = tags.text.split(separator: ",").map(String.init).filter { !$0.cleaned.isEmpty }
            return .done(try preset.checked())
        } catch {
            return .refused(error.description)
        }
    }
}
