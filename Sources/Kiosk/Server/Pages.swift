import Bookplate
import FoundationEssentials
import Hummingbird
import Mustache

/// The values of a template, by name.
typealias View = [String: any Sendable]

/// Renders pages by placing a template from Web/templates into the layout.
struct Pages: Sendable {
    let web: WebFolder
    let ports: KioskPorts
    let version: String

    /// A page to render.
    struct Page: Sendable {
        /// The name of the template. /assets/NAME.css and /assets/NAME.js are used if they exist.
        var template: String
        /// The template whose style and script the page uses instead of its own; `nil` to use its own.
        var style: String?
        var title: String
        /// The tab that is marked as the current one; `nil` for none.
        var tab: Tab?
        /// The page above this one, to which the way back leads unless the browser knows where the person came from;
        /// `nil` for the page of ``tab``.
        var parent: Parent?
        var view: View = [:]
        /// The scripts that parts of the template load besides the page's own, without ".js". Guests get none.
        var scripts: [String] = []
        var status: HTTPResponse.Status = .ok
    }

    /// A page to which a way back leads.
    struct Parent: Sendable {
        var address: String
        var title: String

        init(address: String, title: String) { (self.address, self.title) = (address, title) }

        init(of book: Book, _ texts: Texts) {
            self.init(address: "/books/\(book.id.rawValue)", title: texts.shownTitle(of: book).cleanedLine)
        }

        fileprivate var view: View { ["address": address, "title": title] }
    }

    enum Tab: String, Sendable, CaseIterable {
        case scan, home, library, intake, stats, settings

        fileprivate static func shown(to caller: Caller) -> [Tab] {
            switch caller {
            case .household: allCases
            case .guest: [.home, .library, .stats]
            case .station, .stranger: []
            }
        }
    }

    /// Returns the way back in the head of a page; `nil` on the pages of tabs, and where the caller may not see the
    /// page above.
    private func back(from page: Page, _ context: KioskContext, _ texts: Texts) -> View? {
        if let parent = page.parent { return parent.view }
        let tab = page.tab ?? .home
        guard Tab.shown(to: context.caller).contains(tab), context.endpointPath != "/\(tab.rawValue)" else {
            return nil
        }
        return Parent(address: "/\(tab.rawValue)", title: texts("layout.\(tab.rawValue)")).view
    }

    /// Returns the clock of the running session, which is in the head of every page; `nil` if none is running. Guests
    /// see no sessions.
    private func headClock(_ context: KioskContext, _ texts: Texts) async throws -> View? {
        guard context.caller == .household, let running = try await context.library.runningSession() else { return nil }
        let now = ports.now()
        return [
            "copy": running.copy.rawValue, "start": running.session.start.rfc3339, "now": now.rfc3339,
            "elapsed": texts.elapsed(running.session.seconds(until: now)),
            "label": texts("book.otherSession", ["title": LibraryHit.short(running.displayTitle)]),
        ]
    }

    /// Returns the reader in the head of every page, with the readers who can be chosen; `nil` if there is one reader,
    /// and without a PIN.
    private func headReader(_ context: KioskContext, _ texts: Texts) async throws -> View? {
        guard context.caller == .household, let reader = context.reader, context.readers.count > 1 || reader.hasPIN
        else {
            return nil
        }
        let isUnlocked = try await context.library.isUnlocked(reader.id, holder: context.holder, at: ports.now())
        var view: View = [
            "readerID": reader.id.rawValue, "readerColour": String(reader.colour + 1),
            "readerInitial": reader.initial, "isLocked": !isUnlocked,
            "readerLabel": texts(
                isUnlocked ? "readers.chosen" : "readers.chosenLocked", ["name": texts.name(of: reader)]),
            "choices": context.readers.map { choice -> View in
                [
                    "id": choice.id.rawValue, "name": texts.name(of: choice), "initial": choice.initial,
                    "colour": String(choice.colour + 1), "hasPIN": choice.hasPIN, "isChosen": choice.id == reader.id,
                ]
            },
        ]
        if reader.hasPIN, isUnlocked { view["mayLock"] = true }
        return view
    }

    /// Returns the colours of a browser's own bars: the paper's (base.css).
    private static func themes(_ appearance: BrowserChoice.Appearance?) -> [View] {
        let (light, dark) = ("#faf7f2", "#14120f")
        switch appearance {
        case .light: return [["colour": light]]
        case .dark: return [["colour": dark]]
        case nil: return [["colour": light, "scheme": "light"], ["colour": dark, "scheme": "dark"]]
        }
    }

    func texts(_ context: KioskContext) -> Texts { web.texts[context.language]! }

    /// Renders the page as HTML. To update live parts, the page's script loads the page again.
    func render(_ page: Page, _ context: KioskContext) async throws -> Response {
        let texts = texts(context)
        var view = page.view
        view["t"] = texts
        view["language"] = context.language.rawValue
        view["appearance"] = context.appearance?.rawValue
        view["themes"] = Self.themes(context.appearance)
        view["title"] = page.title
        view["back"] = back(from: page, context, texts)
        view["version"] = version
        view["change"] = String(context.change)
        view["isGuest"] = context.isGuest
        view["maySignIn"] = context.caller == .guest
        view["isStranger"] = context.caller == .stranger
        let style = page.style ?? page.template
        view["template"] = style
        view["hasStyle"] = web.assets[style + ".css"] != nil
        // Guests do not get the page's own script, because it is for changes and guests cannot change anything.
        let hasScript = context.caller != .guest && web.assets[style + ".js"] != nil
        view["hasScript"] = hasScript
        let own = hasScript ? [style] + page.scripts : []
        let scripts = ((context.caller == .stranger ? [] : ["app"]) + own).map { $0 + ".js" }
        view["modules"] = web.imports.modules(of: scripts)
        // Other devices than the station itself keep a page for the time in which the station is away.
        let keepsShell = context.caller == .household && !context.isAtStation
        if keepsShell { view["shell"] = "\(web.version)-\(context.language.rawValue)" }
        let waiting = context.isGuest ? 0 : try await context.library.count(in: [.waiting])
        view["reader"] = try await headReader(context, texts)
        view["headClock"] = try await headClock(context, texts)
        view["tabs"] = Tab.shown(to: context.caller).map { tab -> View in
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

/// Escapes texts for HTML byte by byte. Mustache's own escaping looks up each character in a table, which is too slow
/// for a list of 50 books that is rendered for every letter typed. Templates select this escaping with `{{%
/// CONTENT_TYPE:PAGE}}`.
struct HTMLEscaping: MustacheContentType {
    static func register() { MustacheContentTypes.register(HTMLEscaping(), named: "PAGE") }

    func escapeText(_ text: String) -> String {
        // Most texts contain nothing to escape.
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

/// The page that a browser gets instead of a page that cannot be shown.
struct ErrorPage: Sendable {
    let parts: KioskParts

    /// Renders the page for a refused request.
    ///
    /// - Returns: `nil` if even this page cannot be rendered because the library does not respond.
    func render(_ refusal: RequestRefusal, _ context: KioskContext) async -> Response? {
        let texts = parts.pages.texts(context)
        let text: (title: String, what: String) =
            switch refusal.status {
            case .notFound: (texts("access.notThere"), texts("access.notThereMore"))
            case .serviceUnavailable: (texts("access.unavailable"), texts("access.unavailableMore"))
            case .internalServerError: (texts("access.fault"), texts("access.faultMore"))
            default: (texts("access.refused"), refusal.message)
            }
        let page = Pages.Page(
            template: "error", title: text.title,
            view: ["what": text.what, "requestID": texts("access.id", ["id": context.id])], status: refusal.status)
        do {
            var response = try await parts.pages.render(page, context)
            response.headers.append(contentsOf: refusal.headers)
            return response
        } catch {
            context.logger.warning("cannot render the error page: \(error)")
            return nil
        }
    }
}

/// The page with the table of keyboard shortcuts. The dialog that the key `?` opens loads the table from this page.
struct KeysPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/keys", for: .guests, page)] }

    /// The rows of the table. Each has the names of keys on the keyboard, and the name of the text in keys.json that
    /// explains what these keys do. A name such as "keys.enter" stands for a text too, because it is translated.
    private static let table: [(names: [String], action: String)] = [
        (["s"], "scan"), (["h"], "home"), (["l"], "library"), (["i"], "intake"), ([","], "settings"), (["/"], "search"),
        (["keys.enter"], "save"), (["keys.shift+keys.enter"], "saveAll"), (["e"], "edit"), (["u"], "undo"),
        (["c"], "copy"), (["x"], "select"), (["keys.shift+x"], "selectAll"),
        (["keys.shift+↑", "↓"], "selectRange"), (["keys.spaceKey"], "space"), (["r"], "again"),
        (["keys.delete"], "skip"), (["k"], "keypad"), (["a"], "add"), (["n"], "note"), (["p"], "page"),
        (["t"], "session"), (["1 – 5"], "stars"), (["↑", "↓", "←", "→"], "move"), (["Esc"], "back"), (["?"], "help"),
    ]

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let keys = Self.table.map { row -> View in
            let names = row.names.map { name in
                name.split(separator: "+").map { $0.hasPrefix("keys.") ? texts(String($0)) : String($0) }
                    .joined(separator: " + ")
            }
            return ["names": names, "does": texts("keys.\(row.action)")]
        }
        return try await parts.pages.render(
            Pages.Page(template: "keys", title: texts("keys.title"), view: ["keys": keys]), context)
    }
}
