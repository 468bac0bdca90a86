import Bookplate
import Hummingbird

extension KioskParts {
    /// All routes of the service. Web/openapi.json describes /healthz and the routes below /api.
    var routes: [Route] {
        pageRoutes + apiRoutes + AssetRoutes(web: web).routes + [Route(.get, "/healthz", for: .everyone, health)]
    }

    /// Responds with 200 if the library can be read.
    private func health(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        _ = try await context.library.count(in: [.waiting])
        return JSONResponse(["status": "ok", "version": .string(configuration.version)])
    }

    private var pageRoutes: [Route] {
        [
            ScanPage(parts: self).routes,
            FindPage(parts: self).routes,
            HomePage(parts: self).routes,
            LibraryPage(parts: self).routes,
            FilterPanel(parts: self).routes,
            BulkEditPage(parts: self).routes,
            TidyPage(parts: self).routes,
            SeriesPage(parts: self).routes,
            BookPage(parts: self).routes,
            FinishPage(parts: self).routes,
            BookFormPage(parts: self).routes,
            SourcesPage(parts: self).routes,
            IntakePage(parts: self).routes,
            StatsPage(parts: self).routes,
            YearPage(parts: self).routes,
            SettingsPage(parts: self).routes,
            ImportPage(parts: self).routes,
            RestorePage(parts: self).routes,
            NamesPage(parts: self).routes,
            ReadersPage(parts: self).routes,
            ChangesPage(parts: self).routes,
            KeysPage(parts: self).routes,
            SignInPage(parts: self).routes,
            TrustPage(parts: self).routes,
            AwayPage(parts: self).routes,
            PhonePage(parts: self).routes,
            WishlistLinksPage(parts: self).routes,
            SharedWishlist(parts: self).routes,
        ].flatMap(\.self)
    }

    private var apiRoutes: [Route] {
        [
            AccessAPI(parts: self).routes,
            NetworkAPI(parts: self).routes,
            WishlistLinksAPI(parts: self).routes,
            StationRoutes(parts: self).routes,
            PreviewRoutes(parts: self).routes,
            PhonePairingAPI(parts: self).routes,
            PhoneFramesAPI(parts: self).routes,
            EventRoutes(events: events, run: run).routes,
            ISBNAPI(parts: self).routes,
            BooksAPI(parts: self).routes,
            SuggestionsAPI(parts: self).routes,
            BulkAPI(parts: self).routes,
            SavedFiltersAPI(parts: self).routes,
            DuplicatesAPI(parts: self).routes,
            HistoryAPI(parts: self).routes,
            BookAPI(parts: self).routes,
            ReadingAPI(parts: self).routes,
            SessionAPI(parts: self).routes,
            AnnotationAPI(parts: self).routes,
            CoverAPI(parts: self).routes,
            StatsAPI(parts: self).routes,
            NamesAPI(parts: self).routes,
            ReadersAPI(parts: self).routes,
            SettingsAPI(parts: self).routes,
            BrowserChoice().routes,
            MaintenanceAPI(parts: self).routes,
            ImportAPI(parts: self).routes,
            RestoreAPI(parts: self).routes,
            HubRoutes(parts: self).routes,
        ].flatMap(\.self)
    }
}

/// A path of the service, with its method, its audience and its handler.
struct Route: Sendable {
    /// The callers that may use a route.
    enum Audience: Sendable {
        /// Anybody who can reach the service. This audience is for signing in, and for the assets of the sign-in page.
        case everyone
        /// The household and, while the guest view is on, guests.
        case guests
        /// Callers who have signed in or are at this machine.
        case household
        /// Paired stations, identified by their token.
        case stations

        func includes(_ caller: Caller) -> Bool {
            switch self {
            case .everyone: true
            case .guests: caller == .household || caller == .guest
            case .household: caller == .household
            case .stations: if case .station = caller { true } else { false }
            }
        }
    }

    /// The kind of body that a route accepts.
    enum Body: Sendable {
        /// A body of type application/json with at most ``Request/maxJSONBytes`` bytes, or no body.
        case json
        /// A body of type image/… or application/octet-stream with at most ``Request/maxPhotoBytes`` bytes. It is read
        /// with ``PhotoUploads``.
        case photo
        /// A body of type image/jpeg with at most ``PhoneCameras/byteLimit`` bytes.
        case frame
        /// A body of type application/octet-stream with at most ``ImportAPI/maxBytes`` bytes, which is written to a
        /// file piece by piece. Other sites' forms cannot send this type.
        case file
    }

    let method: HTTPRequest.Method
    /// A path pattern for Hummingbird, such as "/api/books/:id".
    let path: String
    let audience: Audience
    let body: Body
    let handler: @Sendable (Request, KioskContext) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, for audience: Audience, body: Body = .json,
        _ handler: @escaping @Sendable (Request, KioskContext) async throws -> some ResponseGenerator
    ) {
        self.method = method
        self.path = path
        self.audience = audience
        self.body = body
        self.handler = { request, context in
            try await handler(request, context).response(from: request, context: context)
        }
    }
}

extension Route {
    /// Checks the declared type and length of a body before it is read.
    ///
    /// - Throws: ``RequestRefusal``: 415 for another type, 413 if the declared length is above the limit.
    func checkBody(of request: Request) throws(RequestRefusal) {
        if request.isSafe { return }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        // A request without a body has no type to check. A route that needs a body refuses such a request when it reads
        // the body.
        if (length ?? 0) == 0, request.headers[.transferEncoding] == nil { return }
        let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased() ?? ""
        let limit: Int
        switch body {
        case .json:
            guard type == "application/json" else { throw .notJSON }
            limit = Request.maxJSONBytes
        case .photo:
            guard type.hasPrefix("image/") || type == "application/octet-stream" else {
                throw RequestRefusal(.notPhoto, "A photo's Content-Type must begin with \"image/\".")
            }
            limit = Request.maxPhotoBytes
        case .frame:
            guard type == "image/jpeg" else {
                throw RequestRefusal(.notPhoto, "A frame's Content-Type must be \"image/jpeg\".")
            }
            limit = PhoneCameras.byteLimit
        case .file:
            guard type == "application/octet-stream" else { throw .notFile }
            limit = ImportAPI.maxBytes
        }
        if let length, length > limit { throw .tooLarge }
    }
}
