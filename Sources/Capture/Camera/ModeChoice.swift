import Bookplate

/// Which of a camera's modes to ask for.
enum ModeChoice {
    /// The mode that fits best, by these rules in turn:
    /// 1. the asked format, where there is one; never a converted one where a native one is left;
    /// 2. the asked size; else the nearest that is not smaller; else the nearest;
    /// 3. reaching the rate (29.97 reaches 30); else the fastest;
    /// 4. what costs least to turn into luma.
    ///
    /// - Returns: `nil` when there are no modes.
    static func best(of modes: [CameraDevice.Mode], for settings: CaptureSettings) -> CameraDevice.Mode? {
        let native = modes.filter { !$0.isConverted }
        let read = native.isEmpty ? modes : native
        let asked = read.filter { $0.pixelFormat == settings.pixelFormat }
        return (asked.isEmpty ? read : asked).min { Rank($0, settings) < Rank($1, settings) }
    }

    private struct Rank: Comparable {
        /// 0 the asked size, 1 not smaller, 2 smaller.
        let tier: Int
        /// Pixels away from the asked area.
        let distance: Int
        /// Frames a second short of the asked rate; 0 where the driver does not say.
        let shortfall: Double
        let cost: Int

        init(_ mode: CameraDevice.Mode, _ settings: CaptureSettings) {
            let isSame = mode.width == settings.width && mode.height == settings.height
            let isSmaller = mode.width < settings.width || mode.height < settings.height
            tier = isSame ? 0 : isSmaller ? 2 : 1
            distance = abs(mode.width * mode.height - settings.width * settings.height)
            let rate = mode.rates.max() ?? Double(settings.rate)
            shortfall = rate >= Double(settings.rate) * 0.99 ? 0 : Double(settings.rate) - rate
            cost = mode.pixelFormat.cost
        }

        static func < (left: Rank, right: Rank) -> Bool {
            (left.tier, left.distance, left.shortfall, left.cost) < (
                right.tier, right.distance, right.shortfall, right.cost
            )
        }
    }
}

extension PixelFormat {
    /// What it takes to get the luma, least first: a copy, a copy out of more bytes, every second byte, a JPEG.
    fileprivate var cost: Int {
        switch self {
        case .grey: 0
        case .nv12, .yu12: 1
        case .yuyv: 2
        case .mjpg: 3
        }
    }
}
