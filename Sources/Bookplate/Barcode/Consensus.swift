/// Decides when a reading of a code is trusted, and ensures that a code counts only once while it is held in view.
///
/// The rules are pure: the time is passed in with each frame, from any clock that never goes backwards.
///
/// - A code counts after ``agreeingFrames`` frames in which it was read and nothing else was read in its place.
/// - A code counts at once if the decoder is certain of it from several frames (``FrameResult/certain``).
/// - A code counts once per showing (each time that it is held in view). A showing ends when the code has been out of
///   view for ``rearmTime``. Another code, in the same place or beside it, has a showing of its own.
/// - If a code was read in a place, and the bars in this place then become unreadable, the bars are taken for the same
///   code, blurred by a moving hand. Such bars extend the showing for at most ``unreadTime``, and never count as a
///   reading.
public struct Consensus: Sendable {
    /// The number of frames that must agree before a code is trusted. Two are not enough: in simulated frames with 1.1
    /// to 3 pixels per module (the narrowest bar), 0.11% of the codes were wrong with two frames, and 0.054% with
    /// three.
    public static let agreeingFrames = 3
    public static let rearmTime: Duration = .milliseconds(700)
    static let unreadTime: Duration = .seconds(3)
    /// The longest gap between two frames after which readings from before the gap still count. During a longer gap,
    /// the codes in view may have changed.
    static let longestGap: Duration = .seconds(2)
    /// The longest gap between two frames after which a trusted code that is still in the same place is not reported
    /// again. It is longer than ``longestGap``, because a camera may stall.
    static let longestHiccup: Duration = .seconds(5)
    /// The maximum number of codes that are tracked at once. If there are more, the oldest code that is not trusted yet
    /// is dropped.
    static let mostCodes = 32

    private var tracks: [Track] = []
    private var lastFrame: Duration?

    public init() { tracks.reserveCapacity(Self.mostCodes + 1) }

    private struct Track {
        var symbol: Symbol
        /// The number of agreeing frames since another payload was last read in the same place.
        var frames = 0
        var addonFrames = 0
        var lastRead: Duration
        var lastInView: Duration
        var isBelieved = false
    }

    /// Processes the result of one frame.
    ///
    /// - Parameters:
    ///   - time: the time at which the frame was captured.
    ///   - believed: the array for the codes that became trusted with this frame, including codes that are not ISBNs.
    ///     Its previous contents are removed.
    public mutating func update(with result: FrameResult, at time: Duration, believed: inout [Symbol]) {
        believed.removeAll(keepingCapacity: true)
        if let last = lastFrame, time - last > Self.longestGap { forget(after: time - last, butKeep: result.symbols) }
        // The clock of a source may go backwards briefly. No rule depends on the time advancing.
        let time = max(time, lastFrame ?? time)
        lastFrame = time
        for symbol in result.symbols { count(symbol, at: time) }
        dispute(result.symbols, at: time)
        for payload in result.certain { trust(payload) }
        keepUnread(result.unread, at: time)
        tracks.removeAll { time - $0.lastInView >= Self.rearmTime }
        for index in tracks.indices
        where !tracks[index].isBelieved && tracks[index].frames >= Self.agreeingFrames && tracks[index].lastRead == time
        {
            tracks[index].isBelieved = true
            var symbol = tracks[index].symbol
            if tracks[index].addonFrames < 2 { symbol.addon = nil }
            believed.append(symbol)
        }
    }

    private mutating func forget(after gap: Duration, butKeep symbols: [Symbol]) {
        tracks.removeAll { track in
            guard track.isBelieved, gap <= Self.longestHiccup else { return true }
            return !symbols.contains {
                $0.payload == track.symbol.payload && $0.corners.isSamePlace(track.symbol.corners)
            }
        }
    }

    private mutating func count(_ symbol: Symbol, at time: Duration) {
        if let index = tracks.firstIndex(where: { $0.symbol.payload == symbol.payload }) {
            let addon = tracks[index].symbol.addon
            if let read = symbol.addon {
                tracks[index].addonFrames = read == addon ? tracks[index].addonFrames + 1 : 1
            }
            tracks[index].symbol = symbol
            tracks[index].symbol.addon = symbol.addon ?? addon
            tracks[index].frames += 1
            tracks[index].lastRead = time
            tracks[index].lastInView = time
        } else {
            tracks.append(
                Track(
                    symbol: symbol, frames: 1, addonFrames: symbol.addon == nil ? 0 : 1, lastRead: time,
                    lastInView: time))
            if tracks.count > Self.mostCodes {
                tracks.remove(at: tracks.firstIndex { !$0.isBelieved } ?? 0)
            }
        }
    }

    /// Sets the count of agreeing frames to 0 for each code in whose place another payload was read in this frame.
    private mutating func dispute(_ symbols: [Symbol], at time: Duration) {
        for symbol in symbols {
            for index in tracks.indices
            where tracks[index].symbol.payload != symbol.payload
                && tracks[index].symbol.corners.isSamePlace(symbol.corners)
            {
                tracks[index].frames = 0
            }
        }
    }

    /// Accepts a payload that is certain from several frames (``FrameResult/certain``), as if it had been read in
    /// ``agreeingFrames`` frames. If another payload was just read in the same place, nothing changes.
    private mutating func trust(_ payload: String) {
        for index in tracks.indices where tracks[index].symbol.payload == payload && tracks[index].frames > 0 {
            tracks[index].frames = max(tracks[index].frames, Self.agreeingFrames)
        }
    }

    private mutating func keepUnread(_ unread: [Corners], at time: Duration) {
        for index in tracks.indices
        where tracks[index].isBelieved && time - tracks[index].lastRead < Self.unreadTime {
            if unread.contains(where: { $0.isSamePlace(tracks[index].symbol.corners) }) {
                tracks[index].lastInView = time
            }
        }
    }
}

extension Corners {
    /// Returns true if two boxes in one frame belong to the same code.
    ///
    /// The limits are fractions of the code's length, because a few scan lines show the full length of a code, but
    /// hardly any of its height. In the direction of the scan lines, the centres of the boxes may be up to half a
    /// length apart. At right angles to it, they must be closer together than two codes that are printed one below the
    /// other.
    public func isSamePlace(_ other: Corners) -> Bool {
        let (ours, theirs) = (extent, other.extent)
        let longer = ours.length >= theirs.length ? ours : theirs
        let (x, y) = (other.centre.x - centre.x, other.centre.y - centre.y)
        let along = abs(x * longer.across.x + y * longer.across.y)
        let beside = abs(y * longer.across.x - x * longer.across.y)
        return along <= longer.length * 0.5 && beside <= longer.length * 0.35
    }

    /// The length of the code from its left to its right edge, and the direction of this line as a unit vector.
    private var extent: (length: Double, across: Point) {
        let x = (topRight.x + bottomRight.x - topLeft.x - bottomLeft.x) / 2
        let y = (topRight.y + bottomRight.y - topLeft.y - bottomLeft.y) / 2
        let length = (x * x + y * y).squareRoot()
        return length > 0 ? (length, Point(x: x / length, y: y / length)) : (0, Point(x: 1, y: 0))
    }
}
