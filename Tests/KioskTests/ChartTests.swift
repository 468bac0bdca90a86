import Bookplate
import Testing

@testable import Kiosk

private func day(_ text: String) -> CalendarDay { CalendarDay(text)! }

private func stats(_ text: String, _ pages: Int) -> DayStats {
    var stats = DayStats(day: day(text))
    stats.pages = pages
    return stats
}

@Suite struct `The axis of a chart` {
    @Test(arguments: [
        (0, [0, 1]), (1, [0, 1]), (3, [0, 1, 2, 3]), (4, [0, 1, 2, 3, 4]), (5, [0, 2, 4, 6]), (12, [0, 5, 10, 15]),
        (20, [0, 5, 10, 15, 20]), (21, [0, 10, 20, 30]), (99, [0, 50, 100]), (100, [0, 50, 100]),
        (1_234_567, [0, 500_000, 1_000_000, 1_500_000]), (-5, [0, 1]),
    ])
    func `goes to a round number in round steps`(_ most: Int, _ ticks: [Int]) {
        #expect(Axis(upTo: most).ticks == ticks)
    }

    @Test(arguments: [Int.max, 1_000_000_000_000_000]) func `handles any number`(_ most: Int) {
        let axis = Axis(upTo: most)
        #expect(axis.ticks.count <= 5 && axis.top >= 1_000_000_000_000_000)
        #expect(axis.fraction(Int.max) == 1 && axis.fraction(Int.min) == 0)
    }
}

@Suite struct `A bar chart` {
    private func barChart(_ values: [Int], labels: [String?]? = nil) -> BarChart {
        BarChart(
            title: "Pages",
            bars: values.enumerated().map { index, value in
                BarChart.Bar(
                    label: labels?[index] ?? "\(index + 1)", value: value, text: "\(index): \(value)",
                    cells: ["\(index)", "\(value)"])
            }, heads: ["When", "Pages"], number: { String($0) })
    }

    @Test func `without bars is an axis alone`() {
        let chart = barChart([]).chart
        #expect(chart.marks.isEmpty && chart.lines.count == 2 && chart.labels.map(\.text) == ["0", "1"])
    }

    @Test(arguments: [[0], [0, 0, 0]]) func `of zeros has no bars, but a table`(_ values: [Int]) {
        let chart = barChart(values).chart
        #expect(chart.marks.isEmpty && chart.table.rows.count == values.count)
    }

    @Test func `of one value fills the height`() {
        let chart = barChart([4]).chart
        #expect(chart.marks.count == 1)
        #expect(chart.marks[0].box.y == 18 && chart.marks[0].box.y + chart.marks[0].box.height == 166)
        #expect(chart.marks[0].text == "0: 4")
    }

    @Test(arguments: [[1, 2, 3], [100_000, 1, 0, 7], [Int](repeating: 5, count: 60), Array(0..<31)])
    func `stays within its picture, with bars in order and as high as their values`(_ values: [Int]) {
        let chart = barChart(values).chart
        let axis = Axis(upTo: values.max() ?? 0)
        let shown = values.filter { $0 > 0 }
        #expect(chart.marks.count == shown.count)
        let boxes = chart.marks.map(\.box)
        for (box, value) in zip(boxes, shown) {
            #expect(box.x >= 0 && box.x + box.width <= Chart.width)
            #expect(box.y >= 0 && box.y + box.height <= chart.height)
            #expect(abs(box.height - max(1.5, axis.fraction(value) * 148)) < 0.01)
        }
        #expect(zip(boxes, boxes.dropFirst()).allSatisfy { $0.x + $0.width <= $1.x })
        #expect(chart.labels.allSatisfy { $0.x >= 0 && $0.x <= Chart.width && $0.y <= chart.height })
    }

    @Test(arguments: [(3, 3), (12, 12), (31, 16), (60, 15)])
    func `leaves labels out before they touch`(_ count: Int, _ shown: Int) {
        let chart = barChart([Int](repeating: 1000, count: count)).chart
        let below = chart.labels.filter { $0.y > 170 }
        #expect(below.count == shown)
        for (left, right) in zip(below, below.dropFirst()) {
            let room = (Chart.width(of: left.text) + Chart.width(of: right.text)) / 2
            #expect(right.x - left.x >= room)
        }
    }

    @Test func `shows values above its bars only if all fit`() {
        func overBars(_ values: [Int]) -> [String] {
            barChart(values).chart.labels.filter { $0.anchor == .middle && $0.y < 170 }.map(\.text)
        }
        #expect(overBars([10, 0, 30]) == ["10", "30"])
        #expect(overBars([Int](repeating: 12_345, count: 20)).isEmpty)
    }
}

@Suite struct `Days of a chart` {
    @Test(arguments: [
        (1, Bucket.day), (31, .day), (32, .week), (217, .week), (218, .month), (366, .month), (1_100, .month),
        (1_101, .year), (3_652_059, .year),
    ])
    func `are grouped by the length of the period`(_ days: Int, _ bucket: Bucket) {
        #expect(Bucket(days: days) == bucket)
    }

    @Test(arguments: [
        (Bucket.day, ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"], [0, 5, 7, 0]),
        (.week, ["2026-02-23", "2026-03-02"], [12, 0]), (.month, ["2026-02", "2026-03"], [5, 7]),
        (.year, ["2026"], [12]),
    ])
    func `are summed up in buckets, with empty ones between them`(_ bucket: Bucket, _ starts: [String], _ pages: [Int])
    {
        let days = [stats("2026-02-01", 100), stats("2026-02-28", 5), stats("2026-03-01", 7)]
        let span = day("2026-02-27").span.lowerBound...day("2026-03-02").span.lowerBound
        let buckets = bucket.buckets(days, in: span)
        #expect(buckets.map(\.start.description) == starts)
        #expect(buckets.map(\.stats.pages) == pages)
    }

    @Test(arguments: Bucket.allCases) func `are limited to the last sixty buckets`(_ bucket: Bucket) {
        let buckets = bucket.buckets([], in: -719_162...2_932_896)
        #expect(buckets.count == Bucket.maxCount && buckets.last?.start.year == 9999)
    }
}

@Suite struct `A calendar of reading` {
    private func calendar(_ year: Int, _ days: [DayStats]) -> DayCalendar {
        DayCalendar(
            title: "\(year)", year: year, days: days, months: (1...12).map { "M\($0)" },
            weekdays: ["M", "T", "W", "T", "F", "S", "S"], text: { "\($0.day): \($0.pages)" },
            address: { "/\($0.day)" }, number: { String($0) }, table: Chart.Table(heads: [], rows: []))
    }

    @Test(arguments: [(2024, 366), (2025, 365), (2026, 365), (1, 365), (9999, 365), (2000, 366)])
    func `has a square for each day, and none overlap`(_ year: Int, _ count: Int) {
        let chart = calendar(year, []).chart
        #expect(chart.blanks.count == count)
        #expect(Set(chart.blanks.map { "\(Chart.unit($0.x)) \(Chart.unit($0.y))" }).count == count)
        #expect(chart.blanks.allSatisfy { $0.x + 11 <= Chart.width && $0.y + 11 <= chart.height })
    }

    @Test func `names each month, the one that begins at the end of a band at the start of the next`() {
        let names = calendar(2026, []).chart.labels.map(\.text).filter { $0.hasPrefix("M") && $0.count > 1 }
        #expect(Set(names) == Set((1...12).map { "M\($0)" }))
    }

    @Test func `begins each week on Monday`() {
        // 1 January 2026 is a Thursday.
        let first = calendar(2026, []).chart.blanks[0]
        #expect(first.x == 18 && Chart.unit(first.y) == Chart.unit(14 + 3 * 12.6))
    }

    @Test func `is darker the more was read, and a single long day does not make the others pale`() {
        let days =
            (1...20).map { stats("2026-01-\($0 < 10 ? "0" : "")\($0)", $0 * 4) } + [stats("2026-02-01", 9_000)]
        let calendar = calendar(2026, days)
        #expect(calendar.bounds == [20, 40, 60])
        let styles = calendar.chart.marks.map(\.style)
        #expect(styles.first == "heat1" && styles.contains("heat3") && styles.last == "heat4")
        #expect(calendar.chart.marks.first?.text == "2026-01-01: 4")
        #expect(calendar.chart.marks.first?.link?.address == "/2026-01-01")
        #expect(calendar.chart.blanks.count == 365 - 21)
    }

    @Test func `shows a day with a session but no page`() {
        #expect(calendar(2026, [stats("2026-01-01", 0)]).chart.marks.map(\.style) == ["heat1"])
    }
}

@Suite struct `Shares of a whole` {
    @Test func `leave out empty parts and sum up the many small ones`() {
        let parts =
            (1...12).map { Shares.Part(label: "\($0)", count: 13 - $0) } + [Shares.Part(label: "none", count: 0)]
        let shares = Shares(parts, most: 3) { Shares.Part(label: "others", count: $0) }
        #expect(shares.rows.map(\.part.label) == ["1", "2", "3", "others"])
        #expect(shares.rows.map(\.part.count) == [12, 11, 10, 45])
        #expect(shares.rows.map(\.length).max() == 1)
        #expect(abs(shares.rows.reduce(0) { $0 + $1.share } - 1) < 0.000_1)
        #expect(Shares([]).rows.isEmpty)
    }

    @Test(arguments: [(0.0, "0"), (0.001, "< 1"), (0.005, "1"), (0.384, "38"), (0.999, "100"), (1, "100")])
    func `are shown in whole percent`(_ share: Double, _ text: String) {
        #expect(Shares.percent(share) == text)
    }
}

@Suite struct `Numbers on pages` {
    private func texts(_ language: Language) throws -> Texts { try #require(try WebFolder().texts[language]) }

    @Test(arguments: [
        (Language.english, "0", "999", "1,000", "-12,345,678", "12.5"),
        (.german, "0", "999", "1.000", "-12.345.678", "12,5"),
        (.french, "0", "999", "1\u{202F}000", "-12\u{202F}345\u{202F}678", "12,5"),
    ])
    func `are formatted for each language`(
        _ language: Language, _ zero: String, _ hundreds: String, _ thousand: String, _ negative: String,
        _ tenths: String
    ) throws {
        let texts = try texts(language)
        #expect([0, 999, 1000, -12_345_678].map(texts.grouped) == [zero, hundreds, thousand, negative])
        #expect(texts.tenths(12.46) == tenths && texts.tenths(3) == "3" && texts.tenths(.nan) == "–")
    }

    @Test(arguments: [(0.25, "¼"), (1, "★"), (3.5, "★★★½"), (5, "★★★★★")])
    func `of stars are drawn`(_ rating: Double, _ stars: String) throws {
        #expect(try texts(.english).stars(rating) == stars)
    }

    @Test(arguments: [(0.04, "0"), (12.0, "12"), (12.34, "12.3"), (-0.5, "-0.5"), (99.96, "100")])
    func `of pictures have at most one decimal`(_ value: Double, _ text: String) {
        #expect(Chart.unit(value) == text)
    }
}
