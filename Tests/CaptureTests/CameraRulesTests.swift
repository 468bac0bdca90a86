import Bookplate
import Glibc
import TestTools
import Testing

@testable import Capture

struct NodeCase: CustomTestStringConvertible {
    var testDescription: String
    var capabilities: UInt32
    var driver = "uvcvideo"
    var error: NodeError?
}

// device_caps as the drivers give them (v4l2-ctl --info); 0x00200000 is EXT_PIX_FORMAT, 0x04000000 STREAMING.
@Test(arguments: [
    NodeCase(testDescription: "UVC camera", capabilities: 0x0420_0001),
    NodeCase(testDescription: "UVC metadata", capabilities: 0x04A0_0000, error: .metadata),
    NodeCase(testDescription: "v4l2loopback", capabilities: 0x0520_0001, driver: "v4l2 loopback"),
    NodeCase(
        testDescription: "v4l2loopback without a writer", capabilities: 0x0520_0002, driver: "v4l2 loopback",
        error: .output),
    NodeCase(
        testDescription: "Raspberry Pi decoder", capabilities: 0x0420_4000, driver: "bcm2835-codec", error: .codec),
    NodeCase(
        testDescription: "a codec with single planes", capabilities: 0x0420_8000, driver: "coda", error: .codec),
    NodeCase(
        testDescription: "Raspberry Pi ISP output", capabilities: 0x0420_0002, driver: "bcm2835-isp", error: .output),
    NodeCase(
        testDescription: "Raspberry Pi ISP capture", capabilities: 0x0420_0001, driver: "bcm2835-isp",
        error: .pipeline),
    NodeCase(
        testDescription: "Raspberry Pi ISP statistics", capabilities: 0x04A0_0000, driver: "bcm2835-isp",
        error: .metadata),
    NodeCase(
        testDescription: "Raspberry Pi 5 front end", capabilities: 0x24A0_0001, driver: "rp1-cfe", error: .metadata),
    NodeCase(
        testDescription: "unicam with a media controller", capabilities: 0x2420_0001, driver: "unicam",
        error: .pipeline),
    NodeCase(testDescription: "Rockchip ISP", capabilities: 0x0420_1000, driver: "rkisp1", error: .multiplanar),
    NodeCase(testDescription: "radio", capabilities: 0x0005_0000, driver: "radio-si470x", error: .noPictures),
    NodeCase(testDescription: "touch", capabilities: 0x1420_0001, driver: "atmel_mxt_ts", error: .noPictures),
    NodeCase(testDescription: "read() alone", capabilities: 0x0100_0001, driver: "pwc", error: .noStreaming),
])
func `the capabilities of a node show whether it is a camera`(_ node: NodeCase) {
    #expect(NodeRules.error(capabilities: node.capabilities, driver: node.driver) == node.error)
}

private func mode(_ format: PixelFormat, _ width: Int, _ height: Int, _ rates: Double..., converted: Bool = false)
    -> CameraDevice.Mode
{
    CameraDevice.Mode(pixelFormat: format, width: width, height: height, rates: rates, isConverted: converted)
}

struct ModeCase: CustomTestStringConvertible {
    var testDescription: String
    var modes: [CameraDevice.Mode]
    var requested: PixelFormat?
    var best: CameraDevice.Mode?
}

@Test(arguments: [
    ModeCase(
        testDescription: "a USB 2 webcam: raw is too slow at 720p",
        modes: [
            mode(.yuyv, 640, 480, 30), mode(.yuyv, 1280, 720, 10), mode(.mjpg, 640, 480, 30),
            mode(.mjpg, 1280, 720, 30),
        ],
        best: mode(.mjpg, 1280, 720, 30)),
    ModeCase(
        testDescription: "raw that is fast enough goes before a JPEG",
        modes: [mode(.mjpg, 1280, 720, 60, 30), mode(.yuyv, 1280, 720, 30)], best: mode(.yuyv, 1280, 720, 30)),
    ModeCase(
        testDescription: "grey before planes before YUYV",
        modes: [mode(.yuyv, 1280, 720, 30), mode(.nv12, 1280, 720, 30), mode(.grey, 1280, 720, 30)],
        best: mode(.grey, 1280, 720, 30)),
    ModeCase(
        testDescription: "29.97 reaches 30", modes: [mode(.mjpg, 1280, 720, 30), mode(.yuyv, 1280, 720, 29.97)],
        best: mode(.yuyv, 1280, 720, 29.97)),
    ModeCase(
        testDescription: "of slow ones the fastest", modes: [mode(.yuyv, 1280, 720, 5), mode(.mjpg, 1280, 720, 15)],
        best: mode(.mjpg, 1280, 720, 15)),
    ModeCase(
        testDescription: "the nearest that is not smaller",
        modes: [mode(.mjpg, 1024, 768, 30), mode(.mjpg, 1920, 1080, 30), mode(.mjpg, 1280, 960, 30)],
        best: mode(.mjpg, 1280, 960, 30)),
    ModeCase(
        testDescription: "the largest where all are smaller",
        modes: [mode(.yuyv, 320, 240, 30), mode(.yuyv, 640, 480, 15)],
        best: mode(.yuyv, 640, 480, 15)),
    ModeCase(
        testDescription: "a driver that does not say its rates",
        modes: [mode(.mjpg, 1280, 720, 30), mode(.grey, 1280, 720)],
        best: mode(.grey, 1280, 720)),
    ModeCase(
        testDescription: "the format that was asked for",
        modes: [mode(.grey, 1280, 720, 30), mode(.mjpg, 640, 480, 15)], requested: .mjpg,
        best: mode(.mjpg, 640, 480, 15)),
    ModeCase(
        testDescription: "a format that is not there", modes: [mode(.grey, 1280, 720, 30)], requested: .nv12,
        best: mode(.grey, 1280, 720, 30)),
    ModeCase(
        testDescription: "native before converted",
        modes: [mode(.yu12, 1280, 720, 30, converted: true), mode(.yuyv, 320, 240, 5)], best: mode(.yuyv, 320, 240, 5)),
    ModeCase(
        testDescription: "converted where nothing else is left", modes: [mode(.yu12, 1280, 720, 30, converted: true)],
        best: mode(.yu12, 1280, 720, 30, converted: true)),
    ModeCase(testDescription: "nothing", modes: [], best: nil),
])
func `the best mode is requested`(_ test: ModeCase) {
    var settings = CaptureSettings()
    settings.pixelFormat = test.requested
    #expect(ModeChoice.best(of: test.modes, for: settings) == test.best)
}

@Test func `on a Raspberry Pi with a webcam, the webcam is used`() {
    func node(_ number: Int, _ name: String, _ error: NodeError?) -> ListedNode {
        ListedNode(
            CameraDevice(
                path: "/dev/video\(number)", name: name, driver: "", bus: "usb", byID: nil, modes: [], refusal: nil),
            error: error)
    }
    let nodes =
        (10...16).map { node($0, "bcm2835-codec-decode", .codec) } + [
            node(20, "bcm2835-isp", .pipeline), node(32, "HD Webcam C525", .metadata), node(33, "HD Webcam C525", nil),
            node(34, "Second", nil),
        ]
    func pick(_ requested: String?) -> CameraChoice.Outcome {
        CameraChoice(requested: requested).pick(from: nodes, at: .zero) { $0 == "/dev/bookplate" ? "/dev/video34" : $0 }
    }
    #expect(pick(nil) == .found(nodes[9].device))
    #expect(pick("hd webcam") == .found(nodes[9].device))
    #expect(pick("/dev/bookplate") == .found(nodes[10].device))
    #expect(pick("/dev/video34") == .found(nodes[10].device))
    #expect(pick("/dev/video10") == .refused(nodes[0]))
    #expect(pick("/dev/video99") == .none)
    #expect(pick("third") == .none)
}

@Test func `for a driver that accepts any size and rate, the usual ones are listed`() {
    let sizes = PictureSize.usual(widths: (16, 1280, 8), heights: (16, 720, 8))
    #expect(sizes.map(\.width) == [320, 640, 640, 800, 1280])
    #expect(PictureSize.usual(widths: (100, 200, 1), heights: (100, 150, 1)) == [PictureSize(width: 200, height: 150)])
    #expect(PictureSize.usual(widths: (0, .max, 0), heights: (0, .max, 0)).count == 11)
    #expect(PictureSize.usualRates(from: 5, to: 30) == [30, 25, 20, 15, 10, 5])
    #expect(PictureSize.usualRates(from: nil, to: nil) == [])
    #expect(PictureSize.usualRates(from: 0, to: 1e9).first == 240)
}

@Test(
    arguments: zip(PixelFormat.allCases, [0x5945_5247, 0x5659_5559, 0x3231_564E, 0x3231_5559, 0x4750_4A4D] as [UInt32]))
func `FourCCs are those of videodev2`(_ format: PixelFormat, _ code: UInt32) {
    #expect(format.fourCC == code)
    #expect(PixelFormat(fourCC: code) == format)
    #expect(fourCCText(code) == format.rawValue)
}

@Test(arguments: [
    (V4L2Error.failed("open", errno: .permissionDenied), NodeError.denied(path: "/dev/video0")),
    (.failed("open", errno: .notPermitted), .denied(path: "/dev/video0")),
    (.failed("open", errno: .resourceBusy), .busy),
    (
        .failed("VIDIOC_QUERYCAP", errno: .permissionDenied),
        .failing(.failed("VIDIOC_QUERYCAP", errno: .permissionDenied))
    ),
    (.libraryMissing("none"), .libraryMissing("none")),
])
func `errors that keep a node from being opened are distinguished`(_ error: V4L2Error, _ expected: NodeError) {
    #expect(NodeError(error, path: "/dev/video0") == expected)
}

@Test func `too little USB bandwidth is reported as such`() {
    let device = CameraDevice(path: "/dev/video0", name: "C", driver: "", bus: "", byID: nil, modes: [], refusal: nil)
    let error = CameraError.failing(device, .failed("VIDIOC_STREAMON", errno: .noSpace))
    #expect(error.kind == .failing && error.description.contains("another port"))
}

@Test(.disabled(if: isEmulated, "QEMU answers the calls of V4L2 for files that are no devices"))
func `a node that is not a video device is reported with its errno`() throws {
    do throws(V4L2Error) {
        _ = try V4L2Node(path: "/dev/null", converting: false, stopSignal: StopSignal())
        Issue.record("opened")
    } catch {
        guard case .failed(let call, let code) = error else { throw error }
        #expect(call == "v4l2_fd_open" && code == .inappropriateIOCTLForDevice || code == .invalidArgument)
    }
}

@Test func `a stop signal ends every later wait`() {
    let signal = StopSignal()
    #expect(signal.wait(for: nil, atMost: .zero) == .ended)
    signal.stop()
    signal.stop()
    #expect(signal.wait(for: nil, atMost: .seconds(3600)) == .ended)
    #expect(signal.isStopped)
}

@Test func `the holder of a device is reported with its process`() {
    let descriptor = open("/dev/full", O_RDONLY)
    defer { close(descriptor) }
    #expect(DeviceHolder.name(of: "/dev/full")?.contains("(process \(getpid()))") == true)
    #expect(DeviceHolder.name(of: "/dev/there-is-none") == nil)
}

@Test(arguments: [
    ("HD Webcam: HD Webcam", "HD Webcam"), ("HD Webcam: Rear", "HD Webcam: Rear"), ("HD Webcam", "HD Webcam"),
    ("Integrated Camera: Integrated C", "Integrated Camera"), ("Cam: C", "Cam: C"),
    ("Cam\n\u{1B}[2J\u{202E}", "Cam[2J"),
])
func `a camera's name is one line, and not doubled`(_ given: String, _ shown: String) {
    #expect(NodeRules.name(given) == shown)
}
