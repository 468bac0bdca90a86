import Bookplate

/// What is known of one picture while it is searched. Regions and corners are in pixels of the stored full-size picture.
struct PhotoSearch<Photo: Picture> {
    private let picture: Photo
    var evidence = Evidence()
    /// What looks like bars, the likeliest first.
    private(set) var regions: [Region] = []
    /// The most of them that are read.
    var mostRegions = Stage.mostRegions
    /// Regions whose grey levels were read, and what was known of them then.
    private var tried: [(region: Region, hints: [Digits])] = []
    /// Of which regions how many lines were read, in a frame of which width.
    private var readLines: [(region: Region, lines: Int, width: Int)] = []

    init(_ picture: Photo) { self.picture = picture }

    private var longSide: Int { max(picture.width, picture.height) }

    /// The picture as it can be had most cheaply.
    func overview() throws -> Frame { try picture.luma(atLeast: Stage.overviewSide) }

    /// The picture at its full size.
    func largest() throws -> Frame { try picture.luma(atLeast: longSide) }

    /// Adds what was found, unless it is read; also what is known already, for in a larger picture a code may be told from what lies
    /// beside it.
    ///
    /// - Returns: what was added.
    mutating func add(_ found: [Region]) -> [Region] {
        let new = found.filter { $0.length >= Stage.shortestCode && !evidence.isSettled($0) }
        regions += new
        regions.sort { $0.weight > $1.weight }
        return new
    }

    /// All of the picture.
    var whole: Region {
        let (width, height) = (Double(picture.width), Double(picture.height))
        return Region(
            centre: Point(x: width / 2, y: height / 2), across: Point(x: 1, y: 0), length: width, height: height,
            weight: 0)
    }

    /// Whether there may be codes that were not found because they are small.
    var mayHaveSmallCodes: Bool {
        guard longSide > Stage.overviewSide * 3 / 2 else { return false }
        let lengths = evidence.symbols.map(\.length)
        return lengths.isEmpty || lengths.contains { $0 < Stage.smallPart * Double(longSide) }
    }

    /// The same made small by whole parts.
    func reduced() throws -> Frame {
        let frame = try overview()
        // No thinner than a pixel: a picture can be all length.
        let scale = min(scale(of: frame), frame.width, frame.height)
        guard scale > 1 else { return frame }
        var result = Frame(width: 1, height: 1)
        frame.reduce(by: scale, into: &result)
        return result
    }

    /// How many times larger a frame is than what is looked at.
    func scale(of frame: Frame) -> Int {
        max(1, (max(frame.width, frame.height) + Stage.overviewSide / 2) / Stage.overviewSide)
    }

    /// A frame in which a region is large enough.
    func frame(for region: Region) throws -> Frame {
        let frame = try overview()
        return seen(region, in: frame).length < Stage.smallCode ? try largest() : frame
    }

    /// Where a book may still be: what was read and is not believed, and what looks like bars.
    var open: [Region] {
        regions.filter(isOpen) + evidence.doubtful.filter { claim in !regions.contains { $0.contains(claim.centre) } }
    }

    /// Once codes are read, only what looks about as much like bars as the least of them is open: other books of the same photo do, most
    /// print and textures do not.
    func isOpen(_ region: Region) -> Bool {
        if evidence.isSettled(region) { return false }
        if region.weight == 0 { return true }
        // The likeliest region of each code stands for it.
        let weights = evidence.settledPlaces.compactMap { place in
            regions.first { place.withAddon.contains($0.centre) }?.weight
        }
        return region.weight > (weights.min() ?? 0) * Self.likeness
    }

    /// Of the weight of a code that was read; tried on photos of several books.
    private static var likeness: Double { 0.25 }

    /// Whether the grey levels of a region were not read yet, or not with what is known of it now.
    func isNew(_ region: Region, hints: [Digits]) -> Bool {
        !tried.contains { other, known in
            other.contains(region.centre) && other.length * 0.7 < region.length && region.length * 0.7 < other.length
                && hints.allSatisfy(known.contains)
        }
    }

    /// Whether so many lines of a region were not read yet in a frame of this size.
    func isNew(_ region: Region, lines: Int, of frame: Frame) -> Bool {
        !readLines.contains {
            $0.region.centre == region.centre && $0.region.length == region.length && $0.lines == lines
                && $0.width == frame.width
        }
    }

    mutating func note(_ region: Region, lines: Int, of frame: Frame) { readLines.append((region, lines, frame.width)) }

    mutating func note(_ region: Region, hints: [Digits]) { tried.append((region, hints)) }

    // From one frame to the picture and back.

    /// With its weight in the picture's pixels, so that those of two frames can be compared.
    func full(_ region: Region, from frame: Frame) -> Region {
        let (x, y) = (
            Double(picture.width) / Double(frame.width), Double(picture.height) / Double(frame.height)
        )
        var region = region.scaled(x: x, y: y)
        region.weight *= x * y
        return region
    }

    func seen(_ region: Region, in frame: Frame) -> Region {
        region.scaled(x: Double(frame.width) / Double(picture.width), y: Double(frame.height) / Double(picture.height))
    }

    func seen(_ corners: Corners, in frame: Frame) -> Corners {
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

    /// In the picture as it stands upright.
    func upright(_ corners: Corners) -> Corners {
        corners.mapped { picture.orientation.upright($0, width: picture.width, height: picture.height) }
    }

    func symbol(_ raw: RawSymbol) -> Symbol {
        Symbol(
            payload: raw.digits.text, addon: raw.addon?.text, quality: raw.lines, corners: upright(raw.corners))
    }
}
