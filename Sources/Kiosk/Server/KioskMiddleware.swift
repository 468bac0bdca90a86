import Bookplate
import Hummingbird
import NIOCore
import NIOHTTP1

/// Authenticates each request, turns errors into responses, and adds the security headers to every response.
struct KioskMiddleware: RouterMiddleware {
    let parts: KioskParts

    func handle(
        _ request: Request, context: KioskContext, next: (Request, KioskContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        BrowserChoice.read(from: request, into: &context)
        context.acceptsGzip = request.acceptsGzip
        context.change = parts.events.changes
        context.library = parts.ports.library
        var response: Response
        do {
            try request.checkTarget()
            context = try await parts.authenticator.authenticate(request, context)
            if let redirect = try parts.redirectToHTTPS(request, context) { return redirect }
            if context.caller == .household || context.caller == .guest {
                try await ReaderChoice(ports: parts.ports).choose(for: &context, request)
            }
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // ``RequestGuard`` has already answered this request.
            throw error
        } catch {
            response = await self.response(to: error, request, context)
        }
        addHeaders(to: &response)
        return response
    }

    /// Adds the security headers. Sources: OWASP Secure Headers, CSP level 3, and Fetch (3.7) for the resource policy.
    private func addHeaders(to response: inout Response) {
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.contentType] == "application/json" {
            response.headers[.cacheControl] = "no-store"
        } else if response.headers[.contentSecurityPolicy] == nil {
            // Covers already have a stricter policy.
            response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        }
    }

    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    private func response(to error: any Error, _ request: Request, _ context: KioskContext) async -> Response {
        let refusal = localizedRefusal(for: error, request, context)
        context.logger.notice(
            "refused status=\(refusal.status.code) code=\(refusal.apiCode)", metadata: ["id": "\(context.id)"])
        if request.wantsPage {
            if refusal.status == .unauthorized { return Self.redirectToSignIn(from: request) }
            if let page = await ErrorPage(parts: parts).render(refusal, context) { return page }
        }
        var error: [(key: String, value: JSONValue)] = [
            ("code", .string(refusal.apiCode)), ("message", .string(refusal.message)), ("id", .string(context.id)),
        ]
        if let now = refusal.now { error.append(("now", now)) }
        let json = JSONResponse(["error": .object(error)], status: refusal.status)
        var response = json.response(from: request, context: context)
        response.headers.append(contentsOf: refusal.headers)
        return response
    }

    /// Redirects to the sign-in page, which leads back to the requested page.
    private static func redirectToSignIn(from request: Request) -> Response {
        // The path is already percent-encoded. Paths of pages do not contain characters with a meaning in a query.
        let wanted = request.uri.path.utf8.contains { "&+#%".utf8.contains($0) } ? "/" : request.uri.path
        return Response(
            status: .seeOther, headers: [.location: "/sign-in?to=" + wanted, .cacheControl: "no-store"])
    }

    private func localizedRefusal(
        for error: any Error, _ request: Request, _ context: KioskContext
    ) -> RequestRefusal {
        var refusal =
            switch error {
            case let refusal as RequestRefusal: refusal
            case is NIOTooManyBytesError: RequestRefusal.tooLarge
            case let error as HTTPError: self.refusal(forRouterError: error, request, context)
            case let refusal as any Refusal: self.refusal(for: refusal, context)
            default: self.refusal(for: KioskError(.fault, "\(error)"), context)
            }
        refusal.message = parts.pages.texts(context).message(for: refusal)
        return refusal
    }

    /// Returns the refusal for an error of Hummingbird. The usual reason is that the route does not exist or does not
    /// have this method.
    private func refusal(forRouterError error: HTTPError, _ request: Request, _ context: KioskContext) -> RequestRefusal
    {
        if error.status == .notFound, context.endpointPath == "NotFound" {
            let methods = parts.methods(at: request.uri.path)
            guard methods.isEmpty else {
                return RequestRefusal(
                    .wrongMethod, "This address does not allow this HTTP method.",
                    headers: [.allow: methods.joined(separator: ", ")])
            }
            return .notFound("page")
        }
        if error.status == .contentTooLarge { return .tooLarge }
        return RequestRefusal(
            status: error.status, apiCode: "http\(error.status.code)", message: error.status.reasonPhrase)
    }

    /// Returns the refusal as a response. A failure is logged under the request's id, and the page shows this id
    /// instead of a message that may name files.
    private func refusal(for refusal: any Refusal, _ context: KioskContext) -> RequestRefusal {
        let text = parts.pages.texts(context).message(for: refusal, in: parts.ports.zone)
        var answer = RequestRefusal(refusal, message: text)
        switch refusal.httpStatus {
        case 500:
            context.logger.error("\(refusal)", metadata: ["id": "\(context.id)"])
            answer.message =
                "Something went wrong. Everything saved is safe. Try again. Details are in the log under \(context.id)."
            (answer.values, answer.isTranslated) = (["id": context.id], false)
        case 503:
            context.logger.warning("\(refusal)", metadata: ["id": "\(context.id)"])
            answer.message = text ?? unavailableMessage(for: refusal, context)
            (answer.values, answer.headers) = (["id": context.id], [.retryAfter: "5"])
        default: break
        }
        return answer
    }

    private func unavailableMessage(for refusal: any Refusal, _ context: KioskContext) -> String {
        guard refusal.namesFile else { return refusal.description }
        return switch refusal.code {
        case "locked":
            "Another program has locked the library. Nothing is lost. Try again when that program is done."
        case "diskFull": "The library's disk is full. Everything saved is safe. Free some space and try again."
        default:
            "The library is busy, or its disk is full. Everything saved is safe. Try again. "
                + "Details are in the log under \(context.id)."
        }
    }
}

extension KioskParts {
    /// Returns the methods of the routes at a path, sorted. The list is empty if there is no such route.
    fileprivate func methods(at path: String) -> [String] {
        let asked = path.split(separator: "/", omittingEmptySubsequences: true)
        var methods: Set<String> = []
        for route in routes where RouterPath(route.path).matches(asked) {
            methods.insert(route.method.rawValue)
            if route.method == .get { methods.insert("HEAD") }
        }
        return methods.sorted()
    }
}

extension RouterPath {
    fileprivate func matches(_ path: [Substring]) -> Bool {
        let isPrefix = components.last?.description == "**"
        guard isPrefix ? path.count >= components.count : path.count == components.count else { return false }
        return zip(components, path).allSatisfy { $0 ~= $1 }
    }
}

extension Request {
    /// True if a browser requests a page, false if a program requests JSON.
    fileprivate var wantsPage: Bool {
        guard isSafe, !uri.path.hasPrefix("/api/") else { return false }
        let accepts = headers[.accept] ?? ""
        guard let html = accepts.range(of: "text/html") else { return false }
        return accepts.range(of: "application/json").map { html.lowerBound < $0.lowerBound } ?? true
    }
}

extension HTTPFields.Element.Name {
    static let referrerPolicy = Self("Referrer-Policy")!
    static let resourcePolicy = Self("Cross-Origin-Resource-Policy")!
    fileprivate static let accelBuffering = Self("X-Accel-Buffering")!
}

extension HTTPFields {
    /// Returns the headers of a response that streams events or pictures. X-Accel-Buffering (ngx_http_proxy_module)
    /// keeps nginx from buffering the response.
    static func stream(of type: String) -> HTTPFields {
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        fields[.accelBuffering] = "no"
        return fields
    }
}
