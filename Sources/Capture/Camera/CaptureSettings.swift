import Bookplate

/// What a camera is asked for; what it gives instead is a ``CaptureFormat``.
public struct CaptureSettings: Sendable, Equatable {
    /// A device such as /dev/video0 or /dev/bookplate, a by-id path, or part of a camera's name; `nil` for the first real camera.
    public var device: String?
    public var width = 1280
    public var height = 720
    /// Frames a second.
    public var rate = 30
    /// `nil` for what costs least at that size and rate.
    public var pixelFormat: PixelFormat?

    public init() {}
}
