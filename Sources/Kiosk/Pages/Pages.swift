import Bookplate
import FoundationEssentials
import Hummingbird
import Mustache

/// The values that a template shows, by name.
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

    /// Renders the page as HTML. Its script fetches it again to replace the live regions.
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
        // A page's script is for its acts, of which guests have none.
        let hasScript = context.visitor != .guest && web.assets[look + ".js"] != nil
        view["hasScript"] = hasScript
        let scripts = (context.visitor == .stranger ? [] : ["app.js"]) + (hasScript ? [look + ".js"] : [])
        view["modules"] = web.imports.modules(of: scripts)
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
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .vary: "Accept-Encoding",
        ]
        var bytes = ByteBuffer(string: html)
        if context.acceptsGzip, let compressed = Gzip.compressed(Array(html.utf8), .fast) {
            headers[.contentEncoding] = "gzip"
            bytes = ByteBuffer(bytes: compressed)
        }
        return Response(status: page.status, headers: headers, body: ResponseBody(byteBuffer: bytes))
    }
}
