import Bookplate
import CV4L2

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

extension NodeDescriptor {
    /// Lists larger than these are a driver's that does not end them.
    private static var mostFormats: UInt32 { 64 }
    private static var mostSizes: UInt32 { 128 }

    /// What of an open node's formats is read here, in the driver's order, and the FourCCs of the others.
    ///
    /// The corresponding ioctls are VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES and VIDIOC_ENUM_FRAMEINTERVALS.
    func modes() -> (read: [CameraDevice.Mode], others: [String]) {
        var (read, others): ([CameraDevice.Mode], [String]) = ([], [])
        for index in 0..<Self.mostFormats {
            var format = v4l2_fmtdesc()
            format.index = index
            format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
            // EINVAL ends the list; any other error ends it as well, and what was listed counts.
            do { try request(CV4L2_VIDIOC_ENUM_FMT, "VIDIOC_ENUM_FMT", &format) } catch { break }
            guard let known = PixelFormat(fourCC: format.pixelformat) else {
                others.append(fourCCText(format.pixelformat))
                continue
            }
            let isConverted = format.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0
            for size in sizes(of: format.pixelformat) {
                read.append(
                    CameraDevice.Mode(
                        pixelFormat: known, width: size.width, height: size.height,
                        rates: rates(of: format.pixelformat, size), isConverted: isConverted))
            }
        }
        return (read, others)
    }

    private func sizes(of fourCC: UInt32) -> [PictureSize] {
        var sizes: [PictureSize] = []
        for index in 0..<Self.mostSizes {
            var entry = v4l2_frmsizeenum()
            (entry.index, entry.pixel_format) = (index, fourCC)
            do { try request(CV4L2_VIDIOC_ENUM_FRAMESIZES, "VIDIOC_ENUM_FRAMESIZES", &entry) } catch { break }
            guard entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue else {
                let range = entry.stepwise
                return PictureSize.usual(
                    widths: (range.min_width, range.max_width, range.step_width),
                    heights: (range.min_height, range.max_height, range.step_height))
            }
            sizes.append(PictureSize(width: Int(entry.discrete.width), height: Int(entry.discrete.height)))
        }
        return (sizes.isEmpty ? [triedSize(of: fourCC)].compactMap { $0 } : sizes).filter(\.isPlausible)
    }

    /// What the driver makes of the usual size, for drivers that list none. The corresponding ioctl is VIDIOC_TRY_FMT.
    private func triedSize(of fourCC: UInt32) -> PictureSize? {
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        format.fmt.pix.pixelformat = fourCC
        (format.fmt.pix.width, format.fmt.pix.height) = (1280, 720)
        do { try request(CV4L2_VIDIOC_TRY_FMT, "VIDIOC_TRY_FMT", &format) } catch { return nil }
        return PictureSize(width: Int(format.fmt.pix.width), height: Int(format.fmt.pix.height))
    }

    private func rates(of fourCC: UInt32, _ size: PictureSize) -> [Double] {
        var rates: [Double] = []
        for index in 0..<Self.mostSizes {
            var entry = v4l2_frmivalenum()
            (entry.index, entry.pixel_format) = (index, fourCC)
            (entry.width, entry.height) = (UInt32(size.width), UInt32(size.height))
            do { try request(CV4L2_VIDIOC_ENUM_FRAMEINTERVALS, "VIDIOC_ENUM_FRAMEINTERVALS", &entry) } catch { break }
            guard entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue else {
                let (shortest, longest) = (entry.stepwise.min, entry.stepwise.max)
                return PictureSize.usualRates(from: longest.rate, to: shortest.rate)
            }
            if let rate = entry.discrete.rate { rates.append(rate) }
        }
        return rates.sorted(by: >)
    }
}

/// A FourCC to show: its letters, or hexadecimal where it has none.
func fourCCText(_ code: UInt32) -> String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> ($0 * 8)) }
    guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "0x" + String(code, radix: 16) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Width and height in pixels.
struct PictureSize: Equatable {
    var width: Int
    var height: Int

    var isPlausible: Bool { (16...16384).contains(width) && (16...16384).contains(height) }

    /// Of a driver that takes any size, those that cameras usually have.
    static func usual(
        widths: (min: UInt32, max: UInt32, step: UInt32), heights: (min: UInt32, max: UInt32, step: UInt32)
    ) -> [PictureSize] {
        func fits(_ value: Int, _ range: (min: UInt32, max: UInt32, step: UInt32)) -> Bool {
            value >= Int(range.min) && value <= Int(range.max)
                && (value - Int(range.min)) % max(1, Int(range.step)) == 0
        }
        let usual = [
            (320, 240), (640, 360), (640, 480), (800, 600), (1024, 768), (1280, 720), (1280, 960), (1600, 1200),
            (1920, 1080),
            (2560, 1440), (3840, 2160),
        ].filter { fits($0.0, widths) && fits($0.1, heights) }.map { PictureSize(width: $0.0, height: $0.1) }
        if !usual.isEmpty { return usual }
        return [PictureSize(width: Int(widths.max), height: Int(heights.max))].filter(\.isPlausible)
    }

    /// Of a driver that takes any rate, the highest and those that cameras usually have, highest first.
    static func usualRates(from lowest: Double?, to highest: Double?) -> [Double] {
        guard let highest else { return [] }
        let highestUseful = min(highest, 240)
        return [highestUseful] + [60, 50, 30, 25, 20, 15, 10, 5].filter { $0 >= lowest ?? 0 && $0 < highestUseful }
    }
}
