import Bookplate

extension Sequence<LineEnd> {
    /// One symbol per payload, add-ons joined to the code that they stand beside.
    func assembled() -> [RawSymbol] {
        let codes = Dictionary(grouping: filter { $0.digits.count == 13 }, by: \.digits)
        let addons = filter { $0.digits.count < 13 }
        return codes.values.map { lineEnds in
            var symbol = RawSymbol(
                digits: lineEnds[0].digits, lines: lineEnds.countOfLines,
                pointsPerEnd: lineEnds.pointsPerEnd, corners: corners(of: lineEnds))
            symbol.addon = symbol.addon(among: addons)
            return symbol
        }.sorted { ($0.lines, $0.digits.number) > ($1.lines, $1.digits.number) }
    }
}

extension Sequence<LineEnd> {
    fileprivate var countOfLines: Int { Set(lazy.map(\.line)).count }

    fileprivate var pointsPerEnd: Int {
        let whole = filter(\.isWhole)
        let right = whole.filter(\.isRightEnd).count
        return Swift.min(right, whole.count - right)
    }
}

/// The corners of what was read.
///
/// Each line that shows the code whole ran from one end to the other, so its points lie on the code's left and right edge: a straight
/// line is laid through those of either edge. All lines together, also those that saw a half of the code, tell how far up and down it
/// could be read.
private func corners(of lineEnds: [LineEnd]) -> Corners {
    let whole = lineEnds.filter(\.isWhole)
    let ends = whole.isEmpty ? lineEnds : whole
    let right = ends.filter(\.isRightEnd).map(Point.init)
    let left = ends.filter { !$0.isRightEnd }.map(Point.init)
    guard let rightMean = mean(right) ?? mean(left), let leftMean = mean(left) ?? mean(right) else {
        preconditionFailure("a group has at least one lineEnd")
    }
    var axes = Axes(
        from: leftMean, to: rightMean,
        // Where only one end was seen: as the lines ran.
        orAlong: Point(x: Double(ends.reduce(0) { $0 + $1.dx }), y: Double(ends.reduce(0) { $0 + $1.dy })))
    // Rows across a slanted code meet its ends at different heights, so the edges know better which way is up.
    axes.lean(by: slope(of: [right, left].map { $0.map(axes.place) }))
    let heights = lineEnds.map { axes.place(Point($0)).y }
    let (top, bottom) = (heights.min() ?? 0, heights.max() ?? 0)
    func edge(_ points: [Point], _ mean: Point) -> (top: Point, bottom: Point) {
        let (middle, slope) = (axes.place(mean), slope(of: [points.map(axes.place)]))
        func point(_ height: Double) -> Point { axes.point(middle.x + slope * (height - middle.y), height) }
        return (point(top), point(bottom))
    }
    let (r, l) = (edge(right, rightMean), edge(left, leftMean))
    return Corners(topLeft: l.top, topRight: r.top, bottomRight: r.bottom, bottomLeft: l.bottom)
}

/// A code's own directions: x from its left to its right, y from its top to its bottom.
private struct Axes {
    private var x: Point

    init(from left: Point, to right: Point, orAlong way: Point) {
        let between = Point(x: right.x - left.x, y: right.y - left.y)
        x = between.unit ?? way.unit ?? Point(x: 1, y: 0)
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

/// How far straight lines through groups of points go to the right on their way down, all groups having the same slope: least squares.
/// 0 where the points do not reach far enough to tell.
private func slope(of groups: [[Point]]) -> Double {
    var (covariance, variance, count) = (0.0, 0.0, 0)
    for points in groups {
        guard points.count >= 3, let mean = mean(points) else { continue }
        covariance += points.reduce(0) { $0 + ($1.x - mean.x) * ($1.y - mean.y) }
        variance += points.reduce(0) { $0 + ($1.y - mean.y) * ($1.y - mean.y) }
        count += points.count
    }
    // Less than two pixels up and down on average: the pixels' own steps would decide.
    guard count > 0, variance / Double(count) > 4 else { return 0 }
    return min(max(covariance / variance, -2), 2)
}

private func mean(_ points: [Point]) -> Point? {
    guard !points.isEmpty else { return nil }
    let count = Double(points.count)
    return Point(x: points.reduce(0) { $0 + $1.x } / count, y: points.reduce(0) { $0 + $1.y } / count)
}

extension Point {
    fileprivate init(_ lineEnd: LineEnd) { self.init(x: Double(lineEnd.x), y: Double(lineEnd.y)) }
}

extension RawSymbol {
    /// The add-on that two lines at least saw to the right of this code.
    ///
    /// Distances are in modules (a code is 95 wide): the add-on begins 7 to 12 behind the code's right end, and is 20 or 47 wide
    /// (GS1 General Specifications, 5.2.1.4); some room is given for perspective.
    fileprivate func addon(among lineEnds: [LineEnd]) -> Digits? {
        guard !lineEnds.isEmpty, length > 0 else { return nil }
        let right = corners.topRight.middle(to: corners.bottomRight)
        let left = corners.topLeft.middle(to: corners.bottomLeft)
        let module =
            ((right.x - left.x) * (right.x - left.x) + (right.y - left.y) * (right.y - left.y)).squareRoot() / 95
        guard module > 0 else { return nil }
        let unit = Point(x: (right.x - left.x) / module / 95, y: (right.y - left.y) / module / 95)
        let beside = lineEnds.filter { lineEnd in
            let (x, y) = (Double(lineEnd.x) - right.x, Double(lineEnd.y) - right.y)
            let width = lineEnd.digits.count == 2 ? 20.0 : 47.0
            let gap = (x * unit.x + y * unit.y) / module - (lineEnd.isRightEnd ? width : 0)
            let offset = abs(x * unit.y - y * unit.x) / module
            let sameWay = Double(lineEnd.dx) * unit.x + Double(lineEnd.dy) * unit.y > 0
            return sameWay && (4...18).contains(gap) && offset < 60
        }
        let votes = Dictionary(grouping: beside, by: \.digits).mapValues(\.countOfLines).sorted { $0.value > $1.value }
        guard let best = votes.first, best.value >= 2, votes.dropFirst().first.map({ $0.value < best.value }) ?? true
        else { return nil }
        return best.key
    }
}

extension Point {
    /// nil for a point at the origin.
    fileprivate var unit: Point? {
        let length = (x * x + y * y).squareRoot()
        return length > 0 ? Point(x: x / length, y: y / length) : nil
    }

    func middle(to other: Point) -> Point { Point(x: (x + other.x) / 2, y: (y + other.y) / 2) }
}
