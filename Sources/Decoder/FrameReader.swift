import Bookplate

/// Reads a camera's frames. Cheap steps run on every frame, and costlier steps run only on some frames or where a code
/// was recently read.
///
/// In every frame, it reads every eighth row and column (every twelfth at 1920x1080), and the selection changes from
/// frame to frame. Once nothing has changed for as many frames as ``Consensus`` needs, it reads a third of those that
/// do not cross a known code. It then returns to the regions where a code was read during the last second but has not
/// been read in this frame, and reads lines across their bars. It also searches for regions that look like bars, reads
/// them, and reads the grey levels of one of them (``FrameEvidence``); this search runs in every third frame, after a
/// code was lost, and as long as something is unread. A code that is missed in one frame may be read in the next, and
/// ``Consensus`` needs several frames anyway.
///
/// Once its buffers have grown to the size of the frames, only the reading of grey levels allocates memory. Two threads
/// must not use the same reader at once.
public struct FrameReader: FrameDecoder {
    private var scan: LineScan
    private var finder = RegionFinder()
    private var reduced = Frame(width: 1, height: 1)
    private var raw: [RawSymbol] = []
    private var regions: [Region] = []
    private var tracked: [TrackedCode] = []
    private var frames = 0
    private var evidence = FrameEvidence()
    /// True if something in the previous frame looked like bars and was not read.
    private var hasUnread = false
    /// The number of successive frames in which every code was located and no bars were left unread.
    private var settledFrames = 0
    /// The codes that were read from several frames together.
    private var certain: [RawSymbol] = []

    /// A code that was read recently.
    private struct TrackedCode {
        var region: Region
        var digits: Digits
        var lastRead: Duration
        /// The number of the frame in which it was last read.
        var lastFrame: Int
    }

    /// The time for which a code is remembered after it was read. During this time, its region is read closely, and
    /// misreads in the region are recognised.
    private static let memory: Duration = .seconds(1)
    /// The time, and the number of frames, for which bars are searched for in every frame after a code was lost. After
    /// that, it has probably left the picture.
    private static let lossTime: Duration = .milliseconds(200)
    private static let lossFrames = 2
    private static let maxTracked = 8
    /// The number of frames from one search for bars to the next.
    private static let searchInterval = 3
    /// The maximum number of regions that are read after a search for bars.
    private static let maxRegions = 4
    /// The maximum number of lines that are read in a region. In photos, more lines are read.
    private static let linesPerRegion = 24
    /// The long side, in pixels, above which frames are searched for bars at a half, a third and so on of their size.
    private static let searchSide = 1280

    /// - Throws: ``DecoderError`` if memory runs out.
    public init() throws(DecoderError) {
        scan = try LineScan()
        tracked.reserveCapacity(Self.maxTracked + 1)
    }

    public mutating func read(_ frame: Frame, into result: inout FrameResult) {
        result.symbols.removeAll(keepingCapacity: true)
        result.unread.removeAll(keepingCapacity: true)
        result.certain.removeAll(keepingCapacity: true)
        certain.removeAll(keepingCapacity: true)
        (result.sharpness, result.pixelsPerModule) = (nil, nil)
        // The lines are so dense that five of them cross the smallest readable code, which is about 60 pixels high.
        let density = min(max(min(frame.width, frame.height) / 90, 1), 12)
        let lines = Self.lines(of: frames, density: density)
        frames += 1
        result.light = frame.light(offset: 5 * frames % 8)
        tracked.removeAll { frame.timestamp - $0.lastRead >= Self.memory || frame.timestamp < $0.lastRead }

        scan.begin()
        scan.scan(
            frame, density: density, offset: min(lines.offset, min(frame.width, frame.height) - 1),
            focus: focus(density: density, turn: lines.turn))
        scan.lineEnds.assemble(into: &raw)
        let isOpen = rereadTracked(frame)
        if isOpen || hasUnread || frames % Self.searchInterval == 1 {
            search(frame, &result)
            hasUnread = !result.unread.isEmpty
        }
        let showsAll = !isOpen && !hasUnread && raw.contains { $0.isFirm && $0.isLocated }
        settledFrames = showsAll ? settledFrames + 1 : 0
        report(at: frame.timestamp, into: &result)
    }

    /// Returns which lines of a frame are read: every `density`-th from `offset`, and of those that matter less, the
    /// third that `turn` selects. After a few frames, every line is close to one that was read, and after three times
    /// `density` frames, all of them were read.
    static func lines(of number: Int, density: Int) -> (offset: Int, turn: Int) {
        let offset = number * (density.isMultiple(of: 5) ? 3 : 5) % density
        // Otherwise, each offset would always come with the same third.
        return (offset, number + (density.isMultiple(of: 3) ? number / density : 0))
    }

    /// Returns the lines to prefer while the places of all codes in view are known; `nil` to read every line.
    private func focus(density: Int, turn: Int) -> LineScan.Focus? {
        guard settledFrames >= Consensus.agreeingFrames, tracked.contains(where: { $0.lastFrame == frames - 1 })
        else { return nil }
        var focus = LineScan.Focus(turn: turn)
        let margin = Double(2 * density)
        for code in tracked where code.lastFrame == frames - 1 {
            let region = code.region
            let (x, y) = (abs(region.across.x), abs(region.across.y))
            // Rows and columns both read a code that is slanted by between 30 and 60 degrees.
            if x > 0.5 {
                focus.rows.include(region.centre.y, within: (y * region.length + x * region.height) / 2 + margin)
            }
            if y > 0.5 {
                focus.columns.include(region.centre.x, within: (x * region.length + y * region.height) / 2 + margin)
            }
        }
        return focus
    }

    /// Reads the regions of recently read codes whose place in this frame is not known yet, because too few lines, or
    /// none, showed them.
    ///
    /// - Returns: true if the place of any code, new or read a moment ago, is still not known.
    private mutating func rereadTracked(_ frame: Frame) -> Bool {
        if tracked.contains(where: { !isLocated($0.digits) }) {
            for index in tracked.indices where !isLocated(tracked[index].digits) {
                read(tracked[index].region, of: frame)
            }
            scan.lineEnds.assemble(into: &raw)
        }
        return tracked.contains { code in
            let isRecent =
                frame.timestamp - code.lastRead < Self.lossTime || frames - code.lastFrame <= Self.lossFrames
            return isRecent && !isLocated(code.digits)
        } || raw.contains { $0.isFirm && !$0.isLocated }
    }

    private mutating func read(_ region: Region, of frame: Frame) {
        // zbar reads best at three pixels per module. It is slower with more, and reads worse with fewer.
        let enlargement = min(max(3 * 95 / region.length, 0.5), 2)
        scan.scan(frame, region: region, enlargement: enlargement, most: Self.linesPerRegion)
    }

    /// Reads the regions that look like bars and have not been read yet, and measures the most prominent bars.
    private mutating func search(_ frame: Frame, _ result: inout FrameResult) {
        let factor = (max(frame.width, frame.height) + Self.searchSide - 1) / Self.searchSide
        guard min(frame.width, frame.height) >= 2 * RegionFinder.blockSide * factor else { return }
        regions.removeAll(keepingCapacity: true)
        if factor > 1 {
            frame.reduce(by: factor, into: &reduced)
            regions.append(contentsOf: finder.regions(in: reduced))
        } else {
            regions.append(contentsOf: finder.regions(in: frame))
        }
        for index in regions.indices { regions[index] = regions[index].scaled(x: Double(factor), y: Double(factor)) }
        keepUnread()
        // Keep the likeliest regions. The other regions take turns for the last place, so that a page of print cannot
        // hide a code for ever.
        if regions.count > Self.maxRegions {
            let others = regions.count - Self.maxRegions + 1
            regions.swapAt(Self.maxRegions - 1, Self.maxRegions - 1 + frames / Self.searchInterval % others)
            regions.removeLast(others - 1)
        }
        for region in regions { read(region, of: frame) }
        scan.lineEnds.assemble(into: &raw)
        keepUnread()
        // Read the grey levels of only one region per frame, because this takes as long as everything else together.
        // The regions take turns.
        var readsGreyLevels = true
        if regions.count > 1 { regions.swapAt(0, frames / Self.searchInterval % regions.count) }
        for region in regions {
            let isKnown = raw.contains { $0.isFirm && Region(around: $0.corners).withAddon.contains(region.centre) }
            guard !isKnown, let stripes = scan.stripes(of: frame, in: region), stripes.areBars else { continue }
            result.unread.append(region.corners)
            measure(region.length, stripes.sharpness, in: &result)
            if readsGreyLevels {
                readsGreyLevels = false
                if let symbol = evidence.add(
                    frame, at: region, slack: 2.5 * Double(RegionFinder.blockSide * factor), hints: hints(in: region))
                {
                    certain.append(symbol)
                }
            }
        }
        for symbol in raw where symbol.isFirm {
            let region = Region(around: symbol.corners)
            if let stripes = scan.stripes(of: frame, in: region) {
                measure(region.length, stripes.sharpness, in: &result)
            }
        }
    }

    /// Returns the ISBNs that were read in this frame and lie in the region, or whose location is unknown.
    private func hints(in region: Region) -> [Digits] {
        raw.filter { $0.digits.isBook && (region.contains($0.corners.centre) || $0.isLocated == false) }.map(\.digits)
    }

    /// Records the size and sharpness of a code if it is the longest one so far. The longest code is assumed to be the
    /// one that is being shown to the camera.
    private func measure(_ length: Double, _ sharpness: Double, in result: inout FrameResult) {
        let pixels = length / Double(DigitTemplates.modules)
        guard pixels > result.pixelsPerModule ?? 0 else { return }
        (result.pixelsPerModule, result.sharpness) = (pixels, sharpness)
    }

    /// Drops the regions that have already been read, and those that are too short: a code of 95 modules (widths of the
    /// narrowest bar) would have less than one pixel for each of them.
    private mutating func keepUnread() {
        var kept = 0
        for index in regions.indices where regions[index].length >= 80 && !isRead(regions[index]) {
            regions[kept] = regions[index]
            kept += 1
        }
        regions.removeLast(regions.count - kept)
    }

    private func isLocated(_ digits: Digits) -> Bool {
        raw.contains { $0.digits == digits && $0.isFirm && $0.isLocated }
    }

    /// Returns true if a region has been read so well that reading it again would add nothing.
    private func isRead(_ region: Region) -> Bool {
        raw.contains { $0.isFirm && $0.isLocated && Region(around: $0.corners).withAddon.contains(region.centre) }
    }

    /// Adds to the result the codes on which enough lines of this frame agree, except those that are probably misreads.
    private mutating func report(at time: Duration, into result: inout FrameResult) {
        for symbol in certain {
            raw.removeAll { $0.digits == symbol.digits }
            raw.append(symbol)
        }
        for symbol in raw where symbol.isFirm && !isDisputed(symbol) {
            result.symbols.append(
                Symbol(
                    payload: symbol.digits.text, addon: symbol.addon?.text, quality: symbol.lines,
                    corners: symbol.corners))
            if certain.contains(where: { $0.digits == symbol.digits }) { result.certain.append(symbol.digits.text) }
            let code = TrackedCode(
                region: Region(around: symbol.corners), digits: symbol.digits, lastRead: time, lastFrame: frames)
            if let known = tracked.firstIndex(where: { $0.digits == symbol.digits }) {
                if symbol.isLocated { tracked[known].region = code.region }
                (tracked[known].lastRead, tracked[known].lastFrame) = (time, frames)
            } else {
                tracked.append(code)
                if tracked.count > Self.maxTracked { tracked.removeFirst() }
            }
        }
    }

    /// Returns true if the code is probably a misread, because other lines of this frame contradict it or an ISBN was
    /// recently read at the same place.
    private func isDisputed(_ symbol: RawSymbol) -> Bool {
        let region = Region(around: symbol.corners)
        func isHere(_ other: Region) -> Bool { other.contains(region.centre) || region.contains(other.centre) }
        if raw.contains(where: {
            $0.digits != symbol.digits && symbol.lines < 3 * $0.lines && isHere(Region(around: $0.corners))
        }) {
            return true
        }
        guard !symbol.digits.isBook else { return false }
        if symbol.digits.looksLikeMisreadBook { return true }
        return tracked.contains { $0.digits.isBook && isHere($0.region) }
    }
}

extension RawSymbol {
    /// True if enough lines of one frame show the code. If the code is not a book's, at least two lines must show all
    /// of it, because it has no prefix that makes a misread unlikely, and halves from neighbouring lines may belong to
    /// two codes.
    fileprivate var isFirm: Bool { digits.isBook ? wholeLines >= 2 || lines >= 4 : wholeLines >= 2 && lines >= 3 }
}

extension Frame {
    /// Fills `result` with a smaller frame, in which each pixel is the mean of `factor` by `factor` pixels. Remaining
    /// pixels at the right and bottom are left out.
    ///
    /// - Precondition: `factor` is positive and no larger than either side.
    func reduce(by factor: Int, into result: inout Frame) {
        let (newWidth, newHeight, stride) = (width / factor, height / factor, bytesPerLine)
        result.resize(width: newWidth, height: newHeight)
        withLuma { source in
            result.withMutableLuma { target in
                guard let base = source.baseAddress, let target = target.baseAddress else { return }
                for y in 0..<newHeight {
                    let (rows, line) = (base + y * factor * stride, target + y * newWidth)
                    if factor == 2 {
                        // This is by far the most frequent case, written in a form that the compiler turns into vector
                        // instructions.
                        let below = rows + stride
                        for x in 0..<newWidth {
                            let sum =
                                UInt16(rows[2 * x]) &+ UInt16(rows[2 * x + 1]) &+ UInt16(below[2 * x])
                                &+ UInt16(below[2 * x + 1])
                            line[x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
                        }
                    } else {
                        for x in 0..<newWidth {
                            var sum = 0
                            for row in 0..<factor {
                                for column in 0..<factor { sum &+= Int(rows[row * stride + x * factor + column]) }
                            }
                            line[x] = UInt8(truncatingIfNeeded: sum / (factor * factor))
                        }
                    }
                }
            }
        }
    }
}
