import Bookplate

/// What the stages have seen of one picture so far, and which of it is believed.
///
/// Most misreads of EAN-13 swap 1 with 7 and 2 with 8, two of them so that the check digit fits again. They are told from the truth by
/// how many lines say so, and by the grey levels.
struct Evidence {
    /// One payload at one place.
    struct Claim {
        var digits: Digits
        var addon: Digits?
        var lines: Int
        var pointsPerEnd: Int
        var corners: Corners
        var place: Region
        /// What the grey levels say of it, once they were asked.
        var isConfirmed: Bool?

        var symbol: RawSymbol {
            RawSymbol(digits: digits, addon: addon, lines: lines, pointsPerEnd: pointsPerEnd, corners: corners)
        }
    }

    private var claims: [Claim] = []
    /// Regions in which everything is read.
    private var settled: [Region] = []

    /// Lines that are believed without the grey levels; a code that is no book has no prefix to vouch for it.
    static let sureLines = 6
    static let sureLinesOfOthers = 10

    /// What was read from the grey levels, beyond doubt: it takes what else stands there for a misread, unless that was confirmed as well.
    mutating func add(sure symbol: RawSymbol) {
        let place = Region(around: symbol.corners)
        claims.removeAll {
            $0.digits != symbol.digits && $0.isConfirmed != true
                && ($0.place.contains(place.centre) || place.contains($0.place.centre))
        }
        add([symbol])
        confirm(symbol.digits, true)
    }

    /// - Parameters:
    ///   - symbols: of one look, corners in pixels of the stored full-size picture.
    ///   - region: in which they were seen: what few lines showed is somewhere there.
    mutating func add(_ symbols: [RawSymbol], in region: Region? = nil) {
        for symbol in symbols {
            let around = Region(around: symbol.corners)
            let place = symbol.isPlaced ? around : region ?? around
            if let known = claims.firstIndex(where: { $0.digits == symbol.digits }) {
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
                        digits: symbol.digits, addon: symbol.addon, lines: symbol.lines,
                        pointsPerEnd: symbol.pointsPerEnd, corners: symbol.corners, place: place))
            }
        }
    }

    /// Notes what the grey levels said of a claim.
    mutating func confirm(_ digits: Digits, _ isConfirmed: Bool) {
        for index in claims.indices where claims[index].digits == digits { claims[index].isConfirmed = isConfirmed }
    }

    /// Takes a region for read where one of these digits, which were seen there, is settled.
    mutating func settle(_ region: Region, by digits: [Digits]) {
        if claims.contains(where: { digits.contains($0.digits) && isSettled($0) }) { settled.append(region) }
    }

    /// Books that were seen in a region, and not often enough.
    func hints(in region: Region) -> [Digits] {
        claims.filter { claim in
            claim.digits.isBook && !isSettled(claim)
                && (region.contains(claim.place.centre) || claim.place.contains(region.centre))
        }.map(\.digits)
    }

    /// Codes among these digits that are settled and have no add-on yet.
    func withoutAddon(_ digits: [Digits]) -> [RawSymbol] {
        claims.filter { digits.contains($0.digits) && $0.addon == nil && $0.pointsPerEnd > 0 && isSettled($0) }
            .map(\.symbol)
    }

    /// Adds what was read beside a code.
    mutating func join(_ addon: Digits, to digits: Digits) {
        for index in claims.indices where claims[index].digits == digits { claims[index].addon = addon }
    }

    /// Where codes are that are settled.
    var settledPlaces: [Region] { claims.filter(isSettled).map(\.place) }

    /// Where something was read that is not settled.
    var doubtful: [Region] { claims.filter { !isSettled($0) }.map(\.place) }

    /// What is believed.
    var symbols: [RawSymbol] { claims.filter(isBelieved).map(\.symbol) }

    /// Whether a place needs no further look.
    func isSettled(_ region: Region) -> Bool {
        settled.contains { $0.withAddon.contains(region.centre) }
            || claims.contains { isSettled($0) && $0.place.withAddon.contains(region.centre) }
    }

    /// Whether nothing else can stand in its place: a misread of a book as something else is a matter of a few lines.
    func isSettled(_ claim: Claim) -> Bool {
        isBelieved(claim) && (claim.digits.isBook || claim.isConfirmed == true)
    }

    /// What was read and is not believed, and what is no book and was not confirmed: the grey levels have not been asked yet.
    var unconfirmed: [Claim] { claims.filter { $0.isConfirmed == nil && !isSettled($0) } }

    func isBelieved(_ claim: Claim) -> Bool {
        if let isConfirmed = claim.isConfirmed { return isConfirmed }
        guard claim.lines >= (claim.digits.isBook ? Self.sureLines : Self.sureLinesOfOthers),
            !claim.digits.looksLikeMisreadBook
        else { return false }
        return claims.allSatisfy { other in
            // Of a thousand misreads two begin as books do: one line that says book weighs more.
            let weight = other.digits.isBook && !claim.digits.isBook ? 12 : 3
            return other.digits == claim.digits || claim.lines >= weight * other.lines
                || !(other.place.contains(claim.place.centre) || claim.place.contains(other.place.centre))
        }
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
