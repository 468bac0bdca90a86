import Bookplate

/// Finds EAN-13 codes with zbar, in several passes from cheap to costly (``Pass``).
///
/// The first pass reads the whole picture. What follows is spent only on regions that look like bars and were not read, and, when
/// nothing at all was read, on the whole picture in other ways. So every book of a photo is found, and a plain photo is cheap.
///
/// Keeps its memory from picture to picture; not for two threads at once.
public struct ZBarDecoder: SymbolDecoder {
    private var scan: LineScan
    private var finder = RegionFinder()
    private var greyReader = GreyReader()

    /// - Throws: ``DecoderError`` when memory runs out.
    public init() throws(DecoderError) { scan = try LineScan() }

    public mutating func decode(_ picture: some Picture) throws -> [Symbol] {
        var evidence = Evidence()
        let overview = try picture.luma(longSide: Pass.overviewSide)
        guard overview.width > 1, overview.height > 1 else { return [] }
        scan.begin()
        scan.scan(overview, density: 2)
        add(to: &evidence, from: overview, of: picture)
        var regions = finder.regions(in: overview).map { $0.mapped(from: overview, to: picture) }
        // A code has 95 modules, and less than a pixel for each cannot be read. Where one book was read, the others on the table
        // are about as large and as black: a word of print has a hundredth of a code's gradients.
        let least = evidence.symbols.isEmpty ? 0 : (regions.map(\.weight).max() ?? 0) * 0.05
        regions.removeAll { $0.length < 80 || $0.weight < least }
        for pass in Pass.afterOverview {
            guard pass.isWorthIt(picture, evidence, evidence.leavesOpen(regions)) else { continue }
            scan.begin()
            let frame: Frame
            switch pass.look {
            case .whole(let longSide, let density):
                frame = try picture.luma(longSide: longSide)
                scan.scan(frame, density: density)
            case .blackAndWhite(let density):
                frame = overview.blackAndWhite()
                scan.scan(frame, density: density)
            case .regions(let longSide, let enlargement, let most):
                let open = evidence.open(among: regions)
                guard !open.isEmpty else { continue }
                frame = longSide == Pass.overviewSide ? overview : try picture.luma(longSide: longSide)
                for region in open.prefix(most) {
                    scan.scan(frame, region: region.mapped(from: picture, to: frame), enlargement: enlargement)
                }
            case .greyLevels(let most):
                try readGreyLevels(
                    of: evidence.open(among: regions).prefix(most), of: picture, overview, into: &evidence)
                continue
            }
            add(to: &evidence, from: frame, of: picture)
        }
        return evidence.symbols.map { Symbol($0, in: picture) }.inReadingOrder()
    }

    private mutating func readGreyLevels(
        of regions: ArraySlice<Region>, of picture: some Picture, _ overview: Frame, into evidence: inout Evidence
    ) throws {
        for region in regions {
            let isSmall = region.mapped(from: picture, to: overview).length < 250
            let frame = isSmall ? try picture.luma(longSide: .max) : overview
            let blocks = 2.5 * Double(RegionFinder.blockSide * frame.width) / Double(overview.width)
            guard let result = greyReader.read(frame, region: region.mapped(from: picture, to: frame), slack: blocks),
                result.isSure
            else { continue }
            let raw = RawSymbol(
                digits: result.digits, lines: result.agreeing, pointsPerEnd: result.bands, corners: result.corners)
            evidence.add(sure: raw.enlarged(from: frame, to: picture))
        }
    }

    private func add(to evidence: inout Evidence, from frame: Frame, of picture: some Picture) {
        evidence.add(scan.lineEnds.assembled().map { $0.enlarged(from: frame, to: picture) })
    }
}

extension RawSymbol {
    fileprivate func enlarged(from frame: Frame, to picture: some Picture) -> RawSymbol {
        let x = Double(picture.width) / Double(frame.width)
        let y = Double(picture.height) / Double(frame.height)
        var symbol = self
        symbol.corners = corners.mapped { Point(x: $0.x * x, y: $0.y * y) }
        return symbol
    }
}

extension Evidence {
    /// Where a book may still be: what was read but is not believed, then what looks like bars. Once a book is read, only what
    /// looks about as much like bars as its code does: other books of the same photo do, print and textures do not.
    fileprivate func open(among regions: [Region]) -> [Region] {
        let likeliest = regions.filter(isSettled).map(\.weight).max() ?? 0
        return doubtful + regions.filter { !isSettled($0) && $0.weight > likeliest * Self.likeness }
    }

    /// Whether anything that looks like bars at all was not read.
    fileprivate func leavesOpen(_ regions: [Region]) -> Bool { !doubtful.isEmpty || !regions.allSatisfy(isSettled) }

    private func isSettled(_ region: Region) -> Bool {
        settledForBooks.contains { $0.withAddon.contains(region.centre) }
    }

    /// Of the weight of a code that was read; tried on the sample photos of several books.
    private static let likeness = 0.25
}

extension Symbol {
    /// - Parameter raw: corners in pixels of the stored full-size picture.
    fileprivate init(_ raw: RawSymbol, in picture: some Picture) {
        self.init(
            payload: raw.digits.text, addon: raw.addon?.text, quality: raw.lines,
            corners: raw.corners.mapped {
                picture.orientation.upright($0, width: picture.width, height: picture.height)
            })
    }
}

extension Region {
    /// The same region in pixels of the stored full-size picture, seen in one of its frames, or the other way round.
    fileprivate func mapped(from picture: some Picture, to frame: Frame) -> Region {
        scaled(x: Double(frame.width) / Double(picture.width), y: Double(frame.height) / Double(picture.height))
    }

    fileprivate func mapped(from frame: Frame, to picture: some Picture) -> Region {
        scaled(x: Double(picture.width) / Double(frame.width), y: Double(picture.height) / Double(frame.height))
    }
}
