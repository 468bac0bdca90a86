/// A person's edit of a book's metadata: the one writer behind the form, the prompt, the web API and the commands'
/// options.
///
/// Each field is kept, cleared or set, and all ways in share these rules:
/// - A title cannot be cleared. Any other text is cleared by an empty one, and a text with nothing visible in it is
///   refused.
/// - Texts are cleaned and held to ``TextLimit``, links to ``Swift/String/checkedLink(as:)``.
/// - A publication date may be any text, but one that looks like a date must exist: 2021-02-30 is refused.
/// - A page count of 0 is unknown, and clears. Other numbers must lie in ``NumberLimit/pages``.
/// - Only fields whose values change are marked as a person's, also those that are cleared: no refresh fills them
///   again.
public struct MetadataEdit: Sendable, Equatable {
    public var title: Edit<String> = .keep
    public var subtitle: Edit<String> = .keep
    /// All contributors, in the order of the title page.
    public var contributors: Edit<[Contributor]> = .keep
    /// The names of all contributors with a role, in their order; contributors with other roles stay. Applied after
    /// ``contributors``. An empty list removes those with the role.
    public var names: [Contributor.Role: [String]] = [:]
    public var publisher: Edit<String> = .keep
    /// The date as a person writes it: "1969", "1969-03-17", "March 2009".
    public var publishedDate: Edit<String> = .keep
    public var pageCount: Edit<Int> = .keep
    public var language: Edit<String> = .keep
    public var originalLanguage: Edit<String> = .keep
    public var authorNationality: Edit<String> = .keep
    public var format: Edit<Metadata.Format> = .keep
    public var series: Edit<String> = .keep
    public var seriesNumber: Edit<String> = .keep
    public var description: Edit<String> = .keep
    public var subjects: Edit<[String]> = .keep
    public var coverURL: Edit<String> = .keep
    public var previewLink: Edit<String> = .keep
    public var infoLink: Edit<String> = .keep
    /// Numbers in other systems, each as `scheme:value`. They replace the numbers of their schemes, and `scheme:` alone
    /// clears its scheme; other schemes stay.
    public var identifiers: [String] = []

    public init() {}

    /// True if every field is kept.
    public var isEmpty: Bool { self == MetadataEdit() }

    /// Checks the values without writing them.
    ///
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` for the first value that is refused.
    public func check() throws {
        var metadata = Metadata()
        _ = try apply(to: &metadata)
    }

    /// Checks the values, writes those that differ, and records ``SourceName/person`` as the source of their fields.
    ///
    /// - Returns: the fields whose values changed.
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` for the first value that is refused; nothing is written then.
    @discardableResult
    public func apply(to metadata: inout Metadata) throws -> Set<Metadata.Field> {
        var new = metadata
        try applyTexts(to: &new)
        try applyLinks(to: &new)
        try applyPeople(to: &new)
        if case .set(let names) = subjects {
            new.subjects = try names.map { try $0.checked(as: "subject", limit: TextLimit.name) }
        } else if subjects == .clear {
            new.subjects = []
        }
        if case .set(let text) = publishedDate, !text.isEmpty {
            (new.publishedDateText, new.publishedDate) = try Metadata.published(text)
        } else if publishedDate != .keep {
            (new.publishedDateText, new.publishedDate) = (nil, nil)
        }
        new.pageCount = pageCount.applied(to: new.pageCount)
        if new.pageCount == 0 { new.pageCount = nil }
        if pageCount != .keep { try NumberLimit.check(new.pageCount, as: "page count", in: NumberLimit.pages) }
        new.format = format.applied(to: new.format)
        try applyIdentifiers(to: &new)
        let fields = new.fields(differingFrom: metadata)
        for field in fields { new.sources[field] = .person }
        metadata = new
        return fields
    }

    private func applyTexts(to metadata: inout Metadata) throws {
        func apply(
            _ edit: Edit<String>, to path: WritableKeyPath<Metadata, String?>, as what: String, limit: Int
        ) throws {
            if case .set(let text) = edit, !text.isEmpty {
                metadata[keyPath: path] = try text.checked(as: what, limit: limit)
            } else if edit != .keep {
                metadata[keyPath: path] = nil
            }
        }
        try apply(title, to: \.title, as: "title", limit: TextLimit.title)
        if title != .keep, metadata.title == nil { throw TextRefusal.empty(what: "title") }
        try apply(subtitle, to: \.subtitle, as: "subtitle", limit: TextLimit.title)
        try apply(publisher, to: \.publisher, as: "publisher", limit: TextLimit.name)
        try apply(language, to: \.language, as: "language", limit: TextLimit.language)
        try apply(originalLanguage, to: \.originalLanguage, as: "original language", limit: TextLimit.language)
        try apply(authorNationality, to: \.authorNationality, as: "author's nationality", limit: TextLimit.name)
        try apply(series, to: \.series, as: "series", limit: TextLimit.name)
        try apply(seriesNumber, to: \.seriesNumber, as: "number in the series", limit: TextLimit.seriesNumber)
        try apply(description, to: \.description, as: "description", limit: TextLimit.description)
    }

    private func applyLinks(to metadata: inout Metadata) throws {
        func apply(_ edit: Edit<String>, to path: WritableKeyPath<Metadata, String?>, as what: String) throws {
            if case .set(let text) = edit, !text.isEmpty {
                metadata[keyPath: path] = try text.checkedLink(as: what)
            } else if edit != .keep {
                metadata[keyPath: path] = nil
            }
        }
        try apply(coverURL, to: \.coverURL, as: "cover's address")
        try apply(previewLink, to: \.previewLink, as: "preview link")
        try apply(infoLink, to: \.infoLink, as: "info link")
    }

    private func applyPeople(to metadata: inout Metadata) throws {
        func checked(_ name: String, _ role: Contributor.Role) throws -> Contributor {
            let what = role == .translator ? "translator" : "author"
            return Contributor(name: try name.checked(as: what, limit: TextLimit.name), role: role)
        }
        if case .set(let people) = contributors {
            metadata.authors = try people.map { try checked($0.name, $0.role) }
        } else if contributors == .clear {
            metadata.authors = []
        }
        for role in Contributor.Role.allCases {
            guard let names = names[role] else { continue }
            let people = try names.map { try checked($0, role) }
            let others = metadata.authors.filter { $0.role != role }
            metadata.authors = role == .author ? people + others : others + people
        }
    }

    private func applyIdentifiers(to metadata: inout Metadata) throws {
        var numbers: [String: [String]] = [:]
        for text in identifiers {
            let (scheme, value) = try text.identifier()
            numbers[scheme, default: []] += [value].compactMap(\.self)
        }
        for (scheme, values) in numbers { metadata.identifiers[scheme] = values.isEmpty ? nil : values }
    }
}

extension MetadataEdit {
    /// Parses a page count that a person typed, such as `412`; an empty text clears.
    ///
    /// - Throws: ``InputRefusal/outOfRange(what:range:)`` for anything but a number.
    public static func pageCount(parsing text: String) throws(InputRefusal) -> Edit<Int> {
        if text.isEmpty { return .clear }
        guard let count = Int(text) else { throw .outOfRange(what: "page count", range: NumberLimit.pages) }
        return .set(count)
    }
}

extension Metadata.Format {
    /// Returns the format with this raw value, in any case.
    public static func named(_ text: String) -> Metadata.Format? { Metadata.Format(rawValue: text.lowercased()) }
}

extension Metadata {
    /// Parses a publication date that a person entered. Any text is allowed, as printed in the book, but a text that
    /// looks like a date must be one.
    ///
    /// - Returns: the text, and the day as far as the text gives it.
    /// - Throws: ``TextRefusal``, ``InputRefusal/noDay(what:text:)``.
    public static func published(_ entered: String) throws -> (text: String, day: CalendarDay?) {
        let text = try entered.checked(as: "date of publication", limit: TextLimit.name)
        let day = CalendarDay(text)
        if day == nil, text.wholeMatch(of: /[0-9]{4}(-[0-9]{1,2}){0,2}/) != nil {
            throw InputRefusal.noDay(what: "date of publication", text: text)
        }
        return (text, day)
    }
}
