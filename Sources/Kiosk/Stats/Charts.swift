import Bookplate

/// The shapes of a chart and the same data as a table. The template chart.mustache renders them as SVG. Lengths are in units of a
/// picture that is ``width`` wide, so that its text is legible on a phone, where a unit is about a pixel.
struct Chart: Sendable, Equatable {
    static let width = 360.0

    var title: String
    var height: Double
    /// The horizontal lines.
    var lines: [Line] = []
    var marks: [Mark] = []
    var labels: [Label] = []
    /// The squares of a calendar's days without reading, drawn below the marks as one path.
    var blanks: [Blank] = []
    /// The same data for screen readers and exact values.
    var table: Table

    struct Line: Sendable, Equatable {
        var from: Double
        var y: Double
    }

    /// A bar or a square that represents a value.
    struct Mark: Sendable, Equatable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
        /// A class of stats.css: "bar", "heat3".
        var style: String
        /// The value as text: "November 2026: 412 pages".
        var text: String
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

    /// Estimates the width of a text: half of a digit's height for each character.
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
                    "h": Self.unit(mark.height), "style": mark.style, "words": mark.text,
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

    /// Formats a length to a tenth: more is invisible, and a page has hundreds of them.
    static func unit(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return (tenths < 0 ? "-" : "") + String(whole) + (rest == 0 ? "" : ".\(rest)")
    }
}

/// The axis of a chart, from 0 to a round number in round steps.
struct Axis: Sendable, Equatable {
    /// The values of the ticks, from 0.
    let ticks: [Int]

    /// - Parameters:
    ///   - most: the greatest value; below 1, the axis goes to 1.
    ///   - steps: the most steps.
    init(upTo most: Int, steps: Int = 4) {
        // Far above any total of a library, and far from overflow.
        let most = min(max(1, most), 1_000_000_000_000_000)
        var (unit, factors) = (1, [1, 2, 5][...])
        while (factors.first ?? 1) * unit * steps < most {
            factors = factors.dropFirst()
            if factors.isEmpty { (unit, factors) = (unit * 10, [1, 2, 5]) }
        }
        let step = (factors.first ?? 1) * unit
        ticks = Array(stride(from: 0, through: (most + step - 1) / step * step, by: step))
    }

    /// The upper end.
    var top: Int { ticks.last ?? 1 }
    var step: Int { ticks.count > 1 ? ticks[1] : 1 }

    /// Returns the position of a value, from 0 to 1.
    func fraction(_ value: Int) -> Double { min(1, max(0, Double(value) / Double(top))) }
}

/// A chart of vertical bars.
struct BarChart: Sendable {
    struct Bar: Sendable {
        /// The label below the bar, shown where there is room; `nil` for none.
        var label: String?
        var value: Int
        /// The value as text: "November 2026: 412 pages".
        var text: String
        /// The row of the table.
        var cells: [String]
    }

    var title: String
    var bars: [Bar]
    /// The column headings of the table.
    var heads: [String]
    /// Formats a number.
    var number: @Sendable (Int) -> String

    private static let (top, base, height) = (18.0, 166.0, 190.0)
    private static let gap = 4.0

    /// Every bar with a value is visible. Labels are left out evenly where they would touch; values are shown above the bars if all
    /// of them fit.
    var chart: Chart {
        let axis = Axis(upTo: bars.map(\.value).max() ?? 0)
        let scale = axis.ticks.map(number)
        let left = (scale.map(Chart.width(of:)).max() ?? 0) + Self.gap
        let slot = (Chart.width - left) / Double(max(1, bars.count))
        let bar = min(30, max(0.8, slot * 0.74))
        func y(_ value: Int) -> Double { Self.base - axis.fraction(value) * (Self.base - Self.top) }
        func middle(_ index: Int) -> Double { left + slot * (Double(index) + 0.5) }

        var chart = Chart(
            title: title, height: Self.height, table: Chart.Table(heads: heads, rows: bars.map(\.cells)))
        for (tick, text) in zip(axis.ticks, scale) {
            chart.lines.append(Chart.Line(from: left, y: y(tick)))
            chart.labels.append(Chart.Label(x: left - Self.gap, y: y(tick) + 4, text: text, anchor: .end))
        }
        for (index, item) in bars.enumerated() where item.value > 0 {
            let height = max(1.5, Self.base - y(item.value))
            chart.marks.append(
                Chart.Mark(
                    x: middle(index) - bar / 2, y: Self.base - height, width: bar, height: height, style: "bar",
                    text: item.text))
        }
        let values = bars.map { number($0.value) }
        if values.allSatisfy({ Chart.width(of: $0) <= slot }) {
            for (index, value) in values.enumerated() where bars[index].value > 0 {
                chart.labels.append(Chart.Label(x: middle(index), y: y(bars[index].value) - 4, text: value))
            }
        }
        for index in labelled(slot) {
            guard let text = bars[index].label else { continue }
            chart.labels.append(Chart.Label(x: middle(index), y: Self.height - 8, text: text))
        }
        return chart
    }

    /// Returns the indexes of the bars whose labels are shown: every one, every second, fifth … of those with a label.
    private func labelled(_ slot: Double) -> [Int] {
        let all = bars.indices.filter { bars[$0].label != nil }
        guard all.count > 1 else { return all }
        let room = slot * Double(all[1] - all[0])
        let needed = (bars.compactMap(\.label).map(Chart.width(of:)).max() ?? 0) + 5
        let every = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50].first { Double($0) * room >= needed } ?? all.count
        return all.enumerated().filter { $0.offset.isMultiple(of: every) }.map(\.element)
    }
}

/// The unit of time that a bar of a chart covers.
enum Bucket: String, Sendable, CaseIterable {
    case day, week, month, year

    /// Chooses a unit for a number of days that gives at most about forty bars of weeks or months.
    init(days: Int) {
        self =
            switch days {
            case ...31: .day
            case ...217: .week
            case ...1_100: .month
            default: .year
            }
    }

    /// The most bars of a chart.
    static let maxCount = 60

    /// Returns the buckets of a span including empty ones, oldest first; at most the last ``maxCount``.
    ///
    /// - Parameters:
    ///   - days: those outside of the span are ignored.
    ///   - span: values of ``CalendarDay/number``.
    /// - Returns: for each bucket its day, month or year, for a week its Monday, and the reading in it.
    func buckets(_ days: [DayStats], in span: ClosedRange<Int>) -> [(start: CalendarDay, figures: DayStats)] {
        var sums: [CalendarDay: DayStats] = [:]
        for day in days {
            guard let number = day.day.number, span.contains(number) else { continue }
            sums[start(of: number), default: DayStats(day: start(of: number))].add(day)
        }
        var starts: [CalendarDay] = []
        var number = span.upperBound
        while number >= span.lowerBound, starts.count < Self.maxCount {
            let start = start(of: number)
            starts.append(start)
            number = start.span.lowerBound - 1
        }
        return starts.reversed().map { ($0, sums[$0] ?? DayStats(day: $0)) }
    }

    private func start(of number: Int) -> CalendarDay {
        let day = CalendarDay(number: number)
        return switch self {
        case .day: day
        case .week: CalendarDay(number: number - DayCalendar.weekday(number))
        case .month: CalendarDay(year: day.year, month: day.month) ?? day
        case .year: CalendarDay(year: day.year) ?? day
        }
    }
}

/// A calendar of a year with a square for each day, the darker the more was read. Weeks are columns with Monday at the top, in two
/// bands of half a year each, so that a square on a phone is large enough to tap.
struct DayCalendar: Sendable {
    var title: String
    var year: Int
    /// The days with reading; those of other years are ignored.
    var days: [DayStats]
    /// The names of the months, abbreviated.
    var months: [String]
    /// The weekdays from Monday, one letter each.
    var weekdays: [String]
    /// Describes a day: "21 November 2026: 34 pages".
    var text: @Sendable (DayStats) -> String
    var number: @Sendable (Int) -> String
    var table: Chart.Table

    static let side = 11.0
    private static let (pitch, left, head, band, weeks) = (12.6, 18.0, 14.0, 108.0, 27)

    var chart: Chart {
        var chart = Chart(title: title, height: 2 * Self.band, table: table)
        guard let span = CalendarDay(year: year)?.span else { return chart }
        let scale = HeatScale(days.filter { $0.day.year == year }.map(\.pages))
        let read = Dictionary(days.compactMap { day in day.day.number.map { ($0, day) } }) { $1 }
        let firstMonday = span.lowerBound - Self.weekday(span.lowerBound)
        for number in span {
            let week = (number - firstMonday) / 7
            let x = Self.left + Double(week % Self.weeks) * Self.pitch
            let top = Double(week / Self.weeks) * Self.band + Self.head
            let y = top + Double(Self.weekday(number)) * Self.pitch
            if let day = read[number] {
                chart.marks.append(
                    Chart.Mark(
                        x: x, y: y, width: Self.side, height: Self.side, style: "heat\(scale.level(day.pages))",
                        text: text(day)))
            } else {
                chart.blanks.append(Chart.Blank(x: x, y: y))
            }
            let date = CalendarDay(number: number)
            if date.day == 1, let month = date.month, months.indices.contains(month - 1) {
                // Above the week of the 1st, or at the start of the next band if that is the last week of its band.
                let isLast = week % Self.weeks == Self.weeks - 1
                let position = isLast ? (x: Self.left, y: top + Self.band - 4) : (x: x, y: top - 4)
                if position.y < 2 * Self.band {
                    chart.labels.append(
                        Chart.Label(x: position.x, y: position.y, text: months[month - 1], anchor: .start))
                }
            }
        }
        for band in 0...1 {
            for weekday in [0, 2, 4] where weekdays.indices.contains(weekday) {
                let y = Double(band) * Self.band + Self.head + Double(weekday) * Self.pitch + 9
                chart.labels.append(Chart.Label(x: 0, y: y, text: weekdays[weekday], anchor: .start))
            }
        }
        return chart
    }

    /// The upper bounds of the first three shades, for the legend.
    var bounds: [Int] { HeatScale(days.filter { $0.day.year == year }.map(\.pages)).bounds }

    /// Returns the weekday of a ``CalendarDay/number``; 0 is Monday.
    static func weekday(_ number: Int) -> Int { ((number + 3) % 7 + 7) % 7 }
}

/// Maps the pages of a day to one of four shades in round steps. A single long day does not make all others pale.
struct HeatScale: Sendable, Equatable {
    /// The upper bounds of the first three shades.
    let bounds: [Int]

    init(_ pages: [Int]) {
        let read = pages.filter { $0 > 0 }.sorted()
        let step = Axis(upTo: read.isEmpty ? 4 : read[(read.count - 1) * 9 / 10]).step
        bounds = [step, 2 * step, 3 * step]
    }

    /// Returns a shade from 1 to 4; a day with a session but no page has the first.
    func level(_ pages: Int) -> Int { 1 + bounds.count { pages > $0 } }
}

/// A table of the parts of a whole, each with its count and a bar for its share.
struct Shares: Sendable, Equatable {
    struct Row: Sendable, Equatable {
        var label: String
        var count: Int
        /// From 0 to 1.
        var share: Double
    }

    let rows: [Row]

    /// - Parameters:
    ///   - parts: in the order of the rows; empty ones are left out.
    ///   - most: the most rows; the remaining parts are summed up in one more.
    ///   - rest: the label of that row.
    init(_ parts: [(label: String, count: Int)], most: Int = 8, rest: String) {
        var parts = parts.filter { $0.count > 0 }
        if parts.count > most + 1 {
            parts = parts[..<most] + [(rest, parts[most...].reduce(0) { $0 + $1.count })]
        }
        let whole = parts.reduce(0) { $0 + $1.count }
        rows = parts.map { Row(label: $0.label, count: $0.count, share: Double($0.count) / Double(whole)) }
    }

    /// Formats a share in whole percent, with "< 1" for a small one.
    static func percent(_ share: Double) -> String {
        let whole = Int((share * 100).rounded())
        return whole == 0 && share > 0 ? "< 1" : String(whole)
    }

    func view(title: String, number: (Int) -> String) -> View {
        [
            "sharesTitle": title,
            "parts": rows.map { row -> View in
                [
                    "label": row.label, "count": number(row.count), "percent": Self.percent(row.share),
                    "part": Chart.unit(max(0.5, row.share * 100)),
                ]
            },
        ]
    }
}
