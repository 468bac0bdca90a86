import ArgumentParser
import Bookplate
import Capture
import Foundation

/// The live camera, or what stands for one.
struct LiveOptions: ParsableArguments {
    @OptionGroup var camera: CameraOptions

    @Option(help: ArgumentHelp("Read an MJPEG stream or PGM frames from standard input.", valueName: "-"))
    var frames: String?

    @Option(
        help: ArgumentHelp("Take a handheld scanner for this alone (exclusive).", valueName: "/dev/input/by-id/..."))
    var scanner: String?

    @Flag(help: "No sounds.")
    var quiet = false

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
    func source(_ settings: Settings) throws -> any FrameSource {
        frames == nil
            ? V4L2Camera(try camera.captureSettings(settings))
            : FrameStream(descriptor: 0, rate: camera.fps.map(Double.init))
    }

    /// Whether any of it was given: it goes with no other way in.
    var isUsed: Bool { camera.isUsed || frames != nil || scanner != nil }
}
