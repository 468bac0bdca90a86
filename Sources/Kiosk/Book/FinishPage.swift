import Bookplate
import FoundationEssentials
import Hummingbird

/// The sheet that is offered when a person reaches the end of a book: the status Read with its day, stars, a note, and
/// the next volume of the series. Scripts show it as a dialog on other pages.
struct FinishPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/books/:id/finish", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        guard let book = try await context.library.book(context.id(of: Copy.self)), book.copy.deleted == nil else {
            throw RequestRefusal.notFound("book")
        }
        let rating = book.copy.rating ?? 0
        var view: View = [
            "id": book.id.rawValue, "heading": texts.shownTitle(of: book),
            "today": CalendarDay(parts.ports.now(), in: parts.ports.zone).description,
            "ratingValue": JSONValue(rating).text, "done": texts.label(for: .read),
            "stars": (1...5).map { ["star": String($0), "starLabel": texts("common.stars", count: $0)] as View },
        ]
        if let volume = Volume(book) { view.merge(try await next(after: volume, context, texts)) { $1 } }
        return try await parts.pages.render(
            Pages.Page(template: "finish", title: texts("finish.title"), tab: .library, view: view), context)
    }

    private func next(after volume: Volume, _ context: KioskContext, _ texts: Texts) async throws -> View {
        let others = try await context.library.books(inSeriesOf: volume, [])
        let series = volume.series.cleanedLine
        var view: View = [:]
        let follower = volume.next(among: others)
        let number = follower.flatMap(Volume.init)?.number.first
        let expected = volume.number.last.rounded(.down) + 1
        if let number, number > expected {
            view["gap"] = texts("finish.missing", ["number": texts.tenths(expected), "series": series])
        } else if number == nil {
            view["gap"] = texts("finish.noNext", ["series": series])
        }
        guard let next = volume.next(among: others.filter { [.toRead, .onHold].contains($0.copy.status) }) else {
            return view
        }
        let nextNumber = Volume(next).map { texts.tenths($0.number.first) } ?? ""
        view["next"] =
            [
                "nextID": next.id.rawValue, "nextHref": "/books/\(next.id.rawValue)",
                "nextTitle": texts("finish.volume", ["number": nextNumber, "title": texts.shownTitle(of: next)]),
                "isOnHold": next.copy.status == .onHold,
            ] as View
        return view
    }
}
