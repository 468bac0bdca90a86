import FoundationEssentials

extension Date {
    /// RFC 3339 in UTC with milliseconds: `2026-11-21T09:30:00.000Z`.
    public var rfc3339: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

    /// The day in UTC: `2026-11-21`.
    public var utcDay: String { String(formatted(.iso8601).prefix(10)) }
}
