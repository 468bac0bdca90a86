/// What one frame of a camera showed. Its memory is kept from frame to frame.
public struct FrameReading: Sendable {
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
