import Bookplate
import CV4L2

/// Chooses which of a camera's modes to request.
enum ModeChoice {
    /// Returns the best mode. The following rules are applied in this order:
    /// 1. a native mode rather than a converted one, and among these a mode in the requested format, if there is one;
    /// 2. the requested size, otherwise the nearest size that is not smaller, otherwise the nearest size;
    /// 3. a rate that reaches the requested one (29.97 counts as 30), otherwise the highest rate;
    /// 4. the format that is cheapest to turn into grey levels.
    ///
    /// - Returns: `nil` if there are no modes.
    static func best(of modes: [CameraDevice.Mode], for settings: CaptureSettings) -> CameraDevice.Mode? {
        let native = modes.filter { !$0.isConverted }
        let usable = native.isEmpty ? modes : native
        let requested = usable.filter { $0.pixelFormat == settings.pixelFormat }
        return (requested.isEmpty ? usable : requested).min { Rank($0, settings) < Rank($1, settings) }
    }

    private struct Rank: Comparable {
        /// The rank of the size: 0 for the requested size, 1 for a larger one, 2 for one that is smaller in width or
        /// height.
        let tier: Int
        /// The difference between the area of the mode's pictures and the requested area, in pixels.
        let distance: Int
        /// The difference between the requested rate and the mode's rate, in frames per second; 0 if the mode is fast
        /// enough or the driver does not report its rates.
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
    /// The relative cost of extracting the grey levels. From cheap to costly: copying all bytes, copying the first part
    /// of the bytes, copying every second byte, decoding a JPEG.
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
    /// The maximum number of formats that are read from the driver's list, which may never end if the driver is faulty.
    private static var maxFormats: UInt32 { 64 }
    private static var maxSizes: UInt32 { 128 }

    /// Returns the modes of an open node that Bookplate can read, in the driver's order, and the FourCCs of the formats
    /// that it cannot read.
    ///
    /// The corresponding ioctls are VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES and VIDIOC_ENUM_FRAMEINTERVALS.
    func modes() -> (usable: [CameraDevice.Mode], others: [String]) {
        var (usable, others): ([CameraDevice.Mode], [String]) = ([], [])
        for index in 0..<Self.maxFormats {
            var format = v4l2_fmtdesc()
            format.index = index
            format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
            // EINVAL ends the list. Any other error ends it as well, and the formats listed so far are used.
            do { try request(CV4L2_VIDIOC_ENUM_FMT, "VIDIOC_ENUM_FMT", &format) } catch { break }
            guard let known = PixelFormat(fourCC: format.pixelformat) else {
                others.append(fourCCText(format.pixelformat))
                continue
            }
            let isConverted = format.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0
            for size in sizes(of: format.pixelformat) {
                usable.append(
                    CameraDevice.Mode(
                        pixelFormat: known, width: size.width, height: size.height,
                        rates: rates(of: format.pixelformat, size), isConverted: isConverted))
            }
        }
        return (usable, others)
    }

    private func sizes(of fourCC: UInt32) -> [PictureSize] {
        var sizes: [PictureSize] = []
        for index in 0..<Self.maxSizes {
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

    /// Returns the size that the driver offers in reply to a request for 1280x720, for drivers that list no sizes. The
    /// corresponding ioctl is VIDIOC_TRY_FMT.
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
        for index in 0..<Self.maxSizes {
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

/// Returns a FourCC as text: its four characters, or a hexadecimal number if they are not printable.
func fourCCText(_ code: UInt32) -> String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> ($0 * 8)) }
    guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "0x" + String(code, radix: 16) }
    return String(decoding: bytes, as: UTF8.self)
}

/// A width and a height in pixels.
struct PictureSize: Equatable {
    var width: Int
    var height: Int

    var isPlausible: Bool { (16...16384).contains(width) && (16...16384).contains(height) }

    /// Returns the usual picture sizes within the given limits, for a driver that lists limits instead of sizes.
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

    /// Returns the highest rate and the usual frame rates below it, highest first, for a driver that lists limits
    /// instead of rates.
    static func usualRates(from lowest: Double?, to highest: Double?) -> [Double] {
        guard let highest else { return [] }
        let highestUseful = min(highest, 240)
        return [highestUseful] + [60, 50, 30, 25, 20, 15, 10, 5].filter { $0 >= lowest ?? 0 && $0 < highestUseful }
    }
}
