import CInput

/// One record of an input device, `struct input_event`.
struct KeyEvent: Equatable {
    /// `EV_KEY`, `EV_SYN` …
    var type: Int32
    /// `KEY_1`, `SYN_REPORT` …
    var code: Int32
    /// Of a key: 0 released, 1 pressed, 2 repeated because it is held.
    var value: Int32
    /// On the monotonic clock, where the device took ``InputDevice``'s wish.
    var time: Duration
}

/// Cuts what is read from an input device into its records. The kernel gives whole ones; a part at the end waits for its rest.
struct KeyEventReader {
    private var pending: [UInt8] = []

    mutating func take(_ bytes: some Collection<UInt8>) -> [KeyEvent] {
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

/// The keys of a US keyboard, as which handheld scanners leave the factory, and what they type.
enum KeyLayout {
    /// Without and with Shift.
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
        // The keypad types digits whatever Num Lock says: a scanner that uses it means them.
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

    /// What a key types, `nil` for one that types nothing.
    static func character(of code: Int32, shifted: Bool) -> Character? {
        characters[code].map { shifted ? $0.shifted : $0.plain }
    }

    /// Enter, or Tab where a scanner is set up to end with it.
    static func endsLine(_ code: Int32) -> Bool { ends.contains(code) }

    static func isShift(_ code: Int32) -> Bool { code == KEY_LEFTSHIFT || code == KEY_RIGHTSHIFT }

    /// With one of these held a key is a command, not text.
    static func isCommand(_ code: Int32) -> Bool {
        [KEY_LEFTCTRL, KEY_RIGHTCTRL, KEY_LEFTALT, KEY_RIGHTALT, KEY_LEFTMETA, KEY_RIGHTMETA].contains(code)
    }

    /// Whether a device with these keys could type a number and end it: mice, power buttons and remote controls cannot.
    static func typesNumbers(_ keys: KeySet) -> Bool {
        (digits.allSatisfy(keys.contains) || keypadDigits.allSatisfy(keys.contains))
            && (keys.contains(KEY_ENTER) || keys.contains(KEY_KPENTER))
    }
}

/// Some of the keys `KEY_*`, as the kernel's bit map holds them.
struct KeySet: Equatable {
    /// Bytes for `KEY_MAX` and all below.
    static let byteCount = Int(KEY_MAX) / 8 + 1

    private let bytes: [UInt8]

    /// - Parameter bytes: the lowest keys first.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter words: as /proc/bus/input/devices prints them, words of a `long` in hexadecimal, the highest first; `nil` when
    ///   they are not such.
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
