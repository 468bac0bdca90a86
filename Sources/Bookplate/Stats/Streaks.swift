/// Runs of days with reading: a session begun or a progress entry made by hand.
public struct Streaks: Sendable, Equatable {
    /// Days in a row up to today, or up to yesterday while today is not read yet; 0 when it is broken.
    public var current = 0
    public var longest = 0
    /// The last day of the longest run, the latest of several.
    public var longestEnd: CalendarDay?
    public var readToday = false

    /// - Parameter days: with reading, oldest first; those after `today` do not count.
    public init(_ days: some Sequence<CalendarDay>, today: CalendarDay) {
        guard let todayNumber = today.number else { return }
        var run = 0
        var last: Int?
        for day in days {
            guard let number = day.number, number <= todayNumber, number != last else { continue }
            run = last == number - 1 ? run + 1 : 1
            last = number
            if run >= longest { (longest, longestEnd) = (run, day) }
        }
        guard let last else { return }
        readToday = last == todayNumber
        current = last >= todayNumber - 1 ? run : 0
    }
}
