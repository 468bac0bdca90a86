/// A person's edit of a book's metadata. The form, the prompt, the web API and the options of commands all write
/// through it.
///
/// `nil` leaves a field as it is, an empty value clears it, and these rules hold wherever the edit comes from:
/// - A title cannot be cleared. An empty text clears any other text field. A text with nothing visible in it is
///   refused.
/// - Texts are cleaned, and must not exceed ``TextLimit``. Links must pass ``Swift/String/checkedLink(as:)``.
/// - A publication date may be any text, but a text that looks like a date must be an existing date: 2021-02-30 is
///   refused.
/// - A page count of 0 means unknown, and clears the field. Other numbers must lie in ``NumberLimit/pages``.
/// - Only fields whose values change are marked as edited by a person. This includes fields that are cleared, so that
///   no refresh fills them again.
public struct MetadataEdit: Sendable, Equatable {
    public var title: String?
    public var subtitle: String?
    /// All contributors, in the order of the title page.
    public var contributors: [Contributor]?
    /// The new authors, in order. Contributors in other roles are kept, after the authors. If ``contributors`` is set
    /// as well, it is applied first.
    public var authors: [String]?
    /// The new translators, in order. Contributors in other roles are kept, before the translators. If ``contributors``
    /// is set as well, it is applied first.
    public var translators: [String]?
    public var publisher: String?
    /// The date of publication as a person writes it, such as "1969", "1969-03-17" or "March 2009".
    public var publishedDate: String?
    public var pageCount: Int??
    public var language: String?
    public var originalLanguage: String?
    public var authorNationality: String?
    public var format: Metadata.Format??
    public var series: String?
    public var seriesNumber: String?
    public var description: String?
    public var subjects: [String]?
    public var coverURL: String?
    public var previewLink: String?
    public var infoLink: String?
    /// The identifiers of the edition in other systems, each as `scheme:value`, such as `oclc:1234567`. For each scheme
    /// in this list, the new identifiers replace the old ones; `scheme:` without a value removes the old ones. Other
    /// schemes stay as they are.
    public var identifiers: [String]?

    public init(title: String? = nil) { self.title = title }

    /// True if every field is left as it is.
    public var isEmpty: Bool { self == MetadataEdit() }

    /// Checks the values without writing them.
    ///
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` for the first value that is refused.
    public func check() throws {
        var metadata = Metadata()
        try apply(to: &metadata)
    }

    /// Checks the values, writes those that differ, and records ``SourceName/person`` as the source of their fields.
    ///
    /// - Returns: the fields whose values changed.
    /// - Throws: ``TextRefusal`` or ``InputRefusal`` for the first value that is refused; in that case, nothing is
    ///   written.
    @discardableResult
    public func apply(to metadata: inout Metadata) throws -> Set<Metadata.Field> {
        var new = metadata
        try applyTexts(to: &new)
        try applyLinks(to: &new)
        try applyPeople(to: &new)
        if let subjects { new.subjects = try subjects.map { try $0.checked(as: "subject", limit: TextLimit.name) } }
        if let publishedDate {
            let published = publishedDate.isEmpty ? nil : try Metadata.published(publishedDate)
            (new.publishedDateText, new.publishedDate) = (published?.text, published?.day)
        }
        if let pageCount {
            new.pageCount = pageCount == 0 ? nil : pageCount
            try NumberLimit.check(new.pageCount, as: "page count", in: NumberLimit.pages)
        }
        if let format { new.format = format }
        try applyIdentifiers(to: &new)
        let fields = new.fields(differingFrom: metadata)
        for field in fields { new.sources[field] = .person }
        metadata = new
        return fields
    }

    private func applyTexts(to metadata: inout Metadata) throws {
        func apply(_ text: String?, to path: WritableKeyPath<Metadata, String?>, as what: String, limit: Int) throws {
            guard let text else { return }
            metadata[keyPath: path] = text.isEmpty ? nil : try text.checked(as: what, limit: limit)
        }
        if let title { metadata.title = try title.checked(as: "title", limit: TextLimit.title) }
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
        func apply(_ text: String?, to path: WritableKeyPath<Metadata, String?>, as what: String) throws {
            guard let text else { return }
            metadata[keyPath: path] = text.isEmpty ? nil : try text.checkedLink(as: what)
        }
        try apply(coverURL, to: \.coverURL, as: "cover's address")
        try apply(previewLink, to: \.previewLink, as: "preview link")
        try apply(infoLink, to: \.infoLink, as: "info link")
    }

    private func applyPeople(to metadata: inout Metadata) throws {
        func person(_ name: String, _ role: Contributor.Role) throws -> Contributor {
            let what = role == .translator ? "translator" : "author"
            return Contributor(name: try name.checked(as: what, limit: TextLimit.name), role: role)
        }
        if let contributors { metadata.authors = try contributors.map { try person($0.name, $0.role) } }
        if let authors {
            metadata.authors =
                try authors.map { try person($0, .author) } + metadata.authors.filter { $0.role != .author }
        }
        if let translators {
            metadata.authors =
                try metadata.authors.filter { $0.role != .translator } + translators.map { try person($0, .translator) }
        }
    }

    private func applyIdentifiers(to metadata: inout Metadata) throws {
        var numbers: [String: [String]] = [:]
        for text in identifiers ?? [] {
            let (scheme, value) = try text.identifier()
            numbers[scheme, default: []] += [value].compactMap(\.self)
        }
        for (scheme, values) in numbers { metadata.identifiers[scheme] = values.isEmpty ? nil : values }
    }
}

extension Metadata.Format {
    /// Returns the format with this raw value, ignoring case.
    public static func named(_ text: String) -> Metadata.Format? { Metadata.Format(rawValue: text.lowercased()) }
}

extension Metadata {
    /// Parses a publication date that a person entered. Any text is allowed, because the date is entered as it is
    /// printed in the book, but a text that looks like a date must be an existing date.
    ///
    /// - Returns: the text, and the date in it; the date is `nil` if the text has no year.
    /// - Throws: ``TextRefusal``, or ``InputRefusal/noDay(what:text:)`` if there is no such day.
    public static func published(_ entered: String) throws -> (text: String, day: CalendarDay?) {
        let text = try entered.checked(as: "date of publication", limit: TextLimit.name)
        if let day = CalendarDay(text) { return (text, day) }
        guard text.wholeMatch(of: /[0-9]{4}(-[0-9]{1,2}){0,2}/) == nil else {
            throw InputRefusal.noDay(what: "date of publication", text: text)
        }
        return (text, PublishedDate.day(in: text))
    }
}

/// An edit of an optional field.
public enum Edit<Value: Sendable & Equatable>: Sendable, Equatable {
    case keep
    case clear
    case set(Value)

    /// Returns the value of the field after the edit.
    public func applied(to value: Value?) -> Value? {
        switch self {
        case .keep: value
        case .clear: nil
        case .set(let new): new
        }
    }
}
