import Bookplate
import Glibc

/// Reads the EAN-13 codes in photos, with zbar or, if zbar cannot read them, by their grey levels.
///
/// It first finds the regions that look like bars. Each region is then read by one ``Stage`` after the other, from
/// cheap to costly, until the codes in the region have been read with certainty. In this way, all books in a photo are
/// found (at most ``Stage/maxRegionsOfMany``), while a simple photo takes little time.
///
/// It reuses its memory from picture to picture. Two threads must not use the same reader at once.
public struct PhotoReader {
    private var scan: LineScan
    private var finder = RegionFinder()
    private var reader = GreyReader()

    /// - Throws: ``DecoderError`` if memory runs out.
    public init() throws(DecoderError) { scan = try LineScan() }

    /// Finds the bar codes of a picture.
    ///
    /// - Returns: every EAN-13 in reading order, each once, with add-ons joined to the code beside them; empty if there
    ///   is none. Corners are in pixels of the upright full-size image.
    /// - Throws: the picture's own error if its data is damaged, or ``DecoderError`` if memory runs out.
    public mutating func decode(_ picture: some Picture) throws -> [Symbol] {
        var explanation: Explanation?
        return try decode(picture, explaining: &explanation)
    }

    /// Decodes a picture. If the explanation is not `nil`, the steps that were taken are added to it.
    public mutating func decode(_ picture: some Picture, explaining explanation: inout Explanation?) throws -> [Symbol]
    {
        var search = PhotoSearch(picture)
        let size = picture.orientation.uprightSize(width: picture.width, height: picture.height)
        explanation?.width = size.width
        explanation?.height = size.height
        for stage in Stage.cascade {
            let start = explanation == nil ? .zero : threadTime()
            let before = explanation == nil ? [] : search.evidence.symbols.map(\.digits)
            let examined = try run(stage.method, &search)
            explanation?.steps.append(
                Explanation.Step(
                    stage: stage.name, reason: stage.reason, places: examined.map { search.upright($0.corners) },
                    cpu: threadTime() - start,
                    read: search.evidence.symbols.map(\.digits).filter { !before.contains($0) }.map(\.text)))
        }
        return search.evidence.symbols.map { search.symbol($0) }.inReadingOrder()
    }

    /// Runs one stage.
    ///
    /// - Returns: the regions that were read or, if the stage searches for regions, those that were found.
    private mutating func run(_ method: Stage.Method, _ search: inout PhotoSearch<some Picture>) throws -> [Region] {
        var examined: [Region] = []
        switch method {
        case .find:
            let frame = try search.overview()
            guard frame.width > 1, frame.height > 1 else { return [] }
            let scale = search.scale(of: frame)
            examined = search.add(finder.regions(in: frame, scale: scale).map { search.full($0, from: frame) })
        case .findSmall:
            // Where there is one book there may be many.
            if !search.evidence.symbols.isEmpty { search.maxRegions = Stage.maxRegionsOfMany }
            guard search.mayHaveSmallCodes else { return [] }
            let frame = try search.largest()
            let scale = max(1, search.scale(of: frame) / 2)
            search.maxRegions = Stage.maxRegionsOfMany
            examined = search.add(finder.regions(in: frame, scale: scale).map { search.full($0, from: frame) })
        case .lines(let most):
            for region in search.open.prefix(search.maxRegions) where search.isOpen(region) {
                let frame = try search.frame(for: region)
                // If the same lines were read again, they would vote twice.
                guard search.isNew(region, lines: most, of: frame) else { continue }
                search.markRead(region, lines: most, of: frame)
                examined.append(region)
                let mapped = search.map(region, to: frame)
                scan.begin()
                // Take three samples per module. More samples would be slower, and fewer would be read worse.
                scan.scan(
                    frame, region: mapped, enlargement: min(3 * 95 / mapped.length, 2), most: most)
                try collect(frame, &search, from: region)
            }
        case .greyLevels(let most):
            for region in search.open.prefix(most) where search.isOpen(region) {
                let hints = search.evidence.hints(in: region)
                guard search.isNew(region, hints: hints) else { continue }
                examined.append(region)
                try readGreyLevels(of: region, hints: hints, &search)
            }
        case .rowsAndColumns(let density):
            guard search.evidence.symbols.isEmpty else { return [] }
            examined = [search.whole]
            let frame = try search.reduced()
            scan.begin()
            scan.scan(frame, density: density)
            try collect(frame, &search, from: nil)
        }
        return examined
    }

    /// Collects the codes that the lines showed, and checks the grey levels of the codes that only a few lines showed
    /// or that are not a book's.
    private mutating func collect(_ frame: Frame, _ search: inout PhotoSearch<some Picture>, from region: Region?)
        throws
    {
        let symbols = scan.lineEnds.assembled(length: region.map { search.map($0, to: frame).length } ?? 0)
        search.evidence.add(symbols.map { search.full($0, from: frame) }, in: region)
        for claim in search.evidence.unconfirmed where symbols.contains(where: { $0.digits == claim.digits }) {
            if let answer = reader.confirms(claim.digits, in: frame, at: search.map(claim.corners, to: frame)) {
                search.evidence.confirm(claim.digits, answer)
            }
        }
        if let region { search.evidence.settle(region, by: symbols.map(\.digits)) }
        for var symbol in search.evidence.withoutAddon(symbols.map(\.digits)) {
            symbol.corners = search.map(symbol.corners, to: frame)
            scan.begin()
            scan.scan(
                frame, addon: Region(around: symbol.corners).addonRegion, enlargement: min(3 * 95 / symbol.length, 2),
                lines: Stage.linesOfAddon)
            if let addon = symbol.addon(among: scan.lineEnds) { search.evidence.join(addon, to: symbol.digits) }
        }
    }

    private mutating func readGreyLevels(
        of region: Region, hints: [Digits], _ search: inout PhotoSearch<some Picture>
    ) throws {
        search.markRead(region, hints: hints)
        let frame = try search.frame(for: region)
        let block = Double(RegionFinder.blockSide * search.scale(of: frame))
        guard let result = reader.read(frame, region: search.map(region, to: frame), slack: 2.5 * block, hints: hints)
        else { return }
        let symbol = RawSymbol(
            digits: result.digits, lines: result.lines, pointsPerEnd: result.lines, corners: result.corners)
        search.evidence.add(certain: search.full(symbol, from: frame))
        search.evidence.settle(region, by: [result.digits])
    }
}

/// Returns the CPU time of this thread.
private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// One step of reading a photo. ``PhotoReader`` runs the stages in order, each on the regions where a book may still be
/// found.
struct Stage: Sendable {
    enum Method: Sendable {
        /// Finds regions that look like bars (``RegionFinder``).
        case find
        /// Finds regions in the full-size picture, if nothing was read, or if one of the codes that were read is so
        /// small that there may be other small codes.
        case findSmall
        /// Reads lines straight across the bars of each region with zbar (``LineScan``).
        case lines(most: Int)
        /// Reads the grey levels of each region (``GreyReader``).
        case greyLevels(most: Int)
        /// Reads every `density`-th row and column of the whole picture with zbar, if nothing at all was read.
        case rowsAndColumns(density: Int)
    }

    let name: String
    let reason: String
    let method: Method

    // docs/decoding.md says what each stage finds and costs.
    static let cascade = [
        Stage(name: "regions", reason: "areas that look like bar codes", method: .find),
        Stage(name: "lines", reason: "sharp codes, at any angle", method: .lines(most: 13)),
        Stage(
            name: "grey levels", reason: "blurred, bent, glossy and dark codes of books",
            method: .greyLevels(most: 4)),
        Stage(
            name: "small regions",
            reason: "areas that look like bar codes, in photos of many books or of a distant book",
            method: .findSmall),
        Stage(name: "lines of small regions", reason: "sharp codes in small regions", method: .lines(most: 13)),
        Stage(
            name: "grey levels of small regions", reason: "blurred, bent, glossy and dark codes in small regions",
            method: .greyLevels(most: 4)),
        Stage(
            name: "more lines",
            reason: "codes that only a few scan lines showed: partly covered codes, and codes on other products",
            method: .lines(most: 48)),
        Stage(
            name: "rows and columns", reason: "codes outside the areas that look like bar codes",
            method: .rowsAndColumns(density: 2)),
        Stage(
            name: "grey levels again", reason: "codes that only a few rows and columns showed",
            method: .greyLevels(most: 2)),
    ]

    /// The minimum length, in pixels, of the long side of the picture that is read first. A picture with a longer side
    /// is read at a coarser scale.
    static let overviewSide = 1280
    /// The number of lines that are read where an add-on may stand.
    static let linesOfAddon = 6
    /// The maximum number of regions whose lines are read.
    static let maxRegions = 10
    /// The length below which a code counts as small, as a fraction of the picture's long side.
    static let smallPart = 0.1
    /// The maximum number of regions that are read in a photo of many books.
    static let maxRegionsOfMany = 40
    /// The length, in pixels, of the shortest code that is read. A shorter code cannot be read, because its 95 modules
    /// have too few pixels.
    static let shortestCode = 80.0
    /// The length, in pixels, that a code must have in the first picture. A shorter code is read in the full-size
    /// picture.
    static let smallCode = 190.0
}

/// An account of how a picture was decoded, with the codes that each stage read and the time that it took. Positions
/// are in pixels of the upright full-size picture.
public struct Explanation: Sendable {
    public struct Step: Sendable {
        public var stage: String
        public var reason: String
        /// The regions that were read or, if the stage searches for regions, those that were found.
        public var places: [Corners]
        /// The CPU time that the step took.
        public var cpu: Duration
        /// The payloads that count as correct after this step but did not before it.
        public var read: [String]
    }

    public internal(set) var steps: [Step] = []
    /// The width of the upright picture, in pixels.
    public internal(set) var width = 0
    /// The height of the upright picture, in pixels.
    public internal(set) var height = 0

    public init() {}
}

/// The reason why the decoder cannot be used. A picture without a code is not an error.
public enum DecoderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// zbar could not be set up because memory has run out.
    case outOfMemory

    public var description: String {
        "cannot start the bar code decoder: out of memory. Close other programs and try again."
    }
}
