import Bookplate

/// The form of the terminal: a few fields, one line each. The others are edited in the library.
struct EditForm {
    enum Step: Equatable {
        case editing, nextField, done, cancelled
        case refused(String)
    }

    private enum Field: CaseIterable {
        case title, subtitle, authors, publisher, published, pages

        var label: String {
            switch self {
            case .title: "Title"
            case .subtitle: "Subtitle"
            case .authors: "Authors (; between)"
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

    /// The line of the field being edited.
    func shown(width: Int) -> String { editor.shown(width: width) }

    /// All fields with their values, for a screen that shows them at once.
    var rows: [(label: String, text: String, isBeingEdited: Bool)] {
        Field.allCases.enumerated().map { place, field in
            (field.label, place == index ? editor.text : texts[field] ?? "", place == index)
        }
    }

    mutating func press(_ key: Keyboard.Key) -> Step {
        switch editor.press(key) {
        case .editing: .editing
        case .cancelled: .cancelled
        case .done: finishField(editor.text)
        }
    }

    /// Enters a whole line: an empty one keeps the field, `-` clears it, `.` leaves everything as it was.
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

    /// The reason that the text is no value of the field; nil when it is one.
    private static func refusal(of text: String, for field: Field) -> String? {
        var metadata = Metadata()
        do {
            _ = try edit(of: [field: text]).apply(to: &metadata)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The changed fields.
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
