import Bookplate
import Station

/// Which book a key is about, whenever the loop comes to it.
extension LiveLoop {
    /// A key that came while an act was under way, and the row that it was meant for.
    struct HeldKey {
        var key: Keyboard.Key
        var row: ID<IntakeItem>?
        var time: Duration
    }

    /// A capture that came between the person's look at the card and the key.
    struct CardChange {
        var before: ID<IntakeItem>
        var time: Duration
    }

    /// Nobody reads a card and answers it so fast: the key was meant for the one before.
    static let reaction: Duration = .milliseconds(400)

    /// The row that a key is about: the one on the card when it was read. Where a capture changed the card just before, the one
    /// before that, if it still waits for an answer.
    mutating func row(meantBy key: Keyboard.Key, at time: Duration) -> ID<IntakeItem>? {
        // Who has pressed anything else meanwhile has seen the card.
        if !key.isAboutRow { cardChange = nil }
        if let cardChange, time - cardChange.time < Self.reaction, state.batch[cardChange.before]?.end == .none {
            return cardChange.before
        }
        return state.current?.id
    }

    mutating func pressHeldKeys() {
        while !isActing, !isClosing, !heldKeys.isEmpty {
            let held = heldKeys.removeFirst()
            press(held.key, for: held.row, at: held.time)
            guard held.key.isMove, case .list = state.mode else { continue }
            // What follows a move is about where it led.
            for index in heldKeys.indices { heldKeys[index].row = state.current?.id }
        }
    }

    /// Takes a key; see ``LiveKeys/help(columns:rows:)``.
    mutating func press(_ key: Keyboard.Key, for row: ID<IntakeItem>?, at time: Duration) {
        guard !isClosing else { return }
        guard let number = burst.take(key, at: time) else { return pressInMode(key, for: row) }
        // A handheld scanner types into whatever is open: its digits are no part of a form, nor of a number begun by hand.
        func erase(_ press: (Keyboard.Key) -> Void) { for _ in number { press(.backspace) } }
        switch state.mode {
        case .list, .help: return pressInMode(key, for: row)
        case .number(var entry):
            erase { _ = entry.press($0) }
            state.mode = entry.text.isEmpty ? .list : .number(entry)
        case .edit(let id, var form):
            erase { _ = form.press($0) }
            state.mode = .edit(id, form)
        case .preset(var form):
            erase { _ = form.press($0) }
            state.mode = .preset(form)
        }
        capture(TypedNumber(text: number, origin: .typed))
    }
}

extension Keyboard.Key {
    /// Whether it goes through the list.
    fileprivate var isMove: Bool {
        switch self {
        case .up, .down, .pageUp, .pageDown, .top, .bottom: true
        case .character, .enter, .escape, .backspace, .end, .resumed, .paste: false
        }
    }

    /// Whether it is about the book on the card.
    var isAboutRow: Bool {
        if case .character(let character) = self { "sckelr ".contains(character) } else { false }
    }
}
