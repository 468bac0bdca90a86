import Bookplate
import Hummingbird

/// What a page shows where it cannot be shown.
struct ErrorPage: Sendable {
    let parts: KioskParts

    /// - Returns: `nil` where not even this page can be made, because the library does not answer.
    func answer(_ refusal: RequestRefusal, _ context: KioskContext) async -> Response? {
        let texts = parts.pages.texts(context)
        let words: (title: String, what: String) =
            switch refusal.status {
            case .notFound: (texts("access.notThere"), texts("access.notThereMore"))
            case .serviceUnavailable: (texts("access.unavailable"), texts("access.unavailableMore"))
            case .internalServerError: (texts("access.fault"), texts("access.faultMore"))
            default: (texts("access.refused"), refusal.message)
            }
        let page = Pages.Page(
            template: "error", title: words.title,
            view: ["what": words.what, "told": texts("access.id", ["id": context.id])], status: refusal.status)
        do {
            var response = try await parts.pages.answer(page, context)
            response.headers.append(contentsOf: refusal.headers)
            return response
        } catch {
            context.logger.warning("no error page: \(parts.ports.trouble(error).message)")
            return nil
        }
    }
}
