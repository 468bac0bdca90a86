import Bookplate
import FoundationEssentials
import Hummingbird

/// The choices that belong to a browser rather than to the library: the language and the appearance of its pages. They
/// are cookies, so that the service renders every page, the sign-in page too, in its final form.
struct BrowserChoice: Sendable {
    /// The colours of the pages. The raw values are those of the attribute `data-appearance` in base.css.
    enum Appearance: String, Sendable, CaseIterable {
        case light, dark
    }

    private static let languageCookie = "bookplate-language"
    private static let appearanceCookie = "bookplate-appearance"

    /// Sets the language and the appearance of the response to a request. Without a choice, the language is the
    /// browser's, and the appearance is the system's.
    static func read(from request: Request, into context: inout KioskContext) {
        let cookies = request.cookies
        context.language =
            cookies[languageCookie].flatMap { Language(rawValue: $0.value) }
            ?? Language(accepting: request.headers[.acceptLanguage])
        context.appearance = cookies[appearanceCookie].flatMap { Appearance(rawValue: $0.value) }
    }

    var routes: [Route] { [Route(.patch, "/api/browser", for: .household, choose)] }

    /// Stores what the request contains; null returns to the browser's language or the system's appearance.
    private func choose(_ request: Request, _ context: KioskContext) async throws -> Response {
        let sent = try await request.object()
        try sent.checkMembers(["language", "appearance"])
        let chosen = [
            (Self.languageCookie, try sent.choice("language", Language.self).rawText),
            (Self.appearanceCookie, try sent.choice("appearance", Appearance.self).rawText),
        ]
        var response = JSONResponse(["stored": .bool(true)]).response(from: request, context: context)
        for (name, value) in chosen {
            guard let value else { continue }
            let cookie = request.cookie(name, value, seconds: value.isEmpty ? 0 : Request.longestCookie)
            response.headers.append(HTTPFields.Element(name: .setCookie, value: cookie))
        }
        return response
    }

    /// Returns the choices of this browser for the Settings page.
    static func view(of request: Request, _ texts: Texts) -> View {
        let cookies = request.cookies
        let language = cookies[languageCookie].flatMap { Language(rawValue: $0.value) }
        let appearance = cookies[appearanceCookie].flatMap { Appearance(rawValue: $0.value) }
        return [
            "isLanguageAutomatic": language == nil, "isAppearanceAutomatic": appearance == nil,
            "languages": Language.allCases.map { choice -> View in
                ["code": choice.rawValue, "name": choice.ownName, "isChosen": choice == language]
            },
            "appearances": Appearance.allCases.map { choice -> View in
                [
                    "code": choice.rawValue, "name": texts("settings.appearance_\(choice.rawValue)"),
                    "isChosen": choice == appearance,
                ]
            },
        ]
    }
}

extension Edit where Value: RawRepresentable, Value.RawValue == String {
    /// The new value as text, which is empty if the value is cleared; `nil` if it stays as it is.
    fileprivate var rawText: String? {
        switch self {
        case .keep: nil
        case .clear: ""
        case .set(let value): value.rawValue
        }
    }
}

extension Language {
    /// The language's name in the language itself, which its speakers recognise on any page.
    fileprivate var ownName: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        case .french: "Français"
        }
    }
}
