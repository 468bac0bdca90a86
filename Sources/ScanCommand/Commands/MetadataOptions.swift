import ArgumentParser
import Bookplate

/// The fields of an edition that a person can give on the command line.
struct MetadataOptions: ParsableArguments {
    @Option(help: "The title.") var title: String?
    @Option(help: "The subtitle; \"\" clears it.") var subtitle: String?

    @Option(
        name: .customLong("author"),
        help: ArgumentHelp(
            "An author, in the order of the title page; \"Name:translator\" gives a role.", valueName: "name"))
    var authors: [String] = []

    @Option(help: "The publisher.") var publisher: String?
    @Option(help: ArgumentHelp("When it was published: 1969, 1969-03, or as it is printed.", valueName: "date"))
    var published: String?
    @Option(help: "How many pages it has.") var pages: Int?
    @Option(help: ArgumentHelp("ISO 639 code of its language.", valueName: "code")) var language: String?
    @Option(help: "The series it belongs to.") var series: String?
    @Option(help: ArgumentHelp("Its number in the series.", valueName: "number")) var seriesNumber: String?
    @Option(help: "What it is about.") var description: String?

    var isEmpty: Bool {
        title == nil && subtitle == nil && authors.isEmpty && publisher == nil && published == nil && pages == nil
            && language == nil && series == nil && seriesNumber == nil && description == nil
    }

    /// What was given, checked, as a change that marks the fields as a person's.
    ///
    /// - Throws: ``Complaint`` for a text that is too long or a page count that is none.
    func change() throws -> @Sendable (inout Metadata) -> Void {
        let given = try checked()
        return { metadata in
            for field in given.fields { metadata.take(field, from: given.metadata) }
        }
    }

    private func checked() throws -> (metadata: Metadata, fields: Set<Metadata.Field>) {
        var metadata = Metadata()
        var fields: Set<Metadata.Field> = []
        func take(
            _ text: String?, as name: Metadata.Field, _ limit: Int, into field: WritableKeyPath<Metadata, String?>
        ) throws(TextRefusal) {
            guard let text else { return }
            fields.insert(name)
            metadata[keyPath: field] =
                text.isEmpty && name != .title ? nil : try text.checked(as: name.rawValue, limit: limit)
        }
        do throws(TextRefusal) {
            try take(title, as: .title, TextLimit.title, into: \.title)
            try take(subtitle, as: .subtitle, TextLimit.title, into: \.subtitle)
            try take(publisher, as: .publisher, TextLimit.name, into: \.publisher)
            try take(language, as: .language, 35, into: \.language)
            try take(series, as: .series, TextLimit.name, into: \.series)
            try take(seriesNumber, as: .series, 32, into: \.seriesNumber)
            try take(description, as: .description, TextLimit.description, into: \.description)
            try take(published, as: .publishedDate, TextLimit.name, into: \.publishedDateText)
            metadata.publishedDate = metadata.publishedDateText.flatMap { CalendarDay($0) }
            for author in authors { metadata.authors.append(try Self.contributor(author)) }
        } catch {
            throw Complaint(.usage, error.description + ".")
        }
        if !authors.isEmpty { fields.insert(.authors) }
        if let pages {
            guard (0...1_000_000).contains(pages) else {
                throw Complaint(.usage, "--pages is a number from 1; 0 clears it.")
            }
            metadata.pageCount = pages == 0 ? nil : pages
            fields.insert(.pageCount)
        }
        for field in fields { metadata.sources[field] = .person }
        return (metadata, fields)
    }

    private static func contributor(_ text: String) throws(TextRefusal) -> Contributor {
        let parts = text.split(separator: ":", maxSplits: 1)
        if parts.count == 2, let role = Contributor.Role(rawValue: parts[1].lowercased()) {
            return Contributor(name: try String(parts[0]).checked(as: "author", limit: TextLimit.name), role: role)
        }
        return Contributor(name: try text.checked(as: "author", limit: TextLimit.name))
    }
}
