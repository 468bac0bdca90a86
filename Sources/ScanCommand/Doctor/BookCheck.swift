import Bookplate

/// How well a book that is held up can be read.
struct BookCheck {
    let sight: CameraSight

    var check: Check {
        let meter = sight.meter
        var facts: [String] = []
        if let last = sight.codes.last { facts.append("read \(last)") }
        if let sharpness = meter.sharpness { facts.append("sharpness \(sharpness.rounded(to: 2))") }
        if let pixels = meter.pixelsPerModule { facts.append("\(pixels.rounded(to: 1)) px a module") }
        guard !facts.isEmpty else {
            return Check(
                "book", .unknown, "nobody held up a book",
                next: "Run scan doctor --seconds 15 and hold the back of a book up to the camera.")
        }
        if sight.codes.isEmpty { facts.insert("something like bars, not read", at: 0) }
        let fact = facts.joined(separator: ", ")
        if let pixels = meter.pixelsPerModule, pixels < HintRules.pixelsPerModule {
            let more = sight.asked.width < 1920 ? ", or ask for more with --size 1920x1080" : ""
            return Check("book", .attention, fact, next: "Hold it closer\(more).")
        }
        if let sharpness = meter.sharpness, sharpness < HintRules.sharpness {
            return Check(
                "book", .attention, fact,
                next:
                    "Hold it still, and at the distance where the camera is sharp; a fixed focus is often sharp only from 40 cm on."
            )
        }
        guard sight.codes.isEmpty else { return Check("book", .ok, fact) }
        return Check(
            "book", .attention, fact, next: "If it was a book: hold it flat and still, with all of its code in view.")
    }
}
