import Bookplate

/// One way of looking at a picture. ``ZBarDecoder`` goes through them in order; first comes the overview, every second row and
/// column of the picture averaged to 1280 pixels.
struct Pass: Sendable {
    enum Look: Sendable {
        /// Every `density`-th row and column of the picture, averaged to a size.
        case whole(longSide: Int, density: Int)
        /// The same of the overview, cut to black and white first.
        case blackAndWhite(density: Int)
        /// Only where it looks like bars and nothing is believed yet: the `most` likeliest regions, straight across the bars.
        case regions(longSide: Int, enlargement: Double, most: Int)
        /// The same regions by ``GreyReader``.
        case greyLevels(most: Int)
    }

    let name: String
    let reason: String
    let look: Look
    /// - Parameter hasOpenRegion: something that looks like bars was not read yet.
    let isWorthIt: @Sendable (_ picture: any Picture, _ evidence: Evidence, _ hasOpenRegion: Bool) -> Bool

    /// Reads four photos of five. Averaging takes noise away, and the full size would cost eight times as much and read less.
    static let overviewSide = 1280

    static let afterOverview = [
        Pass(
            name: "regions", reason: "codes at an angle, and small ones between much else",
            look: .regions(longSide: overviewSide, enlargement: 1, most: 8), isWorthIt: { _, _, _ in true }),
        Pass(
            name: "regions, enlarged", reason: "codes of less than two pixels a module",
            look: .regions(longSide: overviewSide, enlargement: 2, most: 6),
            isWorthIt: { picture, _, _ in max(picture.width, picture.height) <= overviewSide }),
        Pass(
            name: "small", reason: "noise and glare that averaging over more pixels takes away",
            look: .whole(longSide: 640, density: 1), isWorthIt: { _, evidence, _ in evidence.symbols.isEmpty }),
        Pass(
            name: "black and white", reason: "washed-out prints",
            look: .blackAndWhite(density: 2), isWorthIt: { _, evidence, _ in evidence.symbols.isEmpty }),
        Pass(
            name: "regions, full size", reason: "small codes in large photos: several books on a table",
            look: .regions(longSide: .max, enlargement: 1, most: 6),
            isWorthIt: { picture, _, _ in max(picture.width, picture.height) > overviewSide }),
        Pass(
            name: "full size",
            reason:
                "small codes in a cover's texture or beside its print, which no region tells apart; even every fifth line crosses one often",
            look: .whole(longSide: 2560, density: 5),
            isWorthIt: { picture, evidence, hasOpenRegion in
                max(picture.width, picture.height) > overviewSide && (hasOpenRegion || evidence.symbols.isEmpty)
            }),
        Pass(
            name: "grey levels",
            reason: "blurred, dark and glossy prints, in which bars and spaces can no longer be told apart",
            look: .greyLevels(most: 3), isWorthIt: { _, _, _ in true }),
    ]
}
