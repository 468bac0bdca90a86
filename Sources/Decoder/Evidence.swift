import Bookplate

/// The codes that the stages have read in one picture so far, with the rules that decide which of them count as
/// correct.
///
/// Most misreads of EAN-13 confuse 1 with 7 and 2 with 8 at two positions, and the two errors cancel out in the check
/// digit. Such misreads differ from correct reads in the number of lines that agree and in the grey levels.
struct Evidence {
    /// A payload that was read in a region.
    struct Claim {
        var digits: Digits
        var addon: Digits?
        var lines: Int
        var pointsPerEnd: Int
        var corners: Corners
        var region: Region
        /// True if the grey levels confirm the payload, false if they contradict it, `nil` if they were not checked or
        /// are not clear.
        var isConfirmed: Bool?

        var symbol: RawSymbol {
            RawSymbol(digits: digits, addon: addon, lines: lines, pointsPerEnd: pointsPerEnd, corners: corners)
        }
    }

    private var claims: [Claim] = []
    /// The regions in which every code has been read.
    private var settled: [Region] = []

    /// The number of agreeing lines from which a book's code counts as correct without a check of its grey levels.
    static let certainLines = 6
    /// The number of agreeing lines from which a code that is not a book's counts as correct. More lines are needed
    /// than for a book, because such a code has no prefix that makes a misread unlikely.
    static let certainLinesOfOthers = 10

    /// Adds a code that is certain because its grey levels confirm it. Other payloads that were read in its region are
    /// dropped as misreads, unless their grey levels confirmed them as well.
    mutating func add(certain symbol: RawSymbol) {
        let region = Region(around: symbol.corners)
        claims.removeAll {
            $0.digits != symbol.digits && $0.isConfirmed != true
                && ($0.region.contains(region.centre) || region.contains($0.region.centre))
        }
        add([symbol])
        confirm(symbol.digits, true)
    }

    /// Adds the codes that one scan has read.
    ///
    /// - Parameters:
    ///   - symbols: the codes, with corners in pixels of the stored full-size picture.
    ///   - searched: the region that was scanned. A code that only a few lines showed lies somewhere in this region.
    mutating func add(_ symbols: [RawSymbol], in searched: Region? = nil) {
        for symbol in symbols {
            let around = Region(around: symbol.corners)
            let region = symbol.isLocated ? around : searched ?? around
            if let known = claims.firstIndex(where: { $0.digits == symbol.digits }) {
                if symbol.pointsPerEnd > claims[known].pointsPerEnd {
                    claims[known].pointsPerEnd = symbol.pointsPerEnd
                    claims[known].corners = symbol.corners
                    claims[known].region = region
                    claims[known].addon = symbol.addon ?? claims[known].addon
                }
                claims[known].addon = claims[known].addon ?? symbol.addon
                claims[known].lines += symbol.lines
            } else {
                claims.append(
                    Claim(
                        digits: symbol.digits, addon: symbol.addon, lines: symbol.lines,
                        pointsPerEnd: symbol.pointsPerEnd, corners: symbol.corners, region: region))
            }
        }
    }

    /// Records whether the grey levels confirm the digits that were read.
    mutating func confirm(_ digits: Digits, _ isConfirmed: Bool) {
        for index in claims.indices where claims[index].digits == digits { claims[index].isConfirmed = isConfirmed }
    }

    /// Marks a region as read if at least one of the given codes, which were read in the region, is certain.
    mutating func settle(_ region: Region, by digits: [Digits]) {
        if claims.contains(where: { digits.contains($0.digits) && isSettled($0) }) { settled.append(region) }
    }

    /// Returns the ISBNs that were read in a region, but by too few lines to be certain.
    func hints(in region: Region) -> [Digits] {
        claims.filter { claim in
            claim.digits.isBook && !isSettled(claim)
                && (region.contains(claim.region.centre) || claim.region.contains(region.centre))
        }.map(\.digits)
    }

    /// Returns those of the given codes that are certain and have no add-on yet.
    func withoutAddon(_ digits: [Digits]) -> [RawSymbol] {
        claims.filter { digits.contains($0.digits) && $0.addon == nil && $0.pointsPerEnd > 0 && isSettled($0) }
            .map(\.symbol)
    }

    /// Adds an add-on to a code.
    mutating func join(_ addon: Digits, to digits: Digits) {
        for index in claims.indices where claims[index].digits == digits { claims[index].addon = addon }
    }

    /// The regions of the codes that are certain.
    var settledRegions: [Region] { claims.filter(isSettled).map(\.region) }

    /// The regions of the codes that were read, but are not certain yet.
    var doubtful: [Region] { claims.filter { !isSettled($0) }.map(\.region) }

    /// The codes that count as correct.
    var symbols: [RawSymbol] { claims.filter(isBelieved).map(\.symbol) }

    /// Returns true if a region needs no further reading.
    func isSettled(_ region: Region) -> Bool {
        settled.contains { $0.withAddon.contains(region.centre) }
            || claims.contains { isSettled($0) && $0.region.withAddon.contains(region.centre) }
    }

    /// Returns true if the claim is certain. A code that is not a book's must be confirmed by its grey levels, because
    /// several lines may misread a book's code as the same other code.
    func isSettled(_ claim: Claim) -> Bool {
        isBelieved(claim) && (claim.digits.isBook || claim.isConfirmed == true)
    }

    /// The payloads that are not certain, and whose grey levels have not been checked yet.
    var unconfirmed: [Claim] { claims.filter { $0.isConfirmed == nil && !isSettled($0) } }

    func isBelieved(_ claim: Claim) -> Bool {
        if let isConfirmed = claim.isConfirmed { return isConfirmed }
        guard claim.lines >= (claim.digits.isBook ? Self.certainLines : Self.certainLinesOfOthers),
            !claim.digits.looksLikeMisreadBook
        else { return false }
        return claims.allSatisfy { other in
            // Of a thousand misreads only two have a book's prefix, so a line that shows such a prefix has more weight.
            let weight = other.digits.isBook && !claim.digits.isBook ? 12 : 3
            return other.digits == claim.digits || claim.lines >= weight * other.lines
                || !(other.region.contains(claim.region.centre) || claim.region.contains(other.region.centre))
        }
    }
}

extension Digits {
    /// True for the prefixes 978 and 979.
    var isBook: Bool { (978...979).contains(number / 10_000_000_000) }

    /// True for the prefixes 912, 918, 919 and 972, which result from 978 and 979 if a 7 is misread as 1 or an 8 as 2.
    /// Real codes with these prefixes (Austrian goods) are not books, so no book is missed.
    var looksLikeMisreadBook: Bool {
        [912, 918, 919, 972].contains(number / 10_000_000_000)
    }
}

extension Region {
    /// Creates the region of a code.
    ///
    /// - Parameter corners: the code's corners. If only one line of the code was read, the region's height is assumed
    ///   to be a third of its length.
    init(around corners: Corners) {
        let left = corners.topLeft.middle(to: corners.bottomLeft)
        let right = corners.topRight.middle(to: corners.bottomRight)
        let (x, y) = (right.x - left.x, right.y - left.y)
        let length = (x * x + y * y).squareRoot()
        let across = length > 0 ? Point(x: x / length, y: y / length) : Point(x: 1, y: 0)
        // Do not create an array of corners, because this runs for every code of every frame.
        func height(_ point: Point) -> Double { point.y * across.x - point.x * across.y }
        let (a, b) = (height(corners.topLeft), height(corners.topRight))
        let (c, d) = (height(corners.bottomRight), height(corners.bottomLeft))
        let (top, bottom) = (min(min(a, b), min(c, d)), max(max(a, b), max(c, d)))
        self.init(
            centre: left.middle(to: right), across: across, length: length,
            height: max(bottom - top, length / 3), weight: 0)
    }
}
