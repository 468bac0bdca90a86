import ArgumentParser
import Bookplate
import Capture
import Terminal

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the cameras with their formats, and the handheld scanners.",
        discussion: """
            Without --device, the first camera in the list is used. To use another one,
            give its path or part of its name:

              scan devices
              scan devices --json | jq 'select(.usable)'
              scan --device /dev/video2
              scan --device c920
            """)

    @OptionGroup var output: OutputOptions

    func run() throws {
        let cameras = CameraDevice.all()
        let scanners = ScannerDevice.all()
        if output.json {
            for camera in cameras { Output.shared.printLine(camera.json) }
            for scanner in scanners { Output.shared.printLine(scanner.json) }
        } else {
            for line in DeviceList(cameras: cameras, scanners: scanners.filter(\.isLikely)).lines {
                Output.shared.printLine(line)
            }
        }
        let usable = cameras.contains { $0.refusal == nil }
        if !usable { throw CommandError(.unavailable, Self.advice(cameras)) }
    }

    /// Returns the advice for a machine without a usable camera.
    private static func advice(_ cameras: [CameraDevice]) -> String {
        let denied = cameras.contains { $0.refusal?.contains("permission denied") ?? false }
        if denied {
            return
                "permission denied for every camera. Join the group 'video' and log in again, or install udev/70-bookplate.rules."
        }
        return """
            no usable camera. Plug in a USB webcam. For a Raspberry Pi camera module, use: \
            rpicam-vid --codec mjpeg -t 0 -o - | scan --frames -
            """
    }
}

/// The list of cameras and scanners as text. It fits into 80 columns if the names and paths are short enough.
struct DeviceList {
    let cameras: [CameraDevice]
    let scanners: [ScannerDevice]
    var style = Output.shared.style

    var lines: [String] {
        var lines: [String] = []
        for camera in cameras where camera.refusal == nil { lines += self.lines(camera) }
        for scanner in scanners {
            lines.append(style.strong(scanner.name.oneLine.fitted(79)))
            lines.append(
                row(
                    "scanner",
                    scanner.refusal ?? "to read it exclusively: scan --scanner \(scanner.byID ?? scanner.path)"))
        }
        let refused = cameras.filter { $0.refusal != nil }
        if !refused.isEmpty { lines.append(style.faint("Cannot be used:")) }
        return lines
            + refused.map { "  \($0.path)  \($0.name.oneLine.fitted(28)): \(($0.refusal ?? "").oneLine)" }
    }

    private func lines(_ camera: CameraDevice) -> [String] {
        var lines = [
            style.strong(camera.name.oneLine.fitted(79)), row("path", camera.path),
            row("bus", "\(camera.bus), driver \(camera.driver)"),
        ]
        if let byID = camera.byID { lines.append(row("by-id", byID)) }
        for format in PixelFormat.allCases {
            let modes = camera.modes.filter { $0.pixelFormat == format }
            let isConverted = modes.contains(where: \.isConverted)
            for (index, text) in packed(modes.map(\.text) + (isConverted ? ["converted by libv4l"] : [])).enumerated() {
                lines.append(row(index == 0 ? format.rawValue : "", text))
            }
        }
        return lines
    }

    private func row(_ title: String, _ text: String) -> String { "  " + title.padded(9) + text.oneLine }

    /// Joins the texts into lines, each with as many texts as there is room for beside the title.
    private func packed(_ texts: [String]) -> [String] {
        var lines: [String] = []
        for text in texts {
            if let last = lines.last, last.columns + text.columns + 2 <= 68 {
                lines[lines.count - 1] = last + "; " + text
            } else {
                lines.append(text)
            }
        }
        return lines
    }
}

extension CameraDevice.Mode {
    /// The mode as text, with the rates in frames per second: "1280x720: 30 10".
    fileprivate var text: String {
        rates.isEmpty ? "\(width)x\(height)" : "\(width)x\(height): " + rates.map(\.shortRate).joined(separator: " ")
    }
}

extension Double {
    /// The rate with at most two decimals: "30", "29.97".
    fileprivate var shortRate: String {
        let hundredths = (self * 100).rounded() / 100
        return Int(exactly: hundredths).map { "\($0)" } ?? "\(hundredths)"
    }
}

extension CameraDevice {
    fileprivate var json: JSONValue {
        [
            "type": "camera", "path": .string(path), "name": .string(name),
            "driver": JSONValue(driver.isEmpty ? nil : driver),
            "bus": JSONValue(bus.isEmpty ? nil : bus), "byId": JSONValue(byID), "usable": .bool(refusal == nil),
            "reason": JSONValue(refusal), "modes": .array(modes.map(\.json)),
        ]
    }
}

extension CameraDevice.Mode {
    fileprivate var json: JSONValue {
        [
            "format": .string(pixelFormat.rawValue), "width": .integer(width), "height": .integer(height),
            "rates": .array(rates.map { .number($0) }), "converted": .bool(isConverted),
        ]
    }
}

extension ScannerDevice {
    fileprivate var json: JSONValue {
        [
            "type": "scanner", "path": .string(path), "name": .string(name), "driver": .null, "bus": .null,
            "byId": JSONValue(byID), "usable": .bool(refusal == nil), "reason": JSONValue(refusal), "modes": .array([]),
        ]
    }
}
