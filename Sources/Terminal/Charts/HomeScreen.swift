import Bookplate
import Foundation

/// The home page as lines for a terminal.
package struct HomeScreen {
    let home: Home
    let charts: Charts
    let zone: TimeZone

    package init(home: Home, charts: Charts, zone: TimeZone) {
        (self.home, self.charts, self.zone) = (home, charts, zone)
    }

    package var lines: [String] {
        var lines = [charts.style.strong("Reading now")]
        if home.readingNow.isEmpty {
            lines += ["", "  \(Home.nothingReading)."] + advice("To start a book, run 'scan reading start BOOK'.")
        }
        for book in home.readingNow { lines += [""] + card(book) }
        let hidden = home.readingCount - home.readingNow.count
        if hidden > 0 {
            lines += [""] + advice("and \(hidden) more; use --limit \(home.readingCount) to see all.")
        }
        lines += ["", charts.style.strong("Recently read"), ""]
        if home.recentlyRead.isEmpty {
            lines +=
                ["  \(home.recentlyReadEmpty)."] + advice("To mark a book as read, run 'scan reading finish BOOK'.")
        }
        return lines + home.recentlyRead.flatMap(row)
    }

    private var inner: Int { charts.width - 2 }

    private func advice(_ text: String) -> [String] { text.wrapped(inner).map { "  " + charts.style.faint($0) } }

    private func card(_ reading: ReadingNow) -> [String] {
        let style = charts.style
        var lines = [
            "  " + style.strong(reading.book.displayTitle.oneLine.fitted(inner)),
            "  " + reading.book.displayAuthors.oneLine.fitted(inner), "  " + bar(reading),
        ]
        if let running = reading.running {
            let text =
                "Session running since \(running.start.clockTime(in: zone)), from page \(running.startPage)"
            lines += text.wrapped(inner).map { "  " + style.attention($0) }
        }
        lines += reading.forecast.sentence.wrapped(inner).map { "  " + $0 }
        if let pause = reading.pause { lines += pause.sentence.wrapped(inner).map { "  " + style.attention($0) } }
        let facts = [
            reading.book.copy.reading?.started.map { "started \($0)" },
            reading.pagesToday > 0 ? "\(counted(reading.pagesToday, "page")) today" : nil,
        ].compactMap(\.self)
        if !facts.isEmpty { lines.append("  " + style.faint(facts.joined(separator: " · ").fitted(inner))) }
        return lines
    }

    /// Returns the progress bar with its text, or only the text if the progress has no percentage.
    private func bar(_ reading: ReadingNow) -> String {
        let position: String
        switch (reading.progress, reading.pageCount) {
        case (.page(let page)?, let count?): position = "page \(page) of \(count)"
        case (.page(let page)?, nil): position = "page \(page)"
        case (.percent?, let count?): position = "of \(counted(count, "page"))"
        case (.percent?, nil): position = ""
        case (nil, let count): position = count.map { "0 of \(counted($0, "page"))" } ?? "no progress yet"
        }
        guard let fraction = reading.fraction ?? (reading.progress == nil ? 0 : nil),
            reading.pageCount != nil || reading.progress != nil
        else { return position.fitted(inner) }
        let percent = ProgressEntry.Amount.wholePercent(fraction)
        let words =
            "\(String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0))\(percent)%  \(position)"
        return charts.progress(fraction, width: max(8, min(charts.longestTrack, inner - words.columns - 1))) + " "
            + words
    }

    private func row(_ read: RecentlyRead) -> [String] {
        let star = charts.isASCII ? "*" : "★"
        let facts = [
            read.finished.map(\.description) ?? "no date",
            read.daysToRead.map { $0 == 0 ? "in a day" : "in \(counted($0, "day"))" },
            read.book.copy.rating.map { "\(star) \($0.formatted())" },
        ].compactMap(\.self).joined(separator: " · ")
        let title = "\(read.book.displayTitle.oneLine) · \(read.book.displayAuthors.oneLine)"
        guard title.columns + facts.columns + 2 > inner else {
            let gap = String(repeating: " ", count: inner - title.columns - facts.columns)
            return ["  " + title + gap + charts.style.faint(facts)]
        }
        if charts.width >= 80 {
            let room = inner - facts.columns - 2
            return ["  " + title.fitted(room).padded(room) + "  " + charts.style.faint(facts)]
        }
        return ["  " + title.fitted(inner), "    " + charts.style.faint(facts.fitted(inner - 2))]
    }
}
