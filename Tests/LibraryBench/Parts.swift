import Bookplate
import Foundation
import Library

extension LibraryBench {
    /// Each prefix of these is searched: broad and narrow, one word and several, of every field, found and not found.
    static let typed = [
        "the garden", "history of science", "don't wake the ghost", "straße der träume", "l'étranger", "ka", "kalo",
        "frances ven", "anna", "łukasz", "söre", "fantasy", "sommerlektüre", "book club", "chapter", "reminds me of",
        "spice sea letter", "naïve café", "narrator unreliable", "the cycle", "978", "97846", "0 441 17271 7", "東京",
        "図書館の",
        "море", "θάλασσα", "بحر", "qqq", "ghost qqq", "a", "of the", "the the the",
    ]

    static let searching = Part(
        name: "search",
        title: "Search as you type, every beginning of: " + typed.map { "\"\($0)\"" }.joined(separator: ", ")
    ) { generated in
        var (ours, floor) = (Times(), Times())
        var texts: [String] = []
        for round in 0..<3 {
            for text in typed {
                for length in 1...text.count {
                    let beginning = String(text.prefix(length))
                    guard beginning.last != " " else { continue }
                    var query = BookQuery()
                    query.text = beginning
                    // The first round warms the caches.
                    try await ours.time(isCounted: round > 0) { [query] in
                        try await generated.library.books(matching: query)
                    }
                    try await floor.time(isCounted: round > 0) { try generated.plain.search(beginning) }
                    if round > 0 { texts.append(beginning) }
                }
            }
        }
        let slowest = zip(ours.cpu, texts).sorted { $0 > $1 }
        if ProcessInfo.processInfo.environment["BENCH_DETAIL"] != nil {
            for (time, text) in slowest.prefix(60) { print("    \(time.short) \(text)") }
        }
        return [
            ours.line("p95", p95, wanted: generated.copies > 100_000 ? 30 : 10), ours.line("median"),
            ours.line("slowest", { $0.max() ?? 0 }, note: "\"\(slowest.first?.1 ?? "")\""),
            floor.line("plain FTS5, p95", p95), floor.line("plain FTS5, median"),
            Line(name: "ratio of the p95 (no ms)", milliseconds: p95(ours.wall) / max(p95(floor.wall), 0.001)),
            Line(
                name: "ratio of the medians (no ms)", milliseconds: median(ours.wall) / max(median(floor.wall), 0.001)),
        ]
    }

    static let filters: [(name: String, set: @Sendable (inout BookQuery) -> Void)] = [
        ("no filter", { _ in }), ("status", { $0.statuses = [.reading] }), ("tag", { $0.tags = ["été"] }),
        ("two tags", { $0.tags = ["history", "fantasy"] }), ("rating", { $0.ratings = [.stars(4)] }),
        ("unrated", { $0.ratings = [.unrated] }), ("shelf", { $0.shelves = ["Étagère"] }),
        ("language", { $0.languages = ["ja"] }), ("no such language", { $0.languages = ["xx"] }),
        ("wishlist", { $0.isOnWishlist = true }), ("favourite", { $0.isFavourite = true }),
        ("added", { $0.added = Period(from: CalendarDay("2019-03"), to: CalendarDay("2019-03")) }),
        ("finished", { $0.finished = Period(from: CalendarDay("2020"), to: CalendarDay("2021")) }),
        ("started in a month", { $0.started = Period(from: CalendarDay("2020-05"), to: CalendarDay("2020-05")) }),
        ("author", { $0.authors = ["Anna Nobody"] }),
        (
            "rare together",
            { ($0.tags, $0.languages, $0.isFavourite, $0.ratings) = (["myth"], ["tr"], true, [.stars(5)]) }
        ),
        (
            "broad together",
            { ($0.statuses, $0.isOwned, $0.languages) = ([.read, .toRead], true, ["en", "de", "fr"]) }
        ),
        ("wish unrated favourite", { ($0.isOnWishlist, $0.ratings, $0.isFavourite) = (true, [.unrated], true) }),
        ("without pages", { $0.missing = [.pages] }), ("without a title", { $0.missing = [.title] }),
        ("the trash", { $0.inTrash = true }), ("read by nobody", { $0.readByNobody = true }),
    ]

    /// Queries as people type them. Those of the first row ask the same as a filter above.
    static let queries = [
        "status:reading", "tag:été", "rating:4", "shelf:étagère", "lang:ja", "finished:2020..2021", "missing:pages",
        "author:anna", "author:\"anna nobody\"", "pages:..50", "pages:300..", "year:1960..1969", "publisher:press",
        "-tag:fantasy", "-status:read -lang:en", "tag:myth OR rating:5", "(lang:de OR lang:fr) -pages:none",
        "tag:hist*",
        "note:chapter", "has:note", "\"of the\"", "\"book club\"", "-the",
    ]

    /// Every filter and every query, as a change of a search without words.
    static let listed: [(name: String, set: @Sendable (inout BookQuery) -> Void)] =
        filters
        + queries.map { text in
            (
                "query \(text)",
                { query in
                    let parser = QueryParser(QueryContext(today: CalendarDay(Date(), in: .gmt)), isLenient: true)
                    // A lenient parser throws nothing.
                    guard let parsed = try? parser.parse(text) else { return }
                    query.add(parsed)
                }
            )
        }

    static let duplicates = Part(
        name: "duplicates", title: "All groups of duplicates, and the other editions of each of 200 books"
    ) { generated in
        var (all, ofOne) = (Times(), Times())
        for round in 0..<4 {
            try await all.time(isCounted: round > 0) {
                try await generated.library.duplicates(for: [.enteredTwice, .copies], limit: 50)
            }
        }
        var query = BookQuery()
        query.limit = 200
        for book in try await generated.library.books(matching: query).books {
            try await ofOne.time {
                try await generated.library.editions(like: book.edition.metadata, excluding: book.edition.isbn)
            }
        }
        return [
            all.line("all groups", wanted: Double(generated.copies) / 200),
            ofOne.line("of one book, p95", p95, wanted: 5),
            ofOne.line("of one book, slowest", { $0.max() ?? 0 }),
        ]
    }

    static let listing = Part(
        name: "list", title: "A page of 50, the slowest of all sorts in both directions, first and second page"
    ) {
        generated in
        var lines: [Line] = []
        for (name, set) in listed {
            var slowest: (sort: String, times: Times) = ("", Times())
            for sort in BookQuery.Sort.allCases {
                for isReversed in [false, true] {
                    var query = BookQuery()
                    set(&query)
                    (query.sort, query.isReversed) = (sort, isReversed)
                    for page in 1...2 {
                        var times = Times()
                        var next: String?
                        for _ in 0..<3 {
                            next = try await times.time { [query] in
                                try await generated.library.books(matching: query).next
                            }
                        }
                        if median(times.wall) > median(slowest.times.wall) {
                            slowest = ("\(sort)\(isReversed ? " reversed" : "") page \(page)", times)
                        }
                        guard let next else { break }
                        query.after = next
                    }
                }
            }
            lines.append(slowest.times.line(name, wanted: generated.copies > 100_000 ? nil : 15, note: slowest.sort))
        }
        return lines
    }

    static let chips = Part(name: "chips", title: "The counts of all chips") { generated in
        var lines: [Line] = []
        for (name, text, filter) in [
            ("no text, no filter", "", 0), ("with two filters", "", 16), ("\"the\"", "the", 0), ("\"t\"", "t", 0),
            ("\"chapter\" and a tag", "chapter", 2),
        ] {
            var query = BookQuery()
            query.text = text
            filters[filter].set(&query)
            var times = Times()
            for _ in 0..<5 {
                try await times.time { [query] in try await generated.library.facets(matching: query) }
            }
            lines.append(times.line(name, wanted: generated.copies > 100_000 ? nil : 100))
        }
        return lines
    }

    static let opening = Part(name: "open", title: "Opening, with the first page read") { generated in
        var (opened, read) = (Times(), Times())
        for _ in 0..<7 {
            let library = try await opened.time { try LibraryFile.open(at: generated.path) }
            try await read.time { try await library.books(matching: BookQuery()) }
            try await library.close()
        }
        return [opened.line("opening", wanted: 50), read.line("first page")]
    }

    static let saving = Part(name: "save", title: "One book changed, with its place in the index, on the disk") {
        generated in
        var query = BookQuery()
        query.limit = 20
        var times = Times()
        for book in try await generated.library.books(matching: query).books {
            let title = "Changed \(UUID())"
            try await times.time {
                try await generated.library.update(book.id, at: Date()) { $0.edition.metadata.title = title }
            }
        }
        return [times.line("median"), times.line("p95", p95)]
    }
}
