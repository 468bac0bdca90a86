import Bookplate

/// Reads a camera's frames: a cheap look at every one, costlier ones by turns and where the last code was seen.
///
/// Every frame: each eighth row and column (twelfth at 1920x1080), others from frame to frame; then, across the bars, where a code was
/// read within the last second and is not now. Every third frame, when a code was lost, and as long as something is not read: whatever looks
/// like bars, and of one such place the grey levels (``FrameEvidence``). What one frame does not give the next may, and ``Consensus``
/// wants several anyway.
///
/// The grey levels allocate; nothing else does once its memory has grown to the frames. Not for two threads at once.
public struct FrameReader: FrameDecoder {
    private var scan: LineScan
    private var finder = RegionFinder()
    private var reduced = Frame(width: 1, height: 1)
    private var raw: [RawSymbol] = []
    private var regions: [Region] = []
    private var places: [Place] = []
    private var frames = 0
    private var evidence = FrameEvidence()
    /// Something looked like bars in the last frame and was not read.
    private var hasUnread = false
    /// What several frames said together.
    private var certain: [RawSymbol] = []

    /// Where a code was read lately.
    private struct Place {
        var region: Region
        var digits: Digits
        var lastRead: Duration
    }

    /// So long a place is looked at closely, and a misread there is told from a code.
    private static let memory: Duration = .seconds(1)
    private static let mostPlaces = 8
    /// Frames from one search for bars to the next, and regions that are read after one.
    private static let searchEvery = 3
    private static let mostRegions = 4
    /// Lines read of a region; a photo's are read more closely.
    private static let linesOfRegion = 24
    /// Longer frames are searched at a half, a third …
    private static let searchSide = 1280

    /// - Throws: ``DecoderError`` when memory runs out.
    public init() throws(DecoderError) {
        scan = try LineScan()
        places.reserveCapacity(Self.mostPlaces + 1)
    }

    public mutating func read(_ frame: Frame, into reading: inout FrameResult) {
        reading.symbols.removeAll(keepingCapacity: true)
        reading.unread.removeAll(keepingCapacity: true)
        reading.certain.removeAll(keepingCapacity: true)
        certain.removeAll(keepingCapacity: true)
        (reading.sharpness, reading.pixelsPerModule) = (nil, nil)
        // All lines have their turn, in an order that soon comes near each.
        let turn = frames * 5
        frames += 1
        reading.light = frame.light(offset: turn % 8)
        places.removeAll { frame.timestamp - $0.lastRead >= Self.memory || frame.timestamp < $0.lastRead }

        scan.begin()
        // So that the smallest code that can be read, about 60 pixels high, is crossed by five lines.
        let density = min(max(min(frame.width, frame.height) / 90, 1), 12)
        scan.scan(frame, density: density, offset: min(turn % density, min(frame.width, frame.height) - 1))
        scan.lineEnds.assemble(into: &raw)
        let isOpen = lookAgain(frame)
        if isOpen || hasUnread || frames % Self.searchEvery == 1 {
            search(frame, &reading)
            hasUnread = !reading.unread.isEmpty
        }
        report(at: frame.timestamp, into: &reading)
    }

    /// Looks closely where codes were read lately and are not in this frame, or by too few lines to tell how they lie.
    ///
    /// - Returns: whether one of them, or a new one, is still not told so well.
    private mutating func lookAgain(_ frame: Frame) -> Bool {
        if places.contains(where: { !isPlaced($0.digits) }) {
            for index in places.indices where !isPlaced(places[index].digits) { read(places[index].region, of: frame) }
            scan.lineEnds.assemble(into: &raw)
        }
        return places.contains { !isPlaced($0.digits) } || raw.contains { $0.isFirm && !$0.isPlaced }
    }

    private mutating func read(_ region: Region, of frame: Frame) {
        // zbar reads best at three pixels a module: more is slower, less is worse.
        let enlargement = min(max(3 * 95 / region.length, 0.5), 2)
        scan.scan(frame, region: region, enlargement: enlargement, most: Self.linesOfRegion)
    }

    /// Reads what looks like bars and was not read, and measures the bars that stand out most.
    private mutating func search(_ frame: Frame, _ reading: inout FrameResult) {
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
        // The likeliest, and others by turns: a page of print must not hide a code for ever.
        if regions.count > Self.mostRegions {
            let others = regions.count - Self.mostRegions + 1
            regions.swapAt(Self.mostRegions - 1, Self.mostRegions - 1 + frames / Self.searchEvery % others)
            regions.removeLast(others - 1)
        }
        for region in regions { read(region, of: frame) }
        scan.lineEnds.assemble(into: &raw)
        keepUnread()
        // One region of a frame, by turns: it costs as much as all the rest.
        var isLooking = true
        if regions.count > 1 { regions.swapAt(0, frames / Self.searchEvery % regions.count) }
        for region in regions {
            let isKnown = raw.contains { $0.isFirm && Region(around: $0.corners).withAddon.contains(region.centre) }
            guard !isKnown, let stripes = scan.stripes(of: frame, in: region), stripes.areBars else { continue }
            reading.unread.append(region.corners)
            note(region.length, stripes.sharpness, in: &reading)
            if isLooking {
                isLooking = false
                if let symbol = evidence.look(
                    frame, at: region, slack: 2.5 * Double(RegionFinder.blockSide * factor), hints: hints(in: region))
                {
                    certain.append(symbol)
                }
            }
        }
        for symbol in raw where symbol.isFirm {
            let region = Region(around: symbol.corners)
            if let stripes = scan.stripes(of: frame, in: region) {
                note(region.length, stripes.sharpness, in: &reading)
            }
        }
    }

    /// Books that lines of this frame saw, and not often enough.
    private func hints(in region: Region) -> [Digits] {
        raw.filter { $0.digits.isBook && (region.contains($0.corners.centre) || $0.isPlaced == false) }.map(\.digits)
    }

    /// The longest code is the one that is held up.
    private func note(_ length: Double, _ sharpness: Double, in reading: inout FrameResult) {
        let pixels = length / Double(DigitTemplates.modules)
        guard pixels > reading.pixelsPerModule ?? 0 else { return }
        (reading.pixelsPerModule, reading.sharpness) = (pixels, sharpness)
    }

    /// Leaves out what is read already, and what has less than a pixel for each of a code's 95 modules.
    private mutating func keepUnread() {
        var kept = 0
        for index in regions.indices where regions[index].length >= 80 && !isRead(regions[index]) {
            regions[kept] = regions[index]
            kept += 1
        }
        regions.removeLast(regions.count - kept)
    }

    private func isPlaced(_ digits: Digits) -> Bool { raw.contains { $0.digits == digits && $0.isFirm && $0.isPlaced } }

    /// Well enough that another look at it would tell no more.
    private func isRead(_ region: Region) -> Bool {
        raw.contains { $0.isFirm && $0.isPlaced && Region(around: $0.corners).withAddon.contains(region.centre) }
    }

    /// What is told of this frame: what lines enough agree on, and nothing that is disputed.
    private mutating func report(at time: Duration, into reading: inout FrameResult) {
        for symbol in certain {
            raw.removeAll { $0.digits == symbol.digits }
            raw.append(symbol)
        }
        for symbol in raw where symbol.isFirm && !isDisputed(symbol) {
            reading.symbols.append(
                Symbol(
                    payload: symbol.digits.text, addon: symbol.addon?.text, quality: symbol.lines,
                    corners: symbol.corners))
            if certain.contains(where: { $0.digits == symbol.digits }) { reading.certain.append(symbol.digits.text) }
            let place = Place(region: Region(around: symbol.corners), digits: symbol.digits, lastRead: time)
            if let known = places.firstIndex(where: { $0.digits == symbol.digits }) {
                if symbol.isPlaced { places[known].region = place.region }
                places[known].lastRead = time
            } else {
                places.append(place)
                if places.count > Self.mostPlaces { places.removeFirst() }
            }
        }
    }

    /// Whether it is rather a misread: lines of this frame say otherwise in its place, or a book was read there lately of which
    /// it could be.
    private func isDisputed(_ symbol: RawSymbol) -> Bool {
        let place = Region(around: symbol.corners)
        func isHere(_ other: Region) -> Bool { other.contains(place.centre) || place.contains(other.centre) }
        if raw.contains(where: {
            $0.digits != symbol.digits && symbol.lines < 3 * $0.lines && isHere(Region(around: $0.corners))
        }) {
            return true
        }
        guard !symbol.digits.isBook else { return false }
        if symbol.digits.looksLikeMisreadBook { return true }
        return places.contains { $0.digits.isBook && isHere($0.region) }
    }
}

extension RawSymbol {
    /// Lines enough to tell it of one frame. A code that is no book has no prefix to vouch for it, and halves that neighbouring lines saw
    /// may be of two codes.
    fileprivate var isFirm: Bool { digits.isBook ? wholeLines >= 2 || lines >= 4 : wholeLines >= 2 && lines >= 3 }
}

extension Frame {
    /// Fills `result` with the means of `factor` by `factor` pixels each; what is left over at the right and below is left out.
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
                        // By far the most frequent, and in a form that becomes vector instructions.
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
