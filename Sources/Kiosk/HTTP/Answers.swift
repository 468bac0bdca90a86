import Bookplate
import Hummingbird
import NIOCore
import NIOHTTP1

/// Says who asks, turns errors into answers, and gives every answer its headers.
struct Answers: RouterMiddleware {
    let parts: KioskParts

    func handle(
        _ request: Request, context: KioskContext, next: (Request, KioskContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.language = Language(accepting: request.headers[.acceptLanguage])
        context.acceptsGzip = request.acceptsGzip
        context.change = parts.events.changes
        var response: Response
        do {
            try request.checkTarget()
            context = try await parts.doorkeeper.recognise(request, context)
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // The connection's guard has answered it.
            throw error
        } catch {
            response = await answer(to: error, request, context)
        }
        addHeaders(to: &response)
        return response
    }

    /// Source of what each does: OWASP Secure Headers; CSP level 3; Fetch, 3.7 for CORP.
    private func addHeaders(to response: inout Response) {
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.contentType] == "application/json" {
            response.headers[.cacheControl] = "no-store"
        } else if response.headers[.contentSecurityPolicy] == nil {
            // A stranger's picture brings a stricter one.
            response.headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        }
    }

    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        + "form-action 'self'; frame-ancestors 'none'"

    private func answer(to error: any Error, _ request: Request, _ context: KioskContext) async -> Response {
        let refusal = refusal(for: error, request, context)
        context.logger.notice(
            "refused status=\(refusal.status.code) code=\(refusal.code)", metadata: ["id": "\(context.id)"])
        if request.wantsPage {
            if refusal.status == .unauthorized { return Self.signIn(for: request) }
            if let page = await ErrorPage(parts: parts).answer(refusal, context) { return page }
        }
        var error: [(key: String, value: JSONValue)] = [
            ("code", .string(refusal.code)), ("message", .string(refusal.message)), ("id", .string(context.id)),
        ]
        if let now = refusal.now { error.append(("now", now)) }
        let json = JSONAnswer(["error": .object(error)], status: refusal.status)
        var response = json.response(from: request, context: context)
        response.headers.append(contentsOf: refusal.headers)
        return response
    }

    /// To the page where one signs in, and from there back.
    private static func signIn(for request: Request) -> Response {
        // The path is encoded already; what has a meaning in a query is none of a page's address.
        let wanted = request.uri.path.utf8.contains { "&+#%".utf8.contains($0) } ? "/" : request.uri.path
        return Response(
            status: .seeOther, headers: [.location: "/sign-in?to=" + wanted, .cacheControl: "no-store"])
    }

    private func refusal(for error: any Error, _ request: Request, _ context: KioskContext) -> RequestRefusal {
        let texts = parts.pages.texts(context)
        if let refusal = RequestRefusal(error, in: texts, parts.ports.zone) { return refusal }
        var refusal = ownRefusal(for: error, request, context)
        refusal.message = texts.words(for: refusal)
        return refusal
    }

    private func ownRefusal(for error: any Error, _ request: Request, _ context: KioskContext) -> RequestRefusal {
        switch error {
        case let refusal as RequestRefusal: return refusal
        case is NIOTooManyBytesError: return .tooLarge
        case let error as HTTPError: return refusal(for: error, request, context)
        default:
            var trouble = parts.ports.trouble(error)
            let words = parts.pages.texts(context).words(for: error, in: parts.ports.zone)
            if let words { trouble.message = words }
            var refusal = refusal(for: trouble, context)
            refusal.isTranslated = words != nil && refusal.message == words
            return refusal
        }
    }

    /// What Hummingbird says itself: mostly that there is no such route, or not with this method.
    private func refusal(for error: HTTPError, _ request: Request, _ context: KioskContext) -> RequestRefusal {
        if error.status == .notFound, context.endpointPath == "NotFound" {
            let methods = parts.methods(at: request.uri.path)
            guard methods.isEmpty else {
                return RequestRefusal(
                    status: .methodNotAllowed, code: "wrongMethod", message: "That takes another method.",
                    headers: [.allow: methods.joined(separator: ", ")])
            }
            return .notThere("page")
        }
        if error.status == .contentTooLarge { return .tooLarge }
        return RequestRefusal(
            status: error.status, code: "http\(error.status.code)", message: error.status.reasonPhrase)
    }

    /// What is for the log alone, such as paths, goes there under the id that the page gets.
    private func refusal(for trouble: KioskError, _ context: KioskContext) -> RequestRefusal {
        switch trouble.kind {
        case .refused:
            return RequestRefusal(status: .unprocessableContent, code: "refused", message: trouble.message)
        case .notThere: return RequestRefusal(status: .notFound, code: "notThere", message: trouble.message)
        case .unavailable:
            context.logger.warning("\(trouble.message)", metadata: ["id": "\(context.id)"])
            let told = "The library is busy or its disk is full. Nothing that was saved is lost; try again. "
            return RequestRefusal(
                status: .serviceUnavailable, code: "unavailable",
                message: Self.namesFiles(trouble.message)
                    ? told + "The log tells more under \(context.id)." : trouble.message,
                headers: [.retryAfter: "5"], values: ["id": context.id])
        case .fault:
            context.logger.error("\(trouble.message)", metadata: ["id": "\(context.id)"])
            return RequestRefusal(
                status: .internalServerError, code: "fault",
                message: "Something went wrong here. What was saved is saved; try again. "
                    + "The log tells more under \(context.id).",
                values: ["id": context.id])
        }
    }

    /// Whether a message says where files lie, as the modules' own do: that is none of a browser's business.
    private static func namesFiles(_ message: String) -> Bool {
        message.split { $0 == " " || $0 == "(" || $0 == "\"" }.contains { $0.hasPrefix("/") }
    }
}

extension KioskParts {
    /// - Returns: the methods that the path takes, sorted; empty where there is nothing at it.
    fileprivate func methods(at path: String) -> [String] {
        let asked = path.split(separator: "/", omittingEmptySubsequences: true)
        var methods: Set<String> = []
        for route in routes where RouterPath(route.path).fits(asked) {
            methods.insert(route.method.rawValue)
            if route.method == .get { methods.insert("HEAD") }
        }
        return methods.sorted()
    }
}

extension RouterPath {
    fileprivate func fits(_ asked: [Substring]) -> Bool {
        let goesOn = components.last?.description == "**"
        guard goesOn ? asked.count >= components.count : asked.count == components.count else { return false }
        return zip(components, asked).allSatisfy { $0 ~= $1 }
    }
}

extension Request {
    /// Whether a browser wants a page to show, and not a program an answer.
    fileprivate var wantsPage: Bool {
        guard changesNothing, !uri.path.hasPrefix("/api/") else { return false }
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
    /// Of an answer that goes on for as long as somebody looks. nginx holds answers back unless it is told not to (X-Accel-Buffering of
    /// ngx_http_proxy_module).
    static func stream(of type: String) -> HTTPFields {
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        fields[.accelBuffering] = "no"
        return fields
    }
}
