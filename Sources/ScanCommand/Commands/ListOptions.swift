import ArgumentParser
import Bookplate
import Foundation

/// What narrows a list down, and its order.
struct ListOptions: ParsableArguments {
    @Option(help: ArgumentHelp("toRead, reading, read, onHold or dnf (can be repeated: either).", valueName: "status"))
    var status: [Copy.Status] = []
    @Option(name: .customLong("tag"), help: ArgumentHelp("With this tag (can be repeated: either).", valueName: "name"))
    var tags: [String] = []
    @Option(help: ArgumentHelp("On this shelf (can be repeated: either).", valueName: "name"))
    var shelf: [String] = []
    @Option(help: ArgumentHelp("By this author (can be repeated: either).", valueName: "name"))
    var author: [String] = []
    @Option(help: ArgumentHelp("In this language: en, de, grc (can be repeated: either).", valueName: "code"))
    var language: [String] = []
    @Option(
        help: ArgumentHelp(
            "0 to 5 stars, 4 being 4 to under 5; or unrated (can be repeated: either).", valueName: "stars"))
    var rating: [RatingBand] = []
    @Flag(help: "Only what is on the wishlist.") var wishlist = false
    @Flag(help: "Only what is owned.") var owned = false
    @Flag(help: "Only favourites.") var favourite = false
    @Option(
        help: ArgumentHelp(
            "Added then: 2024, 2024-03, today, 2024-03-01..2024-04, ..2023 or 2024-11...", valueName: "days"))
    var added: String?
    @Option(help: ArgumentHelp("Started then.", valueName: "days")) var started: String?
    @Option(help: ArgumentHelp("Finished then.", valueName: "days")) var finished: String?
    @Option(help: "added, started, finished, title, author or rating; without it what fits best, or was added last.")
    var sort: BookQuery.Sort?
    @Flag(help: "Turn the order of --sort round.") var reverse = false
    @Option(help: "How many at the most; 50, and with --json all.") var limit: Int?
    @Option(help: ArgumentHelp("Go on after the page that named this.", valueName: "token")) var after: String?
    @Flag(help: "Say how many books each value of each filter would give, instead of listing them.") var counts = false

    /// A person waits for a count for a moment, not for ever.
    private static let countLimit = 100_000

    func query(text: String = "") throws -> BookQuery {
        let limit = limit ?? 50
        guard limit > 0 else { throw Complaint(.usage, "--limit is 1 or more.") }
        guard !reverse || sort != nil else {
            throw Complaint(.usage, "--reverse turns the order of --sort round; name one: --sort added.")
        }
        var query = BookQuery()
        query.text = text
        query.statuses = Set(status)
        query.tags = tags
        query.shelves = shelf
        query.authors = author
        query.languages = Set(language.map { $0.lowercased() })
        query.ratings = Set(rating)
        query.isOnWishlist = wishlist ? true : nil
        query.isOwned = owned ? true : nil
        query.isFavourite = favourite ? true : nil
        let when = When.here
        query.added = try added.map { try when.range($0, for: "--added") }
        query.started = try started.map { try when.range($0, for: "--started") }
        query.finished = try finished.map { try when.range($0, for: "--finished") }
        query.zone = when.zone
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
