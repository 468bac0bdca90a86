import Bookplate
import FoundationEssentials
import Hummingbird

/// The page on which a person signs in with the access code.
struct SignInPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/sign-in", for: .everyone, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let then = Self.destination(request.uri.queryParameters["to"].map { String($0) })
        if context.caller == .household {
            return Response(status: .seeOther, headers: [.location: then, .cacheControl: "no-store"])
        }
        let texts = parts.pages.texts(context)
        var stranger = context
        // The page shows nothing from the library, even while the guest view is on.
        stranger.caller = .stranger
        return try await parts.pages.render(
            Pages.Page(template: "sign-in", title: texts("access.signIn"), view: ["then": then]), stranger)
    }

    /// Returns the path to open after signing in: `wanted` if it is a path of this service, otherwise "/".
    static func destination(_ wanted: String?) -> String {
        // Browsers treat "//host" and "/\host" as addresses of other hosts (WHATWG URL, 4.4).
        guard let wanted, wanted.hasPrefix("/"), !wanted.hasPrefix("//"), wanted.utf8.count <= 1000,
            wanted.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return wanted
    }
}

/// Signs people in and out, and lists and ends sign-ins.
struct AccessAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.post, "/api/sign-in", for: .everyone, signIn),
            Route(.post, "/api/sign-out", for: .household, signOut),
            Route(.get, "/api/sign-ins", for: .household, list),
            Route(.delete, "/api/sign-ins/:id", for: .household, end),
        ]
    }

    private struct Code: Decodable { var code: String }

    private func signIn(_ request: Request, _ context: KioskContext) async throws -> Response {
        let body = try await request.json(Code.self)
        let device = DeviceName.describe(request.headers[.userAgent] ?? "")
        let outcome = try await context.library.signIn(
            code: body.code, from: context.address, device: device, at: parts.ports.now())
        switch outcome {
        case .signedIn(let signIn, let token):
            var response = JSONResponse(["signIn": signIn.json(context)]).response(from: request, context: context)
            // The library ends an unused sign-in sooner.
            response.headers[.setCookie] = request.cookie(
                Authenticator.cookie, token, seconds: Request.longestCookie)
            return response
        case .refused(let check): throw RequestRefusal(of: check) ?? .signInNeeded
        }
    }

    private func signOut(_ request: Request, _ context: KioskContext) async throws -> Response {
        parts.connections.forget(context.connection)
        if let id = context.signIn { _ = try await context.library.endSignIn(id) }
        var response = JSONResponse(["ended": .bool(context.signIn != nil)]).response(from: request, context: context)
        response.headers[.setCookie] = request.cookie(Authenticator.cookie, "", seconds: 0)
        return response
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let signIns = try await context.library.signIns(at: parts.ports.now())
        return JSONResponse(["signIns": .array(signIns.map { $0.json(context) })])
    }

    private func end(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: SignIn.self)
        if id == context.signIn { parts.connections.forget(context.connection) }
        guard try await context.library.endSignIn(id) else {
            throw RequestRefusal.notFound("sign-in")
        }
        // The device that is shut out may have made some.
        parts.invitations.endAll()
        return JSONResponse(["ended": .bool(true)])
    }
}

extension SignIn {
    func json(_ context: KioskContext) -> JSONValue {
        [
            "id": .string(id.rawValue), "device": .string(device), "created": .string(created.rfc3339),
            "used": .string(used.rfc3339), "isCurrent": .bool(id == context.signIn),
        ]
    }
}

extension Request {
    /// Returns the header that sets a cookie, which scripts cannot read and other sites cannot send.
    ///
    /// Over https, the service's own or that of a proxy, the page's Origin says so, which browsers send with every such
    /// request and which ``CrossSite`` has checked. The cookie is then never sent over plain HTTP.
    func cookie(_ name: String, _ value: String, seconds: Int) -> String {
        let isSecure = headers[.origin]?.lowercased().hasPrefix("https://") == true
        return "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// The longest time for which browsers keep a cookie: 400 days in seconds.
    static let longestCookie = 400 * 86_400
}

extension RequestRefusal {
    /// Creates the refusal for a code that is not accepted; `nil` if the code is right. Pairing a station needs the
    /// same code, so it uses this refusal too.
    init?(of check: CodeCheck) {
        switch check {
        case .right: return nil
        case .wrong:
            self.init(
                .wrongCode,
                "That is not the access code. Try again. "
                    + "To set a new code, run 'scan kiosk code' at the station.")
        case .throttled(let seconds):
            self.init(
                .throttled, "Too many wrong codes. Try again in \(seconds) s.",
                headers: [.retryAfter: String(seconds)], values: ["seconds": String(seconds)])
        case .noCode: self = .noCode
        }
    }

    static let noCode = RequestRefusal(
        .noCode, "No access code is set. Set one in Settings at the station, or with 'scan kiosk code'.")
}

/// Derives a readable name of a browser and its system, such as "Firefox, Android", from a User-Agent header.
enum DeviceName {
    static func describe(_ userAgent: String) -> String {
        let text = String(userAgent.prefix(500))
        // The first match counts, because newer browsers also send the names of older ones.
        let browser = [
            ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"),
            ("Chromium/", "Chromium"),
            ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
        ].first { text.contains($0.0) }?.1
        let system = [
            ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "Mac"),
            ("Linux", "Linux"),
        ].first { text.contains($0.0) }?.1
        let known = [browser, system].compactMap(\.self)
        return known.isEmpty ? String(text.cleanedLine.prefix(40)) : known.joined(separator: ", ")
    }
}
