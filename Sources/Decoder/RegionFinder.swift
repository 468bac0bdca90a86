import Bookplate
import Glibc

/// Finds what looks like bars: neighbouring blocks whose gradients are strong and all run one way.
///
/// Source: the structure tensor of a block (Bigün and Granlund, "Optimal orientation detection of linear symmetry", ICCV 1987); for
/// bar codes in OpenCV's detector, from "Universal barcode detector via semantic segmentation" and its predecessors.
struct RegionFinder {
    /// Pixels of a block's side. A code of one pixel a module is then twelve blocks long.
    static let blockSide = 8

    private var blocks: [Block] = []
    private var columns = 0
    private var rows = 0
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

        var energy: Float { xx + yy }
    }

    /// Allocates nothing when it has seen a frame of that size before, and the last regions were let go.
    ///
    /// - Returns: the likeliest first.
    mutating func regions(in frame: Frame) -> [Region] {
        measure(frame)
        choose()
        grow()
        return found
    }

    /// The sums of products of the gradients, per block; every second row is enough.
    private mutating func measure(_ frame: Frame) {
        columns = frame.width / Self.blockSide
        rows = frame.height / Self.blockSide
        blocks.removeAll(keepingCapacity: true)
        blocks.reserveCapacity(columns * rows)
        let stride = frame.bytesPerLine
        frame.withLuma { luma in
            for row in 0..<rows {
                for column in 0..<columns {
                    var (xx, xy, yy): (Int32, Int32, Int32) = (0, 0, 0)
                    for y in Swift.stride(from: row * Self.blockSide, to: (row + 1) * Self.blockSide, by: 2)
                    where y > 0 && y < frame.height - 1 {
                        for x in max(1, column * Self.blockSide)..<min((column + 1) * Self.blockSide, frame.width - 1) {
                            let at = luma.baseAddress! + y * stride + x
                            let gx = Int32(at[1]) - Int32(at[-1])
                            let gy = Int32(at[stride]) - Int32(at[-stride])
                            xx &+= gx &* gx
                            xy &+= gx &* gy
                            yy &+= gy &* gy
                        }
                    }
                    blocks.append(Block(xx: Float(xx), xy: Float(xy), yy: Float(yy)))
                }
            }
        }
    }

    /// Marks the blocks whose surroundings (3 by 3) have strong gradients of one direction.
    private mutating func choose() {
        let strong = Float(Self.blockSide * Self.blockSide / 2) * 9 * 60
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
                blocks[at].isCandidate = energy > strong && size > energy * 0.6
                if blocks[at].isCandidate {
                    (blocks[at].doubleX, blocks[at].doubleY) = (x / size, y / size)
                }
            }
        }
    }

    private func middle(column: Int, row: Int) -> Point {
        Point(x: (Double(column) + 0.5) * Double(Self.blockSide), y: (Double(row) + 0.5) * Double(Self.blockSide))
    }

    /// Joins neighbours of one direction (within 15 degrees) and keeps what has the shape of a code.
    private mutating func grow() {
        found.removeAll(keepingCapacity: true)
        for seed in blocks.indices where blocks[seed].isCandidate {
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
                        if blocks[other].isCandidate, agreement > 0.85 {
                            blocks[other].isCandidate = false
                            members.append(other)
                        }
                    }
                }
            }
            if let region = regionOfMembers() { found.append(region) }
        }
        found.sort { $0.weight > $1.weight }
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
        let side = Double(Self.blockSide)
        let (length, height) = (along.high - along.low + side, beside.high - beside.low + side)
        // A line of print or the edge of a book is long along its own direction and thin across.
        let filled = Double(members.count) * side * side / (length * height)
        guard length >= 32, length > height * 0.4, length < height * 14, filled > 0.35 else { return nil }
        let (u, v) = ((along.low + along.high) / 2, (beside.low + beside.high) / 2)
        return Region(
            centre: Point(x: u * across.x - v * across.y, y: u * across.y + v * across.x), across: across,
            length: length, height: height, weight: Double(energy) * filled)
    }
}
