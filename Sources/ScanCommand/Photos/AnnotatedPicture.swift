import Bookplate
import Decoder
import Foundation

/// A picture of a photo and the decoder's steps, as SVG for a browser. It shows the areas that look like bar codes, and
/// each code with its text and the stage of the decoder that first read it. Below the photo, it lists the stages with
/// their CPU times.
struct AnnotatedPicture {
    /// The long side of the embedded photo, in pixels.
    static let longSide = 1280
    /// The colours for the stages of the decoder that read something. If there are more stages than colours, the first
    /// colours are used again.
    private static let stageColours = ["#1f9d55", "#2f6fdb", "#c026d3", "#d9480f", "#0e8a8a"]
    /// The colour of the outlines around the areas that the decoder examined.
    private static let placeColour = "#b7791f"

    let photo: [UInt8]
    let explanation: Explanation
    /// The codes that were read.
    let symbols: [Symbol]

    var svg: String {
        let (width, height) = (explanation.width, explanation.height)
        let letter = max(Double(width) / 75, 0.1)
        let steps = explanation.steps.filter { !$0.places.isEmpty }
        let below = (Double(steps.count) + 1) * letter * 1.5
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(number(Double(height) + below))" \
            font-family="sans-serif" font-size="\(number(letter))">
            """,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            // This clips paths that extend beyond the photo.
            #"<svg width="\#(width)" height="\#(height)" overflow="hidden">"#,
            """
            <image width="\(width)" height="\(height)" preserveAspectRatio="none" \
            href="data:image/jpeg;base64,\(Data(photo).base64EncodedString())"/>
            """,
        ]
        let readers = steps.filter { !$0.read.isEmpty }.map(\.stage)
        func colour(_ step: Explanation.Step) -> String {
            readers.firstIndex(of: step.stage).map { Self.stageColours[$0 % Self.stageColours.count] }
                ?? Self.placeColour
        }
        let examined = steps.flatMap(\.places)
        lines += Set(examined.map(path)).sorted().map {
            #"<path d="\#($0)" fill="none" stroke="\#(Self.placeColour)" stroke-width="\#(number(letter / 12))"/>"#
        }
        for symbol in symbols {
            let reader = steps.first { $0.read.contains(symbol.payload) }
            lines += draw(symbol, reader?.stage ?? "", reader.map(colour) ?? Self.placeColour, letter)
        }
        lines.append("</svg>")
        for (index, step) in steps.enumerated() {
            let y = Double(height) + (Double(index) + 1.5) * letter * 1.5
            lines.append(text(step.line(mostCodes: 3), x: letter, y: y, colour: colour(step)))
        }
        return lines.joined(separator: "\n") + "\n</svg>\n"
    }

    private func draw(_ symbol: Symbol, _ stage: String, _ colour: String, _ letter: Double) -> [String] {
        let (left, right, centre) = (symbol.corners.topLeft, symbol.corners.topRight, symbol.corners.centre)
        let (x, y) = (right.x - left.x, right.y - left.y)
        // The text runs across the bars and is not longer than the code, so that the texts of many books do not
        // overlap.
        let turn = "rotate(\(number(atan2(y, x) * 180 / .pi)) \(number(centre.x)) \(number(centre.y)))"
        let size = min(letter * 1.4, hypot(x, y) / 8)
        let digits = [symbol.payload, symbol.addon].compactMap(\.self).joined(separator: " +")
        return [
            """
            <path d="\(path(symbol.corners))" fill="\(colour)" fill-opacity="0.15" stroke="\(colour)" \
            stroke-width="\(number(letter / 6))"/>
            <g transform="\(turn)" text-anchor="middle" font-size="\(number(size))">
            """,
            text(digits, x: centre.x, y: centre.y, colour: colour),
            text(stage, x: centre.x, y: centre.y + size, colour: colour), "</g>",
        ]
    }

    /// - Parameter text: text that needs no escaping: digits and words of this program.
    private func text(_ text: String, x: Double, y: Double, colour: String) -> String {
        """
        <text x="\(number(x))" y="\(number(y))" fill="\(colour)" stroke="white" stroke-width="0.12em" \
        stroke-linejoin="round" paint-order="stroke">\(text)</text>
        """
    }

    private func path(_ corners: Corners) -> String {
        "M" + corners.all.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L") + "Z"
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

extension Explanation.Step {
    /// Describes the step: "1.31 ms  lines (sharp codes, at any angle), 2 places: read 9780306406157".
    ///
    /// - Parameter mostCodes: the maximum number of codes to list. If there are more, only their number is given.
    func line(mostCodes: Int = .max) -> String {
        let cost = String(format: "%.2f", cpu / .milliseconds(1))
        let count = places.count == 1 ? "1 place" : "\(places.count) places"
        let codes = read.count > mostCodes ? "\(read.count) codes" : read.joined(separator: ", ")
        let read = read.isEmpty ? "" : ": read \(codes)"
        return "\(cost) ms  \(stage) (\(reason)), \(count)\(read)"
    }
}
