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
    func line(width: Int) -> String { editor.line(width: max(20, width - 40)) + "_  \(verdict.text.fitted(36))" }

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
    enum Step { case editing, done(Preset), cancelled, refused(String) }

    static let labels = [
        "Shelf", "Tags (separated by commas)", "Status (Space changes it)", "Wishlist (Space changes it)",
    ]
    private var shelf: LineEditor
    private var tags: LineEditor
    private var preset: Preset
    private(set) var index = 0

    init(_ preset: Preset) {
        self.preset = preset
        shelf = LineEditor(label: "", text: preset.shelf ?? "")
        tags = LineEditor(label: "", text: preset.tags.joined(separator: ", "))
    }

    var texts: [String] {
        [shelf.text, tags.text, preset.status.displayName, preset.isWishlist ? "yes: a wish, not owned" : "no: owned"]
    }

    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .escape, .end: return .cancelled
        case .enter where index == 3: return finish()
        case .enter, .down: index = min(3, index + 1)
        case .up: index = max(0, index - 1)
        case .character(" ") where index == 2:
            let all = Copy.Status.allCases
            let position = all.firstIndex(of: preset.status) ?? 0
            preset.status = all[(position + 1) % all.count]
        case .character(" ") where index == 3: preset.isWishlist.toggle()
        default:
            if index == 0 { _ = shelf.press(key) }
            if index == 1 { _ = tags.press(key) }
        }
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
