import Bookplate
import Foundation
import Terminal

/// The fields of a list's rows, by the names that `--format` and `--columns` take: the keys of the row's JSON, with a
/// dot before the members of nested objects, such as `authors.role`.
struct RowFields {
    /// A row that has every key. Its values do not count, except that an empty object may have members of any name.
    private let sample: JSONValue
    /// Other names of fields, such as `pages` for `pageCount`.
    private let aliases: [String: String]
    /// The fields that `--tsv` prints without `--columns`.
    let defaults: [String]

    /// The name of the field with the short form of the id, which is not part of the JSON.
    static let shortID = "shortId"

    /// - Parameter hasShortIDs: true if people name the rows by the end of their ids.
    init(of sample: JSONValue, defaults: [String], aliases: [String: String] = [:], hasShortIDs: Bool = true) {
        self.sample = hasShortIDs ? sample.appending([(Self.shortID, .null)]) : sample
        (self.defaults, self.aliases) = (defaults, aliases)
    }

    /// The names of all fields, in the order of the JSON.
    var names: [String] { Self.names(in: sample, below: "") + aliases.keys.sorted() }

    /// Returns the field with this name.
    ///
    /// - Parameters:
    ///   - text: the whole text of the option, for the error.
    ///   - place: the place of the name in it.
    /// - Throws: ``CommandError`` if there is no such field. It points at the name, and lists the fields.
    func field(_ name: String, in text: String, at place: String.Index, for option: String) throws -> RowField {
        let path = (aliases[name] ?? name).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var value = sample
        for key in path {
            let object = value.items.first ?? value
            if case .object(let members) = object, members.isEmpty, !key.isEmpty { break }
            guard let member = object[key] else {
                throw unknown(name, in: text, at: place, for: option)
            }
            value = member
        }
        return RowField(name: name, path: path)
    }

    private func unknown(_ name: String, in text: String, at place: String.Index, for option: String) -> CommandError {
        let near = name.nearest(among: names).prefix(3).joined(separator: " or ")
        let question = near.isEmpty ? "" : " Did you mean \(near)?"
        return CommandError(
            .usage,
            """
            \(option): there is no field "\(String(name.prefix(80)).oneLine)".\(question)
            \(Self.pointing(at: place, in: text))
            The fields are \(names.joined(separator: ", ")).
            """)
    }

    /// Parses a list of names: `id,title,authors`.
    func fields(_ text: String, for option: String) throws -> [RowField] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let name = part.trimmingCharacters(in: .whitespaces)
            let place = part.firstIndex { !$0.isWhitespace } ?? part.startIndex
            return try field(name, in: text, at: place, for: option)
        }
    }

    /// Returns the text on a line, with a caret below the place.
    static func pointing(at place: String.Index, in text: String) -> String {
        let before = String(text[..<place]).oneLine.columns
        return "  \(text.oneLine)\n  \(String(repeating: " ", count: before))^"
    }

    private static func names(in value: JSONValue, below prefix: String) -> [String] {
        value.members.flatMap { key, member in
            [prefix + key] + names(in: member.items.first ?? member, below: "\(prefix)\(key).")
        }
    }
}

/// One field of a row.
struct RowField: Equatable {
    /// The name as a person gave it.
    let name: String
    fileprivate let path: [String]

    /// Returns the field's text on one line, without control characters. Null and unknown members are empty, and lists
    /// are joined with ", ". An object is its name or, without one, its members.
    func text(in row: JSONValue) -> String { Self.text(of: Self.value(at: path[...], in: row)).oneLine }

    /// - Returns: for a list, the list of the members of its objects.
    private static func value(at path: ArraySlice<String>, in value: JSONValue) -> JSONValue {
        guard let key = path.first else { return value }
        if case .array(let items) = value { return .array(items.map { Self.value(at: path, in: $0) }) }
        return Self.value(at: path.dropFirst(), in: value[key] ?? .null)
    }

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: return ""
        case .string(let text): return text
        case .bool, .integer, .number: return value.text
        case .array(let items): return joined(items.map(text(of:)))
        case .object(let members):
            if let name = value["name"]?.string { return name }
            return joined(members.map { $0.value == .null ? "" : "\($0.key): \(text(of: $0.value))" })
        }
    }

    private static func joined(_ texts: [String]) -> String {
        texts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

/// The template of `--format`: text with fields in braces, such as `{title}\t{pages}`. `\t` is a tab, `\n` a line
/// break, `\\` a backslash, and `{{` and `}}` are braces.
struct RowTemplate {
    private enum Piece {
        case text(String)
        case field(RowField)
    }

    private var pieces: [Piece] = []

    /// - Throws: ``CommandError``, which points at the mistake.
    init(_ template: String, _ fields: RowFields) throws {
        let option = "--format"
        func mistake(_ what: String, at place: String.Index) -> CommandError {
            CommandError(.usage, "\(option): \(what)\n\(RowFields.pointing(at: place, in: template))")
        }
        var rest = template[...]
        var text = ""
        while let character = rest.first {
            let place = rest.startIndex
            rest.removeFirst()
            switch (character, rest.first) {
            case ("{", "{"), ("}", "}"):
                text.append(character)
                rest.removeFirst()
            case ("{", _):
                guard let end = rest.firstIndex(of: "}") else {
                    throw mistake("this brace is not closed. For the character { itself, write {{.", at: place)
                }
                pieces += [
                    .text(text),
                    .field(try fields.field(String(rest[..<end]), in: template, at: rest.startIndex, for: option)),
                ]
                text = ""
                rest = rest[rest.index(after: end)...]
            case ("\\", let escaped):
                guard let meant = escaped.flatMap({ ["t": "\t", "n": "\n", "\\": "\\"][$0] }) else {
                    throw mistake("this is no escape. Write \\t, \\n or, for a backslash, \\\\.", at: place)
                }
                text += meant
                rest.removeFirst()
            default: text.append(character)
            }
        }
        pieces.append(.text(text))
    }

    /// The names of the fields.
    var names: [String] {
        pieces.compactMap { piece in
            if case .field(let field) = piece { field.name } else { nil }
        }
    }

    func text(for row: JSONValue) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let field): field.text(in: row)
            }
        }.joined()
    }
}
