import Bookplate

/// A number as it is typed, checked with every key.
struct NumberEntry {
    private(set) var editor = LineEditor(label: "ISBN", text: "")

    /// What begins a number: a digit, or the `]E0` in front of what handheld scanners send.
    static func begins(with character: Character) -> Bool {
        character.isASCII && (character.isNumber || character == "]")
    }

    var text: String { editor.text }

    mutating func press(_ key: Keyboard.Key) -> LineEditor.Step { editor.press(key) }

    /// "✓ right, Enter takes it", or how far it is.
    var verdict: (text: String, ink: Ink) {
        do throws(ISBNRefusal) {
            return ("✓ \(try ISBN(text).hyphenated): Enter takes it", .new)
        } catch {
            switch error {
            case .wrongLength(let count) where count < 13: return (counted(count, "digit"), .faint)
            case .empty: return ("Esc leaves", .faint)
            default: return ("✕ \(error)", .problem)
            }
        }
    }
}

/// What the batch's books are saved with, as a form of four lines.
struct PresetForm {
    enum Step { case editing, done(Preset), cancelled, refused(String) }

    static let labels = ["Shelf", "Tags (, between)", "Status (Space changes)", "Wishlist (Space changes)"]
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
        [shelf.text, tags.text, preset.status.displayName, preset.isWishlist ? "yes: wishes, not owned" : "no: owned"]
    }

    mutating func press(_ key: Keyboard.Key) -> Step {
        switch key {
        case .escape, .end: return .cancelled
        case .enter where index == 3: return finish()
        case .enter, .down: index = min(3, index + 1)
        case .up: index = max(0, index - 1)
        case .character(" ") where index == 2:
            let all = Copy.Status.allCases
            let place = all.firstIndex(of: preset.status) ?? 0
            preset.status = all[(place + 1) % all.count]
        case .character(" ") where index == 3: preset.isWishlist.toggle()
        default:
            if index == 0 { _ = shelf.press(key) }
            if index == 1 { _ = tags.press(key) }
        }
        return .editing
    }

    private mutating func finish() -> Step {
        do throws(TextRefusal) {
            preset.shelf = shelf.text.cleaned.isEmpty ? nil : try shelf.text.checked(as: "shelf", limit: TextLimit.name)
            var names: [String] = []
            for name in tags.text.split(separator: ",") where !String(name).cleaned.isEmpty {
                names.append(try String(name).checked(as: "tag", limit: TextLimit.name))
            }
            preset.tags = names
            return .done(preset)
        } catch {
            return .refused(error.description)
        }
    }
}

/// Tells a handheld scanner that types from a person: eight characters of a number and more, under 50 ms apart, then Enter.
struct KeyBurst {
    static let fewest = 8
    static let gap: Duration = .milliseconds(50)
    private var text = ""
    private var last: Duration = .zero

    /// - Returns: the number, when this key was the Enter behind one.
    mutating func append(_ key: Keyboard.Key, at time: Duration) -> String? {
        defer { last = time }
        if time - last > Self.gap { text = "" }
        switch key {
        case .character(let character) where "0123456789Xx-]E".contains(character):
            text.append(character)
        case .enter:
            defer { text = "" }
            return text.count >= Self.fewest ? text : nil
        default: text = ""
        }
        return nil
    }
}
