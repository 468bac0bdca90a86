import ArgumentParser
import Bookplate
import Capture
import Decoder
import Foundation
import Station

/// The live camera, or what stands for one.
struct LiveOptions: ParsableArguments {
    @OptionGroup var camera: CameraOptions

    @Option(help: ArgumentHelp("Read an MJPEG stream or PGM frames from standard input.", valueName: "-"))
    var frames: String?

    @Option(
        help: ArgumentHelp("Take a handheld scanner for this alone (exclusive).", valueName: "/dev/input/by-id/..."))
    var scanner: String?

    func validate() throws {
        guard let frames else { return }
        if frames != "-" { throw ValidationError("--frames reads standard input: --frames -.") }
        if camera.device != nil || camera.size != nil || camera.format != nil {
            throw ValidationError(
                "--device, --size and --format are for a camera; with --frames - the program that writes the frames decides."
            )
        }
        if isatty(STDIN_FILENO) == 1 {
            throw ValidationError(
                "--frames - reads frames, and standard input is a terminal. Pipe them in: "
                    + "rpicam-vid -t 0 -n --codec mjpeg -o - | scan --frames -")
        }
    }

    /// The camera, or standard input.
    func source(_ settings: Settings, preview: (any PreviewTap)? = nil) throws -> any FrameSource {
        frames == nil
            ? V4L2Camera(try camera.captureSettings(settings), preview: preview)
            : FrameStream(descriptor: 0, rate: camera.fps.map(Double.init), preview: preview)
    }

    /// From its frames to captured books.
    func scan(_ settings: Settings, preview: (any PreviewTap)? = nil) throws -> LiveScan {
        LiveScan(
            source: try source(settings, preview: preview), makeDecoder: { try FrameReader() },
            thumbnail: { frame, corners in frame.thumbnail(around: corners) })
    }

    /// Whether any of it was given: it goes with no other way in.
    var isUsed: Bool { camera.isUsed || frames != nil || scanner != nil }
}
