import Bookplate
import Testing

@Suite struct `A hint` {
    private static let dark = reading(mean: 20)
    private static let white = reading(mean: 200, clipped: 0.7)
    private static let blurred = reading(mean: 120, sharpness: 0.05, pixels: 2.5)
    private static let far = reading(mean: 120, sharpness: 0.05, pixels: 1)
    private static let good = reading(mean: 120, sharpness: 0.5, pixels: 2.5)
    private static let empty = reading(mean: 120)

    private static func reading(
        mean: Double, clipped: Double = 0, sharpness: Double? = nil, pixels: Double? = nil, code: Bool = false
    ) -> FrameResult {
        var reading = FrameResult()
        reading.light = .init(mean: mean, clipped: clipped)
        (reading.sharpness, reading.pixelsPerModule) = (sharpness, pixels)
        if code {
            let zero = Point(x: 0, y: 0)
            reading.symbols = [
                Symbol(
                    payload: "9780441013593", quality: 1,
                    corners: Corners(topLeft: zero, topRight: zero, bottomRight: zero, bottomLeft: zero))
            ]
        }
        return reading
    }

    /// The hint after a second of equal frames.
    @Test(
        arguments: [
            (dark, Hint.moreLight), (white, .lessLight), (blurred, .holdStill), (far, .closer), (good, nil),
            (empty, nil),
        ] as [(FrameResult, Hint?)])
    func `names what is wrong`(reading: FrameResult, wanted: Hint?) {
        var rules = HintRules()
        var hint: Hint?
        for frame in 0..<30 { hint = rules.update(with: reading, at: .milliseconds(33 * frame)) }
        #expect(hint == wanted)
    }

    @Test func `is shown only if its cause lasts`() {
        var rules = HintRules()
        #expect(rules.update(with: Self.blurred, at: .zero) == nil)
        #expect(rules.update(with: Self.blurred, at: .milliseconds(500)) == nil)
        #expect(rules.update(with: Self.blurred, at: .milliseconds(600)) == .holdStill)
    }

    @Test func `stays for frames without a measurement, and is removed once all is well`() {
        var rules = HintRules()
        _ = rules.update(with: Self.blurred, at: .zero)
        #expect(rules.update(with: Self.blurred, at: .milliseconds(700)) == .holdStill)
        #expect(rules.update(with: Self.empty, at: .milliseconds(800)) == .holdStill)
        #expect(rules.update(with: Self.good, at: .milliseconds(1000)) == .holdStill)
        #expect(rules.update(with: Self.good, at: .milliseconds(1800)) == nil)
    }

    @Test func `is hidden while codes are read`() {
        var rules = HintRules()
        _ = rules.update(with: Self.dark, at: .zero)
        #expect(rules.update(with: Self.dark, at: .seconds(1)) == .moreLight)
        #expect(rules.update(with: Self.reading(mean: 20, code: true), at: .milliseconds(1033)) == nil)
        #expect(rules.update(with: Self.dark, at: .milliseconds(1900)) == nil)
        _ = rules.update(with: Self.dark, at: .milliseconds(2100))
        #expect(rules.update(with: Self.dark, at: .milliseconds(2800)) == .moreLight)
    }
}
