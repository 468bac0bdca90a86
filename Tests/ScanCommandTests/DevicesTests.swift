import Capture
import Foundation
import Testing

@testable import ScanCommand
import Terminal

@Suite struct `scan devices` {
    @Test func `prints every key of every device, and says what to do without a camera`() throws {
        try withScan { scan in
            let ending = try scan.run("devices", "--json")
            let devices = try ending.objects()
            for device in devices {
                #expect(
                    Set(device.keys) == ["type", "path", "name", "driver", "bus", "byId", "usable", "reason", "modes"])
            }
            let usable = devices.contains { $0["type"] as? String == "camera" && $0["usable"] as? Bool == true }
            #expect(ending.status == (usable ? 0 : 69))
            #expect(usable || ending.err.hasPrefix("scan: no "))
        }
    }

    @Test func `shows formats within 80 columns, and devices that are not used in brief`() {
        let modes = [(640, 480, [30, 29.97, 15]), (1280, 720, [30]), (1920, 1080, [30, 5]), (2560, 1440, [])].map {
            CameraDevice.Mode(pixelFormat: .mjpg, width: $0.0, height: $0.1, rates: $0.2, isConverted: false)
        }
        let camera = CameraDevice(
            path: "/dev/video0", name: "HD \u{1B}[31mWebcam", driver: "uvcvideo", bus: "usb-0000:00:14.0-1",
            byID: "/dev/v4l/by-id/usb-x", modes: modes, refusal: nil)
        let metadata = CameraDevice(
            path: "/dev/video1", name: "HD Webcam", driver: "uvcvideo", bus: "", byID: nil, modes: [],
            refusal: "metadata node, no pictures")
        let scanner = ScannerDevice(
            path: "/dev/input/event5", name: "Tera Scanner", byID: nil, isLikely: true, refusal: nil)
        let list = DeviceList(cameras: [camera, metadata], scanners: [scanner], style: Style(isOn: false))
        #expect(
            list.lines == [
                "HD  [31mWebcam", "  path     /dev/video0", "  bus      usb-0000:00:14.0-1, driver uvcvideo",
                "  by-id    /dev/v4l/by-id/usb-x",
                "  MJPG     640x480: 30 29.97 15; 1280x720: 30; 1920x1080: 30 5; 2560x1440",
                "Tera Scanner", "  scanner  to read it exclusively: scan --scanner /dev/input/event5",
                "Cannot be used:",
                "  /dev/video1  HD Webcam: metadata node, no pictures",
            ])
        #expect(list.lines.allSatisfy { $0.count <= 80 })
    }
}
