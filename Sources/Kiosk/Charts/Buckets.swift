import Bookplate

/// Days put together to what a chart shows as one bar.
enum Bucket: String, Sendable, CaseIterable {
    case day, week, month, year

    /// What suits a span of so many days: never more than some forty bars of weeks or months.
    init(days: Int) {
        self =
            switch days {
            case ...31: .day
            case ...217: .week
            case ...1_100: .month
            default: .year
            }
    }

    /// The most bars that a chart has.
    static let most = 60

    /// Every bucket of the span, also empty ones, oldest first. Of more than ``most`` the last ones.
    ///
    /// - Parameters:
    ///   - days: those outside of the span are passed over.
    ///   - span: as ``CalendarDay/number``.
    /// - Returns: a week by its Monday, else the day, month or year itself, and what was read in it.
    func buckets(_ days: [DayStats], in span: ClosedRange<Int>) -> [(start: CalendarDay, figures: DayStats)] {
        var sums: [CalendarDay: DayStats] = [:]
        for day in days {
            guard let number = day.day.number, span.contains(number) else { continue }
            sums[start(of: number), default: DayStats(day: start(of: number))].add(day)
        }
        var starts: [CalendarDay] = []
        var number = span.upperBound
        while number >= span.lowerBound, starts.count < Self.most {
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
