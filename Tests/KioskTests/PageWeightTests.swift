import Bookplate
import Foundation
import Testing

@testable import Kiosk

/// The bytes that a browser receives for a page: HTML, scripts, styles and icons in gzip, without covers and photos.
@Suite(.timeLimit(.minutes(5))) struct `A page, as it is sent,` {
    private static let most = 60_000

    @Test func `weighs at most 60 kB with all that it loads, with a full list`() async throws {
        try await withWebKiosk { kiosk in
            let book = try await fill(kiosk)
            for page in [
                "/scan", "/scan?all=1", "/home", "/library", "/library?view=grid", "/library?q=the",
                "/library/filters",
                "/books/\(book)", "/books/\(book)/edit", "/add", "/intake", "/stats",
                "/stats/timeline",
                "/settings", "/settings/tags", "/settings/shelves", "/settings/authors", "/changes", "/keys",
                "/nowhere",
            ] {
                for language in Language.allCases {
                    let parts = try await weigh(page, in: language, kiosk)
                    let weight = parts.values.reduce(0, +)
                    let largest = parts.sorted { $0.value > $1.value }.prefix(8)
                    #expect(weight <= Self.most, "\(page) in \(language) weighs \(weight): \(largest)")
                }
            }
            for (page, row, count) in [
                ("/scan?all=1", "<li class=\"look-", 200), ("/library", "<li class=\"hit\"", 50),
            ] {
                let html = try await kiosk.ask("GET", page).body
                #expect(html.components(separatedBy: row).count == count + 1, "\(page)")
            }
        }
    }

    @Test func `names all scripts that its own ones import, so that they load at once`() async throws {
        let imports = try WebFolder.bundled.get().imports
        try await withWebKiosk { kiosk in
            for page in ["/scan", "/home", "/library", "/add", "/intake", "/stats", "/settings", "/settings/tags"] {
                let html = try await kiosk.ask("GET", page).body
                let scripts = html.matches(of: /<script type="module" src="\/assets\/([^"]+)">/).map { String($0.1) }
                let named = html.matches(of: /<link rel="modulepreload" href="\/assets\/([^"]+)">/).map { String($0.1) }
                #expect(scripts.contains("app.js") && named.contains("requests.js"))
                #expect(named == imports.modules(of: scripts), "\(page)")
            }
        }
    }

    /// The bytes of each part.
    private func weigh(_ page: String, in language: Language, _ kiosk: WebKiosk) async throws -> [String: Int] {
        let headers = [("Accept", "text/html"), ("Accept-Language", language.rawValue)]
        let web = try WebFolder.bundled.get()
        var (parts, open): ([String: Int], [String]) = ([:], [])
        let sent = try await kiosk.ask("GET", page, headers + [("Accept-Encoding", "gzip")])
        #expect(sent["content-encoding"] == "gzip" && sent["vary"] == "Accept-Encoding", "\(page)")
        parts[page] = Int(try #require(sent["content-length"]))
        let html = try await kiosk.ask("GET", page, headers).body
        // Only Apple's systems load this icon, and only when a person installs the pages.
        let icon = "touch-icon.png"
        open = html.matches(of: /(?:src|href)="\/assets\/([^"]+)"/).map { String($0.1) }.filter { $0 != icon }
        while let name = open.popLast() {
            guard parts[name] == nil else { continue }
            let asset = try #require(web.assets[name], "\(page) loads \(name)")
            parts[name] = (asset.compressed ?? asset.bytes).count
            let text = String(decoding: asset.bytes, as: UTF8.self)
            if name.hasSuffix(".css") {
                open += text.matches(of: /url\("(?:\/assets\/)?([^"]+)"\)/).map { String($0.1) }
            }
            open += web.imports.imports[name] ?? []
        }
        return parts
    }

    // MARK: A full household

    private static let nouns = """
        river winter garden letter stone harbour mirror orchard lantern meadow station fever shadow island summer voyage \
        kingdom sparrow window thunder archive cathedral desert engine forest glass hunter ivory journey kitchen
        """.split(separator: " ").map { $0.capitalized }
    private static let names = """
        Austen Baldwin Calvino Dürrenmatt Eliot Frisch Gaskell Hesse Ishiguro Jansson Kästner Lessing Morrison Nabokov \
        Ondaatje Pessoa Queneau Rilke Sebald Tokarczuk Undset Vargas Woolf Yourcenar Zweig
        """.split(separator: " ")

    private func title(_ number: Int) -> String {
        let (first, second) = (Self.nouns[number % 31 % 30], Self.nouns[number * 7 % 30])
        return number.isMultiple(of: 3) ? "The \(first) of the \(second)" : "\(first) and \(second) \(number)"
    }

    private func author(_ number: Int) -> String {
        "\(["Ada", "Bruno", "Clara", "David", "Elena", "Franz"][number % 6]) \(Self.names[number * 11 % 25])"
    }

    /// A library of 60 books, a batch of 200, and a book with a long history, whose id is returned.
    private func fill(_ kiosk: WebKiosk) async throws -> String {
        func send(_ path: String, _ body: [String: Any], _ method: String = "POST") async throws -> [String: Any] {
            let body = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            let answer = try await kiosk.ask(method, path, body: body)
            #expect([200, 201].contains(answer.status), "\(method) \(path): \(answer.body.prefix(300))")
            return try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any] ?? [:]
        }
        var book = ""
        for number in 1...60 {
            let answer = try await send(
                "/api/books",
                [
                    "title": title(number), "authors": [["name": author(number), "role": "author"]],
                    "tags": ["tag \(number % 9)", "tag \(number % 7 + 20)"], "shelf": "Shelf \(number % 12)",
                    "rating": Double(number % 20 + 1) / 4, "pageCount": 300 + number * 7,
                    "status": ["toRead", "reading", "read", "onHold", "dnf"][number % 5],
                    "description": String(repeating: "\(title(number)) by \(author(number)). ", count: 20),
                ])
            if number == 1 { book = try #require(answer["id"] as? String) }
        }
        for number in 1...25 {
            let start = kiosk.clock.now.addingTimeInterval(Double(number) * -90_000)
            let page = 200 - number * 8
            let session: [String: Any] = [
                "start": start.rfc3339, "minutes": 20 + number, "startPage": page, "endPage": page + 7,
            ]
            _ = try await send("/api/books/\(book)/sessions/past", session)
            let text = (0..<12).map { title(number * 13 + $0) }.joined(separator: ", ")
            _ = try await send("/api/books/\(book)/notes", ["text": text, "kind": "note"])
            _ = try await send("/api/books/\(book)/quotes", ["text": text, "page": number])
        }
        var rows: [String] = []
        for number in 1...200 {
            let body = "978\(100_000_000 + number * 3_769_417 % 900_000_000)"
            let sum = body.enumerated().reduce(0) { $0 + $1.element.wholeNumberValue! * ($1.offset % 2 == 0 ? 1 : 3) }
            let capture = ["text": "\(body)\((10 - sum % 10) % 10)", "origin": "typed"]
            let row = try await send("/api/station/captures", capture)["row"] as? [String: Any]
            rows.append(try #require(row?["id"] as? String))
        }
        for (number, row) in rows.enumerated() {
            let edit: [String: Any] = ["title": title(number), "authors": [author(number)]]
            _ = try await send("/api/station/rows/\(row)", edit, "PATCH")
        }
        return book
    }
}

@Suite struct `The scripts of the pages` {
    private static let imports = WebFolder.bundled.map(\.imports.imports)

    @Test func `import nothing that is not there`() throws {
        let imports = try Self.imports.get()
        #expect(imports.count > 30 && imports["app.js"]?.contains("keys.js") == true)
        for (script, modules) in imports {
            for module in modules { #expect(imports[module] != nil, "\(script) imports \(module)") }
        }
    }

    @Test func `import each other in no circle`() throws {
        var left = try Self.imports.get()
        // Repeatedly remove a module whose imports have all been removed.
        while let done = left.first(where: { _, modules in modules.allSatisfy { left[$0] == nil } }) {
            left[done.key] = nil
        }
        #expect(left.isEmpty, "a circle among \(left.keys.sorted())")
    }

    @Test func `import everything at the beginning, one line each`() throws {
        for (name, asset) in try WebFolder.bundled.get().assets where name.hasSuffix(".js") {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            let lines = text.split(separator: "\n").count { $0.hasPrefix("import ") }
            #expect(lines == (try Self.imports.get()[name]?.count), "\(name)")
            // Most screens never need the keyboard of the pages.
            let later = text.matches(of: /import\("\.\/([^"]+)"\)/).map { String($0.1) }
            #expect(later == (name == "touch-typing.js" ? ["keyboard.js"] : []), "\(name) loads a script later")
        }
    }

    @Test func `and styles name only files that are there`() throws {
        let assets = try WebFolder.bundled.get().assets
        for (name, asset) in assets where name.hasSuffix(".css") {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            for file in text.matches(of: /url\("(?:\/assets\/)?([^"]+)"\)/).map({ String($0.1) }) {
                #expect(assets[file] != nil, "\(name) loads \(file)")
            }
        }
    }
}
