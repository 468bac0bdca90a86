import CInput

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
