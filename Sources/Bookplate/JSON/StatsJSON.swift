import FoundationEssentials

extension CountedBook {
    /// The book as an entry of a list in the statistics.
    public var json: JSONValue {
        [
            "copyId": .string(id.rawValue), "title": JSONValue(title), "authors": JSONValue(authors),
            "isbn13": JSONValue(isbn?.digits),
        ]
    }
}

extension Totals {
    private var members: [(key: String, value: JSONValue)] {
        [
            ("booksFinished", .integer(booksFinished)), ("bookPages", .integer(bookPages)), ("pages", .integer(pages)),
            ("minutes", .integer(minutes)), ("sessions", .integer(sessions)), ("daysRead", .integer(daysRead)),
            ("pace", JSONValue(pace)),
        ]
    }

    public var json: JSONValue { .object(members) }

    /// Returns an object with the given key and value (such as the number of the month), followed by the totals and any
    /// further members.
    fileprivate func json(_ key: String, _ value: JSONValue, and more: [(key: String, value: JSONValue)] = [])
        -> JSONValue
    {
        .object([(key, value)] + members + more)
    }
}

extension DayStats {
    public var json: JSONValue {
        [
            "day": JSONValue(day), "pages": .integer(pages), "minutes": .integer(minutes),
            "sessions": .integer(sessions), "entries": .integer(entries), "pace": JSONValue(pace.value),
        ]
    }
}

extension Finishes {
    fileprivate var json: JSONValue { ["booksFinished": .integer(books), "bookPages": .integer(pages)] }
}

extension YearStats {
    public var json: JSONValue {
        totals.json(
            "year", .integer(year),
            and: [
                ("months", .array(months.enumerated().map { $1.json("month", .integer($0 + 1)) })),
                ("monthUnknown", monthUnknown.json),
            ])
    }
}

extension Challenge {
    public var json: JSONValue {
        [
            "year": .integer(year), "goal": .integer(goal), "done": .integer(done), "due": .integer(due),
            "ahead": .integer(ahead), "remaining": .integer(remaining), "met": .bool(isMet),
        ]
    }
}

extension DailyGoal {
    public var json: JSONValue {
        [
            "goal": .integer(goal), "pagesToday": .integer(pagesToday), "metToday": .bool(isMetToday),
            "daysMet": .integer(daysMet), "run": .integer(run),
        ]
    }
}

extension CulturalGoal {
    public var json: JSONValue {
        [
            "category": JSONValue(category), "books": .integer(books), "finished": .integer(finished),
            "finishedThisYear": .integer(finishedThisYear),
        ]
    }
}

extension Streaks {
    public var json: JSONValue {
        [
            "current": .integer(current), "longest": .integer(longest), "longestEnd": JSONValue(longestEnd),
            "readToday": .bool(readToday),
        ]
    }
}

extension Ratings {
    /// The numbers of copies by rating. `quarters` has a number for each quarter star from 0.25 to 5. `stars` has a
    /// number for each count of whole stars from 0 to 5: for ratings below 1, from 1 to 1.75, and so on.
    public var json: JSONValue {
        [
            "count": .integer(count), "mean": JSONValue(mean), "stars": .array(byStar.map(JSONValue.integer)),
            "quarters": .array(byQuarter.map(JSONValue.integer)),
        ]
    }
}

extension LibraryCounts {
    public var json: JSONValue {
        let formats: [Metadata.Format?] = Metadata.Format.allCases + [nil]
        return [
            "copies": .integer(copies), "owned": .integer(owned), "wishlist": .integer(wishlist),
            "favourite": .integer(favourites),
            "status": .object(
                Copy.Status.allCases.map { (key: $0.rawValue, value: .integer(byStatus[$0] ?? 0)) }),
            "format": .object(formats.map { (key: $0?.rawValue ?? "unknown", value: .integer(byFormat[$0] ?? 0)) }),
            "language": .array(
                byLanguage.map { ["language": JSONValue($0.language), "copies": .integer($0.copies)] }),
        ]
    }
}

extension Pause {
    public var json: JSONValue {
        [
            "daysSinceLast": .integer(daysSinceLast), "daysSinceStart": JSONValue(daysSinceStart),
            "sentence": .string(sentence),
        ]
    }
}

extension PausedBook {
    public var json: JSONValue { ["book": book.json, "pause": pause.json] }
}

extension Memory {
    public var json: JSONValue {
        [
            "day": JSONValue(day), "yearsAgo": .integer(yearsAgo), "what": .string(event.rawValue), "book": book.json,
        ]
    }
}

extension Forecast {
    public var json: JSONValue {
        [
            "finish": JSONValue(finish), "byPace": JSONValue(byPace), "daysByPace": JSONValue(daysByPace),
            "byGoal": JSONValue(byGoal), "daysByGoal": JSONValue(daysByGoal), "pagesPerDay": JSONValue(pagesPerDay),
            "goal": JSONValue(goal), "remaining": JSONValue(remaining), "reason": JSONValue(reason?.rawValue),
            "sentence": .string(sentence),
        ]
    }
}

extension Overview {
    /// The output of `scan stats --json`. `days` is null unless both ends of the period are given.
    public var json: JSONValue {
        let isBounded = period.from != nil && period.to != nil
        return [
            "today": JSONValue(today), "from": JSONValue(period.from), "to": JSONValue(period.to),
            "totals": totals.json, "days": isBounded ? .array(days.map(\.json)) : .null,
            "pagesToday": .integer(todayStats.pages), "minutesToday": .integer(todayStats.minutes),
            "recentPace": JSONValue(recentPace), "streak": streaks.json, "challenge": challenge?.json ?? .null,
            "dailyGoal": dailyGoal?.json ?? .null, "culturalGoals": .array(culturalGoals.map(\.json)),
            "years": .array(years.map(\.json)), "dateUnknown": dateUnknown.json, "ratings": ratings.json,
            "counts": counts.json, "pauseCount": .integer(pauseCount),
            "pauses": .array(pauses.map(\.json)),
        ]
    }
}

extension Home {
    /// The output of `scan home --json`.
    public var json: JSONValue {
        [
            "today": JSONValue(today), "readingCount": .integer(readingCount),
            "readingNow": .array(readingNow.map(\.json)), "recentlyRead": .array(recentlyRead.map(\.json)),
        ]
    }
}

extension YearSoFar {
    /// The figures that the kiosk's home page shows in addition to ``Home``.
    public var json: JSONValue {
        [
            "year": .integer(today.year), "totals": totals.json, "pagesToday": .integer(todayStats.pages),
            "minutesToday": .integer(todayStats.minutes), "streak": .integer(streak),
            "challenge": challenge?.json ?? .null, "dailyGoal": JSONValue(dailyGoal),
            "memories": .array(memories.map(\.json)),
        ]
    }
}

/// Returns the member for the reader of an item of everybody's home page; none on the home page of one reader.
private func membership(of reader: ID<Reader>?) -> [(String, JSONValue)] {
    reader.map { [("reader", .string($0.rawValue))] } ?? []
}

extension ReadingNow {
    public var json: JSONValue {
        let json: JSONValue = [
            "book": book.json, "progress": JSONValue(fraction), "page": JSONValue(progress?.page),
            "percent": JSONValue(progress?.percent), "pageCount": JSONValue(pageCount),
            "started": JSONValue(book.copy.reading?.started), "lastActivity": JSONValue(lastActivity?.rfc3339),
            "pagesToday": .integer(pagesToday), "forecast": forecast.json, "pause": pause?.json ?? .null,
            "running": running.map {
                [
                    "id": .string($0.id.rawValue), "start": .string($0.start.rfc3339),
                    "startPage": .integer($0.startPage),
                ]
            } ?? .null,
        ]
        return json.appending(membership(of: reader))
    }
}

extension RecentlyRead {
    public var json: JSONValue {
        let json: JSONValue = [
            "book": book.json, "finished": JSONValue(finished), "daysToRead": JSONValue(daysToRead),
            "rating": JSONValue(book.copy.rating),
        ]
        return json.appending(membership(of: reader))
    }
}

extension BookStats {
    /// The output of `scan stats book --json`.
    public var json: JSONValue {
        [
            "book": book.json, "status": .string(status.rawValue), "pageCount": JSONValue(pageCount),
            "pages": .integer(pages), "minutes": .integer(minutes), "sessions": .integer(sessions),
            "daysRead": .integer(daysRead), "pace": JSONValue(pace), "lastRead": JSONValue(lastRead?.rfc3339),
            "dailyGoal": dailyGoal?.json ?? .null, "pause": pause?.json ?? .null,
            "readings": .array(readings.map { $0.json(pageCount: pageCount) }),
        ]
    }
}

extension ReadingStats {
    fileprivate func json(pageCount: Int?) -> JSONValue {
        [
            "reading": reading.json(pageCount: pageCount), "totals": totals.json,
            "daysToRead": JSONValue(reading.daysToRead), "pagesPerDay": JSONValue(pagesPerDay),
            "forecast": forecast.json, "days": .array(days.map(\.json)),
            "points": .array(
                points.map {
                    [
                        "day": JSONValue($0.day), "page": JSONValue($0.amount.page),
                        "percent": JSONValue($0.amount.percent), "progress": JSONValue($0.fraction),
                    ]
                }),
        ]
    }
}
