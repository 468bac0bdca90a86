import Bookplate
import Foundation

/// Where a page ended: the last book's place in its order. Books that come and go do not move it.
struct PageToken: Equatable {
    enum Key: Equatable {
        case empty
        case number(Int64)
        case text(String)
    }

    /// The step of the best order; 0 in a sort.
    var step = 0
    var key: Key
    var copy: Int64

    /// Printable: Base64 for addresses (RFC 4648, 5) of a line of text that also says which list it belongs to.
    func text(in list: BookQuery) -> String {
        let key =
            switch key {
            case .empty: "-"
            case .number(let number): "i\(number)"
            case .text(let text): "t\(text)"
            }
        let line = "1|\(Self.mark(of: list))|\(step)|\(copy)|\(key)"
        return Data(line.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// - Throws: ``SearchRefusal/badPlace(_:)`` for what is no token, or another list's.
    init(_ text: String, in list: BookQuery) throws(SearchRefusal) {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        // Longer than any token: sort keys are cut.
        guard text.utf8.count < 8192,
            let data = Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)),
            let line = String(validating: data, as: UTF8.self)
        else { throw .badPlace(text) }
        let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == "1", fields[1] == Self.mark(of: list), let step = Int(fields[2]),
            (0...Self.lastStep).contains(step), let copy = Int64(fields[3])
        else { throw .badPlace(text) }
        switch fields[4].first {
        case "-" where fields[4].count == 1: key = .empty
        case "i":
            guard let number = Int64(fields[4].dropFirst()) else { throw .badPlace(text) }
            key = .number(number)
        case "t": key = .text(String(fields[4].dropFirst()))
        default: throw .badPlace(text)
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

    /// Tells lists of other words or another order apart (FNV-1a).
    private static func mark(of list: BookQuery) -> String {
        let identity = "\(list.sort?.rawValue ?? "best")|\(list.isReversed)|\(list.inTrash)|\(list.text.prefix(512))"
        var hash: UInt32 = 2_166_136_261
        for byte in identity.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return String(hash, radix: 36)
    }
}
