import Bookplate
import FoundationEssentials
import Hummingbird

/// The page on which a reader shares the wishlist: makes links to it, lists and revokes them.
struct WishlistLinksPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/wishlist-links", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let links = try await context.library.wishlistLinks()
        let state = try await parts.networkState(context)
        return try await parts.pages.render(
            Pages.Page(
                template: "wishlist-links", title: texts("share.title"), tab: .library,
                view: [
                    "hasLinks": !links.isEmpty, "isFull": links.count >= WishlistLink.limit,
                    "isOnlyHere": state.open.isEmpty && context.isAtMachine,
                    "links": links.map { link -> View in
                        let made = texts.instant(link.created, in: parts.ports.zone)
                        return [
                            "id": link.id.rawValue, "made": texts("share.made", ["when": made]),
                            "used": link.used.map {
                                texts("share.used", ["when": texts.instant($0, in: parts.ports.zone)])
                            }
                                ?? texts("share.unused"),
                            "revoke": texts("share.revokeNamed", ["when": made]),
                        ]
                    },
                ]), context)
    }
}

/// Makes, lists and revokes the links to the wishlist of the request's reader.
struct WishlistLinksAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/wishlist-links", for: .household, list),
            Route(.post, "/api/wishlist-links", for: .household, make),
            Route(.delete, "/api/wishlist-links/:id", for: .household, revoke),
        ]
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["links": .array(try await context.library.wishlistLinks().map(\.json))])
    }

    /// Makes a link. This response is the only one that contains the token.
    private func make(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let base = try await parts.address(for: request, context)
        let (link, token) = try await context.library.makeWishlistLink(at: parts.ports.now())
        let address = base + "/w/" + token
        return JSONResponse(
            ["link": link.json, "address": .string(address), "code": QRCode(address)?.json ?? .null], status: .created)
    }

    private func revoke(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard try await context.library.revokeWishlistLink(context.id(of: WishlistLink.self)) else {
            throw RequestRefusal.notFound("link")
        }
        return JSONResponse(["revoked": .bool(true)])
    }
}

extension WishlistLink {
    fileprivate var json: JSONValue {
        [
            "id": .string(id.rawValue), "created": .string(created.rfc3339), "used": JSONValue(used?.rfc3339),
        ]
    }
}
