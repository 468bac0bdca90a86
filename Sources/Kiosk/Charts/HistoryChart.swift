import Bookplate

/// The graph of one reading: how far the reader was on which day. Drawn as inline SVG of 100 by 100 units that is stretched to its
/// place, so that lines keep their width and words stay beside it, in their own size.
struct HistoryChart: Sendable {
    /// From the left, and from the top: 0 to 100.
    struct Mark: Sendable, Equatable {
        var x: Double
        var y: Double
        var point: ProgressPoint
    }

    let marks: [Mark]
    /// The page at the top; `nil` where percent is.
    let topPage: Int?

    /// More points than this say nothing more at the width of a page.
    static let mostMarks = 60

    /// - Parameters:
    ///   - points: oldest first.
    ///   - pageCount: of the edition; `nil` when unknown.
    /// - Returns: `nil` for fewer than two points, which make no line.
    init?(_ points: [ProgressPoint], pageCount: Int?) {
        let known = pageCount.flatMap { $0 > 0 ? $0 : nil }
        // Pages of a book without page count go up to the last that was reached; its percents have no place among them.
        let top = known ?? points.compactMap(\.amount.page).max()
        let usesPages = known == nil && points.contains { $0.amount.page != nil }
        let placed = points.compactMap { point -> (day: Int, part: Double, point: ProgressPoint)? in
            let part =
                usesPages ? point.amount.page.map { Double($0) / Double(max(1, top ?? 1)) } : point.fraction
            guard let part, let day = point.day.number else { return nil }
            return (day, min(1, max(0, part)), point)
        }
        guard placed.count > 1, let first = placed.first?.day, let last = placed.last?.day else { return nil }
        let length = Double(max(1, last - first))
        let step = Double(placed.count - 1) / Double(min(placed.count, Self.mostMarks) - 1)
        marks = (0..<min(placed.count, Self.mostMarks)).map { index in
            let (day, part, point) = placed[min(placed.count - 1, Int((Double(index) * step).rounded()))]
            return Mark(x: Double(day - first) / length * 100, y: (1 - part) * 100, point: point)
        }
        topPage = top
    }

    /// The line, for `<polyline points>`.
    var line: String { marks.map { "\(Self.short($0.x)),\(Self.short($0.y))" }.joined(separator: " ") }

    /// The points as lines of no length with round ends, for `<path d>`: circles would be stretched.
    var dots: String { marks.map { "M\(Self.short($0.x)) \(Self.short($0.y))h0" }.joined() }

    /// In tenths.
    private static func short(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths.isMultiple(of: 10) ? String(tenths / 10) : "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// For the template `history`.
    func view(_ texts: Texts, id: String) -> View {
        func reached(_ point: ProgressPoint) -> String {
            [
                point.amount.page.map { texts("book.page", ["page": texts.grouped($0)]) },
                point.fraction.map { texts.percent($0) },
            ].compactMap(\.self).joined(separator: " · ")
        }
        let (first, last) = (marks[0].point, marks[marks.count - 1].point)
        return [
            "chart": id, "line": line, "dots": dots,
            "top": topPage.map { texts("book.page", ["page": texts.grouped($0)]) } ?? texts.percent(1),
            "from": texts.day(first.day), "to": texts.day(last.day),
            "told": texts(
                "book.chartTold",
                [
                    "from": texts.day(first.day), "first": reached(first), "to": texts.day(last.day),
                    "last": reached(last),
                ]),
            "points": marks.map { ["day": texts.day($0.point.day), "reached": reached($0.point)] as View },
        ]
    }
}

extension Texts {
    /// A part as people read it: "38 %".
    func percent(_ part: Double) -> String { "\(ProgressEntry.Amount.wholePercent(part))\u{A0}%" }

    /// How far an amount is: "145 of 382 · 38 %", "145", "38 %".
    func progress(_ amount: ProgressEntry.Amount, pageCount: Int?) -> String {
        let fraction = amount.fraction(of: pageCount).map { percent($0) }
        guard let page = amount.page else { return fraction ?? "" }
        let pages =
            pageCount.map { self("book.pageOf", ["page": grouped(page), "count": grouped($0)]) }
            ?? self("book.page", ["page": grouped(page)])
        return [pages, fraction].compactMap(\.self).joined(separator: " · ")
    }

    /// Minutes and seconds, from an hour on with hours: "12:34", "1:02:34".
    func elapsed(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let tail = "\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds < 3600 ? tail : "\(seconds / 3600):\(tail)"
    }

    /// A rating in quarters as people read it: "3¾".
    func rating(_ rating: Double) -> String {
        let quarters = Int((rating * 4).rounded())
        let (whole, rest) = (quarters / 4, ["", "¼", "½", "¾"][quarters % 4])
        return whole == 0 && !rest.isEmpty ? rest : "\(whole)\(rest)"
    }
}
