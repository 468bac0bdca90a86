import Bookplate
import Glibc

/// Finds regions that look like bars: neighbouring blocks whose gradients are strong and all point the same way.
///
/// Sources: the structure tensor of a block (Bigün and Granlund, "Optimal orientation detection of linear symmetry",
/// ICCV 1987). OpenCV's detector uses it for bar codes, following "Universal barcode detector via semantic
/// segmentation" and its predecessors.
struct RegionFinder {
    /// The side of a block (the small square whose gradients are summed up) in pixels, at scale 1. At this scale, a
    /// code with one pixel per module is twelve blocks long.
    static let blockSide = 8

    private var blocks: [Block] = []
    private var columns = 0
    private var rows = 0
    /// The side of a block in pixels, at the current scale.
    private var side = RegionFinder.blockSide
    private var found: [Region] = []
    /// For each column of blocks, the sums over three vertically adjacent blocks.
    private var threes: [SIMD4<Float>] = []
    /// The indexes of the blocks in the region that is being grown.
    private var members: [Int] = []

    private struct Block {
        /// The sums of the squares and products of the block's gradients across (x) and down (y): xx, xy, yy.
        var sums: SIMD4<Float>
        /// The doubled angle of the gradient, as the vector (doubleX, doubleY) of length 1. Doubling the angle makes
        /// the two edges of a bar agree.
        var doubleX: Float = 0
        var doubleY: Float = 0
        var isCandidate = false
        /// The energy (the sum of the squared gradients) of a candidate and its surroundings.
        var strength: Float = 0

        var energy: Float { sums.x + sums.z }
    }

    /// Finds the regions of a frame that look like bars. Allocates nothing if a frame of that size was searched before
    /// and the last result was released.
    ///
    /// - Parameter scale: the size of a block relative to ``blockSide``; in larger blocks, a smaller part of the rows
    ///   is read.
    /// - Returns: the regions, likeliest first.
    mutating func regions(in frame: Frame, scale: Int = 1) -> [Region] {
        side = Self.blockSide * scale
        measure(frame, scale)
        choose()
        grow()
        return found
    }

    /// Computes, for each block, the sums of the products of its gradients, over four rows of the block.
    private mutating func measure(_ frame: Frame, _ scale: Int) {
        columns = (frame.width - 2 * scale) / side
        rows = (frame.height - 2 * scale) / side
        blocks.removeAll(keepingCapacity: true)
        guard columns > 0, rows > 0 else { return }
        blocks.reserveCapacity(columns * rows)
        let (stride, side) = (frame.bytesPerLine, side)
        let share = Float(4) / Float(scale)
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            for row in 0..<rows {
                for column in 0..<columns {
                    var sums = (SIMD8<Int32>.zero, SIMD8<Int32>.zero, SIMD8<Int32>.zero)
                    let corner = base + (row * side + scale) * stride + column * side + scale
                    for part in 0..<scale {
                        Self.addProducts(
                            corner + part * Self.blockSide, across: scale, along: scale * stride,
                            rows: 2 * scale * stride, to: &sums)
                    }
                    blocks.append(
                        Block(
                            sums: share
                                * SIMD4(
                                    Float(sums.0.wrappedSum()), Float(sums.1.wrappedSum()) * 2,
                                    Float(sums.2.wrappedSum()), 0)))
                }
            }
        }
    }

    /// Adds up products of differences for eight pixels in each of four rows. `sums.0` receives the squares of the
    /// differences across, `sums.2` the squares of the differences along, and `sums.1` half the products of the two.
    /// The differences are halved first, so that sixteen bits can hold the sum of four products.
    @inline(__always)
    private static func addProducts(
        _ first: UnsafePointer<UInt8>, across: Int, along: Int, rows: Int,
        to sums: inout (SIMD8<Int32>, SIMD8<Int32>, SIMD8<Int32>)
    ) {
        typealias Eight = SIMD8<Int16>
        func load(_ pixel: UnsafePointer<UInt8>) -> Eight {
            Eight(truncatingIfNeeded: UnsafeRawPointer(pixel).loadUnaligned(as: SIMD8<UInt8>.self))
        }
        var (xx, xy, yy) = (Eight.zero, Eight.zero, Eight.zero)
        for step in 0..<4 {
            let pixel = first + step * rows
            let x = (load(pixel + across) &- load(pixel - across)) &>> 1
            let y = (load(pixel + along) &- load(pixel - along)) &>> 1
            xx &+= x &* x
            xy &+= x &* (y &>> 1)
            yy &+= y &* y
        }
        sums.0 &+= SIMD8<Int32>(truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: xx))
        sums.1 &+= SIMD8<Int32>(truncatingIfNeeded: xy)
        sums.2 &+= SIMD8<Int32>(truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: yy))
    }

    /// The energy (the sum of the squared gradients) above which a block and its neighbours show more than noise.
    private static let strong = Float(blockSide * blockSide / 2) * 9 * 60
    /// The minimum energies (sums of the squared gradients) of the blocks from which regions are grown, tried from high
    /// to low. Bars that are printed on cloth have a hundred times the energy of the cloth, and must not be joined with
    /// it.
    private static let seeds = [strong * 256, strong * 16, strong]
    /// The minimum energy (sum of the squared gradients) of the blocks that are joined to a seed, as a fraction of the
    /// minimum energy of the seed, the block from which a region is grown. The energies of light and shaded parts of
    /// one code differ by less.
    private static let shade: Float = 1.0 / 16

    /// Marks as candidates the blocks whose surroundings (3 by 3 blocks) have strong gradients in one direction.
    private mutating func choose() {
        // Add one empty column on either side.
        threes.removeAll(keepingCapacity: true)
        threes.append(contentsOf: repeatElement(.zero, count: columns + 2))
        for row in 0..<rows {
            for column in 0..<columns {
                let at = row * columns + column
                var sum = blocks[at].sums
                if row > 0 { sum += blocks[at - columns].sums }
                if row < rows - 1 { sum += blocks[at + columns].sums }
                threes[column + 1] = sum
            }
            for column in 0..<columns {
                let sums = threes[column] + threes[column + 1] + threes[column + 2]
                let (x, y) = (sums.x - sums.z, 2 * sums.y)
                let energy = sums.x + sums.z
                guard energy > Self.strong else { continue }
                let size = (x * x + y * y).squareRoot()
                guard size > energy * 0.6 else { continue }
                let at = row * columns + column
                blocks[at].isCandidate = true
                (blocks[at].doubleX, blocks[at].doubleY) = (x / size, y / size)
                blocks[at].strength = energy
            }
        }
    }

    private func middle(column: Int, row: Int) -> Point {
        Point(x: (Double(column) + 0.5) * Double(side), y: (Double(row) + 0.5) * Double(side))
    }

    /// Joins neighbouring blocks with the same direction (within 15 degrees), and keeps the regions that have the shape
    /// of a code.
    private mutating func grow() {
        found.removeAll(keepingCapacity: true)
        for least in Self.seeds {
            for seed in blocks.indices where blocks[seed].isCandidate && blocks[seed].strength >= least {
                grow(from: seed, least: least * Self.shade)
                if let region = regionOfMembers() { found.append(region) }
            }
        }
        found.sort { $0.weight > $1.weight }
    }

    /// Fills ``members`` with the blocks that are connected to a seed, the block from which a region is grown.
    private mutating func grow(from seed: Int, least: Float) {
        members.removeAll(keepingCapacity: true)
        members.append(seed)
        blocks[seed].isCandidate = false
        var next = 0
        while next < members.count {
            let at = members[next]
            next += 1
            let (row, column) = (at / columns, at % columns)
            for r in max(0, row - 1)...min(rows - 1, row + 1) {
                for c in max(0, column - 1)...min(columns - 1, column + 1) {
                    let other = r * columns + c
                    let agreement =
                        blocks[at].doubleX * blocks[other].doubleX + blocks[at].doubleY * blocks[other].doubleY
                    if blocks[other].isCandidate, agreement > 0.85, blocks[other].strength >= least {
                        blocks[other].isCandidate = false
                        members.append(other)
                    }
                }
            }
        }
    }

    private func regionOfMembers() -> Region? {
        guard members.count >= 6 else { return nil }
        var (x, y, energy) = (Float(0), Float(0), Float(0))
        for at in members {
            x += blocks[at].doubleX
            y += blocks[at].doubleY
            energy += blocks[at].energy
        }
        let angle = Double(atan2(y, x)) / 2
        let across = Point(x: cos(angle), y: sin(angle))
        var (along, beside) = (
            (low: Double.infinity, high: -Double.infinity), (low: Double.infinity, high: -Double.infinity)
        )
        for at in members {
            let middle = middle(column: at % columns, row: at / columns)
            let u = middle.x * across.x + middle.y * across.y
            let v = middle.y * across.x - middle.x * across.y
            along = (min(along.low, u), max(along.high, u))
            beside = (min(beside.low, v), max(beside.high, v))
        }
        let side = Double(self.side)
        let (length, height) = (along.high - along.low + side, beside.high - beside.low + side)
        // The bounds exclude lines of print and the edges of books, which are long and thin.
        let filled = Double(members.count) * side * side / (length * height)
        guard length >= 4 * side, length > height * 0.4, length < height * 14, filled > 0.35 else { return nil }
        let (u, v) = ((along.low + along.high) / 2, (beside.low + beside.high) / 2)
        return Region(
            centre: Point(x: u * across.x - v * across.y, y: u * across.y + v * across.x), across: across,
            length: length, height: height, weight: Double(energy) * filled * side * side / 64)
    }
}

/// A part of a frame that looks like bars, described as a box whose length runs across the bars.
struct Region {
    var centre: Point
    /// The direction across the bars, as a vector of length 1. It may point to the code's left or right end, because
    /// these are not known.
    var across: Point
    /// The region's size across the bars, in pixels.
    var length: Double
    /// The region's size along the bars, in pixels.
    var height: Double
    /// The sum of the squared grey-level differences between nearby pixels, over the whole region. The higher the
    /// weight, the likelier the region is a code.
    var weight: Double

    /// Scales the region. The two factors differ only by the rounding of a frame's size.
    func scaled(x: Double, y: Double) -> Region {
        Region(
            centre: Point(x: centre.x * x, y: centre.y * y), across: across, length: length * x, height: height * y,
            weight: weight)
    }

    /// The region enlarged to include an add-on on either side and the digits printed below.
    var withAddon: Region {
        var larger = self
        larger.length *= 2.2
        larger.height *= 1.3
        return larger
    }

    /// Returns the point at the given distances from the centre, in pixels: one along the region's length, the other
    /// along its height.
    func point(along: Double, beside: Double) -> Point {
        Point(
            x: centre.x + across.x * along - across.y * beside, y: centre.y + across.y * along + across.x * beside)
    }

    /// The region to the right of a code where an add-on may stand. An add-on starts 7 to 12 modules after a code of 95
    /// modules and is at most 47 modules wide (GS1 General Specifications, 5.2.1.4). The region has a margin on both
    /// sides. It covers only the part of the code's height that the add-on also covers.
    var addonRegion: Region {
        let (from, to) = (length * (95 - 5) / 95, length * (95 + 12 + 47 + 8) / 95)
        var result = self
        result.centre = point(along: (from + to - length) / 2, beside: 0)
        result.length = to - from
        result.height *= 0.7
        return result
    }

    func contains(_ point: Point, margin: Double = 0) -> Bool {
        let (x, y) = (point.x - centre.x, point.y - centre.y)
        return abs(x * across.x + y * across.y) <= length / 2 + margin
            && abs(x * across.y - y * across.x) <= height / 2 + margin
    }
}

extension Region {
    /// The corners of a region whose code was not read. The left end in the picture is taken as the code's left end,
    /// because the code's direction is not known.
    var corners: Corners {
        let sign = across.x < 0 ? -1.0 : 1.0
        let (x, y) = (across.x * sign, across.y * sign)
        func corner(_ along: Double, _ beside: Double) -> Point {
            Point(
                x: centre.x + x * length * along - y * height * beside,
                y: centre.y + y * length * along + x * height * beside)
        }
        return Corners(
            topLeft: corner(-0.5, -0.5), topRight: corner(0.5, -0.5), bottomRight: corner(0.5, 0.5),
            bottomLeft: corner(-0.5, 0.5))
    }
}
