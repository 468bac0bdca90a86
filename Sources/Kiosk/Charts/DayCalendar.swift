import Bookplate

/// A year as a calendar: a square a day, the darker the more was read. Weeks stand upright, Monday on top, in two bands of half
/// a year so that a square is as large as a fingertip's point on a phone.
struct DayCalendar: Sendable {
    var title: String
    var year: Int
    /// Days with reading; those of other years are passed over.
    var days: [DayStats]
    /// January to December, short.
    var months: [String]
    /// Monday to Sunday, one letter each.
    var weekdays: [String]
    /// "21 November 2026: 34 pages"
    var words: @Sendable (DayStats) -> String
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
                        words: words(day)))
            } else {
                chart.blanks.append(Chart.Blank(x: x, y: y))
            }
            let date = CalendarDay(number: number)
            if date.day == 1, let month = date.month, months.indices.contains(month - 1) {
                // Over the week that holds the 1st; at the end of a band there is no room, and the next one begins with it.
                let isLast = week % Self.weeks == Self.weeks - 1
                let place = isLast ? (x: Self.left, y: top + Self.band - 4) : (x: x, y: top - 4)
                if place.y < 2 * Self.band {
                    chart.labels.append(
                        Chart.Label(x: place.x, y: place.y, text: months[month - 1], anchor: .start))
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

    /// The bounds of the four shades, for the legend: 1 to the first, … above the third.
    var bounds: [Int] { HeatScale(days.filter { $0.day.year == year }.map(\.pages)).bounds }

    /// 0 is Monday.
    static func weekday(_ number: Int) -> Int { ((number + 3) % 7 + 7) % 7 }
}

/// From pages of a day to one of four shades, in round steps; one long day does not make all others pale.
struct HeatScale: Sendable, Equatable {
    /// The upper bounds of the first three shades.
    let bounds: [Int]

    init(_ pages: [Int]) {
        let read = pages.filter { $0 > 0 }.sorted()
        let step = Axis(upTo: read.isEmpty ? 4 : read[(read.count - 1) * 9 / 10]).step
        bounds = [step, 2 * step, 3 * step]
    }

    /// 1 to 4; also a day with a session and no page has the first.
    func level(_ pages: Int) -> Int { 1 + bounds.count { pages > $0 } }
}
