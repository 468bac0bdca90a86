import Bookplate

/// A station's token: a part that finds its row and 256 random bits that prove it, of which only the hash is kept.
struct StationToken {
    let selector: String
    let secret: String

    /// A new one, from the kernel's random numbers.
    init() {
        selector = Self.random(bytes: 12)
        secret = Self.random(bytes: 32)
    }

    /// - Returns: `nil` for what cannot be one.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard text.utf8.count == 89, parts.count == 2, parts[0].utf8.count == 24 else { return nil }
        (selector, secret) = (String(parts[0]), String(parts[1]))
    }

    var text: String { "\(selector).\(secret)" }

    /// A quick hash will do: nobody guesses 256 random bits.
    var hash: String { SHA256.digest(of: secret.utf8).hexadecimal }

    /// Whether the hash is this token's. Takes as long for every wrong one.
    func has(hash stored: String) -> Bool {
        let (mine, theirs) = (Array(hash.utf8), Array(stored.utf8))
        guard mine.count == theirs.count else { return false }
        return zip(mine, theirs).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func random(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
