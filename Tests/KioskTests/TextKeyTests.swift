import Bookplate
import Foundation
import Testing

@testable import Kiosk

/// The sources as they stand: what asks for texts, and the texts.
private enum Sources {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    /// By path below Sources. Comments are no code.
    static func all(_ folder: String, _ ending: String) throws -> [String: String] {
        let base = root.appendingPathComponent(folder).path
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: base) where path.hasSuffix(ending) {
            let text = try String(contentsOfFile: base + "/" + path, encoding: .utf8)
            files[path] = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
                .joined(separator: "\n")
        }
        return files
    }

    /// Every key with its forms, by "section.key".
    static func texts() throws -> [String: [String: String]] {
        var texts: [String: [String: String]] = [:]
        for (file, json) in try all("Kiosk/Web/texts", ".json") {
            let table = try JSONDecoder().decode([String: [String: String]].self, from: Data(json.utf8))
            for (key, forms) in table { texts["\(file.dropLast(5)).\(key)"] = forms }
        }
        return texts
    }
}

/// A text that is asked for by a name put together: "common.role_\(role.rawValue)".
private struct Pattern: Hashable {
    let beginning: String
    let ending: String

    /// What is put in for this key; `nil` where it is none of these.
    func part(of key: String) -> String? {
        guard key.hasPrefix(beginning), key.hasSuffix(ending), key.count > beginning.count + ending.count else {
            return nil
        }
        return String(key.dropFirst(beginning.count).dropLast(ending.count))
    }
}

@Suite struct `The texts of the pages` {
    private let texts: [String: [String: String]]
    private let sections: String
    private let kiosk: String
    private let all: String
    private let templates: String
    private let scripts: [String]

    init() throws {
        texts = try Sources.texts()
        sections = Set(texts.keys.map { $0.prefix { $0 != "." } }).sorted().joined(separator: "|")
        kiosk = try Sources.all("Kiosk", ".swift").values.joined(separator: "\n")
        all = try Sources.all("", ".swift").values.joined(separator: "\n")
        templates = try Sources.all("Kiosk/Web/templates", ".mustache").values.joined(separator: "\n")
        scripts = Array(try Sources.all("Kiosk/Web/assets", ".js").values)
    }

    private func matches(_ pattern: String, in text: String) throws -> [[String]] {
        let regex = try NSRegularExpression(pattern: pattern)
        return regex.matches(in: text, range: NSRange(text.startIndex..., in: text)).map { match in
            (0..<match.numberOfRanges).map { Range(match.range(at: $0), in: text).map { String(text[$0]) } ?? "" }
        }
    }

    /// Asked for by their whole names, in templates and in code.
    private func named() throws -> Set<String> {
        let inTemplates = try matches(#"\bt\.((?:\#(sections))\.[A-Za-z_.]+)"#, in: templates).map { $0[1] }
        let inCode = try matches(#"["+]((?:\#(sections))\.[A-Za-z_.]+)(?=["+])"#, in: kiosk).map { $0[1] }
        // A script with texts of its own page asks for them by a function of the same name.
        let shared = scripts.filter { !$0.contains("function text(") || $0.contains("export function text(") }
        let inScripts = try matches(#"\btext\("(\w+)"[,)]"#, in: shared.joined(separator: "\n")).map {
            "script." + $0[1]
        }
        return Set(inTemplates + inCode + inScripts)
    }

    private func patterns() throws -> Set<Pattern> {
        Set(
            try matches(#""((?:\#(sections))\.[^"\\\n]*)\\\([^\n]*?\)([\w.]*)""#, in: kiosk).map {
                Pattern(beginning: $0[1], ending: $0[2])
            })
    }

    @Test func `are in every language, each with words in it`() {
        for (key, forms) in texts {
            #expect(Set(forms.keys) == Set(Language.allCases.map(\.rawValue)), "\(key)")
            for (language, text) in forms where language != "en" || !key.hasPrefix("refusals.") {
                #expect(!text.isEmpty, "\(key) has no \(language)")
            }
        }
    }

    @Test func `are there wherever one is asked for`() throws {
        for key in try named() { #expect(texts[key] != nil, "there is no text \(key)") }
        for what in try matches(#"as: "([^"\\]+)""#, in: kiosk).map({ $0[1] })
        where !["name", "start", "end", "status", "text"].contains(what) && !what.hasSuffix("link") {
            #expect(texts["refusals.what \(what)"] != nil, "a refusal has no word for \"\(what)\"")
        }
    }

    @Test func `are all asked for`() throws {
        let (named, patterns) = (try named(), try patterns())
        // What can be put in for a part of a name: the words and the cases that there are.
        let cases = Set(
            try matches(#"\bcase ([^\n:=]+)"#, in: all).flatMap { try matches(#"\w+"#, in: $0[1]) }.map { $0[0] })
        func isWord(_ part: String) -> Bool {
            cases.contains(part) || all.contains("\"\(part)\"") || Int(part) != nil
        }
        for key in texts.keys where !key.hasPrefix("languages.") && !named.contains(key) {
            if key.hasPrefix("script.") {
                let name = key.dropFirst("script.".count)
                let isAsked = scripts.contains { $0.contains("\"\(name)\"") } || name.hasPrefix("hint_")
                #expect(isAsked, "no script asks for \(key)")
                continue
            }
            let parts = patterns.compactMap { $0.part(of: key) }
            // "code inTrash", "what page count", "camera busy": the kind, and the domain's word.
            let isAsked = parts.contains { part in
                isWord(part)
                    || ["code ", "what ", "camera "].contains { kind in
                        part.hasPrefix(kind) && isWord(String(part.dropFirst(kind.count)))
                    }
            }
            #expect(isAsked, "nothing asks for \(key)")
        }
    }

    @Test func `and what else a page has ready, are all shown by a template`() throws {
        let shown = Set(try matches(#"\{\{[#^]?(\w+)"#, in: templates).map { $0[1] })
        let keys = try matches(#"\b\w*[vV]iew\["(\w+)"\]"#, in: kiosk).map { $0[1] }
        #expect(keys.count > 60)
        for key in keys { #expect(shown.contains(key), "no template shows \(key)") }
    }

    @Test func `have the same places to fill in, and the same number of forms, in every language`() throws {
        for (key, forms) in texts {
            let shapes = try forms.filter { !$0.value.isEmpty }.values.map { text in
                Set(try matches(#"\{(\w+)\}"#, in: text).map { $0[1] })
            }
            #expect(Set(shapes).count < 2, "\(key)")
            let counts = Set(forms.values.filter { !$0.isEmpty }.map { $0.split(separator: "|").count })
            #expect(counts.count == 1 && (counts.max() ?? 0) < 3, "\(key)")
        }
    }

    @Test func `have a form for one and one for several wherever a count stands`() throws {
        let calls =
            try matches(#"(?:texts|self)\(\s*("[^"\n]+"),\s*count:"#, in: kiosk)
            + matches(#"several\(([^,\n]+),"#, in: kiosk)
        let asked = try calls.flatMap { try matches(#""([\w.]+)(\\\()?"#, in: $0[1]) }
        #expect(asked.count > 40)
        let (counted, beginnings) = (
            asked.filter { $0[2].isEmpty }.map { $0[1] }, asked.filter { !$0[2].isEmpty }.map { $0[1] }
        )
        for key in counted { #expect(texts[key]?["en"]?.contains("|") == true, "\(key) has one form") }
        // Scripts split the forms themselves.
        let inScripts = Set(try matches(#"data-\w+="\{\{t\.([\w.]+)\}\}"#, in: templates).map { $0[1] })
        for (key, forms) in texts where forms["en"]?.contains("|") == true {
            let isRefusal = key.hasPrefix("refusals.")
            let isCounted = counted.contains(key) || beginnings.contains { key.hasPrefix($0) }
            #expect(isRefusal || inScripts.contains(key) || isCounted, "\(key) is not counted")
        }
    }

    /// The same English in two meanings.
    private static let ambiguous: Set = [
        // Books, and time. The key of the keyboard, and the act.
        "all", "delete",
        // Until when, and after how long.
        "in {n} day|in {n} days",
        // Agrees with what is unknown, or not there.
        "none", "unknown",
        // A month and a year: German wants an article for one of them.
        "in {day}",
        // To open something; a reading that goes on.
        "open",
        // A book's state, and what one does.
        "reading",
        // A part in a book, and a field that is not the same.
        "author",
    ]

    @Test func `have one word for one thing, in German and in French as in English`() {
        var found: [String: [String: String]] = [:]
        for (key, forms) in texts.sorted(by: { $0.key < $1.key }) where !key.hasPrefix("refusals.what ") {
            func plain(_ text: String?) -> String {
                (text ?? "").lowercased().trimmingCharacters(in: CharacterSet(charactersIn: " .…?"))
            }
            let english = plain(forms["en"])
            guard !english.isEmpty, !Self.ambiguous.contains(english) else { continue }
            let others = ["de", "fr"].map { plain(forms[$0]) }.joined(separator: " / ")
            found[english, default: [:]][others] = key
        }
        for (english, others) in found {
            #expect(others.count == 1, "\"\(english)\" is \(others.map { "\($0.key) (\($0.value))" }.sorted())")
        }
    }
}
