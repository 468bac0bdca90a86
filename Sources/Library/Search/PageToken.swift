import Bookplate
import Foundation

/// The end of a page of results, which is the position of the page's last book in the order. A token stays valid if
/// books are added or removed.
struct PageToken: Equatable {
    enum Key: Equatable {
        case empty
        case number(Int64)
        case text(String)
    }

    /// The ranking step that found the book; 0 for a book whose title is equal to the search text, and in a list
    /// without ranking.
    var step = 0
    var key: Key
    var copy: Int64

    /// Returns the token as printable text, in URL-safe Base64 (RFC 4648, 5). The text also identifies the list to
    /// which the token belongs.
    func text(in list: BookQuery) -> String {
        let key =
            switch key {
            case .empty: "-"
            case .number(let number): "i\(number)"
            case .text(let text): "t\(text)"
            }
        let line = "1|\(Self.hash(of: list))|\(step)|\(copy)|\(key)"
        return Data(line.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// - Throws: ``SearchRefusal/badPosition(_:)`` if the text is not a token, or is a token from another list.
    init(_ text: String, in list: BookQuery) throws(SearchRefusal) {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        // No token is longer than this, because sort keys are cut.
        guard text.utf8.count < 8192,
            let data = Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)),
            let line = String(validating: data, as: UTF8.self)
        else { throw .badPosition(text) }
        let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == "1", fields[1] == Self.hash(of: list), let step = Int(fields[2]),
            (0...Self.lastStep).contains(step), let copy = Int64(fields[3])
        else { throw .badPosition(text) }
        switch fields[4].first {
        case "-" where fields[4].count == 1: key = .empty
        case "i":
            guard let number = Int64(fields[4].dropFirst()) else { throw .badPosition(text) }
            key = .number(number)
        case "t": key = .text(String(fields[4].dropFirst()))
        default: throw .badPosition(text)
        }
        self.step = step
        self.copy = copy
    }

    init(step: Int = 0, key: Key = .empty, copy: Int64) {
        self.step = step
        self.key = key
        self.copy = copy
    }

    private static let lastStep = 6

    /// Returns an FNV-1a hash that distinguishes lists with different search texts or sort orders.
    private static func hash(of list: BookQuery) -> String {
        let identity = "\(list.sort?.rawValue ?? "best")|\(list.isReversed)|\(list.inTrash)|\(list.text.prefix(512))"
        var hash: UInt32 = 2_166_136_261
        for byte in identity.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return String(hash, radix: 36)
    }
}
