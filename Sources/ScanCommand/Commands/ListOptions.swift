import ArgumentParser
import Bookplate

/// The options that filter books.
struct BookFilters: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only books with this status (repeat the option to allow several).",
            valueName: "status"))
    var status: [Copy.Status] = []
    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("Only books with this tag (repeat the option to allow several).", valueName: "name"),
        completion: .values(.tag))
    var tags: [String] = []
    @Option(
        help: ArgumentHelp("Only books on this shelf (repeat the option to allow several).", valueName: "name"),
        completion: .values(.shelf))
    var shelf: [String] = []
    @Option(
        help: ArgumentHelp("Only books by this author (repeat the option to allow several).", valueName: "name"),
        completion: .values(.author))
    var author: [String] = []
    @Option(
        help: ArgumentHelp(
            "Only books in this language, such as en, de or grc (repeat the option to allow several).",
            valueName: "code"), completion: .values(.language))
    var language: [String] = []
    @Option(
        help: ArgumentHelp(
            "Only books with this rating: a number of stars from 0 to 5, or 'unrated'. 4 means at least 4 and less than 5 stars. Repeat the option to allow several ratings.",
            valueName: "stars"), completion: .list(RatingBand.all.map(\.text)))
    var rating: [RatingBand] = []
    @Flag(help: "Only books on the wishlist.") var wishlist = false
    @Flag(help: "Only books that you own.") var owned = false
    @Flag(help: "Only favourites.") var favourite = false
    // -30d.. is a range of days.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only books added on these days, such as '2024', '2024-03', 'today', '2024-03-01..2024-04', '..2023' or '2024-11..'.",
            valueName: "days"), completion: .values(.day))
    var added: String?
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Only books started on these days.", valueName: "days"),
        completion: .values(.day))
    var started: String?
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Only books finished on these days.", valueName: "days"),
        completion: .values(.day))
    var finished: String?

    func query() throws -> BookQuery {
        var query = BookQuery()
        query.statuses = Set(status)
        query.tags = tags
        query.shelves = shelf
        query.authors = author
        query.languages = Set(language.map { $0.lowercased() })
        query.ratings = Set(rating)
        query.isOnWishlist = wishlist ? true : nil
        query.isOwned = owned ? true : nil
        query.isFavourite = favourite ? true : nil
        let localTime = LocalTime.current
        query.added = try added.map { try localTime.range($0, for: "--added") }
        query.started = try started.map { try localTime.range($0, for: "--started") }
        query.finished = try finished.map { try localTime.range($0, for: "--finished") }
        query.zone = localTime.zone
        return query
    }
}

/// The options for the order and the length of a list of books, which every list has beside its ``BookFilters``.
struct ListOptions: ParsableArguments {
    @Option(
        help: "The order of the books (default: for a search, best match first; otherwise, latest addition first).")
    var sort: BookQuery.Sort?
    @Flag(help: "Reverse the order of --sort.") var reverse = false
    @Option(help: "The maximum number of books (default: 50, or all with --json, --format or --tsv).") var limit: Int?
    @Option(help: ArgumentHelp("Continue the list that printed this token at its end.", valueName: "token")) var after:
        String?
    @Flag(help: "Instead of the books, show how many there are for each status, rating, shelf, tag and so on.")
    var counts = false

    /// The maximum number of matches to count. The limit keeps counting fast.
    private static let countLimit = 100_000

    func query(_ filters: BookFilters) throws -> BookQuery {
        let limit = limit ?? 50
        guard limit > 0 else { throw CommandError(.usage, "--limit must be 1 or more.") }
        guard !reverse || sort != nil else {
            throw CommandError(.usage, "--reverse works only with --sort, such as --sort added.")
        }
        var query = try filters.query()
        query.sort = sort
        query.isReversed = reverse
        query.limit = limit
        query.after = after
        query.countLimit = Self.countLimit
        return query
    }
}

extension BookQuery.Sort: ExpressibleByArgument {}

extension RatingBand: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}
