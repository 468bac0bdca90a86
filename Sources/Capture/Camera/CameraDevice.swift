import Bookplate

/// One V4L2 node, as `scan devices` lists it.
public struct CameraDevice: Sendable, Equatable {
    /// /dev/video0
    public var path: String
    /// As the driver calls the camera (`v4l2_capability.card`).
    public var name: String
    public var driver: String
    /// Where it is connected (`v4l2_capability.bus_info`), such as usb-0000:00:14.0-1.
    public var bus: String
    /// The path below /dev/v4l/by-id, which stays the same wherever the camera is plugged in; `nil` where udev makes none.
    public var byID: String?
    /// What is read here, natively first, in the driver's order.
    public var modes: [Mode]
    /// Why it is not used as a camera, `nil` when it can be.
    public var refusal: String?

    /// One format at one size.
    public struct Mode: Sendable, Equatable {
        public var pixelFormat: PixelFormat
        public var width: Int
        public var height: Int
        /// Frames a second, highest first; empty where the driver does not say.
        public var rates: [Double]
        /// `V4L2_FMT_FLAG_EMULATED`: converted by libv4l.
        public var isConverted: Bool

        public init(pixelFormat: PixelFormat, width: Int, height: Int, rates: [Double], isConverted: Bool) {
            self.pixelFormat = pixelFormat
            self.width = width
            self.height = height
            self.rates = rates
            self.isConverted = isConverted
        }
    }

    public init(
        path: String, name: String, driver: String, bus: String, byID: String?, modes: [Mode], refusal: String?
    ) {
        self.path = path
        self.name = name
        self.driver = driver
        self.bus = bus
        self.byID = byID
        self.modes = modes
        self.refusal = refusal
    }

    /// All V4L2 nodes of this machine in the order of their numbers, those that are no cameras with the reason.
    ///
    /// Where one cannot be opened, its name comes from sysfs and nothing else of it is known.
    public static func all() -> [CameraDevice] { V4L2Host(wake: Wake()).nodes().map(\.device) }
}
