import Bookplate

/// A station's token: a part that finds its row and 256 random bits that prove it, of which only the hash is kept.
struct StationToken {
    let selector: String
    let secret: String

    /// A new one, from the kernel's random numbers.
    init() {
        selector = Secret.random(bytes: 12)
        secret = Secret.random(bytes: 32)
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
    func has(hash stored: String) -> Bool { Secret.areEqual(hash, stored) }
}
