/// A chart as what an SVG picture is made of, and the same as a table: figures in, places out, nothing else. The template
/// chart.mustache writes it down. Lengths are in units of a picture ``width`` wide, which is laid out so that its text can be
/// read on a phone, where a unit is about a pixel.
struct Chart: Sendable, Equatable {
    static let width = 360.0

    var title: String
    var height: Double
    /// Where lines are drawn across.
    var lines: [Line] = []
    var marks: [Mark] = []
    var labels: [Label] = []
    /// Drawn below the marks as one path; squares of a calendar without reading.
    var blanks: [Blank] = []
    /// The same in words, for who cannot see it or wants it exactly.
    var table: Table

    struct Line: Sendable, Equatable {
        var from: Double
        var y: Double
    }

    /// A bar or a square that stands for a value.
    struct Mark: Sendable, Equatable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
        /// A class of stats.css: "bar", "heat3".
        var style: String
        /// What it stands for: "November 2026: 412 pages".
        var words: String
    }

    struct Label: Sendable, Equatable {
        enum Anchor: String, Sendable { case start, middle, end }
        var x: Double
        var y: Double
        var text: String
        var anchor = Anchor.middle
    }

    struct Blank: Sendable, Equatable {
        var x: Double
        var y: Double
    }

    struct Table: Sendable, Equatable {
        var heads: [String]
        var rows: [[String]]
    }

    /// About how wide a text is in a picture: half of a digit's height a character.
    static func width(of text: String) -> Double { Double(text.count) * 6.2 }
}

extension Chart {
    /// - Parameter id: unique on the page.
    func view(id: String) -> View {
        var view: View = [
            "chartId": id, "chartTitle": title, "width": Self.unit(Self.width), "height": Self.unit(height),
            "lines": lines.map { ["from": Self.unit($0.from), "to": Self.unit(Self.width), "y": Self.unit($0.y)] },
            "marks": marks.map { mark -> View in
                [
                    "x": Self.unit(mark.x), "y": Self.unit(mark.y), "w": Self.unit(mark.width),
                    "h": Self.unit(mark.height), "style": mark.style, "words": mark.words,
                ]
            },
            "labels": labels.map { label -> View in
                [
                    "x": Self.unit(label.x), "y": Self.unit(label.y), "text": label.text,
                    "anchor": label.anchor.rawValue,
                ]
            },
            "heads": table.heads,
            "rows": table.rows.map { row -> View in ["first": row.first ?? "", "rest": Array(row.dropFirst())] },
        ]
        if !blanks.isEmpty {
            let side = Self.unit(DayCalendar.side)
            view["blanks"] = blanks.map { "M\(Self.unit($0.x)) \(Self.unit($0.y))h\(side)v\(side)h-\(side)z" }.joined()
        }
        return view
    }

    /// To a tenth: no eye sees more, and a page has hundreds of them.
    static func unit(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return (tenths < 0 ? "-" : "") + String(whole) + (rest == 0 ? "" : ".\(rest)")
    }
}
