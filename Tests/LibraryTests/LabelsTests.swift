import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct LabelsTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    /// Returns the name of a copy's shelf, or the names of its tags.
    private func labels(_ kind: Label.Kind, of copy: ID<Copy>) async throws -> [String] {
        let copy = try #require(try await library.book(copy)?.copy)
        return kind == .tag ? copy.tags : [copy.shelf].compactMap(\.self)
    }

    private func book(_ number: Int, _ label: String?) async throws -> Book {
        try await library.save(
            isbn(number), record("Book \(number)"),
            preset: Preset(shelf: label, tags: [label].compactMap(\.self)))
    }

    private func counted(_ kind: Label.Kind) async throws -> [String] {
        try await library.labels(kind).map { "\($0.name) \($0.books)" }
    }

    @Test(arguments: Label.Kind.allCases) func `are listed by name with their books, empty ones too`(
        kind: Label.Kind
    ) async throws {
        let first = try await book(1, "b")
        _ = try await book(2, "B")
        _ = try await library.addLabel(kind, "Äpfel", to: [], at: noon)
        _ = try await library.addLabel(kind, "a", to: [], at: noon)
        #expect(try await counted(kind) == ["a 0", "b 2", "Äpfel 0"])
        _ = try await library.trash([first.id], at: noon)
        #expect(try await counted(kind) == ["a 0", "b 1", "Äpfel 0"])
    }

    @Test(arguments: [
        ("Straße", "STRASSE"), ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"), ("é", "E\u{301}"), ("İ", "i\u{307}"), ("ﬁn", "FIN"),
        ("Привет", "ПРИВЕТ"), ("sf", " SF "),
    ])
    func `are compared without regard to case, and keep their first spelling`(first: String, second: String)
        async throws
    {
        for kind in Label.Kind.allCases {
            _ = try await library.addLabel(kind, first, to: [], at: noon)
            #expect(try await library.addLabel(kind, second, to: [], at: noon).label.name == first)
            #expect(try await library.labels(kind).map(\.name) == [first])
        }
    }

    /// The acts on three labels. The label "one" is on the books 1 and 2 and on a book in the trash. The label "two" is
    /// on book 3, and as a tag also on book 2. The label "none" is on no book.
    enum Act: CaseIterable {
        case make, put, putAgain, take, rename, respell, merge, mergeTwo, delete, deleteTwo
    }

    @Test(arguments: Act.allCases, Label.Kind.allCases)
    func `every act is one change with a summary, and can be undone`(act: Act, kind: Label.Kind) async throws {
        let (one, two, three) = (try await book(1, "one"), try await book(2, "one"), try await book(3, "two"))
        let trashed = try await book(4, "one")
        if kind == .tag { _ = try await library.addLabel(.tag, "two", to: [two.id], at: noon) }
        _ = try await library.addLabel(kind, "none", to: [], at: noon)
        _ = try await library.trash([trashed.id], at: noon)
        let before = try await library.dump()
        let summary: String?
        let after: [String]
        let twos = kind == .tag ? 2 : 1
        switch act {
        case .make:
            _ = try await library.addLabel(kind, "New", to: [], at: noon)
            (summary, after) = ("added the \(kind) \"New\"", ["New 0", "none 0", "one 2", "two \(twos)"])
        case .put:
            let put = try await library.addLabel(kind, "NONE", to: [one.id, three.id], at: noon)
            let change = try await library.lastChange()?.id
            #expect(
                put
                    == LabelChange(
                        label: Label(kind: kind, name: "none", books: 2), changedBooks: 2, change: change))
            let books = "\"Book 1\" and 1 more"
            summary = kind == .tag ? "tagged \(books) with \"none\"" : "put \(books) on the shelf \"none\""
            after = kind == .tag ? ["none 2", "one 2", "two 2"] : ["none 2", "one 1", "two 0"]
        case .putAgain:
            let again = try await library.addLabel(kind, "One", to: [one.id], at: noon)
            #expect(again.changedBooks == 0 && again.change == nil)
            (summary, after) = (nil, ["none 0", "one 2", "two \(twos)"])
        case .take:
            #expect(try await library.removeLabel(kind, "ONE", from: [one.id, three.id], at: noon).changedBooks == 1)
            summary =
                kind == .tag ? "removed the tag \"one\" from \"Book 1\"" : "took \"Book 1\" off the shelf \"one\""
            after = ["none 0", "one 1", "two \(twos)"]
        case .rename:
            let renamed = try await library.renameLabel(kind, "ONE", to: " Uno ", at: noon)
            let change = try await library.lastChange()?.id
            #expect(
                renamed
                    == LabelChange(label: Label(kind: kind, name: "Uno", books: 2), changedBooks: 2, change: change))
            #expect(try await labels(kind, of: trashed.id) == ["Uno"])
            summary = "renamed the \(kind) \"one\" to \"Uno\" on 2 books"
            after = ["none 0", "two \(twos)", "Uno 2"]
        case .respell:
            #expect(try await library.renameLabel(kind, "one", to: "ONE", at: noon).label.name == "ONE")
            summary = "renamed the \(kind) \"one\" to \"ONE\" on 2 books"
            after = ["none 0", "ONE 2", "two \(twos)"]
        case .merge:
            #expect(try await library.mergeLabels(kind, ["One"], into: "Two", at: noon).label.books == 3)
            #expect(try await labels(kind, of: two.id) == ["two"])
            #expect(try await labels(kind, of: trashed.id) == ["two"])
            (summary, after) = ("merged the \(kind) \"one\" into \"two\" on 2 books", ["none 0", "two 3"])
        case .mergeTwo:
            #expect(
                try await library.mergeLabels(kind, ["one", "two", "ONE"], into: "none", at: noon).label.books == 3)
            summary = "merged the \(kind) \"one\", \"two\" into \"none\" on \(2 + twos) books"
            after = ["none 3"]
        case .delete:
            #expect(try await library.deleteLabels(kind, ["ONE"], at: noon).map(\.changedBooks) == [2])
            #expect(try await library.book(one.id) != nil)
            #expect(try await library.book(trashed.id) != nil)
            (summary, after) = ("deleted the \(kind) \"one\" (removed from 2 books)", ["none 0", "two \(twos)"])
        case .deleteTwo:
            #expect(try await library.deleteLabels(kind, ["none", "two"], at: noon).map(\.changedBooks) == [0, twos])
            summary = "deleted the \(kind) \"none\", \"two\" (removed from \(twos == 1 ? "1 book" : "2 books"))"
            after = ["one 2"]
        }
        #expect(try await counted(kind) == after)
        guard let summary else {
            #expect(try await library.dump() == before)
            return
        }
        let change = try #require(try await library.lastChange())
        #expect(change.summary == summary && change.kind == .edit)
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test(arguments: Label.Kind.allCases) func `an impossible edit is refused with what to do, and changes nothing`(
        kind: Label.Kind
    ) async throws {
        let book = try await book(1, "scifi")
        _ = try await library.addLabel(kind, "sf", to: [], at: noon)
        let before = try await library.dump()
        let none = LabelRefusal.none(what: kind.rawValue, name: "scfi", near: ["scifi", "sf"])
        await #expect(throws: none) { try await library.renameLabel(kind, "scfi", to: "x", at: noon) }
        await #expect(throws: none) { try await library.mergeLabels(kind, ["sf", "scfi"], into: "scifi", at: noon) }
        await #expect(throws: none) { try await library.deleteLabels(kind, ["sf", "scfi"], at: noon) }
        await #expect(throws: none) { try await library.removeLabel(kind, "scfi", from: [book.id], at: noon) }
        await #expect(throws: LabelRefusal.taken(what: kind.rawValue, name: "sf", by: "scifi")) {
            try await library.renameLabel(kind, "SF", to: "SciFi", at: noon)
        }
        await #expect(throws: LabelRefusal.alreadyOne(what: kind.rawValue, name: "sf")) {
            try await library.mergeLabels(kind, ["SF", "sf"], into: "sf", at: noon)
        }
        await #expect(throws: LibraryError.noSuchBook(ID(rawValue: "none"))) {
            try await library.addLabel(kind, "new", to: [book.id, ID(rawValue: "none")], at: noon)
        }
        await #expect(throws: TextRefusal.empty(what: kind.rawValue)) {
            try await library.addLabel(kind, " ", to: [], at: noon)
        }
        await #expect(throws: TextRefusal.empty(what: kind.rawValue)) {
            try await library.renameLabel(kind, "sf", to: "\u{0}", at: noon)
        }
        #expect(try await library.dump() == before)
    }

    @Test func `a refusal names similar labels and the command that helps`() {
        #expect(
            LabelRefusal.none(what: "tag", name: "scfi", near: ["scifi", "sf"]).description
                == "there is no tag \"scfi\"; similar names: scifi, sf")
        #expect(
            LabelRefusal.none(what: "shelf", name: "x", near: []).description
                == "there is no shelf \"x\"")
        #expect(
            LabelRefusal.taken(what: "tag", name: "sf", by: "SciFi").description
                == "there is already a tag \"SciFi\"; to combine \"sf\" with it, merge the two")
    }

    @Test(arguments: HostileText.allCases, Label.Kind.allCases)
    func `a name is stored clean and on one line, or refused`(hostile: HostileText, kind: Label.Kind) async throws {
        let before = try await library.dump()
        do {
            let name = try await library.addLabel(kind, hostile.text, to: [], at: noon).label.name
            #expect(name.isClean && !name.contains(where: \.isNewline) && name.count <= TextLimit.name)
            _ = try await library.renameLabel(kind, name, to: "plain", at: noon)
            #expect(try await library.renameLabel(kind, "plain", to: hostile.text, at: noon).label.name == name)
            _ = try await library.deleteLabels(kind, [hostile.text], at: noon)
        } catch is TextRefusal {
            #expect([.megabytes, .manyCharacters, .onlyNul, .whiteSpace, .invisible, .damaged].contains(hostile))
        }
        #expect(try await library.dump() == before)
        await #expect(throws: LabelRefusal.self) { try await library.deleteLabels(kind, [hostile.text], at: noon) }
    }

    @Test func `a tag that other books have by now survives the undo of the change that made it`() async throws {
        let (one, two) = (try await book(1, nil), try await book(2, nil))
        _ = try await library.addLabel(.tag, "sf", to: [one.id], at: noon)
        let made = try #require(try await library.lastChange())
        _ = try await library.addLabel(.tag, "sf", to: [two.id], at: noon)
        _ = try await library.undo(made.id, at: noon)
        #expect(try await labels(.tag, of: one.id).isEmpty)
        #expect(try await labels(.tag, of: two.id) == ["sf"])
    }

    @Test func `a merge is not undone if the old name is another tag by now`() async throws {
        let book = try await book(1, "old")
        _ = try await library.addLabel(.tag, "new", to: [], at: noon)
        _ = try await library.mergeLabels(.tag, ["old"], into: "new", at: noon)
        let merge = try #require(try await library.lastChange())
        _ = try await library.addLabel(.tag, "OLD", to: [book.id], at: noon)
        let before = try await library.dump()
        await #expect(throws: UndoRefusal.self) { try await library.undo(merge.id, at: noon) }
        #expect(try await library.dump() == before)
    }
}
