import Bookplate
import Glibc

/// Finds what looks like bars: neighbouring blocks whose gradients are strong and all run one way.
///
/// Source: the structure tensor of a block (Bigün and Granlund, "Optimal orientation detection of linear symmetry", ICCV 1987); for
/// bar codes in OpenCV's detector, from "Universal barcode detector via semantic segmentation" and its predecessors.
struct RegionFinder {
    /// Pixels of a block's side, where no pixel is left out. A code of one pixel a module is then twelve blocks long.
    static let blockSide = 8

    private var blocks: [Block] = []
    private var columns = 0
    private var rows = 0
    /// Pixels of a block's side.
    private var side = RegionFinder.blockSide
    private var found: [Region] = []
    /// Blocks of the region that is growing.
    private var members: [Int] = []

    private struct Block {
        var xx: Float = 0
        var xy: Float = 0
        var yy: Float = 0
        /// Twice the angle of the gradient, as a direction of length 1: then a bar's two edges agree.
        var doubleX: Float = 0
        var doubleY: Float = 0
        var isCandidate = false
        /// Of a candidate: the energy of its surroundings.
        var strength: Float = 0

        var energy: Float { xx + yy }
    }

    /// Allocates nothing when it has seen a frame of that size before, and the last regions were let go.
    ///
    /// - Parameter scale: how many times larger than ``blockSide`` a block is; of larger blocks fewer rows are looked at.
    /// - Returns: the likeliest first.
    mutating func regions(in frame: Frame, scale: Int = 1) -> [Region] {
        side = Self.blockSide * scale
        measure(frame, scale)
        choose()
        grow()
        return found
    }

    /// The sums of products of the gradients, per block: of four rows of each.
    private mutating func measure(_ frame: Frame, _ scale: Int) {
        columns = (frame.width - 2 * scale) / side
        rows = (frame.height - 2 * scale) / side
        blocks.removeAll(keepingCapacity: true)
        guard columns > 0, rows > 0 else { return }
        blocks.reserveCapacity(columns * rows)
        let (stride, side) = (frame.bytesPerLine, side)
        frame.withLuma { luma in
            guard let base = luma.baseAddress else { return }
            for row in 0..<rows {
                for column in 0..<columns {
                    var sums = SIMD8<Int32>.zero
                    let corner = base + (row * side + scale) * stride + column * side + scale
                    for part in 0..<scale {
                        sums &+= Self.products(
                            corner + part * Self.blockSide, across: scale, along: scale * stride,
                            rows: 2 * scale * stride)
                    }
                    let share = Float(4) / Float(scale)
                    blocks.append(
                        Block(xx: Float(sums[0]) * share, xy: Float(sums[1]) * 2 * share, yy: Float(sums[2]) * share))
                }
            }
        }
    }

    /// Sums over eight pixels of four rows: of the squares of the differences across (0) and along (2), and of half their products (1).
    /// The differences are halved, so that sixteen bits hold four of their products.
    @inline(__always)
    private static func products(_ first: UnsafePointer<UInt8>, across: Int, along: Int, rows: Int) -> SIMD8<Int32> {
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
        let squares = SIMD8<Int32>(truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: xx)).wrappedSum()
        let others = SIMD8<Int32>(truncatingIfNeeded: SIMD8<UInt16>(truncatingIfNeeded: yy)).wrappedSum()
        var result = SIMD8<Int32>.zero
        result[0] = squares
        result[1] = SIMD8<Int32>(truncatingIfNeeded: xy).wrappedSum()
        result[2] = others
        return result
    }

    /// Energy of a block with those around it, from which on there is more than noise.
    private static let strong = Float(blockSide * blockSide / 2) * 9 * 60
    /// What seeds must have, in turn: print in bars has a hundred times the energy of the cloth that it is printed on, and must not be joined with
    /// it.
    private static let seeds = [strong * 256, strong * 16, strong]
    /// The part of a seed's least energy that its neighbours must have: light and shade on one code differ by less.
    private static let shade: Float = 1.0 / 16

    /// Marks the blocks whose surroundings (3 by 3) have strong gradients of one direction.
    private mutating func choose() {
        for row in 0..<rows {
            for column in 0..<columns {
                var (xx, xy, yy): (Float, Float, Float) = (0, 0, 0)
                for r in max(0, row - 1)...min(rows - 1, row + 1) {
                    for c in max(0, column - 1)...min(columns - 1, column + 1) {
                        let block = blocks[r * columns + c]
                        xx += block.xx
                        xy += block.xy
                        yy += block.yy
                    }
                }
                let (x, y) = (xx - yy, 2 * xy)
                let size = (x * x + y * y).squareRoot()
                let energy = xx + yy
                let at = row * columns + column
                blocks[at].isCandidate = energy > Self.strong && size > energy * 0.6
                if blocks[at].isCandidate {
                    (blocks[at].doubleX, blocks[at].doubleY) = (x / size, y / size)
                    blocks[at].strength = energy
                }
            }
        }
    }

    private func middle(column: Int, row: Int) -> Point {
        Point(x: (Double(column) + 0.5) * Double(side), y: (Double(row) + 0.5) * Double(side))
    }

    /// Joins neighbours of one direction (within 15 degrees) and keeps what has the shape of a code.
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

    /// Fills ``members``.
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
        // A line of print or the edge of a book is long along its own direction and thin across.
        let filled = Double(members.count) * side * side / (length * height)
        guard length >= 4 * side, length > height * 0.4, length < height * 14, filled > 0.35 else { return nil }
        let (u, v) = ((along.low + along.high) / 2, (beside.low + beside.high) / 2)
        return Region(
            centre: Point(x: u * across.x - v * across.y, y: u * across.y + v * across.x), across: across,
            length: length, height: height, weight: Double(energy) * filled * side * side / 64)
    }
}
