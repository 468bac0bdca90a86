import Bookplate

extension [LineEnd] {
    /// Returns one symbol per payload, with add-ons joined to the codes beside them. Symbols that were shown by more
    /// lines come first.
    ///
    /// - Parameter length: the length of a code in pixels, for codes of which only one end was seen.
    func assembled(length: Double = 0) -> [RawSymbol] {
        var symbols: [RawSymbol] = []
        assemble(into: &symbols, length: length)
        return symbols
    }

    /// Fills `symbols` with the result of ``assembled(length:)``. Nothing is allocated once the array is large enough.
    func assemble(into symbols: inout [RawSymbol], length: Double = 0) {
        symbols.removeAll(keepingCapacity: true)
        for lineEnd in self where lineEnd.digits.count == 13 {
            if symbols.contains(where: { $0.digits == lineEnd.digits }) { continue }
            var symbol = Group(all: self, digits: lineEnd.digits, length: length).symbol
            symbol.addon = symbol.addon(among: self)
            symbols.append(symbol)
        }
        symbols.sort { ($0.lines, $0.digits.number) > ($1.lines, $1.digits.number) }
    }

    /// Counts the lines that have a line end for which `isCounted` is true. The line ends must be in the order of their
    /// lines.
    fileprivate func countOfLines(where isCounted: (LineEnd) -> Bool) -> Int {
        var (count, last) = (0, -1)
        for lineEnd in self where lineEnd.line != last && isCounted(lineEnd) {
            (count, last) = (count + 1, lineEnd.line)
        }
        return count
    }
}

/// The line ends (points at which lines crossed an end of a code) that have the same payload. They are selected from
/// `all` when they are needed, and not copied.
private struct Group {
    let all: [LineEnd]
    let digits: Digits
    let length: Double

    var symbol: RawSymbol {
        RawSymbol(
            digits: digits, lines: all.countOfLines { $0.digits == digits },
            wholeLines: all.countOfLines { $0.digits == digits && $0.isWhole },
            pointsPerEnd: Swift.min(end(right: true, whole: true).count, end(right: false, whole: true).count),
            corners: corners)
    }

    /// Returns the points at which lines crossed one end of the code.
    private func end(right: Bool, whole: Bool) -> Points {
        Points(all: all, digits: digits, isRightEnd: right, wholeOnly: whole)
    }

    /// The corners of the part of the code that was read.
    ///
    /// Each line that shows the whole code runs from one end to the other, so its points lie on the code's left and
    /// right edge. A straight line is fitted to the points of each edge. All lines together, including those that show
    /// half of the code, show how far up and down the code could be read.
    private var corners: Corners {
        let wholeOnly = all.contains { $0.digits == digits && $0.isWhole }
        let (right, left) = (end(right: true, whole: wholeOnly), end(right: false, whole: wholeOnly))
        var direction = Point(x: 0, y: 0)
        for lineEnd in all where lineEnd.digits == digits && (lineEnd.isWhole || !wholeOnly) {
            direction = Point(x: direction.x + Double(lineEnd.dx), y: direction.y + Double(lineEnd.dy))
        }
        // If only one end was seen, assume that the other end lies in the direction of the lines.
        direction = direction.unit ?? Point(x: 1, y: 0)
        guard let rightMean = right.mean ?? left.mean.map({ $0.moved(along: direction, by: length) }),
            let leftMean = left.mean ?? right.mean.map({ $0.moved(along: direction, by: -length) })
        else { preconditionFailure("a group has at least one lineEnd") }
        var axes = Axes(from: leftMean, to: rightMean, orAlong: direction)
        // Rows across a slanted code meet its ends at different heights, so the edges show better which way is up.
        axes.lean(by: (right.spread(axes) + left.spread(axes)).slope)
        var (top, bottom) = (Double.infinity, -Double.infinity)
        for lineEnd in all where lineEnd.digits == digits {
            let height = axes.project(Point(lineEnd)).y
            (top, bottom) = (Swift.min(top, height), Swift.max(bottom, height))
        }
        func edge(_ points: Points, _ mean: Point) -> (top: Point, bottom: Point) {
            let (middle, slope) = (axes.project(mean), points.spread(axes).slope)
            func point(_ height: Double) -> Point { axes.point(middle.x + slope * (height - middle.y), height) }
            return (point(top), point(bottom))
        }
        let (r, l) = (edge(right, rightMean), edge(left, leftMean))
        return Corners(topLeft: l.top, topRight: r.top, bottomRight: r.bottom, bottomLeft: l.bottom)
    }
}

/// The points at which lines crossed one end of the code with a given payload.
private struct Points {
    let all: [LineEnd]
    let digits: Digits
    let isRightEnd: Bool
    let wholeOnly: Bool

    private func forEach(_ body: (Point) -> Void) {
        for lineEnd in all
        where lineEnd.digits == digits && lineEnd.isRightEnd == isRightEnd && (lineEnd.isWhole || !wholeOnly) {
            body(Point(lineEnd))
        }
    }

    var count: Int {
        var count = 0
        forEach { _ in count += 1 }
        return count
    }

    /// The mean of the points; `nil` if there are none.
    var mean: Point? { mean { $0 } }

    private func mean(_ transform: (Point) -> Point) -> Point? {
        var (x, y, count) = (0.0, 0.0, 0.0)
        forEach { point in
            let point = transform(point)
            (x, y, count) = (x + point.x, y + point.y, count + 1)
        }
        return count > 0 ? Point(x: x / count, y: y / count) : nil
    }

    /// Returns the spread of the points in a code's own axes; empty for fewer than three points, which are too few to
    /// be reliable.
    func spread(_ axes: Axes) -> Spread {
        var spread = Spread()
        guard count >= 3, let mean = mean(axes.project) else { return spread }
        forEach { point in
            let point = axes.project(point)
            spread.covariance += (point.x - mean.x) * (point.y - mean.y)
            spread.variance += (point.y - mean.y) * (point.y - mean.y)
            spread.count += 1
        }
        return spread
    }
}

/// The sums for a least-squares line through points.
private struct Spread {
    var covariance = 0.0
    var variance = 0.0
    var count = 0

    static func + (one: Spread, other: Spread) -> Spread {
        Spread(
            covariance: one.covariance + other.covariance, variance: one.variance + other.variance,
            count: one.count + other.count)
    }

    /// The distance by which the line moves to the right for each pixel down; 0 if the points are too close together.
    var slope: Double {
        // If the points deviate from their mean by less than two pixels on average, the slope would depend on rounding
        // to pixels.
        guard count > 0, variance / Double(count) > 4 else { return 0 }
        return Swift.min(Swift.max(covariance / variance, -2), 2)
    }
}

/// A code's own axes: x from its left to its right, y from its top to its bottom.
private struct Axes {
    private var x: Point

    init(from left: Point, to right: Point, orAlong direction: Point) {
        x = Point(x: right.x - left.x, y: right.y - left.y).unit ?? direction
    }

    /// Turns the axes so that edges with this slope run straight down.
    mutating func lean(by slope: Double) {
        // y is x turned clockwise by a quarter turn: (-x.y, x.x).
        x = Point(x: x.x + slope * x.y, y: x.y - slope * x.x).unit ?? x
    }

    func project(_ point: Point) -> Point { Point(x: point.x * x.x + point.y * x.y, y: point.y * x.x - point.x * x.y) }
    func point(_ across: Double, _ down: Double) -> Point {
        Point(x: across * x.x - down * x.y, y: across * x.y + down * x.x)
    }
}

extension Point {
    fileprivate init(_ lineEnd: LineEnd) { self.init(x: Double(lineEnd.x), y: Double(lineEnd.y)) }
}

extension RawSymbol {
    /// Returns the add-on that at least two lines showed to the right of this code.
    ///
    /// A code is 95 modules wide. The add-on starts 7 to 12 modules after the code's right end, and is 20 or 47 modules
    /// wide (GS1 General Specifications, 5.2.1.4). The limits leave some tolerance for perspective.
    func addon(among lineEnds: [LineEnd]) -> Digits? {
        guard length > 0 else { return nil }
        let right = corners.topRight.middle(to: corners.bottomRight)
        let left = corners.topLeft.middle(to: corners.bottomLeft)
        let module =
            ((right.x - left.x) * (right.x - left.x) + (right.y - left.y) * (right.y - left.y)).squareRoot() / 95
        guard module > 0 else { return nil }
        let unit = Point(x: (right.x - left.x) / module / 95, y: (right.y - left.y) / module / 95)
        func isBeside(_ lineEnd: LineEnd) -> Bool {
            guard lineEnd.digits.count < 13 else { return false }
            let (x, y) = (Double(lineEnd.x) - right.x, Double(lineEnd.y) - right.y)
            let width = lineEnd.digits.count == 2 ? 20.0 : 47.0
            let gap = (x * unit.x + y * unit.y) / module - (lineEnd.isRightEnd ? width : 0)
            let offset = abs(x * unit.y - y * unit.x) / module
            let sameWay = Double(lineEnd.dx) * unit.x + Double(lineEnd.dy) * unit.y > 0
            return sameWay && (4...18).contains(gap) && offset < 60
        }
        var best: (digits: Digits?, votes: Int) = (nil, 1)
        for lineEnd in lineEnds where lineEnd.digits != best.digits && isBeside(lineEnd) {
            let votes = lineEnds.countOfLines { $0.digits == lineEnd.digits && isBeside($0) }
            // If two add-ons have equally many votes, choose neither.
            if votes > best.votes { best = (lineEnd.digits, votes) } else if votes == best.votes { best.digits = nil }
        }
        return best.digits
    }
}

extension Point {
    /// The point scaled to length 1; `nil` for the origin.
    fileprivate var unit: Point? {
        let length = (x * x + y * y).squareRoot()
        return length > 0 ? Point(x: x / length, y: y / length) : nil
    }

    fileprivate func moved(along direction: Point, by distance: Double) -> Point {
        Point(x: x + direction.x * distance, y: y + direction.y * distance)
    }

    func middle(to other: Point) -> Point { Point(x: (x + other.x) / 2, y: (y + other.y) / 2) }
}
