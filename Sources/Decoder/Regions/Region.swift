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
    /// Squared differences of grey levels in it, of all pixels: the more, the likelier.
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

    /// A point by pixels along and beside its middle.
    func point(along: Double, beside: Double) -> Point {
        Point(
            x: centre.x + across.x * along - across.y * beside, y: centre.y + across.y * along + across.x * beside)
    }

    /// Of a code, which is 95 modules long: the room to its right where an add-on stands, from 7 to 12 modules behind it and at most 47 wide
    /// (GS1 General Specifications, 5.2.1.4), with a little before and behind it. The height is what both have in common.
    var placeOfAddon: Region {
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
    /// The code's box where it was not read. Which end is the code's left is not known: the left one in the picture stands for it.
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
