/// What an EAN-13 payload stands for.
///
/// Prefixes are GS1's (General Specifications 1.4 and 2.1): 978/979 Bookland, 979-0 music, 977 serials, a leading 0 is a
/// UPC-A code written with thirteen digits.
public enum CodeKind: String, Sendable, CaseIterable, Codable {
    case isbn, ismn, issn, upc, ean13

    /// - Parameter payload: thirteen digits, as encoded.
    public init(ean13 payload: String) { self.init(ean13: Array(payload.utf8)) }

    init(ean13 ascii: [UInt8]) {
        self =
            switch ascii.prefix(4) {
            case let head where head.starts(with: "9790".utf8): .ismn
            case let head where head.starts(with: "978".utf8) || head.starts(with: "979".utf8): .isbn
            case let head where head.starts(with: "977".utf8): .issn
            case let head where head.first == UInt8(ascii: "0"): .upc
            default: .ean13
            }
    }

    /// Why a code of this kind is not taken as a book, for a person, without a full stop.
    public var refusal: String {
        switch self {
        case .isbn: "it is a book"
        case .ismn: "it is sheet music (ISMN, 979-0), not a book"
        case .issn: "it is a periodical (ISSN, 977), not a book"
        case .upc: "it is a UPC product code, not an ISBN; look for a second code that begins with 978"
        case .ean13: "it is a product code that does not begin with 978 or 979, not a book"
        }
    }
}
