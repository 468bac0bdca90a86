import Bookplate

/// The few fields that a person fills at the terminal, one line each. The rest is edited in the library.
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

    /// The line of the field that is being edited.
    func shown(width: Int) -> String { editor.shown(width: width) }

    /// All fields with what they hold now, for a screen that shows them at once.
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

    /// A whole line at once: an empty one keeps the field, `-` clears it, `.` leaves everything as it was.
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

    private static func refusal(of text: String, for field: Field) -> String? {
        let limit = TextLimit.title
        switch field {
        case .title:
            do throws(TextRefusal) {
                _ = try text.checked(as: "title", limit: limit)
                return nil
            } catch {
                return error.description
            }
        case .pages where !text.isEmpty:
            let range = NumberLimit.pages
            return Int(text).map { range.contains($0) } == true
                ? nil : InputRefusal.outOfRange(what: "page count", range: range).description
        default: return text.count > limit ? "that is longer than \(limit) characters" : nil
        }
    }

    /// Writes the changed fields, and marks them as a person's.
    ///
    /// - Returns: the fields that were changed.
    func apply(to metadata: inout Metadata) -> Set<Metadata.Field> {
        var fields: Set<Metadata.Field> = []
        func changed(_ field: Field, _ name: Metadata.Field, _ write: (String) -> Void) {
            guard let text = texts[field], text != before[field] else { return }
            write(text)
            metadata.sources[name] = .person
            fields.insert(name)
        }
        func text(_ text: String) -> String? { text.isEmpty ? nil : text }
        changed(.title, .title) { metadata.title = text($0) }
        changed(.subtitle, .subtitle) { metadata.subtitle = text($0) }
        changed(.publisher, .publisher) { metadata.publisher = text($0) }
        changed(.pages, .pageCount) { metadata.pageCount = Int($0) }
        changed(.published, .publishedDate) {
            metadata.publishedDateText = text($0)
            metadata.publishedDate = CalendarDay($0)
        }
        changed(.authors, .authors) { list in
            let names = list.split(separator: ";").map { String($0).cleaned }.filter { !$0.isEmpty }
            metadata.authors = names.map { Contributor(name: $0) } + metadata.authors.filter { $0.role != .author }
        }
        return fields
    }
}
