import Bookplate
import Hummingbird

/// Where the access code is said.
struct SignInPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/sign-in", for: .everyone, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let then = Self.place(request.uri.queryParameters["to"].map { String($0) })
        if context.visitor == .household {
            return Response(status: .seeOther, headers: [.location: then, .cacheControl: "no-store"])
        }
        let texts = parts.pages.texts(context)
        var stranger = context
        // Nothing of the library is on this page, also not where guests may look.
        stranger.visitor = .stranger
        return try await parts.pages.answer(
            Pages.Page(template: "sign-in", title: texts("access.signIn"), view: ["then": then]), stranger)
    }

    /// Where to go afterwards: a path of this service, whatever the address says.
    static func place(_ wanted: String?) -> String {
        // "//host" and "/\host" are other machines to a browser (WHATWG URL, 4.4).
        guard let wanted, wanted.hasPrefix("/"), !wanted.hasPrefix("//"), wanted.utf8.count <= 1000,
            wanted.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return wanted
    }
}
