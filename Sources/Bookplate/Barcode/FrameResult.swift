/// The result of reading one camera frame. Its memory is reused from frame to frame.
public struct FrameResult: Sendable {
    /// Every EAN-13 that was read, each once, with its add-on. Some may be misread, because a single frame is not
    /// enough to trust a code (see ``Consensus``).
    public var symbols: [Symbol] = []
    /// The payloads among ``symbols`` that are certain, because several frames together prove them. They are trusted at
    /// once, from this frame on. The measured error rate is in docs/decoding.md.
    public var certain: [String] = []
    /// The areas that look like bar codes but were not read in this frame. Not every frame is searched for such areas.
    public var unread: [Corners] = []
    public var light = Light()
    /// The sharpness of the most prominent bars, 0 to 1: the largest change of grey from one pixel to the next, as a
    /// share of the whole range between ink and paper. A sharp edge has more than 0.5. `nil` if nothing looks like
    /// bars, or if the sharpness was not measured.
    public var sharpness: Double?
    /// The width of a module (the narrowest bar) in the longest code in view, in pixels. The code may be unread. Below
    /// about 1.5, a code is hardly ever read. `nil` in the same cases as ``sharpness``.
    public var pixelsPerModule: Double?

    public init() {}

    /// The brightness of a frame, from a sample of its pixels.
    public struct Light: Sendable, Equatable {
        /// The mean grey level, from 0 (black) to 255 (white).
        public var mean: Double = 0
        /// The share of pixels with a grey level of 250 or above, 0 to 1.
        public var clipped: Double = 0

        public init(mean: Double = 0, clipped: Double = 0) {
            self.mean = mean
            self.clipped = clipped
        }
    }
}

/// Advice for the person, so that the camera can read the book in front of it.
public enum Hint: String, Sendable, CaseIterable {
    case moreLight, lessLight, holdStill, closer

    /// The advice as the screen shows it.
    public var text: String {
        switch self {
        case .moreLight: "more light"
        case .lessLight: "less light, or tilt the book out of the glare"
        case .holdStill: "hold still"
        case .closer: "closer"
        }
    }
}

/// Chooses the hint to show. A hint is shown only when its cause has lasted for a while, and never flickers. No hint is
/// shown while codes are read.
public struct HintRules: Sendable {
    /// The time for which a cause must last before its hint is shown.
    static let patience: Duration = .milliseconds(600)
    /// The minimum time for which a hint is shown. After a code has been read, hints are suppressed for this long as
    /// well.
    static let stay: Duration = .seconds(1)
    /// The mean grey level below which the camera's noise hides the bars.
    public static let dark = 45.0
    /// The share of white pixels above which a frame is too bright for the bars to stand out from the paper.
    public static let clipped = 0.4
    /// The number of pixels per module (the narrowest bar) below which the book should be held closer to the camera.
    /// Sharp codes can be read from 1.2 pixels per module. This limit is higher, because for a code that was not read,
    /// the measured value is a fifth too high (it comes from the box around the code).
    public static let pixelsPerModule = 1.6
    /// The ``FrameResult/sharpness`` below which the book should be held still. Codes in focus have a sharpness of 0.6
    /// or more. Blurred codes with two pixels per module (the narrowest bar) are not read at a sharpness of 0.32 or
    /// below, and those with three pixels at 0.22 or below (measured with drawn codes and noise).
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
        // Not every frame is measured, so the last cause stays valid until a measurement contradicts it.
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
