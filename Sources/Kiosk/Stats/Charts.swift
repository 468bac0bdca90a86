import Bookplate

/// The shapes of a chart, and its data as a table. The template chart.mustache renders the shapes as SVG. The picture
/// is ``width`` units wide. On a phone, a unit is about a pixel, so that the text is legible.
struct Chart: Sendable, Equatable {
    static let width = 360.0

    var title: String
    var height: Double
    /// The horizontal grid lines.
    var lines: [Line] = []
    var marks: [Mark] = []
    var labels: [Label] = []
    /// The squares for the days of a calendar on which nothing was read. They are drawn below the marks as one path.
    var blanks: [Blank] = []
    /// True if the key Tab leaves out the links of the marks, because they are too many. The table has links as well.
    var skipsMarks = false
    /// The data of the chart as a table, for screen readers and for exact values.
    var table: Table

    struct Line: Sendable, Equatable {
        var from: Double
        var y: Double
    }

    /// A rectangle, whose ``x`` and ``y`` are those of its upper left corner.
    struct Box: Sendable, Equatable {
        var x, y, width, height: Double

        fileprivate var view: View { ["x": unit(x), "y": unit(y), "w": unit(width), "h": unit(height)] }
    }

    /// A bar or a square that represents a value.
    struct Mark: Sendable, Equatable {
        var box: Box
        /// A class in stats.css, such as "bar" or "heat3".
        var style: String
        /// The value as text, such as "November 2026: 412 pages".
        var text: String
        /// The link of the bar; `nil` for none.
        var link: Link?
    }

    /// The link of a bar. The whole slot of the bar is pressed, because bars can be low and narrow.
    struct Link: Sendable, Equatable {
        var address: String
        var box: Box
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
        /// The address of the books of each row; `nil` for none.
        var addresses: [String?] = []
    }

    /// Estimates the width of a text by assuming the same width for all characters.
    static func width(of text: String) -> Double { Double(text.count) * 6.2 }
}

extension Chart {
    /// Returns the template values for the chart.
    ///
    /// - Parameter id: an id that is unique on the page.
    func view(id: String) -> View {
        var view: View = [
            "chartId": id, "chartTitle": title, "width": Self.unit(Self.width), "height": Self.unit(height),
            "lines": lines.map { ["from": Self.unit($0.from), "to": Self.unit(Self.width), "y": Self.unit($0.y)] },
            "marks": marks.map(Self.view), "hasLinks": marks.contains { $0.link != nil }, "skipsMarks": skipsMarks,
            "labels": labels.map { label -> View in
                [
                    "x": Self.unit(label.x), "y": Self.unit(label.y), "text": label.text,
                    "anchor": label.anchor.rawValue,
                ]
            },
            "heads": table.heads,
            "rows": table.rows.enumerated().map { index, row -> View in
                var view: View = ["first": row.first ?? "", "rest": Array(row.dropFirst())]
                if table.addresses.indices.contains(index), let address = table.addresses[index] {
                    view["address"] = address
                }
                return view
            },
        ]
        if !blanks.isEmpty {
            let side = Self.unit(DayCalendar.side)
            view["blanks"] = blanks.map { "M\(Self.unit($0.x)) \(Self.unit($0.y))h\(side)v\(side)h-\(side)z" }.joined()
        }
        return view
    }

    private static func view(of mark: Mark) -> View {
        var view = mark.box.view
        (view["style"], view["text"]) = (mark.style, mark.text)
        if let link = mark.link {
            var shown = link.box.view
            shown["address"] = link.address
            view["link"] = shown
        }
        return view
    }

    /// Formats a length with at most one decimal. More decimals would be invisible, and a page has hundreds of lengths.
    static func unit(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return (tenths < 0 ? "-" : "") + String(whole) + (rest == 0 ? "" : ".\(rest)")
    }
}

/// The axis of a chart, which goes from 0 to a round number in round steps.
struct Axis: Sendable, Equatable {
    /// The values of the ticks, beginning with 0.
    let ticks: [Int]

    /// - Parameters:
    ///   - most: the greatest value in the chart. If it is below 1, the axis goes to 1.
    ///   - steps: the maximum number of steps.
    init(upTo most: Int, steps: Int = 4) {
        // This limit is far above any total in a library, and low enough to prevent an overflow.
        let most = min(max(1, most), 1_000_000_000_000_000)
        var (unit, factors) = (1, [1, 2, 5][...])
        while (factors.first ?? 1) * unit * steps < most {
            factors = factors.dropFirst()
            if factors.isEmpty { (unit, factors) = (unit * 10, [1, 2, 5]) }
        }
        let step = (factors.first ?? 1) * unit
        ticks = Array(stride(from: 0, through: (most + step - 1) / step * step, by: step))
    }

    /// The value at the upper end of the axis.
    var top: Int { ticks.last ?? 1 }
    var step: Int { ticks.count > 1 ? ticks[1] : 1 }

    /// Returns the position of a value on the axis, from 0 to 1.
    func fraction(_ value: Int) -> Double { min(1, max(0, Double(value) / Double(top))) }
}

/// A chart of vertical bars.
struct BarChart: Sendable {
    struct Bar: Sendable {
        /// The label below the bar, which is shown where there is room; `nil` for no label.
        var label: String?
        var value: Int
        /// The value as text, such as "November 2026: 412 pages".
        var text: String
        /// The cells of the bar's row in the table that accompanies the chart.
        var cells: [String]
        /// The address of what the bar counts; `nil` for none.
        var address: String?
    }

    var title: String
    var bars: [Bar]
    /// The column headings of the table.
    var heads: [String]
    /// The number of empty slots after the last bar.
    var margin = 0
    /// Formats a number for the axis and the bars.
    var number: @Sendable (Int) -> String

    private static let (top, base, height) = (18.0, 166.0, 190.0)
    private static let gap = 4.0

    /// The finished chart. Every bar with a value is visible. Where labels would touch, only every second, third, …
    /// label is shown. The values are shown above the bars if all of them fit.
    var chart: Chart {
        let axis = Axis(upTo: bars.map(\.value).max() ?? 0)
        let scale = axis.ticks.map(number)
        let left = (scale.map(Chart.width(of:)).max() ?? 0) + Self.gap
        let slot = (Chart.width - left) / Double(max(1, bars.count + margin))
        let bar = min(30, max(0.8, slot * 0.74))
        func y(_ value: Int) -> Double { Self.base - axis.fraction(value) * (Self.base - Self.top) }
        func middle(_ index: Int) -> Double { left + slot * (Double(index) + 0.5) }

        var chart = Chart(
            title: title, height: Self.height,
            table: Chart.Table(heads: heads, rows: bars.map(\.cells), addresses: bars.map(\.address)))
        for (tick, text) in zip(axis.ticks, scale) {
            chart.lines.append(Chart.Line(from: left, y: y(tick)))
            chart.labels.append(Chart.Label(x: left - Self.gap, y: y(tick) + 4, text: text, anchor: .end))
        }
        for (index, item) in bars.enumerated() where item.value > 0 {
            let height = max(1.5, Self.base - y(item.value))
            chart.marks.append(
                Chart.Mark(
                    box: Chart.Box(x: middle(index) - bar / 2, y: Self.base - height, width: bar, height: height),
                    style: "bar", text: item.text,
                    link: item.address.map { address in
                        Chart.Link(
                            address: address,
                            box: Chart.Box(x: left + slot * Double(index), y: 0, width: slot, height: Self.height))
                    }))
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

    /// Returns the indexes of the bars whose labels are shown. These are all bars with a label, or every second, third,
    /// … of them if there is not enough room.
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

    /// Chooses the unit for a period of this many days. For a period of up to 1,100 days, the chart then has at most
    /// about forty bars.
    init(days: Int) {
        self =
            switch days {
            case ...31: .day
            case ...217: .week
            case ...1_100: .month
            default: .year
            }
    }

    /// The maximum number of bars in a chart.
    static let maxCount = 60

    /// Divides a span of days into buckets, which are days, weeks, months or years, and adds up what was read in each.
    /// The oldest bucket is first, and empty buckets are included. If there are more than ``maxCount``, only the last
    /// ones are returned.
    ///
    /// - Parameters:
    ///   - days: the days on which anything was read. Days outside of the span are ignored.
    ///   - span: the first and the last day, as values of ``CalendarDay/number``.
    /// - Returns: the start of each bucket, and the totals of its days. The start is a day, a month or a year; for a
    ///   week, it is the Monday.
    func buckets(_ days: [DayStats], in span: ClosedRange<Int>) -> [(start: CalendarDay, stats: DayStats)] {
        var totals: [CalendarDay: DayStats] = [:]
        for day in days {
            guard let number = day.day.number, span.contains(number) else { continue }
            totals[start(of: number), default: DayStats(day: start(of: number))].add(day)
        }
        var starts: [CalendarDay] = []
        var number = span.upperBound
        while number >= span.lowerBound, starts.count < Self.maxCount {
            let start = start(of: number)
            starts.append(start)
            number = start.span.lowerBound - 1
        }
        return starts.reversed().map { ($0, totals[$0] ?? DayStats(day: $0)) }
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

/// A calendar of a year, with a square for each day. The more was read on a day, the darker its square. Weeks are
/// columns that begin with Monday at the top. Each half of the year has its own band, so that the squares are large
/// enough to tap on a phone.
struct DayCalendar: Sendable {
    var title: String
    var year: Int
    /// The days on which something was read. Days of other years are ignored.
    var days: [DayStats]
    /// The abbreviated names of the months.
    var months: [String]
    /// The initial letters of the weekdays, from Monday.
    var weekdays: [String]
    /// Describes a day, such as "21 November 2026: 34 pages".
    var text: @Sendable (DayStats) -> String
    /// Returns the address of what was read on a day.
    var address: @Sendable (DayStats) -> String
    var number: @Sendable (Int) -> String
    var table: Chart.Table

    static let side = 11.0
    private static let (pitch, left, head, band, weeks) = (12.6, 18.0, 14.0, 108.0, 27)
    private static let gap = pitch - side

    var chart: Chart {
        var chart = Chart(title: title, height: 2 * Self.band, skipsMarks: true, table: table)
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
                        box: Chart.Box(x: x, y: y, width: Self.side, height: Self.side),
                        style: "heat\(scale.level(day.pages))", text: text(day),
                        link: Chart.Link(
                            address: address(day),
                            box: Chart.Box(
                                x: x - Self.gap / 2, y: y - Self.gap / 2, width: Self.pitch, height: Self.pitch))))
            } else {
                chart.blanks.append(Chart.Blank(x: x, y: y))
            }
            let date = CalendarDay(number: number)
            if date.day == 1, let month = date.month, months.indices.contains(month - 1) {
                // The name of a month is above the week of the 1st. If that is the last week of its band, the name is
                // at the start of the next band.
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

    /// The upper limits of the first three shades, in pages. The legend shows these limits.
    var bounds: [Int] { HeatScale(days.filter { $0.day.year == year }.map(\.pages)).bounds }

    /// Returns the weekday of a ``CalendarDay/number``, where 0 is Monday.
    static func weekday(_ number: Int) -> Int { ((number + 3) % 7 + 7) % 7 }
}

/// Maps the number of pages read on a day to one of four shades. The steps between the shades are round numbers, and a
/// single day with many pages does not make all other days pale.
struct HeatScale: Sendable, Equatable {
    /// The upper limits of the first three shades, in pages.
    let bounds: [Int]

    init(_ pages: [Int]) {
        let read = pages.filter { $0 > 0 }.sorted()
        let step = Axis(upTo: read.isEmpty ? 4 : read[(read.count - 1) * 9 / 10]).step
        bounds = [step, 2 * step, 3 * step]
    }

    /// Returns the shade for a number of pages, from 1 to 4. A day with a session but without pages gets shade 1.
    func level(_ pages: Int) -> Int { 1 + bounds.count { pages > $0 } }
}

/// A table of the parts of a whole, each with its count and a bar.
struct Shares: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        var label: String
        var count: Int
        /// The address of the books that are counted; `nil` for none.
        var address: String?
    }

    struct Row: Sendable, Equatable {
        var part: Part
        /// The share of the whole, from 0 to 1.
        var share: Double
        /// The length of the bar, from 0 to 1. The bar of the largest part has the length 1.
        var length: Double
    }

    let rows: [Row]

    /// - Parameters:
    ///   - parts: the parts, in the order in which the table lists them. Empty parts are left out.
    ///   - whole: the count of the whole; `nil` for the sum of the parts, which then do not overlap.
    ///   - most: the maximum number of rows. The remaining parts are added up in one more row.
    ///   - rest: makes the row for the remaining parts from their count.
    init(
        _ parts: [Part], of whole: Int? = nil, most: Int = 10, rest: (Int) -> Part = { Part(label: "…", count: $0) }
    ) {
        var parts = parts.filter { $0.count > 0 }
        let whole = whole ?? parts.reduce(0) { $0 + $1.count }
        if parts.count > most + 1 {
            parts = parts[..<most] + [rest(parts[most...].reduce(0) { $0 + $1.count })]
        }
        let largest = Double(parts.map(\.count).max() ?? 1)
        rows = parts.map { part in
            Row(part: part, share: Double(part.count) / Double(whole), length: Double(part.count) / largest)
        }
    }

    /// Formats a share in whole percent; a share that would be rounded to 0 becomes "< 1".
    static func percent(_ share: Double) -> String {
        let whole = Int((share * 100).rounded())
        return whole == 0 && share > 0 ? "< 1" : String(whole)
    }

    /// - Parameter note: a line below the table; `nil` for none.
    func view(title: String, note: String? = nil, number: (Int) -> String, percent: (String) -> String) -> View {
        var view: View = [
            "sharesTitle": title,
            "parts": rows.map { row -> View in
                var view: View = [
                    "label": row.part.label, "count": number(row.part.count),
                    "percent": percent(Self.percent(row.share)), "part": Chart.unit(max(0.5, row.length * 100)),
                ]
                if let address = row.part.address { view["address"] = address }
                return view
            },
        ]
        if let note { view["note"] = note }
        return view
    }
}
