import Bookplate

/// A part of a frame that looks like bars: a box along the way the lines run across them.
struct Region {
    var centre: Point
    /// Across the bars, of length 1. Which end is the code's left is not known.
    var across: Point
    /// Across the bars, in pixels.
    var length: Double
    /// Along the bars, in pixels.
    var height: Double
    /// Pixels of gradient in it: the more, the likelier.
    var weight: Double

    /// The factors of the two axes differ by the rounding of a frame's size only.
    func scaled(x: Double, y: Double) -> Region {
        Region(
            centre: Point(x: centre.x * x, y: centre.y * y), across: across, length: length * x, height: height * y,
            weight: weight)
    }

    /// The code in it with an add-on on either side, and the digits printed below.
    var withAddon: Region {
        var larger = self
        larger.length *= 2.2
        larger.height *= 1.3
        return larger
    }

    func contains(_ point: Point, margin: Double = 0) -> Bool {
        let (x, y) = (point.x - centre.x, point.y - centre.y)
        return abs(x * across.x + y * across.y) <= length / 2 + margin
            && abs(x * across.y - y * across.x) <= height / 2 + margin
    }
}
