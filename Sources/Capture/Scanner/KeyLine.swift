import CInput

/// From the keys of a handheld scanner to the lines that it types. Pure: time comes in with the events.
struct KeyLine {
    enum Output: Equatable {
        /// Up to its Enter, never empty.
        case line(String)
        case lost(Loss)
    }

    /// Why a line never came.
    enum Loss: Equatable {
        /// The kernel's buffer was full (`SYN_DROPPED`).
        case dropped
        /// More than ``longest`` characters.
        case tooLong
        /// Nothing more came for ``patience``, and then another began.
        case noEnter(begun: String)
    }

    /// Characters of a line. The longest code of a book has 18, with its add-on and an AIM prefix 24.
    static let longest = 128
    /// A scanner types a line within a few tenths of a second.
    static let patience: Duration = .seconds(2)
    /// Between two keys of a line it leaves less than this: after a loss, what comes later is another line.
    static let pause: Duration = .milliseconds(300)

    private var text = ""
    /// Shift, and the keys that make a command of another, as long as they are held.
    private var held: Set<Int32> = []
    private var lastKey: Duration?
    /// What comes up to the end of the line is the rest of one that was lost.
    private var isSpoilt = false
    /// After `SYN_DROPPED` nothing counts up to the next `SYN_REPORT` (Documentation/input/event-codes.rst).
    private var isOutOfStep = false

    mutating func take(_ event: KeyEvent) -> Output? {
        switch event.type {
        case EV_SYN where event.code == SYN_DROPPED: return loseStep(at: event.time)
        case EV_SYN where event.code == SYN_REPORT:
            isOutOfStep = false
            return nil
        case EV_KEY where !isOutOfStep: return takeKey(event)
        default: return nil
        }
    }

    private mutating func loseStep(at time: Duration) -> Output? {
        defer { (isOutOfStep, isSpoilt, lastKey) = (true, true, time) }
        text = ""
        // A release may be among what is lost. If none was, the letters of a line that does not count are wrong.
        held = []
        return isSpoilt ? nil : .lost(.dropped)
    }

    private mutating func takeKey(_ event: KeyEvent) -> Output? {
        let code = event.code
        if KeyLayout.isShift(code) || KeyLayout.isCommand(code) {
            if event.value == 0 { held.remove(code) } else { held.insert(code) }
            return nil
        }
        // Only the press counts: a release tells nothing new, and who holds a key does not mean it twice.
        guard event.value == 1, !held.contains(where: KeyLayout.isCommand) else { return nil }
        if KeyLayout.endsLine(code) { return end() }
        guard let character = KeyLayout.character(of: code, shifted: held.contains(where: KeyLayout.isShift)) else {
            return nil
        }
        let loss = dropStale(at: event.time)
        lastKey = event.time
        if isSpoilt { return loss }
        guard text.count < Self.longest else {
            (text, isSpoilt) = ("", true)
            return .lost(.tooLong)
        }
        text.append(character)
        return loss
    }

    private mutating func end() -> Output? {
        defer { (text, isSpoilt, lastKey) = ("", false, nil) }
        return text.isEmpty ? nil : .line(text)
    }

    /// Half a line from before is not the beginning of this one.
    private mutating func dropStale(at time: Duration) -> Output? {
        guard let last = lastKey, time - last > (isSpoilt ? Self.pause : Self.patience) else { return nil }
        defer { (text, isSpoilt) = ("", false) }
        return text.isEmpty ? nil : .lost(.noEnter(begun: text))
    }
}
