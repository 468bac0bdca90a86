import Bookplate
import Foundation
import Testing

@testable import Kiosk

/// The source files that use texts, and the texts.
private enum Sources {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    /// Returns the files of a folder by path, without comments.
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

    /// Returns the translations of each text by "section.key".
    static func texts() throws -> [String: [String: String]] {
        var texts: [String: [String: String]] = [:]
        for (file, json) in try all("Kiosk/Web/texts", ".json") {
            let table = try JSONDecoder().decode([String: [String: String]].self, from: Data(json.utf8))
            for (key, forms) in table { texts["\(file.dropLast(5)).\(key)"] = forms }
        }
        return texts
    }
}

/// A key with an interpolation: "common.role_\(role.rawValue)".
private struct Pattern: Hashable {
    let beginning: String
    let ending: String

    /// Returns the interpolated part of a key; `nil` if it does not match.
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

    /// Returns the keys that templates and code use without interpolation.
    private func named() throws -> Set<String> {
        let inTemplates = try matches(#"\bt\.((?:\#(sections))\.[A-Za-z_.]+)"#, in: templates).map { $0[1] }
        let inCode = try matches(#"["+]((?:\#(sections))\.[A-Za-z_.]+)(?=["+])"#, in: kiosk).map { $0[1] }
        // A script with texts of its own page has its own function of this name.
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

    @Test func `exist in every language, and none is empty`() {
        for (key, forms) in texts {
            #expect(Set(forms.keys) == Set(Language.allCases.map(\.rawValue)), "\(key)")
            for (language, text) in forms where language != "en" || !key.hasPrefix("refusals.") {
                #expect(!text.isEmpty, "\(key) has no \(language)")
            }
        }
    }

    @Test func `exist wherever code or a template uses one`() throws {
        for key in try named() { #expect(texts[key] != nil, "there is no text \(key)") }
        for what in try matches(#"as: "([^"\\]+)""#, in: kiosk).map({ $0[1] })
        where !["name", "start", "end", "status", "text"].contains(what) && !what.hasSuffix("link") {
            #expect(texts["refusals.what \(what)"] != nil, "a refusal has no word for \"\(what)\"")
        }
    }

    @Test func `are all used`() throws {
        let (named, patterns) = (try named(), try patterns())
        // The interpolated parts are cases of enumerations and literals.
        let cases = Set(
            try matches(#"\bcase ([^\n:=]+)"#, in: all).flatMap { try matches(#"\w+"#, in: $0[1]) }.map { $0[0] })
        // A search of all sources takes long, and the same parts occur in many keys.
        var found: [String: Bool] = [:]
        func isWord(_ part: String) -> Bool {
            if let isFound = found[part] { return isFound }
            let isFound = cases.contains(part) || Int(part) != nil || all.contains("\"\(part)\"")
            found[part] = isFound
            return isFound
        }
        // The names of languages, and the forms of changes and reasons, are found by their texts.
        let sought = ["languages.", "changes.form_", "changes.act_", "reasons."]
        for key in texts.keys where !sought.contains(where: key.hasPrefix) && !named.contains(key) {
            if key.hasPrefix("script.") {
                let name = key.dropFirst("script.".count)
                let isAsked = scripts.contains { $0.contains("\"\(name)\"") } || name.hasPrefix("hint_")
                #expect(isAsked, "no script asks for \(key)")
                continue
            }
            let parts = patterns.compactMap { $0.part(of: key) }
            // "code inTrash", "what page count", "camera busy": the kind, and the name of the domain.
            let isAsked = parts.contains { part in
                isWord(part)
                    || ["code ", "what ", "camera "].contains { kind in
                        part.hasPrefix(kind) && isWord(String(part.dropFirst(kind.count)))
                    }
            }
            #expect(isAsked, "nothing asks for \(key)")
        }
    }

    @Test func `and all other values of a page are shown by a template`() throws {
        let shown = Set(try matches(#"\{\{[#^]?(\w+)"#, in: templates).map { $0[1] })
        let keys = try matches(#"\b\w*[vV]iew\["(\w+)"\]"#, in: kiosk).map { $0[1] }
        #expect(keys.count > 60)
        for key in keys { #expect(shown.contains(key), "no template shows \(key)") }
    }

    @Test func `have the same placeholders and the same number of forms in every language`() throws {
        for (key, forms) in texts {
            let shapes = try forms.filter { !$0.value.isEmpty }.values.map { text in
                Set(try matches(#"\{(\w+)\}"#, in: text).map { $0[1] })
            }
            #expect(Set(shapes).count < 2, "\(key)")
            let counts = Set(forms.values.filter { !$0.isEmpty }.map { $0.split(separator: "|").count })
            #expect(counts.count == 1 && (counts.max() ?? 0) < 3, "\(key)")
        }
    }

    @Test func `have a singular and a plural wherever a count is filled in`() throws {
        let calls =
            try matches(#"(?:texts|self)\(\s*("[^"\n]+"),\s*(?:count|n):"#, in: kiosk)
            + matches(#"self\(([^,\n]+),\s*n:"#, in: kiosk)
        let asked = try calls.flatMap { try matches(#""([\w.]+)(\\\()?"#, in: $0[1]) }
        #expect(asked.count > 40)
        let (counted, beginnings) = (
            asked.filter { $0[2].isEmpty }.map { $0[1] }, asked.filter { !$0[2].isEmpty }.map { $0[1] }
        )
        for key in counted { #expect(texts[key]?["en"]?.contains("|") == true, "\(key) has one form") }
        // For these texts, scripts choose between singular and plural.
        let inScripts = Set(try matches(#"data-\w+="\{\{t\.([\w.]+)\}\}"#, in: templates).map { $0[1] })
        for (key, forms) in texts where forms["en"]?.contains("|") == true {
            let isRefusal = key.hasPrefix("refusals.")
            let isCounted = counted.contains(key) || beginnings.contains { key.hasPrefix($0) }
            #expect(isRefusal || inScripts.contains(key) || isCounted, "\(key) is not counted")
        }
    }

    /// English texts with two meanings.
    private static let ambiguous: Set = [
        // All books, and all time. The Delete key, and the action.
        "all", "delete",
        // A deadline, and a duration.
        "in {n} day|in {n} days",
        // These words have the gender of the missing thing.
        "none", "unknown",
        // A month, and a year: German has an article for one of them.
        "in {day}",
        // The action, and the state of a reading.
        "open",
        // The status, and the activity.
        "reading",
        // The role, and the field.
        "author",
        // One captured book, and the books of an import.
        "new",
    ]

    @Test func `use one term for one thing, in German and French as in English`() {
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
