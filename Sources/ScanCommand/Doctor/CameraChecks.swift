import Bookplate
import Capture

/// What a look through the camera says of the camera, of the light, and of a book that was held up.
struct CameraChecks {
    let sight: CameraSight

    var all: [Check] {
        guard camera.state == .ok, let format = sight.format else { return [camera] }
        return [camera, self.format(format), rate(format), decoding, light, BookCheck(sight: sight).check]
    }

    /// Whether it gives frames.
    var camera: Check {
        guard let name = sight.name, let format = sight.format else {
            return sight.trouble.map { Check("camera", .broken, telling: $0.description) }
                ?? Check(
                    "camera", .broken, "no frames came",
                    next: "Unplug the camera and plug it in again; try another USB port, or another one with --device.")
        }
        if let trouble = sight.trouble { return Check("camera", .broken, telling: trouble.description) }
        guard sight.counts.delivered > 0 else {
            return Check(
                "camera", .broken, "\(name) says that it streams, but no frames came",
                next: "Unplug it and plug it in again; ask for another --size if that does not help.")
        }
        return Check("camera", .ok, "\(name) gives \(format)")
    }

    /// What was asked against what is given.
    func format(_ given: CaptureFormat) -> Check {
        let asked = "asked \(sight.asked.width)x\(sight.asked.height), given \(given)"
        if given.width < sight.asked.width || given.height < sight.asked.height {
            return Check(
                "format", .attention, asked,
                next: "The book must be held closer. scan devices lists the sizes that the camera has.")
        }
        if given.isConverted {
            return Check(
                "format", .attention, asked,
                next: "Converting costs time: prefer a camera or --size that gives GREY, YUYV, NV12 or MJPG by itself.")
        }
        return Check("format", .ok, asked)
    }

    /// Frames a second as they come, against those announced.
    func rate(_ given: CaptureFormat) -> Check {
        guard sight.elapsed >= .seconds(1) else {
            return Check("rate", .unknown, "too few frames to tell", next: "Look longer: --seconds 10.")
        }
        let rate = Double(sight.counts.delivered + sight.counts.skipped) / (sight.elapsed / .seconds(1))
        let announced = given.framesPerSecond.map { " of \($0.rounded(to: 1)) announced" } ?? ""
        let fact = "\(rate.rounded(to: 1)) frames a second\(announced)"
        guard rate < 0.8 * (given.framesPerSecond ?? 12) else { return Check("rate", .ok, fact) }
        return Check(
            "rate", .attention, fact,
            next: sight.light.mean < Self.dim
                ? "More light: in the dark a camera takes longer for a frame."
                : "Give the camera a USB port of its own, or ask for a smaller --size.")
    }

    /// Whether this machine keeps up with the camera.
    var decoding: Check {
        let (counts, latency) = (sight.counts, sight.latency ?? .zero)
        let milliseconds = Int((latency / .milliseconds(1)).rounded())
        let fact =
            "\(milliseconds) ms from frame to answer; \(counts.delivered) frames looked at, \(counts.skipped) skipped, "
            + "\(counts.dropped) damaged"
        if counts.dropped * 10 > counts.delivered + counts.skipped {
            return Check(
                "decoding", .attention, fact,
                next: "Damaged frames come from cables and hubs: plug the camera in directly.")
        }
        if counts.restarts > 0 {
            return Check(
                "decoding", .attention, "\(fact); the stream was begun anew \(counts.restarts) times",
                next: "Try another cable and USB port; the kernel's log (dmesg) says what it saw.")
        }
        if latency < .zero || latency > .seconds(60) {
            return Check(
                "decoding", .attention, "\(fact): the driver's time stamps are of another clock",
                next: "Scanning works; how long it takes cannot be told.")
        }
        if latency > .milliseconds(300) || counts.skipped > 3 * counts.delivered {
            return Check(
                "decoding", .attention, fact,
                next: "This machine is busy or slow: end other programs, or ask for a smaller --size.")
        }
        return Check("decoding", .ok, fact)
    }

    /// Mean grey level below which a camera begins to lengthen its exposure.
    static let dim = 70.0

    var light: Check {
        let (mean, clipped) = (sight.light.mean, sight.light.clipped)
        let fact =
            "mean \(mean.rounded(to: 0)) of 255, \((clipped * 100).rounded(to: 0)) % white"
        if mean < HintRules.dark {
            return Check("light", .attention, fact, next: "More light: a desk lamp from the side.")
        }
        if clipped > HintRules.clipped {
            return Check("light", .attention, fact, next: "Less light, or a lamp from the side: glare hides the bars.")
        }
        return Check("light", .ok, fact)
    }
}
