import Bookplate
import FoundationEssentials
import Hummingbird
import Mustache

/// What a template shows, by name.
typealias View = [String: any Sendable]

/// Puts pages together: a template of Web/templates within the layout.
struct Pages: Sendable {
    let web: WebFolder
    let ports: KioskPorts
    let version: String

    /// One page.
    struct Page: Sendable {
        /// The template's name, and of its style /assets/NAME.css and script /assets/NAME.js where these are there.
        var template: String
        /// Another page whose style it has.
        var look: String?
        var title: String
        /// The tab that is lit.
        var tab: Tab?
        var view: View = [:]
        var status: HTTPResponse.Status = .ok
    }

    enum Tab: String, Sendable, CaseIterable {
        case scan, home, library, intake, stats, settings

        fileprivate static func shown(to visitor: Caller) -> [Tab] {
            switch visitor {
            case .household: allCases
            case .guest: [.home, .library, .stats]
            case .station, .stranger: []
            }
        }
    }

    func texts(_ context: KioskContext) -> Texts { web.texts[context.language]! }

    /// The page as HTML. Where something about it is live, its script fetches it anew.
    func answer(_ page: Page, _ context: KioskContext) async throws -> Response {
        let texts = texts(context)
        var view = page.view
        view["t"] = texts
        view["language"] = context.language.rawValue
        view["title"] = page.title
        view["version"] = version
        view["change"] = String(context.change)
        view["isGuest"] = context.isGuest
        view["maySignIn"] = context.visitor == .guest
        view["isStranger"] = context.visitor == .stranger
        let look = page.look ?? page.template
        view["template"] = look
        view["hasStyle"] = web.assets[look + ".css"] != nil
        // A page's script is for its acts.
        view["hasScript"] = context.visitor != .guest && web.assets[look + ".js"] != nil
        let waiting = context.isGuest ? 0 : try await ports.library.count(in: [.waiting])
        view["tabs"] = Tab.shown(to: context.visitor).map { tab -> View in
            var item: View = [
                "name": tab.rawValue, "label": texts("layout.\(tab.rawValue)"), "isCurrent": tab == page.tab,
            ]
            if tab == .intake, waiting > 0 { item["count"] = String(waiting) }
            return item
        }
        view["scriptTexts"] = JSONValue.object(
            texts.section("script").sorted { $0.key < $1.key }.map { (key: $0.key, value: .string($0.value)) }
        ).text.replacing("<", with: "\\u003c")
        guard let html = web.templates.render(view, withTemplate: page.template) else {
            throw KioskError(.fault, "there is no template \(page.template)")
        }
        return Response(
            status: page.status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }
}

/// Escapes texts for HTML, as Mustache does by itself, but byte by byte: its own way looks each character up in a table, which is
/// felt where a page shows 50 books with every letter typed. Templates ask for it with `{{% CONTENT_TYPE:PAGE}}`.
struct PageText: MustacheContentType {
    static func register() { MustacheContentTypes.register(PageText(), named: "PAGE") }

    func escapeText(_ text: String) -> String {
        // Most of what is shown has nothing to escape.
        guard text.utf8.contains(where: { Self.escape($0) != nil }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            if let escape = Self.escape(byte) { bytes += escape.description.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}

/// What a page shows where it cannot be shown.
struct ErrorPage: Sendable {
    let parts: KioskParts

    /// - Returns: `nil` where not even this page can be made, because the library does not answer.
    func answer(_ refusal: RequestRefusal, _ context: KioskContext) async -> Response? {
        let texts = parts.pages.texts(context)
        let words: (title: String, what: String) =
            switch refusal.status {
            case .notFound: (texts("access.notThere"), texts("access.notThereMore"))
            case .serviceUnavailable: (texts("access.unavailable"), texts("access.unavailableMore"))
            case .internalServerError: (texts("access.fault"), texts("access.faultMore"))
            default: (texts("access.refused"), refusal.message)
            }
        let page = Pages.Page(
            template: "error", title: words.title,
            view: ["what": words.what, "told": texts("access.id", ["id": context.id])], status: refusal.status)
        do {
            var response = try await parts.pages.answer(page, context)
            response.headers.append(contentsOf: refusal.headers)
            return response
        } catch {
            context.logger.warning("no error page: \(parts.ports.trouble(error).message)")
            return nil
        }
    }
}

/// The table of keys: a page of its own, from which the dialog behind `?` takes it.
struct ScanKeysPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/keys", for: .guests, page)] }

    /// Names of keys, and the text that says what they do. Names that are texts themselves begin with "keys.".
    private static let table: [(names: [String], does: String)] = [
        (["s"], "scan"), (["h"], "home"), (["l"], "library"), (["i"], "intake"), ([","], "settings"), (["/"], "search"),
        (["keys.enter"], "save"), (["keys.shift+keys.enter"], "saveAll"), (["e"], "edit"), (["u"], "undo"),
        (["c"], "copy"), (["x"], "select"), (["keys.shift+x"], "selectAll"), (["keys.spaceKey"], "space"),
        (["r"], "again"),
        (["keys.delete"], "dismiss"), (["k"], "keypad"), (["a"], "add"), (["n"], "note"), (["p"], "page"),
        (["t"], "session"), (["1 – 5"], "stars"), (["↑", "↓", "←", "→"], "move"), (["Esc"], "back"), (["?"], "help"),
    ]

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let keys = Self.table.map { row -> View in
            let names = row.names.map { name in
                name.split(separator: "+").map { $0.hasPrefix("keys.") ? texts(String($0)) : String($0) }
                    .joined(separator: " + ")
            }
            return ["names": names, "does": texts("keys.\(row.does)")]
        }
        return try await parts.pages.answer(
            Pages.Page(template: "keys", title: texts("keys.title"), view: ["keys": keys]), context)
    }
}
