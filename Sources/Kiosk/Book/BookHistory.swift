import Bookplate
import FoundationEssentials

/// The reading history of a book, with its readings, their charts and entries, the sessions, and the totals.
struct BookHistory {
    let book: Book
    let stats: BookStats?
    let entries: [ID<Reading>: ShownEntries]
    /// The sessions, the newest first. If there are older sessions, this list has one more than the page shows.
    let sessions: [SessionRecord]
    /// The number of newer sessions that the page skips.
    let offset: Int
    let totals: SessionTotals
    let texts: Texts
    let zone: TimeZone

    private var pageCount: Int? { book.edition.metadata.pageCount }

    var view: View {
        var view: View = [
            // The newest reading first.
            "readings": book.copy.countedReadings.reversed().map(reading), "cancelled": cancelled,
            "sessions": shown.map(session),
        ]
        if totals.sessions > 0 { view["totals"] = totalsText }
        if sessions.count > BookPage.sessionsAtATime { view["older"] = String(offset + BookPage.sessionsAtATime) }
        if offset > 0 { view["newer"] = String(max(0, offset - BookPage.sessionsAtATime)) }
        if let forecast { view["forecast"] = forecast }
        if let rests = stats?.pause?.daysSinceLast { view["rests"] = texts("book.rests", count: rests) }
        if let goal = stats?.dailyGoal {
            view["today"] = texts(
                "book.today", count: goal.goal,
                ["pages": texts.grouped(goal.pagesToday), "goal": texts.grouped(goal.goal)])
        }
        return view
    }

    private var shown: ArraySlice<SessionRecord> { sessions.prefix(BookPage.sessionsAtATime) }

    /// The expected end of the reading, such as "At 20 pages per day, you’ll finish around 12 May."; `nil` if there is
    /// no forecast.
    private var forecast: String? {
        guard let forecast = stats?.readings.first(where: { $0.reading.id == book.copy.reading?.id })?.forecast
        else { return nil }
        if let day = forecast.byPace, let pace = forecast.pagesPerDay {
            return texts("book.byPace", count: max(1, Int(pace.rounded())), ["day": texts.day(day)])
        }
        guard let day = forecast.byGoal, let goal = forecast.goal else { return nil }
        return texts("book.byGoal", count: goal, ["day": texts.day(day)])
    }

    private var totalsText: String {
        let parts = [
            texts("book.sessionsCount", count: totals.sessions), texts.duration(minutes: totals.minutes),
            texts("common.pages", count: totals.pages), totals.meanPace.map { texts.pace($0) },
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }

    private func reading(_ reading: Reading) -> View {
        let stats = stats?.readings.first { $0.reading.id == reading.id }
        let number = book.copy.number(of: reading.id) ?? 1
        let isShown = reading.id == book.copy.reading?.id
        var view: View = [
            "readingID": reading.id.rawValue,
            "readingName": texts(
                "book.readingOf", ["number": String(number), "count": String(book.copy.countedReadings.count)]),
            "state": isShown
                ? texts("common.\(book.copy.status.rawValue)") : texts("book.state_\(reading.state.rawValue)"),
            "isOpen": isShown || entries[reading.id]?.isSelected == true, "mayDelete": !isShown,
            "readingDates": dates(of: reading), "entries": entries[reading.id]?.entries.map(entry) ?? [],
        ]
        if let older = entries[reading.id]?.older { view["olderEntries"] = "?reading=\(reading.id)&entries=\(older)" }
        if let newer = entries[reading.id]?.newer { view["newerEntries"] = "?reading=\(reading.id)&entries=\(newer)" }
        let totals = stats?.totals
        let speed = [
            reading.daysToRead.map { texts("book.days", count: $0) },
            stats?.pagesPerDay.map { texts("book.pagesADay", count: Int($0.rounded())) },
            totals.flatMap { $0.minutes > 0 ? texts.duration(minutes: $0.minutes) : nil },
        ].compactMap(\.self)
        if !speed.isEmpty { view["speed"] = speed.joined(separator: " · ") }
        if let stats, let chart = HistoryChart(stats.points, pageCount: pageCount) {
            view["graph"] = chart.view(texts, id: "chart\(number)")
        }
        return view
    }

    private func dates(of reading: Reading) -> [View] {
        let end: ReadingDate? =
            switch reading.state {
            case .finished: .finished
            case .stopped: .stopped
            case .open, .cancelled: nil
            }
        return [ReadingDate.started, end].compactMap(\.self).map { texts.date($0, of: reading, copy: book.id) }
    }

    /// The readings that were cancelled by setting the book to "To Read". They are kept, but they do not count
    /// anywhere.
    private var cancelled: [View] {
        book.copy.readings.filter { $0.state == .cancelled }.map { reading in
            let details = [
                reading.started.map { texts("book.startedOn", ["when": texts.when($0)]) },
                reading.progress.map { texts.progress($0.amount, pageCount: pageCount) },
            ].compactMap(\.self)
            return ["cancelledText": details.isEmpty ? texts("book.noDay") : details.joined(separator: " · ")]
        }
    }

    private func entry(_ entry: ProgressEntry) -> View {
        var view: View = [
            "at": texts.instant(entry.at, in: zone), "reached": texts.progress(entry.amount, pageCount: pageCount),
            "entryID": entry.id.rawValue, "instant": entry.at.rfc3339,
            "entryPage": entry.amount.page.map(String.init) ?? "",
            "entryPercent": entry.amount.percent.map { JSONValue($0).text } ?? "",
        ]
        if entry.isAutomatic { view["how"] = texts("book.automatic") }
        return view
    }

    private func session(_ record: SessionRecord) -> View {
        let session = record.session
        let details = [
            session.minutes.map { texts.duration(minutes: $0) },
            session.endPage.map {
                texts("book.pagesFromTo", ["from": texts.grouped(session.startPage), "to": texts.grouped($0)])
            },
            session.pace.map { texts.pace($0) },
            session.isRunning ? texts("book.runs") : nil,
        ]
        return [
            "sessionID": session.id.rawValue, "when": texts.instant(session.start, in: zone),
            "sessionText": details.compactMap(\.self).joined(separator: " · "), "ended": !session.isRunning,
            "start": session.start.rfc3339, "minutes": session.minutes.map(String.init) ?? "",
            "firstPage": String(session.startPage), "lastPage": session.endPage.map(String.init) ?? "",
        ]
    }
}

/// The progress entries that the page shows for one reading, the newest first.
struct ShownEntries: Sendable {
    /// The maximum number of entries that the page shows for one reading: `atATime` for the reading that is selected,
    /// and `atFirst` for each of the others.
    static let (atFirst, atATime) = (12, 60)

    let entries: ArraySlice<ProgressEntry>
    /// True if this reading is selected in the URL.
    let isSelected: Bool
    /// The offset of the page with older entries; `nil` if there are none.
    let older: Int?
    /// The offset of the page with newer entries; `nil` if there are none.
    let newer: Int?

    /// Loads the entries from the library.
    ///
    /// - Parameter offset: the number of newer entries to skip; `nil` for a reading that is not selected.
    init(of reading: ID<Reading>, from offset: Int?, in library: any KioskLibrary) async throws {
        let (first, count) = (offset ?? 0, offset == nil ? Self.atFirst : Self.atATime)
        // One more entry than the page shows is loaded, so that the page knows about older entries.
        // Sessions have a list of their own, with their last pages.
        let found = try await library.progress(
            of: reading, includesSessions: false, limit: count + 1, offset: first)
        entries = found.prefix(count)
        isSelected = offset != nil
        older = found.count > count ? offset.map { $0 + count } ?? 0 : nil
        newer = first > 0 ? max(0, first - count) : nil
    }
}

extension Texts {
    func pace(_ pace: Double) -> String { self("book.pace", count: Int(pace.rounded())) }
}

/// The chart of a reading's progress by day. It is an inline SVG of 100 by 100 units that is stretched to its box.
/// Lines keep their width, and labels are placed outside so that they keep their size.
struct HistoryChart: Sendable {
    /// A point of the chart. Its coordinates are from 0 to 100, measured from the top left.
    struct Mark: Sendable, Equatable {
        var x: Double
        var y: Double
        var point: ProgressPoint
    }

    let marks: [Mark]
    /// The page number at the top of the scale; `nil` if the scale is in percent.
    let topPage: Int?

    /// The maximum number of points. More points could not be distinguished at the width of a page.
    static let maxMarks = 60

    /// - Parameters:
    ///   - points: the points, the oldest first.
    ///   - pageCount: the page count of the edition; `nil` if unknown.
    /// - Returns: `nil` for fewer than two points, because they do not make a line.
    init?(_ points: [ProgressPoint], pageCount: Int?) {
        let known = pageCount.flatMap { $0 > 0 ? $0 : nil }
        // If the page count is unknown, the scale ends at the last page that was reached, and points in percent are
        // left out.
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
        let step = Double(placed.count - 1) / Double(min(placed.count, Self.maxMarks) - 1)
        marks = (0..<min(placed.count, Self.maxMarks)).map { index in
            let (day, part, point) = placed[min(placed.count - 1, Int((Double(index) * step).rounded()))]
            return Mark(x: Double(day - first) / length * 100, y: (1 - part) * 100, point: point)
        }
        topPage = top
    }

    /// The line, in the form of the `points` attribute of `<polyline>`.
    var line: String { marks.map { "\(Self.format($0.x)),\(Self.format($0.y))" }.joined(separator: " ") }

    /// The points, in the form of the `d` attribute of `<path>`. They are lines of zero length with round caps, because
    /// circles would be stretched.
    var dots: String { marks.map { "M\(Self.format($0.x)) \(Self.format($0.y))h0" }.joined() }

    /// Formats a coordinate with at most one decimal.
    private static func format(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths.isMultiple(of: 10) ? String(tenths / 10) : "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Returns the values for the chart's template.
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
            "text": texts(
                "book.chartText",
                [
                    "from": texts.day(first.day), "first": reached(first), "to": texts.day(last.day),
                    "last": reached(last),
                ]),
            "points": marks.map { ["day": texts.day($0.point.day), "reached": reached($0.point)] as View },
        ]
    }
}
