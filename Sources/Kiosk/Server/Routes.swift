import Bookplate
import Hummingbird

extension KioskParts {
    /// Everything that can be asked for, in one table; Web/openapi.json describes what begins with /api, and /healthz.
    var routes: [Route] { pageRoutes + apiRoutes + AssetRoutes(web: web).routes }

    private var pageRoutes: [Route] {
        [
            ScanPage(parts: self).routes,
            HomePage(parts: self).routes,
            LibraryPage(parts: self).routes,
            BookPage(parts: self).routes,
            BookFormPage(parts: self).routes,
            IntakePage(parts: self).routes,
            StatsPage(parts: self).routes,
            SettingsPage(parts: self).routes,
            NamesPage(parts: self).routes,
            ChangesPage(parts: self).routes,
            ScanKeysPage(parts: self).routes,
            SignInPage(parts: self).routes,
        ].flatMap(\.self)
    }

    private var apiRoutes: [Route] {
        [
            StationAPI(parts: self).routes,
            AccessAPI(parts: self).routes,
            DeskRoutes(parts: self).routes,
            PreviewRoutes(parts: self).routes,
            EventRoutes(events: events, run: run).routes,
            ScanNumbers(pages: pages).routes,
            BooksAPI(parts: self).routes,
            SuggestionsAPI(parts: self).routes,
            BulkAPI(parts: self).routes,
            HistoryAPI(parts: self).routes,
            BookAPI(parts: self).routes,
            ReadingAPI(parts: self).routes,
            SessionAPI(parts: self).routes,
            AnnotationAPI(parts: self).routes,
            CoverAPI(parts: self).routes,
            StatsAPI(parts: self).routes,
            NamesAPI(parts: self).routes,
            SettingsAPI(parts: self).routes,
            HubAPI(parts: self).routes,
        ].flatMap(\.self)
    }
}

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

extension Route {
    /// What can be said of a body before it is read.
    ///
    /// - Throws: ``RequestRefusal``: 415 when it is of another type, 413 when it says itself that it is too large.
    func checkBody(of request: Request) throws(RequestRefusal) {
        if request.changesNothing { return }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        // Without a body there is no type to be wrong; where one is wanted, taking it says so.
        if (length ?? 0) == 0, request.headers[.transferEncoding] == nil { return }
        let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased() ?? ""
        let limit: Int
        switch body {
        case .json:
            guard type == "application/json" else {
                throw RequestRefusal(
                    status: .unsupportedMediaType, code: "notJSON", message: "Bodies are application/json.")
            }
            limit = Request.mostJSON
        case .photo:
            guard type.hasPrefix("image/") || type == "application/octet-stream" else {
                throw RequestRefusal(
                    status: .unsupportedMediaType, code: "notPhoto", message: "A photo is image/… as a body.")
            }
            limit = Request.mostPhoto
        }
        if let length, length > limit { throw .tooLarge }
    }
}

extension RequestRefusal {
    static let tooLarge = RequestRefusal(
        status: .contentTooLarge, code: "tooLarge",
        message: "That is too large: JSON has 64 kB at most, a photo 32 MiB, a cover 5 MiB. Send less.")

    /// Nobody known asks for what is not everyone's.
    static let signInNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Sign in with the access code first.")

    /// Nobody with a station's token asks for what is a station's.
    static let tokenNeeded = RequestRefusal(
        status: .unauthorized, code: "signInNeeded", message: "Only a paired station may ask for that, with its token.",
        headers: [.wwwAuthenticate: "Bearer"])
}
