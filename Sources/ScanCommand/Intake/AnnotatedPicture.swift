import Bookplate
import Decoder
import Foundation

/// A photo with what the decoder saw in it drawn on top, as SVG: places that look like bars, codes with what each says and which stage
/// read it first, and below the stages with what they cost. Any browser shows it.
struct AnnotatedPicture {
    /// Of the photo in it, in pixels.
    static let longSide = 1280
    /// One after the other, for the stages that read something.
    private static let inks = ["#1f9d55", "#2f6fdb", "#c026d3", "#d9480f", "#0e8a8a"]

    /// Of what was looked at.
    private static let place = "#b7791f"

    let photo: [UInt8]
    let explanation: Explanation
    /// What was told in the end.
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
            // Paths may lean out of the photo.
            #"<svg width="\#(width)" height="\#(height)" overflow="hidden">"#,
            """
            <image width="\(width)" height="\(height)" preserveAspectRatio="none" \
            href="data:image/jpeg;base64,\(Data(photo).base64EncodedString())"/>
            """,
        ]
        let readers = steps.filter { !$0.read.isEmpty }.map(\.stage)
        func ink(_ step: Explanation.Step) -> String {
            readers.firstIndex(of: step.stage).map { Self.inks[$0 % Self.inks.count] } ?? Self.place
        }
        let seen = steps.flatMap(\.places)
        lines += Set(seen.map(path)).sorted().map {
            #"<path d="\#($0)" fill="none" stroke="\#(Self.place)" stroke-width="\#(number(letter / 12))"/>"#
        }
        for symbol in symbols {
            let reader = steps.first { $0.read.contains(symbol.payload) }
            lines += draw(symbol, reader?.stage ?? "", reader.map(ink) ?? Self.place, letter)
        }
        lines.append("</svg>")
        for (index, step) in steps.enumerated() {
            let y = Double(height) + (Double(index) + 1.5) * letter * 1.5
            lines.append(text(step.line(mostCodes: 3), x: letter, y: y, ink: ink(step)))
        }
        return lines.joined(separator: "\n") + "\n</svg>\n"
    }

    private func draw(_ symbol: Symbol, _ stage: String, _ ink: String, _ letter: Double) -> [String] {
        let (left, right, centre) = (symbol.corners.topLeft, symbol.corners.topRight, symbol.corners.centre)
        let (x, y) = (right.x - left.x, right.y - left.y)
        // Across the bars and no longer than the code, so that those of many books stay apart.
        let turn = "rotate(\(number(atan2(y, x) * 180 / .pi)) \(number(centre.x)) \(number(centre.y)))"
        let size = min(letter * 1.4, hypot(x, y) / 8)
        let digits = [symbol.payload, symbol.addon].compactMap(\.self).joined(separator: " +")
        return [
            """
            <path d="\(path(symbol.corners))" fill="\(ink)" fill-opacity="0.15" stroke="\(ink)" \
            stroke-width="\(number(letter / 6))"/>
            <g transform="\(turn)" text-anchor="middle" font-size="\(number(size))">
            """,
            text(digits, x: centre.x, y: centre.y, ink: ink),
            text(stage, x: centre.x, y: centre.y + size, ink: ink), "</g>",
        ]
    }

    /// - Parameter text: of our own words and digits.
    private func text(_ text: String, x: Double, y: Double, ink: String) -> String {
        """
        <text x="\(number(x))" y="\(number(y))" fill="\(ink)" stroke="white" stroke-width="0.12em" \
        stroke-linejoin="round" paint-order="stroke">\(text)</text>
        """
    }

    private func path(_ corners: Corners) -> String {
        "M" + corners.all.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L") + "Z"
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

extension Explanation.Step {
    /// "1.31 ms  lines (sharp codes, at any angle), 2 places: read 9780306406157"
    ///
    /// - Parameter mostCodes: above it they are counted only.
    func line(mostCodes: Int = .max) -> String {
        let cost = String(format: "%.2f", cpu / .milliseconds(1))
        let count = places.count == 1 ? "1 place" : "\(places.count) places"
        let codes = read.count > mostCodes ? "\(read.count) codes" : read.joined(separator: ", ")
        let read = read.isEmpty ? "" : ": read \(codes)"
        return "\(cost) ms  \(stage) (\(reason)), \(count)\(read)"
    }
}
