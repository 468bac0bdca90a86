import Bookplate

/// The form in which a person edits a book at the terminal. It has the most important fields, one on each line. The
/// other fields can be edited when the book is in the library.
struct EditForm {
    enum Step: Equatable {
        case editing, nextField, done, cancelled
        case refused(String)
        /// The person wants to choose from the editions that the sources have.
        case find(TitleQuery)
    }

    private enum Field: CaseIterable {
        case title, subtitle, authors, publisher, published, pages

        var label: String {
            switch self {
            case .title: "Title"
            case .subtitle: "Subtitle"
            case .authors: "Authors (separated by semicolons)"
            case .publisher: "Publisher"
            case .published: "Published"
            case .pages: "Pages"
            }
        }
    }

    private var before: [Field: String] = [:]
    private var texts: [Field: String] = [:]
    private var index = 0
    private var editor: LineEditor

    init(metadata: Metadata) {
        before = [
            .title: metadata.title ?? "", .subtitle: metadata.subtitle ?? "",
            .authors: metadata.authorNames.joined(separator: "; "), .publisher: metadata.publisher ?? "",
            .published: metadata.publishedDateText ?? metadata.publishedDate?.description ?? "",
            .pages: metadata.pageCount.map(String.init) ?? "",
        ]
        texts = before
        editor = LineEditor(label: Field.title.label, text: before[.title] ?? "")
    }

    /// Returns the output that shows the field being edited.
    func line(width: Int) -> String { editor.line(width: width) }

    /// All fields with their values, for a screen that shows all fields at once.
    var rows: [(label: String, text: String, isBeingEdited: Bool)] {
        Field.allCases.enumerated().map { position, field in
            (field.label, position == index ? editor.text : texts[field] ?? "", position == index)
        }
    }

    mutating func press(_ key: Keyboard.Key) -> Step {
        if key == .character("\u{06}") { return find() }
        return switch editor.press(key) {
        case .editing: .editing
        case .cancelled: .cancelled
        case .done: finishField(editor.text)
        }
    }

    /// Handles a whole line that a person entered. An empty line keeps the value, `-` clears it, and `.` cancels the
    /// form.
    mutating func enter(_ line: String) -> Step {
        switch line {
        case ".": .cancelled
        case "-": finishField("")
        case "": finishField(editor.text)
        default: finishField(line)
        }
    }

    private mutating func finishField(_ text: String) -> Step {
        let field = Field.allCases[index]
        if let reason = Self.refusal(of: text, for: field) { return .refused(reason) }
        texts[field] = text.cleaned
        guard index + 1 < Field.allCases.count else { return .done }
        index += 1
        let next = Field.allCases[index]
        editor = LineEditor(label: next.label, text: texts[next] ?? "")
        return .nextField
    }

    /// Handles Control-F: searches for the title and the first author in the form.
    private func find() -> Step {
        var texts = texts
        texts[Field.allCases[index]] = editor.text
        let author = texts[.authors]?.split(separator: ";").first.map(String.init)
        guard let query = TitleQuery(title: texts[.title] ?? "", author: author) else {
            return .refused("Type a title first, and then press Ctrl-F to find the book.")
        }
        return .find(query)
    }

    /// Returns the reason why the text is not a valid value of the field; nil if it is valid.
    private static func refusal(of text: String, for field: Field) -> String? {
        var metadata = Metadata()
        do {
            _ = try edit(of: [field: text]).apply(to: &metadata)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The changes made in the form, as an edit. It contains only the fields that were changed.
    var edit: MetadataEdit {
        get throws { try Self.edit(of: texts.filter { $0.value != before[$0.key] }) }
    }

    private static func edit(of texts: [Field: String]) throws -> MetadataEdit {
        var edit = MetadataEdit()
        for (field, text) in texts {
            switch field {
            case .title: edit.title = text
            case .subtitle: edit.subtitle = text
            case .authors:
                edit.authors = text.split(separator: ";").map(String.init).filter { !$0.cleanedLine.isEmpty }
            case .publisher: edit.publisher = text
            case .published: edit.publishedDate = text
            case .pages:
                let text = text.cleaned
                guard let pages = Int(text) ?? (text.isEmpty ? 0 : nil) else {
                    throw InputRefusal.outOfRange(what: "page count", range: NumberLimit.pages)
                }
                edit.pageCount = text.isEmpty ? .some(nil) : pages
            }
        }
        return edit
    }
}
