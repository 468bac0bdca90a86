import Bookplate

/// The state of the search for codes in one picture. Regions and corners are in pixels of the stored full-size picture.
struct PhotoSearch<Photo: Picture> {
    private let picture: Photo
    var evidence = Evidence()
    /// The regions that look like bars, likeliest first.
    private(set) var regions: [Region] = []
    /// The maximum number of regions that are read.
    var maxRegions = Stage.maxRegions
    /// The regions whose grey levels were read, each with the hints (digits that some lines had shown, but too few to
    /// be certain) that were known at that time.
    private var readGreyLevels: [(region: Region, hints: [Digits])] = []
    /// The regions whose lines were read, each with the number of lines and the width of the frame.
    private var readLines: [(region: Region, lines: Int, width: Int)] = []

    init(_ picture: Photo) { self.picture = picture }

    private var longSide: Int { max(picture.width, picture.height) }

    /// Returns the picture, decoded at a reduced size if possible. Its long side has at least ``Stage/overviewSide``
    /// pixels if the picture is large enough.
    func overview() throws -> Frame { try picture.luma(atLeast: Stage.overviewSide) }

    /// Returns the picture at its full size.
    func largest() throws -> Frame { try picture.luma(atLeast: longSide) }

    /// Adds regions whose codes have not been read with certainty yet. Regions that are already known are added too,
    /// because in a larger picture a code may be separated from its surroundings.
    ///
    /// - Returns: the regions that were added.
    mutating func add(_ found: [Region]) -> [Region] {
        let new = found.filter { $0.length >= Stage.shortestCode && !evidence.isSettled($0) }
        regions += new
        regions.sort { $0.weight > $1.weight }
        return new
    }

    /// The region of the whole picture.
    var whole: Region {
        let (width, height) = (Double(picture.width), Double(picture.height))
        return Region(
            centre: Point(x: width / 2, y: height / 2), across: Point(x: 1, y: 0), length: width, height: height,
            weight: 0)
    }

    /// True if there may be codes that were missed because they are small.
    var mayHaveSmallCodes: Bool {
        guard longSide > Stage.overviewSide * 3 / 2 else { return false }
        let lengths = evidence.symbols.map(\.length)
        return lengths.isEmpty || lengths.contains { $0 < Stage.smallPart * Double(longSide) }
    }

    /// Returns the overview, scaled down by a whole-number factor so that its long side has about
    /// ``Stage/overviewSide`` pixels.
    func reduced() throws -> Frame {
        let frame = try overview()
        // A very long picture must keep at least one pixel of its short side.
        let scale = min(scale(of: frame), frame.width, frame.height)
        guard scale > 1 else { return frame }
        var result = Frame(width: 1, height: 1)
        frame.reduce(by: scale, into: &result)
        return result
    }

    /// Returns the factor by which the long side of a frame exceeds ``Stage/overviewSide``, rounded to a whole number
    /// of at least 1.
    func scale(of frame: Frame) -> Int {
        max(1, (max(frame.width, frame.height) + Stage.overviewSide / 2) / Stage.overviewSide)
    }

    /// Returns a frame in which a region is large enough to be read.
    func frame(for region: Region) throws -> Frame {
        let frame = try overview()
        return map(region, to: frame).length < Stage.smallCode ? try largest() : frame
    }

    /// The regions where a book may still be found: those that look like bars but in which no code was read with
    /// certainty, and those of codes that were read, but not with certainty.
    var open: [Region] {
        regions.filter(isOpen) + evidence.doubtful.filter { claim in !regions.contains { $0.contains(claim.centre) } }
    }

    /// Returns true if a region should still be read. Once codes have been read, a region is read only if its weight
    /// (``Region/weight``, the strength of its bars) is not much lower than the lowest weight of these codes. This is
    /// true for other books in the same photo, but not for most print and textures.
    func isOpen(_ region: Region) -> Bool {
        if evidence.isSettled(region) { return false }
        if region.weight == 0 { return true }
        // Use the weight of each code's likeliest region.
        let weights = evidence.settledRegions.compactMap { settled in
            regions.first { settled.withAddon.contains($0.centre) }?.weight
        }
        return region.weight > (weights.min() ?? 0) * Self.minWeightRatio
    }

    /// The minimum weight (``Region/weight``, the strength of its bars) of a region that is still read after codes were
    /// read, as a fraction of the lowest weight of these codes. The value was determined with photos of several books.
    private static var minWeightRatio: Double { 0.25 }

    /// Returns true if the grey levels of a region have not been read yet, or have been read without some of the given
    /// hints.
    func isNew(_ region: Region, hints: [Digits]) -> Bool {
        !readGreyLevels.contains { other, known in
            other.contains(region.centre) && other.length * 0.7 < region.length && region.length * 0.7 < other.length
                && hints.allSatisfy(known.contains)
        }
    }

    /// Returns true if a region has not been read yet with this number of lines in a frame of this width.
    func isNew(_ region: Region, lines: Int, of frame: Frame) -> Bool {
        !readLines.contains {
            $0.region.centre == region.centre && $0.region.length == region.length && $0.lines == lines
                && $0.width == frame.width
        }
    }

    mutating func markRead(_ region: Region, lines: Int, of frame: Frame) {
        readLines.append((region, lines, frame.width))
    }

    mutating func markRead(_ region: Region, hints: [Digits]) { readGreyLevels.append((region, hints)) }

    // MARK: coordinates

    /// Maps a region of a frame to the full-size picture. The region's weight is converted too, so that regions of
    /// different frames can be compared.
    func full(_ region: Region, from frame: Frame) -> Region {
        let (x, y) = (
            Double(picture.width) / Double(frame.width), Double(picture.height) / Double(frame.height)
        )
        var region = region.scaled(x: x, y: y)
        region.weight *= x * y
        return region
    }

    func map(_ region: Region, to frame: Frame) -> Region {
        region.scaled(x: Double(frame.width) / Double(picture.width), y: Double(frame.height) / Double(picture.height))
    }

    func map(_ corners: Corners, to frame: Frame) -> Corners {
        let x = Double(frame.width) / Double(picture.width)
        let y = Double(frame.height) / Double(picture.height)
        return corners.mapped { Point(x: $0.x * x, y: $0.y * y) }
    }

    func full(_ symbol: RawSymbol, from frame: Frame) -> RawSymbol {
        let x = Double(picture.width) / Double(frame.width)
        let y = Double(picture.height) / Double(frame.height)
        var result = symbol
        result.corners = symbol.corners.mapped { Point(x: $0.x * x, y: $0.y * y) }
        return result
    }

    /// Maps corners to the upright picture.
    func upright(_ corners: Corners) -> Corners {
        corners.mapped { picture.orientation.upright($0, width: picture.width, height: picture.height) }
    }

    func symbol(_ raw: RawSymbol) -> Symbol {
        Symbol(
            payload: raw.digits.text, addon: raw.addon?.text, quality: raw.lines, corners: upright(raw.corners))
    }
}
