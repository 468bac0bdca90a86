import Bookplate
import FoundationEssentials

/// Home as its template shows it.
struct HomeView: Sendable {
    let home: Home
    let year: YearSoFar
    let now: Date
    let zone: TimeZone
    let texts: Texts
    /// Those whose picture is there.
    let covers: Set<ID<Edition>>

    var view: View {
        var view: View = [
            "books": home.readingNow.enumerated().map { book($1, isFirst: $0 == 0) },
            "hasBooks": !home.readingNow.isEmpty, "read": home.recentlyRead.map(row),
            "hasRead": !home.recentlyRead.isEmpty, "year": String(year.today.year), "figures": figures,
            "memories": year.memories.map { texts.view(of: $0) }, "hasMemories": !year.memories.isEmpty,
        ]
        let hidden = home.readingCount - home.readingNow.count
        if hidden > 0 { view["more"] = texts.several("home.more", hidden) }
        if let challenge = year.challenge {
            view["challenge"] = [
                "words": texts(
                    "stats.ofBooks", count: challenge.goal,
                    ["done": texts.grouped(challenge.done), "goal": texts.grouped(challenge.goal)]),
                "sentence": texts.sentence(of: challenge),
                "part": Chart.unit(min(100, 100 * Double(challenge.done) / Double(max(1, challenge.goal)))),
            ]
        }
        return view
    }

    /// Books, pages, hours and streak of the year, and of the daily goal.
    private var figures: [String] {
        let totals = year.totals
        var figures = [
            texts.several("stats.nBooks", totals.booksFinished), texts.several("stats.nPages", totals.pages),
            texts.several("home.nHours", totals.minutes / 60), texts.several("home.streak", year.streak),
        ]
        if let goal = year.dailyGoal {
            figures.append(
                texts(
                    "home.today", count: goal,
                    ["done": texts.grouped(year.todayStats.pages), "goal": texts.grouped(goal)]))
        }
        return figures
    }

    private func book(_ reading: ReadingNow, isFirst: Bool) -> View {
        var view = book(reading.book)
        view["bookId"] = reading.book.id.rawValue
        view["isFirst"] = isFirst
        view["amount"] = texts.amount(reading.progress, of: reading.pageCount)
        if let fraction = reading.fraction ?? (reading.progress == nil && reading.pageCount != nil ? 0 : nil) {
            view["bar"] = ["part": Chart.unit(fraction * 100)]
        }
        if let page = reading.progress?.page { view["page"] = String(page) }
        if let percent = reading.progress?.percent { view["percent"] = Chart.unit(percent) }
        if let count = reading.pageCount { view["pageCount"] = String(count) }
        if let sentence = texts.sentence(of: reading.forecast) { view["forecast"] = sentence }
        if let pause = reading.pause { view["pause"] = texts.sentence(of: pause) }
        if reading.pagesToday > 0 { view["pagesToday"] = texts.several("home.pagesToday", reading.pagesToday) }
        if let running = reading.running {
            view["running"] = [
                "session": running.id.rawValue, "since": String(Int(running.start.timeIntervalSince1970 * 1000)),
                "now": String(Int(now.timeIntervalSince1970 * 1000)), "startPage": String(running.startPage),
                "clock": Self.clock(seconds: Int(now.timeIntervalSince(running.start))),
            ]
        }
        return view
    }

    private func row(_ read: RecentlyRead) -> View {
        var view = book(read.book)
        view["finished"] = read.finished.map { texts.day($0) } ?? texts("home.noDate")
        if let days = read.daysToRead { view["days"] = texts.several("home.inDays", max(1, days)) }
        if let rating = read.book.copy.rating {
            view["rating"] = [
                "stars": texts.stars(rating), "words": texts("stats.nStars", ["n": texts.tenths(rating)]),
            ]
        }
        return view
    }

    private func book(_ book: Book) -> View {
        let metadata = book.edition.metadata
        var view: View = [
            "href": "/books/\(book.id.rawValue)", "bookTitle": texts.title(metadata.title, book.edition.isbn),
            "bookAuthors": metadata.authorNames.isEmpty
                ? texts("common.unknownAuthor") : metadata.authorNames.joined(separator: ", ").cleanedLine,
        ]
        if covers.contains(book.edition.id) { view["cover"] = "/covers/\(book.edition.id.rawValue)" }
        return view
    }

    /// "12:34", from an hour on "1:02:34".
    static func clock(seconds: Int) -> String {
        let seconds = max(0, seconds)
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        let tail = "\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds < 3600 ? tail : "\(seconds / 3600):\(tail)"
    }
}

extension Texts {
    /// "145 of 382 · 38 %", "page 145", "38 %", or that nothing is known yet.
    func amount(_ amount: ProgressEntry.Amount?, of pageCount: Int?) -> String {
        let percent = amount?.fraction(of: pageCount).map { String(ProgressEntry.Amount.wholePercent($0)) }
        switch (amount, pageCount) {
        case (.page(let page)?, let count?):
            return self(
                "home.amount", ["page": grouped(page), "count": grouped(count), "percent": percent ?? "0"])
        case (.page(let page)?, nil): return self("home.amountPage", ["page": grouped(page)])
        case (.percent?, _): return self("home.amountPercent", ["percent": percent ?? "0"])
        case (nil, let count?): return self("home.amount", ["page": "0", "count": grouped(count), "percent": "0"])
        case (nil, nil): return self("home.amountNone")
        }
    }
}
