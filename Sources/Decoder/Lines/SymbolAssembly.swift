import Bookplate

extension [LineEnd] {
    /// One symbol per payload, add-ons joined to the code that they stand beside, those of most lines first.
    ///
    /// - Parameter length: of a code, in pixels, for those of which only one end was seen.
    func assembled(length: Double = 0) -> [RawSymbol] {
        var symbols: [RawSymbol] = []
        assemble(into: &symbols, length: length)
        return symbols
    }

    /// The same into memory that is there already: nothing is allocated once it is large enough.
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

    /// Lines that hold what is asked for. Line ends come in the order of their lines.
    fileprivate func countOfLines(where isCounted: (LineEnd) -> Bool) -> Int {
        var (count, last) = (0, -1)
        for lineEnd in self where lineEnd.line != last && isCounted(lineEnd) {
            (count, last) = (count + 1, lineEnd.line)
        }
        return count
    }
}

/// What the lines saw of one payload: a view that copies nothing.
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

    /// The points of one end of the code.
    private func end(right: Bool, whole: Bool) -> Points {
        Points(all: all, digits: digits, isRightEnd: right, wholeOnly: whole)
    }

    /// The corners of what was read.
    ///
    /// Each line that shows the code whole ran from one end to the other, so its points lie on the code's left and right edge: a
    /// straight line is laid through those of either edge. All lines together, also those that saw a half of the code, tell how
    /// far up and down it could be read.
    private var corners: Corners {
        let wholeOnly = all.contains { $0.digits == digits && $0.isWhole }
        let (right, left) = (end(right: true, whole: wholeOnly), end(right: false, whole: wholeOnly))
        var way = Point(x: 0, y: 0)
        for lineEnd in all where lineEnd.digits == digits && (lineEnd.isWhole || !wholeOnly) {
            way = Point(x: way.x + Double(lineEnd.dx), y: way.y + Double(lineEnd.dy))
        }
        // Where only one end was seen: as the lines ran.
        way = way.unit ?? Point(x: 1, y: 0)
        guard let rightMean = right.mean ?? left.mean.map({ $0.moved(along: way, by: length) }),
            let leftMean = left.mean ?? right.mean.map({ $0.moved(along: way, by: -length) })
        else { preconditionFailure("a group has at least one lineEnd") }
        var axes = Axes(from: leftMean, to: rightMean, orAlong: way)
        // Rows across a slanted code meet its ends at different heights, so the edges know better which way is up.
        axes.lean(by: (right.spread(axes) + left.spread(axes)).slope)
        var (top, bottom) = (Double.infinity, -Double.infinity)
        for lineEnd in all where lineEnd.digits == digits {
            let height = axes.place(Point(lineEnd)).y
            (top, bottom) = (Swift.min(top, height), Swift.max(bottom, height))
        }
        func edge(_ points: Points, _ mean: Point) -> (top: Point, bottom: Point) {
            let (middle, slope) = (axes.place(mean), points.spread(axes).slope)
            func point(_ height: Double) -> Point { axes.point(middle.x + slope * (height - middle.y), height) }
            return (point(top), point(bottom))
        }
        let (r, l) = (edge(right, rightMean), edge(left, leftMean))
        return Corners(topLeft: l.top, topRight: r.top, bottomRight: r.bottom, bottomLeft: l.bottom)
    }
}

/// The points of one end of one payload.
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

    /// nil where there are none.
    var mean: Point? { mean { $0 } }

    private func mean(_ place: (Point) -> Point) -> Point? {
        var (x, y, count) = (0.0, 0.0, 0.0)
        forEach { point in
            let point = place(point)
            (x, y, count) = (x + point.x, y + point.y, count + 1)
        }
        return count > 0 ? Point(x: x / count, y: y / count) : nil
    }

    /// How the points of an end lie in a code's own directions. None of fewer than three: they do not tell.
    func spread(_ axes: Axes) -> Spread {
        var spread = Spread()
        guard count >= 3, let mean = mean(axes.place) else { return spread }
        forEach { point in
            let point = axes.place(point)
            spread.covariance += (point.x - mean.x) * (point.y - mean.y)
            spread.variance += (point.y - mean.y) * (point.y - mean.y)
            spread.count += 1
        }
        return spread
    }
}

/// Sums for a straight line through points: least squares.
private struct Spread {
    var covariance = 0.0
    var variance = 0.0
    var count = 0

    static func + (one: Spread, other: Spread) -> Spread {
        Spread(
            covariance: one.covariance + other.covariance, variance: one.variance + other.variance,
            count: one.count + other.count)
    }

    /// How far the line goes to the right on its way down; 0 where the points do not reach far enough to tell.
    var slope: Double {
        // Less than two pixels up and down on average: the pixels' own steps would decide.
        guard count > 0, variance / Double(count) > 4 else { return 0 }
        return Swift.min(Swift.max(covariance / variance, -2), 2)
    }
}

/// A code's own directions: x from its left to its right, y from its top to its bottom.
private struct Axes {
    private var x: Point

    init(from left: Point, to right: Point, orAlong way: Point) {
        x = Point(x: right.x - left.x, y: right.y - left.y).unit ?? way
    }

    /// Turns them so that edges that ran `slope` to the right on their way down run straight down.
    mutating func lean(by slope: Double) {
        // y is x turned by a quarter with the clock: (-x.y, x.x).
        x = Point(x: x.x + slope * x.y, y: x.y - slope * x.x).unit ?? x
    }

    func place(_ point: Point) -> Point { Point(x: point.x * x.x + point.y * x.y, y: point.y * x.x - point.x * x.y) }
    func point(_ across: Double, _ down: Double) -> Point {
        Point(x: across * x.x - down * x.y, y: across * x.y + down * x.x)
    }
}

extension Point {
    fileprivate init(_ lineEnd: LineEnd) { self.init(x: Double(lineEnd.x), y: Double(lineEnd.y)) }
}

extension RawSymbol {
    /// The add-on that two lines at least saw to the right of this code.
    ///
    /// Distances are in modules (a code is 95 wide): the add-on begins 7 to 12 behind the code's right end, and is 20 or 47 wide
    /// (GS1 General Specifications, 5.2.1.4); some room is given for perspective.
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
            // As many for two of them is no answer.
            if votes > best.votes { best = (lineEnd.digits, votes) } else if votes == best.votes { best.digits = nil }
        }
        return best.digits
    }
}

extension Point {
    /// nil for a point at the origin.
    fileprivate var unit: Point? {
        let length = (x * x + y * y).squareRoot()
        return length > 0 ? Point(x: x / length, y: y / length) : nil
    }

    fileprivate func moved(along way: Point, by distance: Double) -> Point {
        Point(x: x + way.x * distance, y: y + way.y * distance)
    }

    func middle(to other: Point) -> Point { Point(x: (x + other.x) / 2, y: (y + other.y) / 2) }
}
