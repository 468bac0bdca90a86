/// The result of reading one frame of a camera. Its memory is reused from frame to frame.
public struct FrameResult: Sendable {
    /// Every EAN-13 that was read, each once, with its add-on. A misread is possible: one frame is no proof
    /// (``Consensus``).
    public var symbols: [Symbol] = []
    /// Payloads of ``symbols`` that several frames together prove: they count from this frame on. For the measured
    /// error rate see docs/decoding.md.
    public var certain: [String] = []
    /// Places that look like bars and were not read in this frame. Not every frame is searched for them.
    public var unread: [Corners] = []
    public var light = Light()
    /// The sharpness of the most prominent bars: the share of the ink's whole range that one pixel's step takes, 0 to
    /// 1. A sharp edge has more than 0.5. `nil` if nothing looks like bars, or if it was not measured.
    public var sharpness: Double?
    /// Pixels a module of the longest code, read or not; below about 1.5 it is hardly read. `nil` as for `sharpness`.
    public var pixelsPerModule: Double?

    public init() {}

    /// The brightness of a frame, from a sample of its pixels.
    public struct Light: Sendable, Equatable {
        /// 0 black to 255 white.
        public var mean: Double = 0
        /// The share of pixels at 250 or above, 0 to 1.
        public var clipped: Double = 0

        public init(mean: Double = 0, clipped: Double = 0) {
            self.mean = mean
            self.clipped = clipped
        }
    }
}

/// Advice that helps the camera read the book held up to it.
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

/// Chooses the hint to show: one whose cause has lasted, none while codes are read, and none that flickers.
public struct HintRules: Sendable {
    /// The time for which a cause must last before its hint is shown.
    static let patience: Duration = .milliseconds(600)
    /// The shortest time for which a hint is shown. Codes read within it clear all hints.
    static let stay: Duration = .seconds(1)
    /// The mean grey level below which the camera's noise hides the bars.
    public static let dark = 45.0
    /// The share of white pixels from which paper and bars merge.
    public static let clipped = 0.4
    /// The pixels a module that are needed, as measured where nothing is read: a fifth more than the code has, because
    /// of the box around it. Sharp codes are read from 1.2 on.
    public static let pixelsPerModule = 1.6
    /// The share of the ink that one pixel's step takes: 0.6 and more in focus. Blurred codes are not read at 0.32 and
    /// below with two pixels a module, and at 0.22 and below with three (drawn codes, with noise).
    public static let sharpness = 0.33

    private var cause: Hint?
    private var since: Duration = .zero
    private var shown: Hint?
    private var shownAt: Duration = .zero
    private var lastRead: Duration?

    public init() {}

    /// - Returns: the hint to show from now on; `nil` for none.
    public mutating func update(with result: FrameResult, at time: Duration) -> Hint? {
        if !result.symbols.isEmpty { lastRead = time }
        if let lastRead, time - lastRead < Self.stay {
            (cause, shown) = (nil, nil)
            return nil
        }
        // Not every frame is measured: the last cause stands until a measurement contradicts it.
        if let now = Self.cause(of: result) ?? (Self.isMeasured(result) ? nil : cause) {
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

    private static func isMeasured(_ result: FrameResult) -> Bool {
        result.sharpness != nil || result.light.mean > dark
    }

    private static func cause(of result: FrameResult) -> Hint? {
        if result.light.mean < dark { return .moreLight }
        if result.light.clipped > clipped { return .lessLight }
        if let pixels = result.pixelsPerModule, pixels < pixelsPerModule { return .closer }
        if let edge = result.sharpness, edge < sharpness { return .holdStill }
        return nil
    }
}
