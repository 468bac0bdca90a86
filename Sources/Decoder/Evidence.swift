import Bookplate

/// What the passes over one picture have seen so far, and which of it is believed.
///
/// Most misreads of EAN-13 swap 1 with 7 and 2 with 8, two of them so that the check digit fits again. They are told from the truth by
/// how many lines say so, and by asking again at another scale.
struct Evidence {
    /// One payload at one place.
    private struct Claim {
        var digits: Digits
        var addon: Digits?
        var lines: Int
        var passes: Int
        var pointsPerEnd: Int
        var corners: Corners
        var place: Region
        /// Enough whole lines for the corners to be the code's: one or two, as rows across a slanted code, do not tell how it lies.
        var isPlaced: Bool { pointsPerEnd >= 4 }
    }

    private var claims: [Claim] = []

    /// Lines that are believed without a second pass.
    static let sureLines = 6

    /// What the grey levels said, where it is beyond doubt (``GreyReader/Result/isSure``): as much as many lines.
    mutating func add(sure symbol: RawSymbol) {
        // Such a reading takes what else stands there for a misread, unless that is a book as well.
        let place = Region(around: symbol.corners)
        claims.removeAll { claim in
            !claim.digits.isBook && claim.pointsPerEnd < Self.firmPoints
                && (claim.place.contains(place.centre) || place.contains(claim.place.centre))
        }
        var symbol = symbol
        symbol.lines = max(symbol.lines, Self.sureLines)
        add([symbol])
    }

    /// - Parameter symbols: of one pass, corners in pixels of the stored full-size picture.
    mutating func add(_ symbols: [RawSymbol]) {
        for symbol in symbols {
            let place = Region(around: symbol.corners)
            if let known = claims.firstIndex(where: { $0.digits == symbol.digits }) {
                claims[known].passes += 1
                if symbol.pointsPerEnd > claims[known].pointsPerEnd {
                    claims[known].pointsPerEnd = symbol.pointsPerEnd
                    claims[known].corners = symbol.corners
                    claims[known].place = place
                    claims[known].addon = symbol.addon ?? claims[known].addon
                }
                claims[known].addon = claims[known].addon ?? symbol.addon
                claims[known].lines += symbol.lines
            } else {
                claims.append(
                    Claim(
                        digits: symbol.digits, addon: symbol.addon, lines: symbol.lines, passes: 1,
                        pointsPerEnd: symbol.pointsPerEnd, corners: symbol.corners, place: place))
            }
        }
    }

    /// What is believed.
    var symbols: [RawSymbol] {
        claims.filter(isBelieved).map {
            RawSymbol(
                digits: $0.digits, addon: $0.addon, lines: $0.lines, pointsPerEnd: $0.pointsPerEnd, corners: $0.corners)
        }
    }

    /// Points at each end from which a code that is no book is not taken for the misread of one: so many lines showed it whole.
    private static let firmPoints = 16

    /// Places that need no further look for books, as far as they are known: the halves that make up a slanted code do not tell
    /// its place, and a look at its region does.
    var settledForBooks: [Region] {
        claims.filter { isBelieved($0) && $0.isPlaced && ($0.digits.isBook || $0.pointsPerEnd >= Self.firmPoints) }.map(
            \.place)
    }

    /// Places where something was read that is not believed yet.
    var doubtful: [Region] {
        let settled = settledForBooks
        return claims.filter { claim in
            !settled.contains { $0.contains(claim.place.centre) }
        }.map(\.place)
    }

    private func isBelieved(_ claim: Claim) -> Bool {
        // A code that is no book has no prefix to vouch for it: only lines count.
        guard claim.lines >= Self.sureLines || (claim.digits.isBook && claim.passes >= 2 && claim.lines >= 3),
            !claim.digits.looksLikeMisreadBook
        else { return false }
        let rival =
            claims.filter { other in
                other.digits != claim.digits
                    && (other.place.contains(claim.place.centre) || claim.place.contains(other.place.centre))
            }.map(\.lines).max() ?? 0
        return claim.lines >= 3 * rival
    }
}

extension Digits {
    /// 978 or 979 in front.
    var isBook: Bool { (978...979).contains(number / 10_000_000_000) }

    /// 912, 918, 919 and 972 are what 978 and 979 become when a 7 is read as 1 or an 8 as 2. Real codes that begin so (Austrian
    /// goods) are no books either, so nothing is lost with them.
    var looksLikeMisreadBook: Bool {
        [912, 918, 919, 972].contains(number / 10_000_000_000)
    }
}

extension Region {
    /// - Parameter corners: of a code. Where only a line of it was read, its height is taken for a third of its length.
    init(around corners: Corners) {
        let left = corners.topLeft.middle(to: corners.bottomLeft)
        let right = corners.topRight.middle(to: corners.bottomRight)
        let (x, y) = (right.x - left.x, right.y - left.y)
        let length = (x * x + y * y).squareRoot()
        let across = length > 0 ? Point(x: x / length, y: y / length) : Point(x: 1, y: 0)
        // Without an array of them: this is asked for every code of every frame.
        func height(_ point: Point) -> Double { point.y * across.x - point.x * across.y }
        let (a, b) = (height(corners.topLeft), height(corners.topRight))
        let (c, d) = (height(corners.bottomRight), height(corners.bottomLeft))
        let (top, bottom) = (min(min(a, b), min(c, d)), max(max(a, b), max(c, d)))
        self.init(
            centre: left.middle(to: right), across: across, length: length,
            height: max(bottom - top, length / 3), weight: 0)
    }
}
