import Hummingbird

/// The page that a device shows while the station is away. Its service worker keeps the page, which therefore shows
/// nothing of the household.
struct AwayPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/away", for: .everyone, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        var stranger = context
        stranger.caller = .stranger
        let title = parts.pages.texts(context)("away.title")
        return try await parts.pages.render(Pages.Page(template: "away", title: title), stranger)
    }
}
