import ArgumentParser
import Bookplate
import Capture
import Decoder
import Foundation
import Station

/// The options for the live camera, or for a stream of frames instead of a camera.
struct LiveOptions: ParsableArguments {
    @OptionGroup var camera: CameraOptions

    @Option(
        help: ArgumentHelp("Read an MJPEG stream or PGM frames from standard input.", valueName: "-"),
        completion: .list(["-"]))
    var frames: String?

    @Option(
        help: ArgumentHelp(
            "Read this handheld scanner exclusively, so that other programs do not get its input.",
            valueName: "/dev/input/by-id/..."), completion: .file())
    var scanner: String?

    func validate() throws {
        guard let frames else { return }
        if frames != "-" { throw ValidationError("--frames can read only standard input. Write --frames -.") }
        if camera.device != nil || camera.size != nil || camera.format != nil {
            throw ValidationError(
                "--device, --size and --format apply only to a camera. With --frames -, the program that writes the frames sets them."
            )
        }
        if isatty(STDIN_FILENO) == 1 {
            throw ValidationError(
                "--frames - reads frames, but standard input is a terminal. Pipe them in: "
                    + "rpicam-vid -t 0 -n --codec mjpeg -o - | scan --frames -")
        }
    }

    /// Returns the camera, or standard input with `--frames -`.
    func source(_ settings: Settings, preview: (any PreviewTap)? = nil) throws -> any FrameSource {
        frames == nil
            ? V4L2Camera(try camera.captureSettings(settings), preview: preview)
            : FrameStream(descriptor: 0, rate: camera.fps.map(Double.init), preview: preview)
    }

    /// Returns a live scan, which turns the frames into captured books.
    func scan(_ settings: Settings, preview: (any PreviewTap)? = nil) throws -> LiveScan {
        LiveScan(
            source: try source(settings, preview: preview), makeDecoder: { try FrameReader() },
            thumbnail: { frame, corners in frame.thumbnail(around: corners) })
    }

    /// Makes a reader for the frames that a phone sends.
    @Sendable static func phoneScan() throws -> PhoneScan {
        guard let decoder = JPEGFrameDecoder() else { throw CommandError(.inputOutput, "memory ran out.") }
        return PhoneScan(
            decoder: try FrameReader(),
            decode: { bytes, frame in decoder.decode(bytes, into: &frame, maxPixels: PhoneScan.pixelLimit) },
            thumbnail: { frame, corners in frame.thumbnail(around: corners) })
    }

    /// Grabs the handheld scanner and returns its events; nil without `--scanner`.
    func grabScanner() -> AsyncStream<ScannerEvent>? { scanner.map { HandheldScanner(path: $0).events() } }

    /// True if any of these options was given. They cannot be combined with another input.
    var isUsed: Bool { camera.isUsed || frames != nil || scanner != nil }
}
