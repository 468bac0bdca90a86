import ArgumentParser
import Bookplate
import Capture
import Terminal

/// The options for the camera and for the frames to request from it.
struct CameraOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The camera: /dev/video0, /dev/bookplate, or part of its name.", valueName: "device"),
        completion: .file())
    var device: String?

    @Option(
        help: ArgumentHelp("The frame size to request from the camera (default: 1280x720).", valueName: "WxH"),
        completion: .list(FrameSize.usual))
    var size: FrameSize?

    @Option(
        help: ArgumentHelp(
            "The frame rate to request from the camera; with --frames, the frame rate of the recording.",
            valueName: "number"))
    var fps: Int?

    @Option(help: ArgumentHelp("The pixel format to request: GREY, YUYV, NV12, YU12 or MJPG.", valueName: "fourcc"))
    var format: PixelFormat?

    func validate() throws {
        if let fps, !(1...240).contains(fps) { throw ValidationError("--fps must be a number from 1 to 240.") }
    }

    /// Combines the options with the settings. An option overrides the setting.
    ///
    /// - Throws: ``CommandError`` for an invalid setting.
    func captureSettings(_ settings: Settings) throws -> CaptureSettings {
        var wanted = CaptureSettings()
        wanted.device = device ?? settings[.camera]
        let size = try size ?? FrameSize(setting: settings[.cameraSize])
        (wanted.width, wanted.height) = (size.width, size.height)
        wanted.rate = fps ?? wanted.rate
        wanted.pixelFormat = format
        return wanted
    }

    /// True if any of these options was given.
    var isUsed: Bool { device != nil || size != nil || fps != nil || format != nil }
}

/// A frame size, written as "1280x720".
struct FrameSize: ExpressibleByArgument, Equatable {
    var width: Int
    var height: Int

    /// The sizes of most webcams, as they are written.
    static let usual = ["640x480", "1280x720", "1920x1080"]

    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], (16...8192).contains(width),
            (16...8192).contains(height)
        else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// Creates the frame size from a setting.
    ///
    /// - Throws: ``CommandError`` if the setting is not a size.
    init(setting: String?) throws {
        guard let size = setting.flatMap(FrameSize.init(argument:)) else {
            throw CommandError(
                .configuration,
                "cameraSize is \"\((setting ?? "").prefix(40).printable)\"; it must be a size such as 1280x720.")
        }
        self = size
    }
}

extension PixelFormat: ExpressibleByArgument {
    public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}
