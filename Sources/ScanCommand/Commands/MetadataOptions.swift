import ArgumentParser
import Bookplate
import Foundation

/// The options for the fields of an edition. An empty text clears a field.
struct MetadataOptions: ParsableArguments {
    @Option(help: "The title.") var title: String?
    @Option(help: "The subtitle; \"\" clears it, as in the options below.") var subtitle: String?

    @Option(
        name: .customLong("author"),
        help: ArgumentHelp(
            "An author, in the order of the title page (can be repeated); \"Name:editor\" gives a role.",
            valueName: "name"))
    var authors: [String] = []

    @Option(
        name: .customLong("translator"),
        help: ArgumentHelp("A translator (can be repeated).", valueName: "name"))
    var translators: [String] = []

    @Option(help: ArgumentHelp("The nationality of the first author.", valueName: "country"))
    var authorNationality: String?
    @Option(help: "The publisher.") var publisher: String?
    @Option(help: ArgumentHelp("The date of publication: 1969, 1969-03, or as it is printed.", valueName: "date"))
    var published: String?
    @Option(help: "The number of pages; 0 clears it.") var pages: Int?
    @Option(help: ArgumentHelp("The ISO 639 code of its language.", valueName: "code")) var language: String?
    @Option(help: ArgumentHelp("The ISO 639 code of the language it was written in.", valueName: "code"))
    var originalLanguage: String?
    @Option(help: ArgumentHelp("The format: physical, digital or audiobook.", valueName: "format")) var format: String?
    @Option(help: "The series it belongs to.") var series: String?
    @Option(help: ArgumentHelp("Its number in the series.", valueName: "number")) var seriesNumber: String?

    @Option(
        name: [.customLong("subject"), .customLong("genre")],
        help: ArgumentHelp("A genre or subject (can be repeated); they replace those it has.", valueName: "name"))
    var subjects: [String] = []

    @Option(help: "The description.") var description: String?
    @Option(name: .customLong("cover-url"), help: ArgumentHelp("The address of its cover picture.", valueName: "link"))
    var coverURL: String?
    @Option(help: ArgumentHelp("The address of a preview.", valueName: "link")) var previewLink: String?
    @Option(help: ArgumentHelp("The address of a page about it.", valueName: "link")) var infoLink: String?

    @Option(
        name: .customLong("identifier"),
        help: ArgumentHelp(
            "Its number in another system, such as goodreads:44767458 (can be repeated); goodreads: clears it.",
            valueName: "scheme:value"))
    var identifiers: [String] = []

    var isEmpty: Bool {
        [
            title, subtitle, authorNationality, publisher, published, language, originalLanguage, format, series,
            seriesNumber, description, coverURL, previewLink, infoLink,
        ].allSatisfy { $0 == nil } && [authors, translators, subjects, identifiers].allSatisfy(\.isEmpty)
            && pages == nil
    }

    /// What was given, checked, as a change that marks the fields as a person's.
    ///
    /// - Throws: ``TextRefusal``, ``InputRefusal`` or ``CommandError`` for what cannot be.
    func change() throws -> @Sendable (inout Metadata) -> Void {
        var changes: [@Sendable (inout Metadata) -> Void] = []
        func set<Value: Sendable>(
            _ field: Metadata.Field, _ path: WritableKeyPath<Metadata, Value> & Sendable, _ value: Value
        ) {
            changes.append { metadata in
                metadata[keyPath: path] = value
                metadata.sources[field] = .person
            }
        }
        func text(
            _ text: String?, as what: String, _ field: Metadata.Field, _ limit: Int,
            into path: WritableKeyPath<Metadata, String?> & Sendable
        ) throws {
            guard let text else { return }
            set(field, path, text.isEmpty ? nil : try text.checked(as: what, limit: limit))
        }
        func link(
            _ text: String?, as what: String, _ field: Metadata.Field,
            into path: WritableKeyPath<Metadata, String?> & Sendable
        ) throws {
            guard let text else { return }
            set(field, path, text.isEmpty ? nil : try text.checkedLink(as: what))
        }
        if let title { set(.title, \.title, try title.checked(as: "title", limit: TextLimit.title)) }
        try text(subtitle, as: "subtitle", .subtitle, TextLimit.title, into: \.subtitle)
        try text(
            authorNationality, as: "author's nationality", .authorNationality, TextLimit.name,
            into: \.authorNationality)
        try text(publisher, as: "publisher", .publisher, TextLimit.name, into: \.publisher)
        try text(language, as: "language", .language, TextLimit.language, into: \.language)
        try text(
            originalLanguage, as: "original language", .originalLanguage, TextLimit.language, into: \.originalLanguage)
        try text(series, as: "series", .series, TextLimit.name, into: \.series)
        try text(seriesNumber, as: "number in the series", .series, TextLimit.seriesNumber, into: \.seriesNumber)
        try text(description, as: "description", .description, TextLimit.description, into: \.description)
        try link(coverURL, as: "cover's address", .coverURL, into: \.coverURL)
        tellWhereCoversComeFrom()
        try link(previewLink, as: "preview link", .previewLink, into: \.previewLink)
        try link(infoLink, as: "info link", .infoLink, into: \.infoLink)
        if let published {
            let date = published.isEmpty ? nil : try Metadata.published(published)
            set(.publishedDate, \.publishedDateText, date?.text)
            set(.publishedDate, \.publishedDate, date?.day)
        }
        if let pages {
            try NumberLimit.check(pages == 0 ? nil : pages, as: "page count", in: NumberLimit.pages)
            set(.pageCount, \.pageCount, pages == 0 ? nil : pages)
        }
        if let format { set(.format, \.format, try Self.format(format)) }
        if let subjects = try Self.names(subjects, "subject") { set(.subjects, \.subjects, subjects) }
        if let people = try people() { changes.append(people) }
        if let numbers = try numbers() { changes.append(numbers) }
        let all = changes
        return { metadata in
            for change in all { change(&metadata) }
        }
    }

    /// The address is kept whatever it is, but a picture comes from few hosts only.
    private func tellWhereCoversComeFrom() {
        guard let coverURL, !coverURL.isEmpty else { return }
        let host = coverURL.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" && $0 != ":" && $0 != "?" }
        guard !coverURL.lowercased().hasPrefix("https:") || !CoverHosts.allows(String(host)) else { return }
        Output.shared.note(
            "Covers are fetched by https from \(CoverHosts.allowed.joined(separator: ", ")) only. This address is kept, but no cover is fetched from it."
        )
    }

    /// The authors take the place of all who made the book, the translators only that of the translators.
    private func people() throws -> (@Sendable (inout Metadata) -> Void)? {
        let given = try Self.names(authors, "author")?.map(Self.contributor)
        let translators = try Self.names(translators, "translator")?.map { Contributor(name: $0, role: .translator) }
        guard given != nil || translators != nil else { return nil }
        return { metadata in
            var people = given ?? metadata.authors
            if let translators { people = people.filter { $0.role != .translator } + translators }
            metadata.authors = people
            metadata.sources[.authors] = .person
        }
    }

    /// The numbers of one scheme take the place of those it had; other schemes stay.
    private func numbers() throws -> (@Sendable (inout Metadata) -> Void)? {
        guard !identifiers.isEmpty else { return nil }
        var given: [String: [String]] = [:]
        for text in identifiers {
            let (scheme, value) = try text.identifier()
            given[scheme, default: []] += [value].compactMap(\.self)
        }
        return { [given] metadata in
            for (scheme, values) in given { metadata.identifiers[scheme] = values.isEmpty ? nil : values }
            metadata.sources[.identifiers] = .person
        }
    }

    /// - Returns: `nil` when none is given, an empty list for one empty name.
    private static func names(_ names: [String], _ what: String) throws -> [String]? {
        if names.isEmpty { return nil }
        if names == [""] { return [] }
        return try names.map { try $0.checked(as: what, limit: TextLimit.name) }
    }

    private static func contributor(_ name: String) -> Contributor {
        guard let colon = name.lastIndex(of: ":"),
            let role = Contributor.Role(rawValue: name[name.index(after: colon)...].lowercased()),
            colon > name.startIndex
        else { return Contributor(name: name) }
        return Contributor(name: String(name[..<colon]).cleanedLine, role: role)
    }

    private static func format(_ text: String) throws -> Metadata.Format? {
        if text.isEmpty { return nil }
        guard let format = Metadata.Format(rawValue: text.lowercased()) else {
            throw CommandError(
                .usage, "--format takes physical, digital or audiobook, not \"\(text.prefix(40).printable)\".")
        }
        return format
    }
}
