import Hummingbird

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
            return ["names": names, "does": texts("keys.\(row.does)")]
        }
        return try await parts.pages.answer(
            Pages.Page(template: "keys", title: texts("keys.title"), view: ["keys": keys]), context)
    }
}
