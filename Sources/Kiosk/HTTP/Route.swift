import Hummingbird

/// One thing that can be asked for.
struct Route: Sendable {
    /// Who may ask.
    enum Audience: Sendable {
        /// Whoever reaches the service: signing in, and what pages need before it.
        case everyone
        /// Who may look, where the guest view is on; else the household.
        case guests
        /// Who is signed in, or sits at this machine.
        case household
        /// A paired station, by its token.
        case stations
    }

    /// What a request brings.
    enum Body: Sendable {
        /// application/json, at most ``Request/mostJSON`` bytes; or none at all.
        case json
        /// image/… or application/octet-stream, at most ``Request/mostPhoto`` bytes: taken with ``Request/photo()``.
        case photo
    }

    let method: HTTPRequest.Method
    /// As Hummingbird matches it: "/api/books/:id".
    let path: String
    let audience: Audience
    let body: Body
    let answer: @Sendable (Request, KioskContext) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, for audience: Audience, taking body: Body = .json,
        _ answer: @escaping @Sendable (Request, KioskContext) async throws -> some ResponseGenerator
    ) {
        self.method = method
        self.path = path
        self.audience = audience
        self.body = body
        self.answer = { request, context in
            try await answer(request, context).response(from: request, context: context)
        }
    }
}
