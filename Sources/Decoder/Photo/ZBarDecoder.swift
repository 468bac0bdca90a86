import Bookplate
import Glibc

/// Finds the EAN-13 codes of photos: with zbar, and where that ends by their grey levels.
///
/// What looks like bars is found first. Every such region is then read by one stage after the other (``Stage``), from cheap to costly,
/// until it is read for sure. So all books of a photo are looked for (``Stage/mostOfMany`` at most), and a plain photo is cheap.
///
/// Keeps its memory from picture to picture; not for two threads at once.
public struct ZBarDecoder: SymbolDecoder {
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
        var search = Search(picture)
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
    private mutating func run(_ look: Stage.Look, _ search: inout Search<some Picture>) throws -> [Region] {
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
    private mutating func take(_ frame: Frame, _ search: inout Search<some Picture>, from region: Region?) throws {
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
        of region: Region, hints: [Digits], _ search: inout Search<some Picture>
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
