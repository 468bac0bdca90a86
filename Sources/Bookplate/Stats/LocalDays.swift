import FoundationEssentials

/// The local day of an instant as arithmetic: what a time zone's clock is ahead of UTC, span by span. For queries, which cannot
/// ask a time zone row by row.
public struct LocalDays: Sendable, Equatable {
    /// One offset, in milliseconds, from an instant on (milliseconds since 1970) to the next span's.
    public struct Span: Sendable, Equatable {
        public var from: Int64
        public var offset: Int64
    }

    /// Oldest first, at least one. The first also holds before it, the last after it.
    public let spans: [Span]

    /// - Parameters:
    ///   - first: the earliest instant that will be asked for; `last` the latest. Beyond 1900 and 2100 the nearest offset is taken.
    public init(in zone: TimeZone, from first: Date, through last: Date) {
        let bounds = -2_208_988_800...4_102_444_800
        func bounded(_ date: Date) -> Int {
            Int(min(max(date.timeIntervalSince1970, Double(bounds.lowerBound)), Double(bounds.upperBound)))
        }
        func offset(_ second: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))) }
        func span(_ second: Int) -> Span { Span(from: Int64(second) * 1000, offset: Int64(offset(second)) * 1000) }

        // No zone has turned its clock and turned it back within a week.
        let step = 7 * 86_400
        var known = bounded(first)
        let end = max(known, bounded(last))
        var spans = [span(known)]
        while known < end {
            let next = min(end, known + step)
            if offset(next) != offset(known) {
                var (before, after) = (known, next)
                while after - before > 1 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == offset(known) { before = middle } else { after = middle }
                }
                spans.append(span(after))
            }
            known = next
        }
        self.spans = spans
    }

    /// - Parameter milliseconds: since 1970.
    /// - Returns: the day's ``CalendarDay/number``.
    public func day(_ milliseconds: Int64) -> Int {
        let span = spans.last { $0.from <= milliseconds } ?? spans[0]
        return Int(((Double(milliseconds) + Double(span.offset)) / 86_400_000).rounded(.down))
    }
}
