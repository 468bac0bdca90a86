/// What one frame of a camera showed. Its memory is kept from frame to frame.
public struct FrameResult: Sendable {
    /// Every EAN-13 that was read, each once, with its add-on. A misread is possible: one frame is no proof (``Consensus``).
    public var symbols: [Symbol] = []
    /// Payloads of ``symbols`` that several frames together say beyond doubt: they count from this frame on. What that is worth is measured:
    /// docs/decoding.md.
    public var certain: [String] = []
    /// Where something looks like bars and was not read in this frame. Not looked for in every frame.
    public var unread: [Corners] = []
    public var light = Light()
    /// How sharp the bars are that stand out most: the share of the ink's whole range that one pixel's step takes, 0 to 1. A sharp
    /// edge has more than a half. `nil` where nothing looks like bars, or where it was not measured.
    public var sharpness: Double?
    /// Pixels a module of the longest code, read or not; below about 1.5 it is hardly read. `nil` as for `sharpness`.
    public var pixelsPerModule: Double?

    public init() {}

    /// The brightness of a frame, of a sample of its pixels.
    public struct Light: Sendable, Equatable {
        /// 0 black to 255 white.
        public var mean: Double = 0
        /// Share of the pixels at 250 and more, 0 to 1.
        public var clipped: Double = 0

        public init(mean: Double = 0, clipped: Double = 0) {
            self.mean = mean
            self.clipped = clipped
        }
    }
}

/// What would help the camera read the book that is held up.
public enum Hint: String, Sendable, CaseIterable {
    case moreLight, lessLight, holdStill, closer

    /// For the screen.
    public var text: String {
        switch self {
        case .moreLight: "more light"
        case .lessLight: "less light, or tilt the book out of the glare"
        case .holdStill: "hold still"
        case .closer: "closer"
        }
    }
}

/// Which hint is shown: the one whose cause has lasted, none while codes are read, and none that flickers.
public struct HintRules: Sendable {
    /// A cause must last so long before it is told.
    static let patience: Duration = .milliseconds(600)
    /// What was told stays at least so long, and codes read within it silence all.
    static let stay: Duration = .seconds(1)
    /// Mean grey levels below which a camera's noise covers the bars.
    public static let dark = 45.0
    /// Share of white pixels from which paper and bars run into each other.
    public static let clipped = 0.4
    /// Pixels a module that are needed, of what was measured where nothing is read: that is a fifth more than the code has, for the box
    /// around it. Sharp codes are read from 1.2 on.
    public static let pixelsPerModule = 1.6
    /// The share of the ink that one pixel's step takes: 0.6 and more in focus. Blurred codes of two pixels a module are not read from 0.32
    /// down, of three pixels from 0.22 down (drawn codes, with noise).
    public static let sharpness = 0.33

    private var cause: Hint?
    private var since: Duration = .zero
    private var shown: Hint?
    private var shownAt: Duration = .zero
    private var lastRead: Duration?

    public init() {}

    /// - Returns: the hint to show from now on, `nil` for none.
    public mutating func take(_ reading: FrameResult, at time: Duration) -> Hint? {
        if !reading.symbols.isEmpty { lastRead = time }
        if let lastRead, time - lastRead < Self.stay {
            (cause, shown) = (nil, nil)
            return nil
        }
        // Not every frame is measured: the last cause stands until one says otherwise.
        if let now = Self.cause(of: reading) ?? (Self.isMeasured(reading) ? nil : cause) {
            if now != cause { (cause, since) = (now, time) }
            if time - since >= Self.patience, now != shown, shown == nil || time - shownAt >= Self.stay {
                (shown, shownAt) = (now, time)
            }
        } else {
            cause = nil
            if shown != nil, time - shownAt >= Self.stay { shown = nil }
        }
        return shown
    }

    private static func isMeasured(_ reading: FrameResult) -> Bool {
        reading.sharpness != nil || reading.light.mean > dark
    }

    private static func cause(of reading: FrameResult) -> Hint? {
        if reading.light.mean < dark { return .moreLight }
        if reading.light.clipped > clipped { return .lessLight }
        if let pixels = reading.pixelsPerModule, pixels < pixelsPerModule { return .closer }
        if let edge = reading.sharpness, edge < sharpness { return .holdStill }
        return nil
    }
}
