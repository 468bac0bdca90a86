import Bookplate
import FoundationEssentials
import Hummingbird
import Synchronization

/// The page that a wishlist link opens: the wishlist of one reader, for anybody who has the link.
///
/// It shows the titles, authors, years, covers and ISBNs of the books on the wishlist, and nothing else of the library.
/// Whoever opens it, it is the same.
struct SharedWishlist: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/w/:token", for: .everyone, page),
            Route(.get, "/w/:token/covers/:edition", for: .everyone, cover),
        ]
    }

    private static let limit = 100

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let library = try await library(context)
        let texts = parts.pages.texts(context)
        let path = "/w/" + (try context.parameters.require("token"))
        var query = BookQuery()
        (query.isOnWishlist, query.sort, query.limit) = (true, .author, Self.limit)
        query.after = try request.queryValue("after")
        let found = try await library.books(matching: query)
        let covers = try await library.keptCovers(among: found.hits.map(\.book.edition.id))
        var view: View = [
            "total": texts("common.books", count: found.total), "isEmpty": found.hits.isEmpty,
            "books": found.hits.map { hit -> View in
                let edition = hit.book.edition
                let facts = [edition.metadata.publishedDate.map { String($0.year) }, edition.isbn?.hyphenated]
                let title = texts.shownTitle(of: hit.book)
                var book: View = [
                    "title": LibraryHit.short(title), "tint": DrawnCover(of: edition, titled: title).colour,
                    "authors": LibraryHit.short(edition.metadata.authorNames.joined(separator: ", ")),
                    "facts": facts.compactMap(\.self).joined(separator: " · "),
                ]
                if covers.contains(edition.id) { book["cover"] = "\(path)/covers/\(edition.id.rawValue)" }
                return book
            },
        ]
        if let next = found.next { view["next"] = "\(path)?after=\(PercentEncoding.encoded(next))" }
        var stranger = context
        // The household gets this page without its tabs, as everybody else does.
        stranger.caller = .stranger
        var response = try await parts.pages.render(
            Pages.Page(template: "shared-wishlist", title: texts("common.wishlist"), view: view), stranger)
        response.headers[.robots] = "noindex, nofollow"
        return response
    }

    private func cover(_ request: Request, _ context: KioskContext) async throws -> Response {
        let library = try await library(context)
        let edition = try context.id("edition", of: Edition.self)
        guard try await library.isOnWishlist(edition) else { throw RequestRefusal.notFound("cover") }
        return try await library.coverResponse(edition, request)
    }

    /// Returns the library as a guest sees it, for the reader of the link.
    ///
    /// - Throws: ``RequestRefusal`` (404), as for a page that does not exist, if the token is wrong or revoked, or if
    ///   too many wrong ones came from the same address.
    private func library(_ context: KioskContext) async throws -> any KioskLibrary {
        let (token, now) = (try context.parameters.require("token"), parts.ports.now())
        guard !parts.wrongTokens.isExhausted(for: context.address, at: now) else {
            throw RequestRefusal.notFound("page")
        }
        guard let reader = try await parts.ports.library.reader(ofWishlistToken: token, at: now) else {
            parts.wrongTokens.count(for: context.address, at: now)
            throw RequestRefusal.notFound("page")
        }
        return try await parts.ports.library.reading(as: reader, holder: nil, isGuest: true, at: now)
    }
}

extension HTTPFields.Element.Name {
    fileprivate static let robots = Self("X-Robots-Tag")!
}

/// Counts the wrong tokens from each address, so that guessing costs the service nothing. Nobody can guess 128 random
/// bits, so the counts are forgotten when the service ends.
final class WrongTokens: Sendable {
    private let counts = Mutex<[String: (count: Int, since: Date)]>([:])
    private static let limit = 20
    private static let period: TimeInterval = 60
    private static let mostAddresses = 1000

    func isExhausted(for address: String, at now: Date) -> Bool {
        counts.withLock { counts in
            guard let entry = counts[address], Self.isRecent(entry.since, now) else { return false }
            return entry.count >= Self.limit
        }
    }

    func count(for address: String, at now: Date) {
        counts.withLock { counts in
            if counts.count >= Self.mostAddresses { counts = counts.filter { Self.isRecent($0.value.since, now) } }
            if counts.count >= Self.mostAddresses { counts = [:] }
            let entry = counts[address].flatMap { Self.isRecent($0.since, now) ? $0 : nil }
            counts[address] = ((entry?.count ?? 0) + 1, entry?.since ?? now)
        }
    }

    private static func isRecent(_ date: Date, _ now: Date) -> Bool { abs(now.timeIntervalSince(date)) < period }
}
