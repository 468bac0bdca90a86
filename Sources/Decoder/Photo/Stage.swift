/// One way of looking at a photo. ``ZBarDecoder`` goes through them in order, each at what is still open.
struct Stage: Sendable {
    enum Look: Sendable {
        /// Finds what looks like bars (``RegionFinder``).
        case find
        /// The same in the full-size picture, where nothing was read, or only codes so small that others may lie there.
        case findSmall
        /// zbar along lines straight across the bars of each region (``LineScan``).
        case lines(most: Int)
        /// The grey levels of each region (``GreyReader``).
        case greyLevels(mostRegions: Int)
        /// zbar along every so many rows and columns of the whole picture, where nothing at all was read.
        case rowsAndColumns(density: Int)
    }

    let name: String
    let reason: String
    let look: Look

    // What each brings and costs: docs/decoding.md.
    static let cascade = [
        Stage(name: "regions", reason: "where bars are", look: .find),
        Stage(name: "lines", reason: "sharp codes, at any angle", look: .lines(most: 13)),
        Stage(
            name: "grey levels", reason: "blurred, bent, glossy and dark codes of books",
            look: .greyLevels(mostRegions: 4)),
        Stage(
            name: "small regions", reason: "where bars are in a photo of many books, or of one far away",
            look: .findSmall),
        Stage(name: "lines of small regions", reason: "the same for these", look: .lines(most: 13)),
        Stage(
            name: "grey levels of small regions", reason: "the same for these", look: .greyLevels(mostRegions: 4)),
        Stage(
            name: "more lines", reason: "what only some lines show: partly covered codes, and those of other goods",
            look: .lines(most: 48)),
        Stage(
            name: "rows and columns", reason: "codes that no region was found for",
            look: .rowsAndColumns(density: 2)),
        Stage(
            name: "grey levels again", reason: "what rows and columns saw, and not often enough",
            look: .greyLevels(mostRegions: 2)),
    ]

    /// The long side, in pixels, that a picture is asked for at least, and that larger ones are looked at as if they had.
    static let overviewSide = 1280
    /// Lines that are read of the place where an add-on may stand.
    static let linesOfAddon = 6
    /// The most regions that lines are read of.
    static let mostRegions = 10
    /// The part of a picture's long side below which a code is small.
    static let smallPart = 0.1
    /// The most regions of a photo of many books.
    static let mostOfMany = 40
    /// Pixels that a code has at least: 95 modules of less than a pixel cannot be read.
    static let shortestCode = 80.0
    /// Pixels of a code below which a larger picture of it is asked for.
    static let smallCode = 190.0
}
