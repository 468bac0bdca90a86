import Bookplate

/// The form in which a person edits a book at the terminal: one line for each field of its record, and for what a
/// person gives this one book, such as its shelf. The addresses of web pages, the identifiers and the author's
/// nationality can be edited when the book is in the library.
package struct EditForm {
    enum Step: Equatable {
        /// The same field is being edited. If the form has a ``EditForm/note``, it is new.
        case editing
        case otherField, done, cancelled
        case refused(String)
        /// The person wants to choose from the editions that the sources have.
        case find(TitleQuery)
        /// The person wants a name completed. Pass the names that begin with the text to ``EditForm/complete(with:)``.
        case complete(NameKind, beginning: String)
    }

    private enum Field: CaseIterable {
        case title, subtitle, authors, publisher, published, pages
        case shelf, tags, status, rating, note
        case translators, language, originalLanguage, format, series, seriesNumber, subjects, description, coverURL

        var label: String {
            switch self {
            case .title: "Title"
            case .subtitle: "Subtitle"
            case .authors: "Authors (separated by semicolons)"
            case .publisher: "Publisher"
            case .published: "Published"
            case .pages: "Pages"
            case .shelf: "Shelf"
            case .tags: "Tags (separated by commas)"
            case .status: "Status"
            case .rating: "Rating (0.25 to 5 stars)"
            case .note: "Note"
            case .translators: "Translators (separated by semicolons)"
            case .language: "Language (code)"
            case .originalLanguage: "Original language (code)"
            case .format: "Format"
            case .series: "Series"
            case .seriesNumber: "Number in the series"
            case .subjects: "Subjects (separated by semicolons)"
            case .description: "Description"
            case .coverURL: "Address of the cover"
            }
        }

        /// The character between the items of a list; nil for a field that is no list.
        var separator: Character? {
            switch self {
            case .authors, .translators, .subjects: ";"
            case .tags: ","
            default: nil
            }
        }

        /// The names of the library that complete the field.
        var names: NameKind? {
            switch self {
            case .authors, .translators: .author
            case .tags: .tag
            case .shelf: .shelf
            default: nil
            }
        }

        /// The only values of the field; nil if it takes any text.
        var words: [String]? {
            switch self {
            case .status: Copy.Status.allCases.map(\.displayName)
            case .format: Metadata.Format.allCases.map(\.rawValue)
            default: nil
            }
        }
    }

    private let fields: [Field]
    private let before: [Field: String]
    private var texts: [Field: String]
    private var index = 0
    private(set) var editor: LineEditor
    /// The text to show with the field: the names that complete it, or a question.
    private(set) var note: String?
    /// True if the key before was Tab, and a name was completed or the names were listed.
    private var isCompleting = false
    /// True if the form asks whether to drop what was typed.
    private var isAsking = false

    /// - Parameters:
    ///   - preset: what the book is saved with.
    ///   - hasNote: true if the form has a field for a note.
    package init(metadata: Metadata, preset: Preset = Preset(), hasNote: Bool = true) {
        fields = Field.allCases.filter { hasNote || $0 != .note }
        before = Dictionary(uniqueKeysWithValues: fields.map { ($0, Self.text(of: $0, metadata, preset)) })
        texts = before
        editor = LineEditor(label: Field.title.label, text: before[.title] ?? "")
    }

    private static func text(of field: Field, _ metadata: Metadata, _ preset: Preset) -> String {
        func names(_ role: Contributor.Role) -> String {
            metadata.authors.filter { $0.role == role }.map(\.name).joined(separator: "; ")
        }
        return switch field {
        case .title: metadata.title ?? ""
        case .subtitle: metadata.subtitle ?? ""
        case .authors: names(.author)
        case .publisher: metadata.publisher ?? ""
        case .published: metadata.publishedDateText ?? metadata.publishedDate?.description ?? ""
        case .pages: metadata.pageCount.map(String.init) ?? ""
        case .shelf: preset.shelf ?? ""
        case .tags: preset.tags.joined(separator: ", ")
        case .status: preset.status.displayName
        case .rating: preset.rating.map(Copy.text(ofRating:)) ?? ""
        case .note: preset.note ?? ""
        case .translators: names(.translator)
        case .language: metadata.language ?? ""
        case .originalLanguage: metadata.originalLanguage ?? ""
        case .format: metadata.format?.rawValue ?? ""
        case .series: metadata.series ?? ""
        case .seriesNumber: metadata.seriesNumber ?? ""
        case .subjects: metadata.subjects.joined(separator: "; ")
        case .description: metadata.description ?? ""
        case .coverURL: metadata.coverURL ?? ""
        }
    }

    private var field: Field { fields[index] }

    /// Returns the output that shows the field being edited.
    func line(width: Int) -> String { editor.line(width: width) }

    /// All fields with their values, for a screen that shows many fields at once.
    var rows: [(label: String, text: String, isBeingEdited: Bool)] {
        fields.enumerated().map { position, field in
            (field.label, position == index ? editor.text : texts[field] ?? "", position == index)
        }
    }

    // MARK: Keys

    mutating func press(_ key: Keyboard.Key) -> Step {
        if key == .resumed { return .editing }
        let wasCompleting = isCompleting
        (note, isCompleting) = (nil, false)
        if isAsking {
            isAsking = false
            return key == .character("y") || key == .end ? .cancelled : .editing
        }
        switch key {
        case .end: return .cancelled
        case .tab: return wasCompleting ? move(by: 1) : complete()
        case .down, .control("n"): return move(by: 1)
        case .up, .backTab, .control("p"): return move(by: -1)
        case .control("r"): return find()
        case .control("s"): return leaveField() ?? .done
        default: break
        }
        return switch editor.press(key) {
        case .editing: .editing
        case .cancelled: cancel()
        case .done: index + 1 < fields.count ? move(by: 1) : leaveField() ?? .done
        }
    }

    /// Handles a key. If the person wants a name completed, it is taken from the library.
    mutating func press(_ key: Keyboard.Key, names: (any Search)?) async -> Step {
        let step = press(key)
        guard case .complete(let kind, let beginning) = step else { return step }
        do {
            return complete(with: try await names?.names(kind, beginning: beginning) ?? [])
        } catch {
            return .refused("The library's names cannot be read: \(error)")
        }
    }

    /// Handles a whole line that a person entered. An empty line keeps the value, `-` clears it, `<` goes back to the
    /// field before, `>` keeps all changes, and `.` cancels the form.
    mutating func enter(_ line: String) -> Step {
        switch line {
        case ".": return .cancelled
        case "<": return move(by: -1)
        case ">": return leaveField() ?? .done
        case "": break
        default: editor = LineEditor(label: field.label, text: line == "-" ? "" : line)
        }
        return index + 1 < fields.count ? move(by: 1) : leaveField() ?? .done
    }

    /// Goes to another field. From the last field, the next one is the first.
    private mutating func move(by steps: Int) -> Step {
        if let refused = leaveField() { return refused }
        index = (index + steps + fields.count) % fields.count
        editor = LineEditor(label: field.label, text: texts[field] ?? "")
        return .otherField
    }

    /// Checks and keeps the text of the field.
    ///
    /// - Returns: the refusal of the text; nil if it is kept.
    private mutating func leaveField() -> Step? {
        let text = editor.text
        // A text that a source gave is not refused, but a title must not be missing.
        guard text != before[field] || text.isEmpty && field == .title else {
            texts[field] = text
            return nil
        }
        if let reason = Self.refusal(of: text, for: field) { return .refused(reason) }
        texts[field] = text.cleaned
        return nil
    }

    /// Cancels the form, or asks first if anything was typed.
    private mutating func cancel() -> Step {
        guard isChanged else { return .cancelled }
        isAsking = true
        note = "Drop what you typed? Press y to drop it, or any other key to go on editing."
        return .editing
    }

    private var isChanged: Bool { texts.merging([field: editor.text]) { $1 } != before }

    /// Handles Control-R: searches for the title and the first author in the form.
    private func find() -> Step {
        let texts = texts.merging([field: editor.text]) { $1 }
        let author = texts[.authors]?.split(separator: ";").first.map(String.init)
        guard let query = TitleQuery(title: texts[.title] ?? "", author: author) else {
            return .refused("Type a title first, and then press Ctrl-R to find the book.")
        }
        return .find(query)
    }

    // MARK: Completing

    private mutating func complete() -> Step {
        guard let beginning = editor.beginning(after: field.separator) else { return move(by: 1) }
        if let names = field.names { return .complete(names, beginning: beginning) }
        guard let words = field.words else { return move(by: 1) }
        return complete(with: words.filter { $0.lowercased().hasPrefix(beginning.lowercased()) })
    }

    /// Completes the name at the end of the field, or lists the names. If there is nothing to complete, it goes to the
    /// next field.
    ///
    /// - Parameter names: the names that begin with the text.
    mutating func complete(with names: [String]) -> Step {
        guard let beginning = editor.beginning(after: field.separator) else { return move(by: 1) }
        switch editor.complete(beginning, with: names) {
        case .none: return move(by: 1)
        case .completed: break
        case .several: note = names.map(\.oneLine).joined(separator: " · ")
        }
        isCompleting = true
        return .editing
    }

    // MARK: The edit

    /// Returns the reason why the text is not a valid value of the field; nil if it is valid.
    private static func refusal(of text: String, for field: Field) -> String? {
        do {
            let (edit, presetEdit) = try edit(of: [field: text])
            try edit.check()
            var preset = Preset()
            try presetEdit.apply(to: &preset)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The changes made in the form. The edits contain only the fields that were changed.
    package var edit: (metadata: MetadataEdit, preset: PresetEdit) {
        get throws { try Self.edit(of: texts.filter { $0.value != before[$0.key] }) }
    }

    private static func edit(of texts: [Field: String]) throws -> (metadata: MetadataEdit, preset: PresetEdit) {
        var (edit, preset) = (MetadataEdit(), PresetEdit())
        for (field, text) in texts {
            let items = text.split(separator: field.separator ?? "\n").map(String.init).filter {
                !$0.cleanedLine.isEmpty
            }
            switch field {
            case .title: edit.title = text
            case .subtitle: edit.subtitle = text
            case .authors: edit.authors = items
            case .publisher: edit.publisher = text
            case .published: edit.publishedDate = text
            case .pages: edit.pageCount = .some(try number(text, Int.init, refusal: .pageCount))
            case .shelf: preset.shelf = text
            case .tags: preset.tags = items
            case .status:
                preset.status = text.cleaned.isEmpty ? .toRead : try word(text, Copy.Status.init(parsing:), field)
            case .rating:
                let rating = try number(text, Double.init, refusal: .rating(text))
                preset.rating = rating.map { .set($0) } ?? .clear
            case .note: preset.note = text
            case .translators: edit.translators = items
            case .language: edit.language = text
            case .originalLanguage: edit.originalLanguage = text
            case .format: edit.format = .some(text.cleaned.isEmpty ? nil : try word(text, Metadata.Format.named, field))
            case .series: edit.series = text
            case .seriesNumber: edit.seriesNumber = text
            case .subjects: edit.subjects = items
            case .description: edit.description = text
            case .coverURL: edit.coverURL = text
            }
        }
        return (edit, preset)
    }

    /// - Returns: nil for an empty text.
    private static func number<Number>(
        _ text: String, _ parse: (String) -> Number?, refusal: FormRefusal
    ) throws -> Number? {
        let text = text.cleaned
        if text.isEmpty { return nil }
        guard let number = parse(text) else { throw refusal }
        return number
    }

    private static func word<Word>(_ text: String, _ parse: (String) -> Word?, _ field: Field) throws -> Word {
        guard let word = parse(text.cleaned) else {
            throw FormRefusal.noWord(what: field.label.lowercased(), words: field.words ?? [])
        }
        return word
    }
}

/// The reason why a text is no value of its field.
private enum FormRefusal: Error, CustomStringConvertible {
    case pageCount
    case rating(String)
    case noWord(what: String, words: [String])

    var description: String {
        switch self {
        case .pageCount: InputRefusal.outOfRange(what: "page count", range: NumberLimit.pages).description
        case .rating(let text): "a rating must be from 0.25 to 5 stars in steps of 0.25, not \(text.oneLine.fitted(40))"
        case .noWord(let what, let words): "the \(what) must be one of: \(words.joined(separator: ", "))"
        }
    }
}

extension Search {
    /// Returns the names that complete a text, most used first.
    func names(_ kind: NameKind, beginning: String) async throws -> [String] {
        try await suggestions(for: kind, beginning: beginning, limit: 12).map(\.name)
    }
}

extension EditForm {
    /// The keys of the form, for people.
    static func keys(hasFind: Bool) -> String {
        "Enter, ↓: next field. ↑: field before. Tab: complete a name. Ctrl-S: keep all changes."
            + (hasFind ? " Ctrl-R: find by title." : "") + " Esc: cancel."
    }

    /// Lets a person fill in the form, field by field.
    ///
    /// - Parameter names: the library whose names complete what the person types.
    /// - Returns: false if the person cancels.
    package mutating func fill(with keyboard: Keyboard, names: any Search) async -> Bool {
        let style = Output.shared.style
        func draw(_ form: EditForm) { Output.shared.printRaw(form.line(width: terminalSize().columns)) }
        for line in Self.keys(hasFind: false).wrapped(max(20, terminalSize().columns - 3)) {
            Output.shared.printLine(style.faint("  " + line))
        }
        draw(self)
        for await press in keyboard.presses {
            for key in press.key.typed {
                let step = await self.press(key, names: names)
                switch step {
                case .editing: if let note { Output.shared.printRaw("\n  \(style.faint(note))\n") }
                case .otherField: Output.shared.printLine("")
                case .refused(let reason): Output.shared.printRaw("\n  \(style.attention(reason))\n")
                case .done, .cancelled:
                    Output.shared.printLine("")
                    return step == .done
                case .find, .complete: break
                }
                draw(self)
            }
        }
        return false
    }
}
