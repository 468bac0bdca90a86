import Bookplate

/// One end of a code where one line crossed it, in pixels of the scanned frame.
struct LineEnd {
    let digits: Digits
    let x: Float
    let y: Float
    /// The way the code runs from its left to its right along the line, of length 1.
    let dx: Float
    let dy: Float
    /// Whether it is the code's right end, else its left one.
    let isRightEnd: Bool
    /// Counts the lines of one scan; a line that is read both ways is one.
    let line: Int
    /// The line alone showed all of it; else halves that neighbouring lines saw were put together, and it ended anywhere.
    let isWhole: Bool
}

/// Codes as a scan saw them, before anyone decides whether to believe it.
struct RawSymbol {
    var digits: Digits
    var addon: Digits?
    /// Lines that agreed.
    var lines: Int
    /// Those of them that showed the code whole.
    var wholeLines = 0
    /// Points known of the end that fewer are known of, from lines that showed the code whole: what the corners rest on.
    var pointsPerEnd: Int
    /// In pixels of the scanned frame.
    var corners: Corners

    /// Enough whole lines for the corners to be the code's: one or two, as rows across a slanted code, do not tell how it lies.
    var isPlaced: Bool { pointsPerEnd >= 4 }

    var length: Double {
        let (dx, dy) = (corners.topRight.x - corners.topLeft.x, corners.topRight.y - corners.topLeft.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
