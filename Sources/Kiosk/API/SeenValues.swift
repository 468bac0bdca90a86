import Bookplate

/// What a page showed where a person began to write: member `"was"` beside what is sent. Who writes over what another has said meanwhile
/// is told so first, because nobody means to replace what nobody has seen. As If-Match (RFC 9110, section 13.1.1), for one value.
struct SeenValues: Sendable {
    /// The name of the member.
    static let name = "was"

    private let seen: [String: JSONValue]
    private let sent: SentObject

    /// Nothing was seen where there is no such member: who does not say what was there means whatever is there.
    init(_ sent: SentObject) throws {
        self.sent = sent
        seen = try sent.object(Self.name)?.members ?? [:]
    }

    /// - Parameter now: what there is, by the member's name; several where pages show it in several ways.
    /// - Throws: ``RequestRefusal`` (409, "changed.NAME") for a value that is neither what was seen nor what is said now.
    func check(_ now: (String) -> [JSONValue]) throws {
        for (name, value) in seen.sorted(by: { $0.key < $1.key }) where sent.members[name] != nil {
            let current = now(name).map(\.comparable)
            let known = [value, sent.members[name]].compactMap { $0?.comparable }
            guard let shown = current.first, !current.contains(where: known.contains) else { continue }
            throw RequestRefusal(
                status: .conflict, code: "changed.\(name)",
                message:
                    "Somebody else has changed this meanwhile. It is now: \(shown.told). Save again to replace it.",
                values: ["is": shown.told], key: "changed", now: now(name).first)
        }
    }

    /// What names become of which both this and another person have added and taken away: each has its way.
    ///
    /// - Parameters:
    ///   - now: what there is.
    ///   - said: what there is to be.
    func merged(_ name: String, into now: [String], said: [String]) -> [String] {
        guard case .array(let values) = seen[name] else { return said }
        let before = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        guard before != now else { return said }
        return now.filter { !before.contains($0) || said.contains($0) }
            + said.filter { !before.contains($0) && !now.contains($0) }
    }
}

extension Book {
    /// A member of its JSON as pages offer it to be changed.
    func shown(_ name: String) -> [JSONValue] {
        guard BookPatch.names.contains(name), case .object(let members) = json else { return [] }
        let alias = ["isbnText": "hyphenated", "publishedDate": "publishedDateText"][name]
        return [name, alias].compactMap { name in members.first { $0.key == name }?.value }
    }
}

extension JSONValue {
    /// Without what a form adds or leaves out: lines end in one way, nothing is around a text, and an empty one is none.
    fileprivate var comparable: JSONValue {
        switch self {
        case .string(let text):
            let cleaned = text.cleaned
            return cleaned.isEmpty ? .null : .string(cleaned)
        case .array(let values): return .array(values.map(\.comparable))
        case .object(let members):
            return .object(members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value.comparable) })
        default: return self
        }
    }

    /// For a person, shortened.
    fileprivate var told: String {
        let words =
            switch self {
            case .null: "–"
            case .string(let text): text
            case .array(let values): values.map(\.told).joined(separator: ", ")
            case .object(let members): members.first { $0.key == "name" }?.value.told ?? text
            default: text
            }
        let line = words.cleanedLine
        return line.count > 80 ? line.prefix(79) + "…" : line
    }
}
