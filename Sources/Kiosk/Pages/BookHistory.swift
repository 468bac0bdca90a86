import Bookplate
import FoundationEssentials

/// The times through a book: graph, entries, sessions, and what they come to.
struct BookHistory {
    let book: Book
    let figures: BookStats?
    let entries: [ID<Reading>: ShownEntries]
    /// Newest first; one more than are shown when there are older ones.
    let sessions: [SessionRecord]
    /// How many newer ones are passed over.
    let offset: Int
    let totals: SessionTotals
    let texts: Texts
    let zone: TimeZone

    private var pageCount: Int? { book.edition.metadata.pageCount }

    var view: View {
        var view: View = [
            // The newest first, as one asks for it.
            "readings": book.copy.countedReadings.reversed().map(reading), "cancelled": cancelled,
            "sessions": shown.map(session),
        ]
        if totals.sessions > 0 { view["sums"] = sums }
        if sessions.count > BookPage.sessionsAtATime { view["older"] = String(offset + BookPage.sessionsAtATime) }
        if offset > 0 { view["newer"] = String(max(0, offset - BookPage.sessionsAtATime)) }
        if let forecast { view["forecast"] = forecast }
        if let rests = figures?.pause?.daysSinceLast { view["rests"] = texts("book.rests", count: rests) }
        if let goal = figures?.dailyGoal {
            view["today"] = texts(
                "book.today", count: goal.goal,
                ["pages": texts.grouped(goal.pagesToday), "goal": texts.grouped(goal.goal)])
        }
        return view
    }

    private var shown: ArraySlice<SessionRecord> { sessions.prefix(BookPage.sessionsAtATime) }

    /// "About 12 May at 20 pages a day".
    private var forecast: String? {
        guard let forecast = figures?.readings.first(where: { $0.reading.id == book.copy.reading?.id })?.forecast
        else { return nil }
        if let day = forecast.byPace, let pace = forecast.pagesPerDay {
            return texts("book.byPace", count: max(1, Int(pace.rounded())), ["day": texts.day(day)])
        }
        guard let day = forecast.byGoal, let goal = forecast.goal else { return nil }
        return texts("book.byGoal", count: goal, ["day": texts.day(day)])
    }

    private var sums: String {
        let words = [
            texts("book.sessionsCount", count: totals.sessions), texts.duration(minutes: totals.minutes),
            texts("common.pages", count: totals.pages), totals.meanPace.map { texts.pace($0) },
        ]
        return words.compactMap(\.self).joined(separator: " · ")
    }

    private func reading(_ reading: Reading) -> View {
        let figures = figures?.readings.first { $0.reading.id == reading.id }
        let number = book.copy.number(of: reading.id) ?? 1
        let isShown = reading.id == book.copy.reading?.id
        var view: View = [
            "readingID": reading.id.rawValue,
            "readingName": texts(
                "book.readingOf", ["number": String(number), "count": String(book.copy.countedReadings.count)]),
            "state": isShown
                ? texts("common.\(book.copy.status.rawValue)") : texts("book.state_\(reading.state.rawValue)"),
            "isOpen": isShown || entries[reading.id]?.isAskedFor == true, "mayDelete": !isShown,
            "readingDates": dates(of: reading), "entries": entries[reading.id]?.entries.map(entry) ?? [],
        ]
        if let older = entries[reading.id]?.older { view["olderEntries"] = "?reading=\(reading.id)&entries=\(older)" }
        if let newer = entries[reading.id]?.newer { view["newerEntries"] = "?reading=\(reading.id)&entries=\(newer)" }
        let totals = figures?.totals
        let words = [
            reading.daysToRead.map { texts("book.days", count: $0) },
            figures?.pagesPerDay.map { texts("book.pagesADay", count: Int($0.rounded())) },
            totals.flatMap { $0.minutes > 0 ? texts.duration(minutes: $0.minutes) : nil },
        ].compactMap(\.self)
        if !words.isEmpty { view["speed"] = words.joined(separator: " · ") }
        if let figures, let chart = HistoryChart(figures.points, pageCount: pageCount) {
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

    /// Those that To Read took back: kept, and counted nowhere.
    private var cancelled: [View] {
        book.copy.readings.filter { $0.state == .cancelled }.map { reading in
            let words = [
                reading.started.map { texts("book.startedOn", ["when": texts.when($0)]) },
                reading.progress.map { texts.progress($0.amount, pageCount: pageCount) },
            ].compactMap(\.self)
            return ["cancelledWords": words.isEmpty ? texts("book.noDay") : words.joined(separator: " · ")]
        }
    }

    private func entry(_ entry: ProgressEntry) -> View {
        let mark = entry.isAutomatic ? "book.automatic" : entry.session == nil ? nil : "book.bySession"
        var view: View = [
            "at": texts.instant(entry.at, in: zone), "reached": texts.progress(entry.amount, pageCount: pageCount),
            "entryID": entry.id.rawValue, "instant": entry.at.rfc3339,
            "entryPage": entry.amount.page.map(String.init) ?? "",
            "entryPercent": entry.amount.percent.map { JSONValue($0).text } ?? "",
            "ofSession": entry.session?.rawValue ?? "",
        ]
        if let mark { view["how"] = texts(mark) }
        return view
    }

    private func session(_ record: SessionRecord) -> View {
        let session = record.session
        let words = [
            session.minutes.map { texts.duration(minutes: $0) },
            session.endPage.map {
                texts("book.pagesFromTo", ["from": texts.grouped(session.startPage), "to": texts.grouped($0)])
            },
            session.pace.map { texts.pace($0) },
            session.isRunning ? texts("book.runs") : nil,
        ]
        return [
            "sessionID": session.id.rawValue, "when": texts.instant(session.start, in: zone),
            "sessionWords": words.compactMap(\.self).joined(separator: " · "), "ended": !session.isRunning,
            "start": session.start.rfc3339, "minutes": session.minutes.map(String.init) ?? "",
            "firstPage": String(session.startPage), "lastPage": session.endPage.map(String.init) ?? "",
        ]
    }
}

/// What is shown of one reading's entries, newest first.
struct ShownEntries: Sendable {
    /// Of each reading at first; of the one whose entries are gone through.
    static let (atFirst, atATime) = (12, 60)

    let entries: ArraySlice<ProgressEntry>
    /// Whether it is this reading whose entries are gone through.
    let isAskedFor: Bool
    /// How many newer ones are passed over on the pages beside this one; `nil` where there is none.
    let older: Int?
    let newer: Int?

    /// - Parameter offset: `nil` for a reading that is not gone through.
    init(of reading: ID<Reading>, from offset: Int?, in library: any KioskLibrary) async throws {
        let (first, count) = (offset ?? 0, offset == nil ? Self.atFirst : Self.atATime)
        // One more than is shown tells whether there are older ones.
        let found = try await library.progress(of: reading, limit: count + 1, offset: first)
        entries = found.prefix(count)
        isAskedFor = offset != nil
        older = found.count > count ? offset.map { $0 + count } ?? 0 : nil
        newer = first > 0 ? max(0, first - count) : nil
    }
}

extension Texts {
    func pace(_ pace: Double) -> String { self("book.pace", count: Int(pace.rounded())) }
}
