import Bookplate
import Glibc

/// Finds the EAN-13 codes of photos: with zbar, and where that ends by their grey levels.
///
/// What looks like bars is found first. Every such region is then read by one stage after the other (``Stage``), from cheap to costly,
/// until it is read for sure. So all books of a photo are looked for (``Stage/mostOfMany`` at most), and a plain photo is cheap.
///
/// Keeps its memory from picture to picture; not for two threads at once.
public struct PhotoReader: SymbolDecoder {
    private var scan: LineScan
    private var finder = RegionFinder()
    private var reader = GreyReader()

    /// - Throws: ``DecoderError`` when memory runs out.
    public init() throws(DecoderError) { scan = try LineScan() }

    public mutating func decode(_ picture: some Picture) throws -> [Symbol] {
        var explanation: Explanation?
        return try decode(picture, explaining: &explanation)
    }

    /// The same, telling what was done where an explanation is given to be filled.
    public mutating func decode(_ picture: some Picture, explaining explanation: inout Explanation?) throws -> [Symbol]
    {
        var search = PhotoSearch(picture)
        let size = picture.orientation.uprightSize(width: picture.width, height: picture.height)
        explanation?.width = size.width
        explanation?.height = size.height
        for stage in Stage.cascade {
            let start = explanation == nil ? .zero : threadTime()
            let before = explanation == nil ? [] : search.evidence.symbols.map(\.digits)
            let looked = try run(stage.look, &search)
            explanation?.steps.append(
                Explanation.Step(
                    stage: stage.name, reason: stage.reason, places: looked.map { search.upright($0.corners) },
                    cpu: threadTime() - start,
                    read: search.evidence.symbols.map(\.digits).filter { !before.contains($0) }.map(\.text)))
        }
        return search.evidence.symbols.map { search.symbol($0) }.inReadingOrder()
    }

    /// - Returns: what was looked at; of a search what was found.
    private mutating func run(_ look: Stage.Look, _ search: inout PhotoSearch<some Picture>) throws -> [Region] {
        var looked: [Region] = []
        switch look {
        case .find:
            let frame = try search.overview()
            guard frame.width > 1, frame.height > 1 else { return [] }
            let scale = search.scale(of: frame)
            looked = search.add(finder.regions(in: frame, scale: scale).map { search.full($0, from: frame) })
        case .findSmall:
            // A photo of one book may well be one of many.
            if !search.evidence.symbols.isEmpty { search.mostRegions = Stage.mostOfMany }
            guard search.mayHaveSmallCodes else { return [] }
            let frame = try search.largest()
            let scale = max(1, search.scale(of: frame) / 2)
            search.mostRegions = Stage.mostOfMany
            looked = search.add(finder.regions(in: frame, scale: scale).map { search.full($0, from: frame) })
        case .lines(let most):
            for region in search.open.prefix(search.mostRegions) where search.isOpen(region) {
                let frame = try search.frame(for: region)
                // The same lines would vote twice.
                guard search.isNew(region, lines: most, of: frame) else { continue }
                search.note(region, lines: most, of: frame)
                looked.append(region)
                let seen = search.seen(region, in: frame)
                scan.begin()
                // Three samples a module: more is slower, less is worse.
                scan.scan(
                    frame, region: seen, enlargement: min(3 * 95 / seen.length, 2), most: most)
                try take(frame, &search, from: region)
            }
        case .greyLevels(let most):
            for region in search.open.prefix(most) where search.isOpen(region) {
                let hints = search.evidence.hints(in: region)
                guard search.isNew(region, hints: hints) else { continue }
                looked.append(region)
                try readGreyLevels(of: region, hints: hints, &search)
            }
        case .rowsAndColumns(let density):
            guard search.evidence.symbols.isEmpty else { return [] }
            looked = [search.whole]
            let frame = try search.reduced()
            scan.begin()
            scan.scan(frame, density: density)
            try take(frame, &search, from: nil)
        }
        return looked
    }

    /// Takes over what lines showed, and asks the grey levels about what few lines showed, or what is no book.
    private mutating func take(_ frame: Frame, _ search: inout PhotoSearch<some Picture>, from region: Region?) throws {
        let symbols = scan.lineEnds.assembled(length: region.map { search.seen($0, in: frame).length } ?? 0)
        search.evidence.add(symbols.map { search.full($0, from: frame) }, in: region)
        for claim in search.evidence.unconfirmed where symbols.contains(where: { $0.digits == claim.digits }) {
            if let answer = reader.confirms(claim.digits, in: frame, at: search.seen(claim.corners, in: frame)) {
                search.evidence.confirm(claim.digits, answer)
            }
        }
        if let region { search.evidence.settle(region, by: symbols.map(\.digits)) }
        for var symbol in search.evidence.withoutAddon(symbols.map(\.digits)) {
            symbol.corners = search.seen(symbol.corners, in: frame)
            scan.begin()
            scan.scan(
                frame, addon: Region(around: symbol.corners).placeOfAddon, enlargement: min(3 * 95 / symbol.length, 2),
                lines: Stage.linesOfAddon)
            if let addon = symbol.addon(among: scan.lineEnds) { search.evidence.join(addon, to: symbol.digits) }
        }
    }

    private mutating func readGreyLevels(
        of region: Region, hints: [Digits], _ search: inout PhotoSearch<some Picture>
    ) throws {
        search.note(region, hints: hints)
        let frame = try search.frame(for: region)
        let block = Double(RegionFinder.blockSide * search.scale(of: frame))
        guard let reading = reader.read(frame, region: search.seen(region, in: frame), slack: 2.5 * block, hints: hints)
        else { return }
        let symbol = RawSymbol(
            digits: reading.digits, lines: reading.looks, pointsPerEnd: reading.looks, corners: reading.corners)
        search.evidence.add(sure: search.full(symbol, from: frame))
        search.evidence.settle(region, by: [reading.digits])
    }
}

/// CPU time of this thread.
private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// One way of looking at a photo. ``PhotoReader`` goes through them in order, each at what is still open.
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

/// What a decoder did with a picture: which stage read what, and what each cost. Paths are in pixels of the upright full-size picture.
public struct Explanation: Sendable {
    public struct Step: Sendable {
        public var stage: String
        public var reason: String
        /// What was looked at; for the search for regions those found.
        public var places: [Corners]
        /// CPU time of the thread.
        public var cpu: Duration
        /// What was believed for the first time after it.
        public var read: [String]
    }

    public internal(set) var steps: [Step] = []
    /// Of the upright picture, in pixels.
    public internal(set) var width = 0
    public internal(set) var height = 0

    public init() {}
}

/// Why no code can be looked for at all. A picture without a code is not an error.
public enum DecoderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// zbar could not be set up.
    case outOfMemory

    public var description: String {
        "cannot start the bar code decoder: out of memory. Close other programs and try again."
    }
}
