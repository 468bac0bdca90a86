import Bookplate
import FoundationEssentials
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

/// Signing in, and the sign-ins that there are.
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
        let device = DeviceName.of(request.headers[.userAgent] ?? "")
        let outcome = try await parts.library.signIn(
            code: body.code, from: context.address, device: device, at: parts.ports.now())
        switch outcome {
        case .signedIn(let signIn, let token):
            var response = JSONAnswer(["signIn": json(signIn, context)]).response(from: request, context: context)
            // The library ends it sooner, when it is not used; browsers keep no cookie for longer than 400 days.
            response.headers[.setCookie] = cookie(token, seconds: 400 * 86_400)
            return response
        case .refused(let check): throw RequestRefusal(of: check) ?? .signInNeeded
        }
    }

    private func signOut(_ request: Request, _ context: KioskContext) async throws -> Response {
        if let id = context.signIn { _ = try await parts.library.endSignIn(id) }
        var response = JSONAnswer(["ended": .bool(context.signIn != nil)]).response(from: request, context: context)
        response.headers[.setCookie] = cookie("", seconds: 0)
        return response
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let signIns = try await parts.library.signIns(at: parts.ports.now())
        return JSONAnswer(["signIns": .array(signIns.map { json($0, context) })])
    }

    private func end(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        guard try await parts.library.endSignIn(context.id(of: SignIn.self)) else {
            throw RequestRefusal.notThere("sign-in")
        }
        return JSONAnswer(["ended": .bool(true)])
    }

    private func json(_ signIn: SignIn, _ context: KioskContext) -> JSONValue {
        [
            "id": .string(signIn.id.rawValue), "device": .string(signIn.device),
            "created": .string(signIn.created.rfc3339),
            "used": .string(signIn.used.rfc3339), "isCurrent": .bool(signIn.id == context.signIn),
        ]
    }

    private func cookie(_ token: String, seconds: Int) -> String {
        "\(Authenticator.cookie)=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
    }
}

extension RequestRefusal {
    /// The answer to a code that was not right; `nil` for one that was. Pairing a station asks for the same code.
    init?(of check: CodeCheck) {
        switch check {
        case .right: return nil
        case .wrong:
            self.init(
                status: .unauthorized, code: "wrongCode",
                message: "That is not the access code. Try again; 'scan kiosk code' at the station sets a new one.")
        case .throttled(let seconds):
            self.init(
                status: .tooManyRequests, code: "throttled",
                message: "Too many wrong codes. Try again in \(seconds) s.",
                headers: [.retryAfter: String(seconds)], values: ["seconds": String(seconds)])
        case .noCode:
            self.init(
                status: .forbidden, code: "noCode",
                message: "No access code is set. 'scan kiosk code' at the station sets one.")
        }
    }
}

/// "Firefox, Android": what a person knows a browser by, from what it says of itself.
enum DeviceName {
    static func of(_ userAgent: String) -> String {
        let text = String(userAgent.prefix(500))
        // The first that fits: later browsers name earlier ones, too.
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
