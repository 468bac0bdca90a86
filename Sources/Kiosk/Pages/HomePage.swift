import Bookplate
import FoundationEssentials
import Hummingbird

/// What is being read, and what was.
struct HomePage: Sendable {
    let parts: KioskParts

    /// How many of the books being read are shown.
    static let most = 20

    var routes: [Route] { [Route(.get, "/home", for: .guests, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let home = try await parts.library.home(limit: Self.most, at: now, in: zone)
        let year = try await parts.library.yearSoFar(at: now, in: zone)
        let books = home.readingNow.map(\.book) + home.recentlyRead.map(\.book)
        // A page asks for no picture that is not there.
        let covers = try await parts.library.keptCovers(among: books.map(\.edition.id))
        let view = HomeView(home: home, year: year, now: now, zone: zone, texts: texts, covers: covers)
        return try await parts.pages.answer(
            Pages.Page(template: "home", title: texts("layout.home"), tab: .home, view: view.view), context)
    }
}
