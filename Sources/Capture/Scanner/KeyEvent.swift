import CInput

/// One record of an input device, `struct input_event`.
struct KeyEvent: Equatable {
    /// The type, such as `EV_KEY` or `EV_SYN`.
    var type: Int32
    /// The code, such as `KEY_1` or `SYN_REPORT`.
    var code: Int32
    /// The state of a key: 0 released, 1 pressed, 2 repeated because it is held.
    var value: Int32
    /// The time on the monotonic clock, which ``InputDevice/grab()`` requests.
    var time: Duration
}

/// Splits the bytes read from an input device into records. The kernel delivers whole records; if one is incomplete, it
/// is kept until the rest arrives.
struct KeyEventParser {
    private var pending: [UInt8] = []

    mutating func parse(_ bytes: some Collection<UInt8>) -> [KeyEvent] {
        pending.append(contentsOf: bytes)
        let size = MemoryLayout<input_event>.size
        let whole = pending.count / size
        defer { pending.removeFirst(whole * size) }
        return pending.withUnsafeBytes { bytes in
            (0..<whole).map { index in
                var record = bytes.loadUnaligned(fromByteOffset: index * size, as: input_event.self)
                let time = Duration.seconds(cinput_seconds(&record)) + .microseconds(cinput_microseconds(&record))
                return KeyEvent(type: Int32(record.type), code: Int32(record.code), value: record.value, time: time)
            }
        }
    }
}

/// The US keyboard layout, which is the factory setting of handheld scanners.
enum KeyLayout {
    /// The characters that each key types, without and with Shift.
    private static let characters: [Int32: (plain: Character, shifted: Character)] = {
        var table: [Int32: (Character, Character)] = [:]
        // <linux/input-event-codes.h> numbers the keys of a row from left to right.
        func row(from first: Int32, _ plain: String, _ shifted: String) {
            for (code, pair) in zip(first..., zip(plain, shifted)) { table[code] = pair }
        }
        row(from: KEY_1, "1234567890-=", "!@#$%^&*()_+")
        row(from: KEY_Q, "qwertyuiop[]", "QWERTYUIOP{}")
        row(from: KEY_A, "asdfghjkl;'`", "ASDFGHJKL:\"~")
        row(from: KEY_BACKSLASH, "\\zxcvbnm,./", "|ZXCVBNM<>?")
        row(from: KEY_SPACE, " ", " ")
        // The keypad always types digits, regardless of Num Lock, because a scanner that uses the keypad means digits.
        row(from: KEY_KP7, "789-456+1230.", "789-456+1230.")
        row(from: KEY_KPASTERISK, "*", "*")
        row(from: KEY_KPSLASH, "/", "/")
        return table
    }()

    private static let ends: Set<Int32> = [KEY_ENTER, KEY_KPENTER, KEY_TAB]
    private static let digits: [Int32] = Array(KEY_1...KEY_0)
    private static let keypadDigits = [
        KEY_KP0, KEY_KP1, KEY_KP2, KEY_KP3, KEY_KP4, KEY_KP5, KEY_KP6, KEY_KP7, KEY_KP8, KEY_KP9,
    ]

    /// Returns the character that a key types; `nil` if it types none.
    static func character(of code: Int32, shifted: Bool) -> Character? {
        characters[code].map { shifted ? $0.shifted : $0.plain }
    }

    /// Returns true for Enter and for Tab, which some scanners send at the end of a line.
    static func endsLine(_ code: Int32) -> Bool { ends.contains(code) }

    static func isShift(_ code: Int32) -> Bool { code == KEY_LEFTSHIFT || code == KEY_RIGHTSHIFT }

    /// Returns true for a key that, while held, turns other keys into commands instead of text.
    static func isCommand(_ code: Int32) -> Bool {
        [KEY_LEFTCTRL, KEY_RIGHTCTRL, KEY_LEFTALT, KEY_RIGHTALT, KEY_LEFTMETA, KEY_RIGHTMETA].contains(code)
    }

    /// Returns true if a device with these keys can type a number, and Enter after it. Mice, power buttons and remote
    /// controls cannot.
    static func typesNumbers(_ keys: KeySet) -> Bool {
        (digits.allSatisfy(keys.contains) || keypadDigits.allSatisfy(keys.contains))
            && (keys.contains(KEY_ENTER) || keys.contains(KEY_KPENTER))
    }
}

/// A set of keys `KEY_*`, stored as the kernel's bit map.
struct KeySet: Equatable {
    /// The number of bytes for all keys up to `KEY_MAX`.
    static let byteCount = Int(KEY_MAX) / 8 + 1

    private let bytes: [UInt8]

    /// - Parameter bytes: the bit map, with the lowest keys first.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter words: the bit map in the form that /proc/bus/input/devices prints: hexadecimal words of the size of
    ///   a `long`, with the highest keys first.
    /// - Returns: `nil` if the words cannot be parsed.
    init?(words: some StringProtocol) {
        var bytes: [UInt8] = []
        for word in words.split(separator: " ").reversed() {
            guard let value = UInt(word, radix: 16), bytes.count < Self.byteCount else { return nil }
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        self.bytes = bytes
    }

    func contains(_ key: Int32) -> Bool {
        let byte = Int(key) / 8
        return key >= 0 && byte < bytes.count && bytes[byte] & (1 << UInt8(key % 8)) != 0
    }

    var isEmpty: Bool { bytes.allSatisfy { $0 == 0 } }
}

/// Assembles the key events of a handheld scanner into the lines that it types. Measures time only by the time stamps
/// of the events.
struct KeyLine {
    enum Output: Equatable {
        /// A line that the scanner typed, without the Enter at its end; never empty.
        case line(String)
        case lost(Loss)
    }

    /// The reason why a line was lost.
    enum Loss: Equatable {
        /// The kernel's buffer was full (`SYN_DROPPED`).
        case dropped
        /// The line had more than ``maxLength`` characters.
        case tooLong
        /// The line had no Enter: nothing followed for ``timeout``, and then another line started.
        case noEnter(text: String)
    }

    /// The maximum length of a line, in characters. A book's code has at most 18 characters with its add-on, or 24 if
    /// the code and the add-on each have an AIM prefix.
    static let maxLength = 128
    /// The longest time between two keys of a line. A scanner types a whole line within a few tenths of a second.
    static let timeout: Duration = .seconds(2)
    /// The longest time between two keys of a line of which a part was lost; a key that comes later belongs to another
    /// line.
    static let timeoutAfterLoss: Duration = .milliseconds(300)

    private var text = ""
    /// The Shift and command keys that are held.
    private var held: Set<Int32> = []
    private var lastKey: Duration?
    /// True after part of a line was lost, until the line ends. The keys until then belong to the lost line.
    private var isLost = false
    /// True between `SYN_DROPPED` and the next `SYN_REPORT`. All events in between are ignored
    /// (Documentation/input/event-codes.rst).
    private var isOutOfSync = false

    mutating func consume(_ event: KeyEvent) -> Output? {
        switch event.type {
        case EV_SYN where event.code == SYN_DROPPED: return loseSync(at: event.time)
        case EV_SYN where event.code == SYN_REPORT:
            isOutOfSync = false
            return nil
        case EV_KEY where !isOutOfSync: return consumeKey(event)
        default: return nil
        }
    }

    private mutating func loseSync(at time: Duration) -> Output? {
        defer { (isOutOfSync, isLost, lastKey) = (true, true, time) }
        text = ""
        // The release of a held key may be among the lost events, so assume that no key is held. If a key is still
        // held, only letters of the lost line are wrong.
        held = []
        return isLost ? nil : .lost(.dropped)
    }

    private mutating func consumeKey(_ event: KeyEvent) -> Output? {
        let code = event.code
        if KeyLayout.isShift(code) || KeyLayout.isCommand(code) {
            if event.value == 0 { held.remove(code) } else { held.insert(code) }
            return nil
        }
        // Only the press of a key counts. Releases, and the repeats of a held key, add no characters.
        guard event.value == 1, !held.contains(where: KeyLayout.isCommand) else { return nil }
        if KeyLayout.endsLine(code) { return endLine() }
        guard let character = KeyLayout.character(of: code, shifted: held.contains(where: KeyLayout.isShift)) else {
            return nil
        }
        let loss = dropStale(at: event.time)
        lastKey = event.time
        if isLost { return loss }
        guard text.count < Self.maxLength else {
            (text, isLost) = ("", true)
            return .lost(.tooLong)
        }
        text.append(character)
        return loss
    }

    private mutating func endLine() -> Output? {
        defer { (text, isLost, lastKey) = ("", false, nil) }
        return text.isEmpty ? nil : .line(text)
    }

    /// Drops an earlier partial line, so that it does not become the beginning of the current line.
    private mutating func dropStale(at time: Duration) -> Output? {
        guard let last = lastKey, time - last > (isLost ? Self.timeoutAfterLoss : Self.timeout) else { return nil }
        defer { (text, isLost) = ("", false) }
        return text.isEmpty ? nil : .lost(.noEnter(text: text))
    }
}
