import Bookplate
import Station

/// The texts that explain the keys: a line of hints, and a help page.
struct LiveKeys {
    let state: LiveState

    /// Returns a line with as many hints as fit, the most useful first. Except in forms, it always ends with the hints
    /// for help and quitting.
    func line(columns: Int) -> ScreenLine {
        // The list has its keys below its last edition.
        if case .editions = state.mode { return .empty }
        let last = ["[?] keys", "[q] quit"]
        var hints: [String] = []
        var room = columns - 2 - last.joined(separator: "  ").columns
        for hint in useful where hint.columns + 2 <= room {
            hints.append(hint)
            room -= hint.columns + 2
        }
        return ScreenLine("  " + (hints + (state.hasField ? [] : last)).joined(separator: "  "), .faint)
    }

    private var useful: [String] {
        switch state.mode {
        case .help, .editions: return []
        case .number: return ["[Enter] capture", "[Esc] cancel"]
        case .edit, .preset: return ["[Enter] next", "[Ctrl-S] keep", "[Esc] cancel"]
        case .list: break
        }
        let ticked = state.batch.counts.ticked
        var hints: [String] = []
        // A key is hinted at as soon as it acts.
        let row = state.isCardReadable ? state.current.flatMap { $0.end == nil ? $0 : nil } : nil
        if let row {
            if state.batch.isAnotherCopy(row) {
                hints.append("[c] another copy")
            } else if row.candidate.isComplete {
                hints.append("[s] save")
            } else {
                hints.append("[e] by hand")
            }
        }
        if ticked > 0, state.areTicksReadable { hints.append("[a] save all \(ticked)") }
        if row != nil { hints.append("[k] skip") }
        if !state.batch.acts.isEmpty, state.isActReadable { hints.append("[u] undo") }
        if !state.batch.undoneActs.isEmpty { hints.append("[y] redo") }
        hints += ["[p] presets", "[0-9] number"]
        if row?.candidate.isComplete == true { hints.append("[e] edit") }
        return hints
    }

    /// Returns the help page with all keys, in two columns if there is room.
    static func help(columns: Int, rows: Int) -> [ScreenLine] {
        let keys: [(String, String)] = [
            ("s", "save this book"), ("a", "save all ticked books"), ("Space", "tick or untick"),
            ("↑ ↓", "move through the list"), ("k", "skip: remove it from the queue"), ("e", "edit, or enter by hand"),
            ("c", "save another copy"), ("l", "later: it stays in the queue"), ("u", "undo the last action"),
            ("U", "undo all saves of this run"), ("y", "redo what was undone last"),
            ("p", "shelf, tags, status, wishlist"),
            ("r", "look the book up again"), ("0-9", "type a number, then Enter"), ("m", "sounds on or off"),
            ("q", "quit; the queue is kept"),
            ("?", "this help; any key closes it"),
        ]
        let texts = keys.map { "  \($0.0.padded(5))  \($0.1)" }
        let isWide = columns >= 76
        let height = isWide ? (texts.count + 1) / 2 : texts.count
        let lines = (0..<height).map { row in
            let right = isWide && row + height < texts.count ? texts[row + height] : ""
            return ScreenLine(texts[row].padded(columns / 2) + right)
        }
        return rows > height ? [.rule("Keys", columns: columns)] + lines : lines
    }
}
