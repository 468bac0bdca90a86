import Bookplate

/// One thing that the doctor looked at.
struct Check: Sendable, Equatable {
    enum State: String, Sendable, CaseIterable {
        case ok
        /// Books can be scanned, but something is not as it should be.
        case attention
        /// Until this is mended no book can be scanned.
        case broken
        /// It was not looked at, or could not be.
        case unknown
    }

    /// One word, the same in every release: scripts look for it.
    var name: String
    var state: State
    /// What was seen, without a full stop.
    var fact: String
    /// What a person can do about it; whole sentences.
    var next: String?

    init(_ name: String, _ state: State, _ fact: String, next: String? = nil) {
        (self.name, self.state, self.fact, self.next) = (name, state, fact, next)
    }

    /// From a message that says *what, where, what next*: its first sentence is the fact, the others are what to do.
    init(_ name: String, _ state: State, telling message: String) {
        var sentences = message.split(separator: ". ", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
        if sentences.count == 1, sentences[0].hasSuffix(".") { sentences[0].removeLast() }
        self.init(name, state, sentences.first ?? message, next: sentences.count > 1 ? sentences[1] : nil)
    }

    /// All keys, in this order.
    var json: JSONValue {
        [
            "check": .string(name), "state": .string(state.rawValue), "fact": .string(fact), "next": JSONValue(next),
        ]
    }

    /// For a person: the state by colour and shape, the fact, and below it what to do.
    ///
    /// - Parameter columns: of the terminal, `nil` where lines may be of any length.
    func text(_ style: Style, columns: Int? = nil) -> String {
        func lines(_ text: String) -> String {
            let room = columns.map { max(20, $0 - 18) }
            let lines = room.map { text.oneLine.wrapped($0, atMost: .max) } ?? [text.oneLine]
            return lines.joined(separator: "\n" + String(repeating: " ", count: 17))
        }
        let line = "  \(state.mark(style)) \(name.padded(12)) \(lines(fact))"
        return next.map { "\(line)\n\(String(repeating: " ", count: 17))\(lines($0))" } ?? line
    }
}

extension Check.State {
    func mark(_ style: Style) -> String {
        switch self {
        case .ok: style.new("✓")
        case .attention: style.attention("▲")
        case .broken: style.problem("✕")
        case .unknown: style.faint("·")
        }
    }
}

extension Double {
    /// With so many digits behind the point.
    func rounded(to digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let whole = Int(exactly: (abs(self) * scale).rounded()) ?? 0
        let sign = self < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let text = String(repeating: "0", count: max(0, digits + 1 - String(whole).count)) + String(whole)
        return "\(sign)\(text.dropLast(digits)).\(text.suffix(digits))"
    }
}

/// "12 kB", "3.4 MB", "56 GB"
func byteText(_ bytes: Int64) -> String {
    let (kilo, mega, giga) = (1_000.0, 1_000_000.0, 1_000_000_000.0)
    let count = Double(bytes)
    return switch count {
    case ..<mega: "\((count / kilo).rounded(to: 0)) kB"
    case ..<giga: "\((count / mega).rounded(to: count < 10 * mega ? 1 : 0)) MB"
    default: "\((count / giga).rounded(to: count < 10 * giga ? 1 : 0)) GB"
    }
}
