import Bookplate
import Capture
import Decoder

/// Judges the camera, the light, and how well a book in front of the camera could be read.
struct CameraChecks {
    let findings: CameraFindings

    var all: [Check] {
        guard camera.state == .ok, let format = findings.format else { return [camera] }
        return [camera, self.format(format), rate(format), decoding, light, BookCheck(findings: findings).check]
    }

    /// The check that the camera delivers frames.
    var camera: Check {
        guard let name = findings.name, let format = findings.format else {
            return findings.error.map { Check("camera", .broken, message: $0.description) }
                ?? Check(
                    "camera", .broken, "no frames arrived",
                    next:
                        "Unplug the camera and plug it in again. If that does not help, try another USB port, or another camera with --device."
                )
        }
        if let error = findings.error { return Check("camera", .broken, message: error.description) }
        guard findings.counts.delivered > 0 else {
            return Check(
                "camera", .broken, "\(name) reports that it is streaming, but no frames arrived",
                next: "Unplug it and plug it in again; if that does not help, try another --size.")
        }
        return Check("camera", .ok, "\(name) delivers \(format)")
    }

    /// Compares the requested frame format with the format that the camera delivers.
    func format(_ given: CaptureFormat) -> Check {
        let fact = "requested \(findings.requested.width)x\(findings.requested.height), got \(given)"
        if given.width < findings.requested.width || given.height < findings.requested.height {
            return Check(
                "format", .attention, fact,
                next: "Hold books closer to the camera. To see the sizes that the camera offers, run 'scan devices'.")
        }
        if given.isConverted {
            return Check(
                "format", .attention, fact,
                next:
                    "Converting frames takes time. Choose a --size or a camera that delivers GREY, YUYV, NV12 or MJPG directly."
            )
        }
        return Check("format", .ok, fact)
    }

    /// Compares the measured frame rate with the rate that the camera announced.
    func rate(_ given: CaptureFormat) -> Check {
        guard findings.elapsed >= .seconds(1) else {
            return Check(
                "rate", .unknown, "too few frames to measure", next: "To measure for longer, use --seconds 10.")
        }
        let seconds: Double = findings.elapsed / .seconds(1)
        let rate = Double(findings.counts.delivered + findings.counts.skipped) / seconds
        let announced = given.framesPerSecond.map { "; the camera announced \($0.rounded(to: 1))" } ?? ""
        let fact = "\(rate.rounded(to: 1)) frames per second\(announced)"
        guard rate < 0.8 * (given.framesPerSecond ?? 12) else { return Check("rate", .ok, fact) }
        return Check(
            "rate", .attention, fact,
            next: findings.light.mean < Self.dim
                ? "Add light: in the dark a camera takes longer for each frame."
                : "Give the camera a USB port of its own, or try a smaller --size.")
    }

    /// The check that this machine decodes frames as fast as the camera delivers them.
    var decoding: Check {
        let (counts, latency) = (findings.counts, findings.latency ?? .zero)
        let milliseconds = Int((latency / .milliseconds(1)).rounded())
        let fact =
            "\(milliseconds) ms from frame to result; \(counts.delivered) frames decoded, \(counts.skipped) skipped, "
            + "\(counts.dropped) damaged"
        if counts.dropped * 10 > counts.delivered + counts.skipped {
            return Check(
                "decoding", .attention, fact,
                next: "USB cables and USB hubs can damage frames. Plug the camera directly into this machine.")
        }
        if counts.restarts > 0 {
            return Check(
                "decoding", .attention,
                "\(fact); the camera's stream had to be restarted \(counts.restarts == 1 ? "once" : "\(counts.restarts) times")",
                next: "Try another cable and USB port; the kernel log (dmesg) shows the errors.")
        }
        if latency < .zero || latency > .seconds(60) {
            return Check(
                "decoding", .attention, "\(fact); the camera's driver takes its timestamps from another clock",
                next: "Scanning works, but its speed cannot be measured.")
        }
        if latency > .milliseconds(300) || counts.skipped > 3 * counts.delivered {
            return Check(
                "decoding", .attention, fact,
                next: "This machine is busy or slow: quit other programs, or try a smaller --size.")
        }
        return Check("decoding", .ok, fact)
    }

    /// The mean grey level, from 0 to 255, below which a camera begins to use longer exposures.
    static let dim = 70.0

    var light: Check {
        let (mean, clipped) = (findings.light.mean, findings.light.clipped)
        let fact =
            "mean brightness \(mean.rounded(to: 0)) of 255, \((clipped * 100).rounded(to: 0))% of the picture white"
        if mean < HintRules.dark {
            return Check("light", .attention, fact, next: "Add light, such as a desk lamp from the side.")
        }
        if clipped > HintRules.clipped {
            return Check(
                "light", .attention, fact,
                next: "Reduce the light, or light the book from the side: glare hides the bars.")
        }
        return Check("light", .ok, fact)
    }
}

/// Judges how well the book in front of the camera could be read.
struct BookCheck {
    let findings: CameraFindings

    var check: Check {
        let meter = findings.meter
        var facts: [String] = []
        if let last = findings.codes.last { facts.append("read \(last)") }
        if let sharpness = meter.sharpness { facts.append("sharpness \(sharpness.rounded(to: 2))") }
        if let pixels = meter.pixelsPerModule { facts.append("\(pixels.rounded(to: 1)) px per narrowest bar") }
        guard !facts.isEmpty else {
            return Check(
                "book", .unknown, "no book was shown to the camera",
                next: "Run 'scan doctor --seconds 15', and hold the back of a book up to the camera.")
        }
        if findings.codes.isEmpty { facts.insert("something looked like a bar code, but was not read", at: 0) }
        let fact = facts.joined(separator: ", ")
        if let pixels = meter.pixelsPerModule, pixels < HintRules.pixelsPerModule {
            let more = findings.requested.width < 1920 ? ", or request a larger picture with --size 1920x1080" : ""
            return Check("book", .attention, fact, next: "Hold the book closer\(more).")
        }
        if let sharpness = meter.sharpness, sharpness < HintRules.sharpness {
            return Check(
                "book", .attention, fact,
                next:
                    "Hold the book still, at a distance where the picture is sharp; a fixed-focus camera is often sharp only beyond 40 cm."
            )
        }
        guard findings.codes.isEmpty else { return Check("book", .ok, fact) }
        return Check(
            "book", .attention, fact,
            next: "If this was a book, hold it flat and still, with the whole bar code in view.")
    }
}
