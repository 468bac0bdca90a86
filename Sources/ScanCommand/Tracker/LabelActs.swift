import ArgumentParser
import Bookplate
import Foundation
import Library

/// What the commands of tags and shelves do: the same, on two kinds of label.
struct LabelActs {
    let kind: Label.Kind
    let places: PlaceOptions
    let json: Bool

    func list() async throws {
        guard let library = try Wiring(settings: places.settings()).openExistingLibrary() else { return tellEmpty() }
        let labels = try await library.labels(kind)
        if labels.isEmpty { return tellEmpty() }
        let width = min(60, labels.map(\.name.oneLine.columns).max() ?? 0)
        for label in labels {
            if json { Output.shared.line(label.json) } else { Output.shared.line(Self.line(for: label, width: width)) }
        }
    }

    func add(_ name: String, to books: [String]) async throws {
        let wiring = try Wiring(settings: places.settings())
        let library = try books.isEmpty ? wiring.openLibrary() : wiring.requireLibrary()
        let copies = try await copies(books, library)
        let done = try await library.addLabel(kind, name, to: copies, at: Date())
        tell(done, copies.isEmpty ? "The \(kind.rawValue) is there" : "On \(counted(done.changedBooks, "more book"))")
    }

    func remove(_ name: String, from books: [String]) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let done = try await library.removeLabel(kind, name, from: try await copies(books, library), at: Date())
        tell(done, "Off \(counted(done.changedBooks, "book"))")
    }

    func rename(_ name: String, to newName: String) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        tell(try await library.renameLabel(kind, name, to: newName, at: Date()), "Renamed")
    }

    func merge(_ names: [String], into target: String, yes: Bool) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let question = "Merge \(quoted(names)) into \(quoted([target]))?"
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        tell(try await library.mergeLabels(kind, names, into: target, at: Date()), "Merged")
    }

    func delete(_ names: [String], yes: Bool) async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let question = "Delete the \(kind.rawValue) \(quoted(names))? The books stay."
        guard try Asking.mayGoOn(question, yes: yes, json: json) else { return }
        let gone = try await library.deleteLabels(kind, names, at: Date())
        if !json {
            return Output.shared.changed(
                gone.map { "Deleted: \($0.label.name.oneLine), \(counted($0.changedBooks, "book"))" })
        }
        for change in gone { Output.shared.line(change.label.json) }
    }

    private func copies(_ names: [String], _ library: LibraryFile) async throws -> [ID<Copy>] {
        var copies: [ID<Copy>] = []
        for name in names { copies.append(try await library.book(named: name).id) }
        return copies
    }

    private func tell(_ done: Relabelling, _ what: String) {
        if json { return Output.shared.line(done.label.json) }
        Output.shared.changed(["\(what): \(done.label.name.oneLine), \(counted(done.label.books, "book"))"])
    }

    private func tellEmpty() {
        if !json {
            Output.shared.note("There is no \(kind.rawValue) yet. scan \(kind.rawValue) add NAME BOOK makes the first.")
        }
    }

    private static func line(for label: Label, width: Int) -> String {
        "\(label.name.oneLine.padded(width))  \(counted(label.books, "book"))"
    }
}
