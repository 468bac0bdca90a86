import Bookplate
import Testing

@testable import Terminal

@Suite struct `The form of a book` {
    private var form: EditForm { EditForm(metadata: metadata, preset: preset) }

    private var metadata: Metadata {
        var metadata = Metadata()
        (metadata.title, metadata.publisher, metadata.pageCount) = ("Dune", "Ace", 412)
        metadata.authors = [Contributor(name: "Frank Herbert"), Contributor(name: "Ann Editor", role: .editor)]
        metadata.description = "One.\nTwo."
        return metadata
    }

    private let preset = Preset(shelf: "Attic", tags: ["sf", "to lend"], rating: 4.5)

    private func type(_ text: String, in form: inout EditForm) {
        for character in text { _ = form.press(.character(character)) }
    }

    /// Moves to the field with this label.
    private func move(to label: String, in form: inout EditForm) {
        for _ in form.rows where form.rows.first(where: \.isBeingEdited)?.label.hasPrefix(label) != true {
            _ = form.press(.down)
        }
    }

    @Test func `holds the record, and what the person gives this one book`() {
        let texts = Dictionary(uniqueKeysWithValues: form.rows.map { ($0.label, $0.text) })
        #expect(texts["Title"] == "Dune" && texts["Pages"] == "412" && texts["Description"] == "One.\nTwo.")
        #expect(texts["Authors (separated by semicolons)"] == "Frank Herbert")
        #expect(texts["Shelf"] == "Attic" && texts["Tags (separated by commas)"] == "sf, to lend")
        #expect(texts["Rating (0.25 to 5 stars)"] == "4.5" && texts["Status"] == "To Read" && texts["Note"] == "")
        #expect(EditForm(metadata: metadata, hasNote: false).rows.allSatisfy { $0.label != "Note" })
    }

    @Test(arguments: [
        ([Keyboard.Key.down, .down], "Authors"), ([.tab, .up], "Title"), ([.enter, .tab, .backTab], "Subtitle"),
        ([.up], "Address of the cover"), ([.up, .down], "Title"),
        ([.control("n"), .control("n"), .control("p")], "Subtitle"),
    ])
    func `goes to the next field and back, and keeps what was typed`(keys: [Keyboard.Key], label: String) throws {
        var form = form
        type(" Messiah", in: &form)
        for key in keys { #expect(form.press(key) == .otherField) }
        let field = form.rows.first(where: \.isBeingEdited)
        #expect(field?.label.hasPrefix(label) == true)
        #expect(form.rows[0].text == "Dune Messiah")
        #expect(try form.edit.metadata == MetadataEdit(title: "Dune Messiah"))
    }

    @Test func `keeps all changes with Control-S, and only those`() throws {
        var form = form
        move(to: "Shelf", in: &form)
        _ = form.press(.control("u"))
        type("Hall", in: &form)
        move(to: "Tags", in: &form)
        type(", new", in: &form)
        move(to: "Rating", in: &form)
        _ = form.press(.control("u"))
        move(to: "Note", in: &form)
        type("Ask Ada.", in: &form)
        move(to: "Format", in: &form)
        type("audiobook", in: &form)
        #expect(form.press(.control("s")) == .done)
        var preset = PresetEdit()
        (preset.shelf, preset.tags, preset.rating, preset.note) = (
            "Hall", ["sf", " to lend", " new"], .clear, "Ask Ada."
        )
        var metadata = MetadataEdit()
        metadata.format = .some(.audiobook)
        #expect(try form.edit.preset == preset)
        #expect(try form.edit.metadata == metadata)
        var stored = self.preset
        try form.edit.preset.apply(to: &stored)
        #expect(stored == Preset(shelf: "Hall", tags: ["sf", "to lend", "new"], note: "Ask Ada."))
    }

    @Test(arguments: [
        ("Rating", "7", "a rating must be from 0.25 to 5"), ("Rating", "four", "a rating must be from 0.25 to 5"),
        ("Pages", "many", "the page count must be a number"), ("Format", "paper", "physical, digital, audiobook"),
        ("Status", "Later", "To Read, Reading, Read"), ("Published", "2021-02-30", "2021-02-30"),
        ("Title", "", "title is empty"),
    ])
    func `refuses what no book can have, and stays in the field`(label: String, text: String, reason: String) {
        var form = form
        move(to: label, in: &form)
        _ = form.press(.control("u"))
        type(text, in: &form)
        for key in [Keyboard.Key.enter, .down, .up, .control("s")] {
            guard case .refused(let message) = form.press(key) else { return #expect(Bool(false), "\(key)") }
            #expect(message.contains(reason))
        }
    }

    @Test func `is cancelled at once if nothing was changed`() {
        var form = form
        for key in [Keyboard.Key.down, .down, .up, .character("x"), .backspace] { _ = form.press(key) }
        #expect(form.press(.escape) == .cancelled)
    }

    @Test(arguments: [
        (Keyboard.Key.character("y"), EditForm.Step.cancelled), (.character("n"), .editing), (.escape, .editing),
        (.enter, .editing),
    ])
    func `asks before it drops what was typed`(key: Keyboard.Key, step: EditForm.Step) throws {
        var form = form
        type("!", in: &form)
        _ = form.press(.down)
        #expect(form.press(.escape) == .editing && form.note?.contains("Drop what you typed?") == true)
        #expect(form.press(key) == step && form.note == nil)
        #expect(try form.edit.metadata == MetadataEdit(title: "Dune!"), "the key was only the answer")
        if step == .editing { #expect(form.press(.control("s")) == .done) }
    }

    @Test func `drops everything if the terminal is closed`() {
        var form = form
        type("!", in: &form)
        #expect(form.press(.end) == .cancelled)
    }

    // MARK: Completing

    @Test func `completes a tag, and goes to the next field with the second Tab`() {
        var form = form
        move(to: "Tags", in: &form)
        type(", sp", in: &form)
        #expect(form.press(.tab) == .complete(.tag, beginning: "sp"))
        #expect(form.complete(with: ["Space"]) == .editing && form.editor.text == "sf, to lend, Space")
        #expect(form.press(.tab) == .otherField)
    }

    @Test func `lists the names that fit, until another key is pressed`() {
        var form = form
        move(to: "Authors", in: &form)
        type("; ursula", in: &form)
        #expect(form.press(.tab) == .complete(.author, beginning: "ursula"))
        #expect(form.complete(with: ["Ursula K. Le Guin", "Ursula Vernon"]) == .editing)
        #expect(form.note == "Ursula K. Le Guin · Ursula Vernon" && form.editor.text == "Frank Herbert; Ursula ")
        type("v", in: &form)
        #expect(form.note == nil && form.press(.tab) == .complete(.author, beginning: "Ursula v"))
    }

    @Test func `goes on with Tab if there is nothing to complete`() {
        var form = form
        #expect(form.press(.tab) == .otherField, "a title is no name")
        move(to: "Shelf", in: &form)
        #expect(form.press(.tab) == .complete(.shelf, beginning: "Attic"))
        #expect(form.complete(with: ["Attic"]) == .otherField, "it is complete")
        _ = form.press(.up)
        #expect(form.press(.tab) == .complete(.shelf, beginning: "Attic"))
        #expect(form.complete(with: []) == .otherField, "no name begins with it")
        _ = form.press(.up)
        _ = form.press(.control("u"))
        #expect(form.press(.tab) == .otherField, "nothing was typed")
    }

    @Test func `completes the words that are the only values of a field`() {
        var form = form
        move(to: "Status", in: &form)
        _ = form.press(.control("u"))
        type("re", in: &form)
        #expect(form.press(.tab) == .editing && form.editor.text == "Read" && form.note == "Reading · Read")
        _ = form.press(.control("u"))
        type("on", in: &form)
        #expect(form.press(.tab) == .editing && form.editor.text == "On Hold")
    }

    // MARK: Line by line

    @Test func `takes lines, goes back and ends early`() throws {
        var form = form
        #expect(form.enter("") == .otherField)
        #expect(form.enter("A novel") == .otherField)
        #expect(form.enter("<") == .otherField)
        #expect(form.enter("-") == .otherField && form.rows[1].text == "")
        #expect(form.enter("") == .otherField)
        #expect(form.enter("Chilton") == .otherField)
        #expect(form.enter(">") == .done)
        var edit = MetadataEdit()
        edit.publisher = "Chilton"
        #expect(try form.edit.metadata == edit)
        #expect(form.enter(".") == .cancelled)
    }
}
