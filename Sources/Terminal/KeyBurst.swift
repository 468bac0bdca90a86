import Bookplate
import Foundation
import Station

/// Keys that arrived faster than a person presses them. They come from a handheld scanner, from a text expander, or
/// from a paste on a terminal that does not mark pasted text.
///
/// Where keys are commands, every line of a burst is a scanned code. In a field, only the lines that look like codes
/// are, and everything else is typed into the field.
struct KeyBurst: Equatable, Sendable {
    enum Part: Equatable {
        /// A scanned line, without the Enter or Tab at its end.
        case code(String)
        case keys([Keyboard.Key])
    }

    /// Characters, Enter and Tab only.
    private var keys: ArraySlice<Keyboard.Key>
    private var isAfterCode = false

    init(_ keys: [Keyboard.Key]) { self.keys = keys[...] }

    /// Removes the next part. The parts are taken one by one, because keys of an earlier part may close the field.
    ///
    /// - Parameter inField: true if a field has the focus.
    /// - Returns: nil at the end of the burst.
    mutating func next(inField: Bool) -> Part? {
        while !keys.isEmpty {
            let characters = keys.prefix { !$0.endsLine }
            let line = keys.prefix(characters.count + 1)
            keys = keys.dropFirst(line.count)
            let text = String(characters.compactMap(\.character)).trimmingCharacters(in: .whitespaces)
            // Some scanners end a code with two keys, such as Tab and Enter, and Enter alone is no command.
            if text.isEmpty, isAfterCode || !inField { continue }
            isAfterCode = !inField || Self.looksLikeCode(text)
            return isAfterCode ? .code(text) : .keys(Array(line))
        }
        return nil
    }

    /// True for a text that is more likely to come from a scanner than from a text expander: a book's number, another
    /// word of at least eight characters with a digit, an address, or another text that begins with a scheme.
    static func looksLikeCode(_ text: String) -> Bool {
        if TypedNumber(text: text, origin: .scanner).isBook || hasScheme(text) { return true }
        return text.count >= Recogniser.fewestWithoutEnd && text.contains(where: \.isNumber)
            && !text.contains(where: \.isWhitespace)
    }

    /// True for a text such as `https://…` or `WIFI:T:…`, as QR codes hold it (RFC 3986, section 3.1).
    /// A scheme is all small or all capital letters there, unlike the beginning of a title such as "Re:Zero".
    static func hasScheme(_ text: String) -> Bool {
        text.prefixMatch(of: /(?:[a-z][a-z0-9+.\-]*|[A-Z][A-Z0-9+.\-]*):\S/) != nil
    }
}

extension KeyBurst {
    /// Finds bursts among the keys of a terminal. A key that may begin a burst is held back until a pause shows that it
    /// does not.
    struct Recogniser {
        /// The pause after which the next key does not belong to a burst. A person hardly notices that a key acts this
        /// much later.
        static let gap: Duration = .milliseconds(50)
        /// The smallest number of characters in a burst that Enter or Tab ends. Two keys may overlap when a person
        /// types fast.
        static let fewest = 3
        /// The smallest number of characters in a burst without Enter or Tab. Some scanners are set to add nothing.
        static let fewestWithoutEnd = 8
        /// The largest number of keys that are held back. Longer texts are passed on in several bursts.
        private static let most = 4096

        private var held: [Keyboard.Press] = []
        /// True if the next keys continue a burst of which ``most`` keys were passed on already.
        private var isContinued = false

        /// True if a burst may continue, so that ``settle()`` has to be called after a pause of ``gap``.
        var isHolding: Bool { !held.isEmpty || isContinued }

        /// - Returns: the keys that can be handled now, in order.
        mutating func append(_ press: Keyboard.Press) -> [Keyboard.Press] {
            switch press.key {
            case .character(let character) where !character.isControl: held.append(press)
            case .enter where isHolding, .tab where isHolding: held.append(press)
            default: return settle() + [press]
            }
            guard held.count >= Self.most else { return [] }
            defer { isContinued = true }
            return settle()
        }

        /// Called after a pause, or before a key that no scanner types.
        ///
        /// - Returns: the keys that were held back, or one press of ``Keyboard/Key/burst(_:)``.
        mutating func settle() -> [Keyboard.Press] {
            defer { (held, isContinued) = ([], false) }
            let lines = held.split(omittingEmptySubsequences: false) { $0.key.endsLine }
            let isBurst =
                isContinued || held.count >= Self.most || lines.dropLast().contains { $0.count >= Self.fewest }
                || lines.last.map { $0.count >= Self.fewestWithoutEnd } == true
            guard isBurst, let first = held.first else { return held }
            return [Keyboard.Press(key: .burst(KeyBurst(held.map(\.key))), time: first.time)]
        }
    }
}

extension Keyboard.Key {
    /// The key as it acts in a field. Nothing is completed in a text that nobody types.
    var inBurst: Keyboard.Key { self == .tab ? .down : self }

    fileprivate var endsLine: Bool { self == .enter || self == .tab }

    fileprivate var character: Character? {
        if case .character(let character) = self { character } else { nil }
    }
}

extension Character {
    fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
