/// One bar code found in a frame.
///
/// The terms are those of zbar. An add-on (EAN-2 or EAN-5) is not a symbol of its own here, but belongs to the EAN-13
/// beside it.
public struct Symbol: Sendable, Equatable {
    /// The thirteen digits as encoded; a UPC-A code has a leading 0.
    public var payload: String
    /// The two or five digits that are printed to the right of the code: an issue number or a price.
    public var addon: String?
    /// The number of scan lines that agreed. It can be compared only with values of the same decoder.
    public var quality: Int
    /// The corners of the code, in pixels of the upright full-size image.
    public var corners: Corners

    public init(payload: String, addon: String? = nil, quality: Int, corners: Corners) {
        self.payload = payload
        self.addon = addon
        self.quality = quality
        self.corners = corners
    }

    /// The kind of number in the payload.
    public var kind: CodeKind { CodeKind(ean13: payload) }

    /// Returns the ISBN in the payload.
    ///
    /// - Throws: ``ISBNRefusal`` with the reason if the payload is not an ISBN.
    public func isbn() throws(ISBNRefusal) -> ISBN { try ISBN(ean13: payload) }
}

/// A point in pixels; x grows to the right, y downwards.
public struct Point: Sendable, Equatable {
    public var x: Double
    public var y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// The four corners of a code, clockwise from the top left. Top and left refer to the code as printed on the paper,
/// even if the picture shows it rotated.
public struct Corners: Sendable, Equatable {
    public var topLeft, topRight, bottomRight, bottomLeft: Point

    public init(topLeft: Point, topRight: Point, bottomRight: Point, bottomLeft: Point) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
    }

    public var all: [Point] { [topLeft, topRight, bottomRight, bottomLeft] }

    /// The length of the top edge, which runs across the bars.
    public var length: Double {
        let (dx, dy) = (topRight.x - topLeft.x, topRight.y - topLeft.y)
        return (dx * dx + dy * dy).squareRoot()
    }

    public var centre: Point {
        Point(x: all.reduce(0) { $0 + $1.x } / 4, y: all.reduce(0) { $0 + $1.y } / 4)
    }

    /// The top and bottom of the upright bounding box.
    public var verticalExtent: ClosedRange<Double> {
        let ys = all.map(\.y)
        return ys.min()!...ys.max()!
    }

    /// Returns the corners with each point transformed.
    public func mapped(_ transform: (Point) -> Point) -> Corners {
        Corners(
            topLeft: transform(topLeft), topRight: transform(topRight),
            bottomRight: transform(bottomRight), bottomLeft: transform(bottomLeft))
    }
}

extension Sequence<Symbol> {
    /// Returns the symbols from top to bottom, and from left to right in each row. Two codes are in the same row if the
    /// vertical distance of their centres is less than half the height of the taller code.
    public func inReadingOrder() -> [Symbol] {
        var rows: [[Symbol]] = []
        for symbol in sorted(by: { $0.corners.centre.y < $1.corners.centre.y }) {
            if let first = rows.last?.first, first.sharesRow(with: symbol) {
                rows[rows.count - 1].append(symbol)
            } else {
                rows.append([symbol])
            }
        }
        return rows.flatMap { $0.sorted { $0.corners.centre.x < $1.corners.centre.x } }
    }
}

extension Symbol {
    fileprivate func sharesRow(with other: Symbol) -> Bool {
        let heights = [self, other].map { $0.corners.verticalExtent.upperBound - $0.corners.verticalExtent.lowerBound }
        return abs(corners.centre.y - other.corners.centre.y) < heights.max()! / 2
    }
}

/// The kind of number in an EAN-13 payload.
///
/// The prefixes are those of GS1 (General Specifications 1.4 and 2.1): 978 and 979 for books (Bookland), 979-0 for
/// music, and 977 for serials. A leading 0 means a UPC-A code written with thirteen digits.
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

    /// The reason why a code of this kind is not accepted as a book, for people, without a full stop.
    public var refusal: String {
        switch self {
        case .isbn: "it is a book"
        case .ismn: "it is sheet music (ISMN, 979-0), not a book"
        case .issn: "it is a periodical (ISSN, 977), not a book"
        case .upc: "it is a UPC product code, not an ISBN; look for another bar code that begins with 978 or 979"
        case .ean13: "it is a product code that does not begin with 978 or 979, not a book"
        }
    }
}
