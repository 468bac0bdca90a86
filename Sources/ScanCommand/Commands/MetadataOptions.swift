import ArgumentParser
import Bookplate
import Foundation
import Terminal

/// The options for the fields of an edition. An empty text clears a field.
struct MetadataOptions: ParsableArguments {
    @Option(help: "The title.") var title: String?
    @Option(help: "The subtitle; \"\" clears it. The text options below can be cleared in the same way.")
    var subtitle: String?

    @Option(
        name: .customLong("author"),
        help: ArgumentHelp(
            "An author (can be repeated, in the order of the title page). \"Name:editor\" adds a role.",
            valueName: "name"), completion: .values(.author))
    var authors: [String] = []

    @Option(
        name: .customLong("translator"),
        help: ArgumentHelp("A translator (can be repeated).", valueName: "name"), completion: .values(.author))
    var translators: [String] = []

    @Option(help: ArgumentHelp("The nationality of the first author.", valueName: "country"))
    var authorNationality: String?
    @Option(help: "The publisher.") var publisher: String?
    @Option(
        help: ArgumentHelp(
            "The date of publication: 1969, 1969-03, or as it is printed in the book.", valueName: "date"))
    var published: String?
    @Option(help: "The number of pages; 0 clears it.") var pages: Int?
    @Option(
        help: ArgumentHelp("The ISO 639 code of the book's language.", valueName: "code"),
        completion: .values(.language)) var language: String?
    @Option(
        help: ArgumentHelp("The ISO 639 code of the language in which the book was written.", valueName: "code"),
        completion: .values(.language))
    var originalLanguage: String?
    @Option(
        help: ArgumentHelp("The format: 'physical', 'digital' or 'audiobook'.", valueName: "format"),
        completion: .list(["physical", "digital", "audiobook"]))
    var format: String?
    @Option(help: "The series to which the book belongs.") var series: String?
    @Option(help: ArgumentHelp("The book's number in the series.", valueName: "number")) var seriesNumber: String?

    @Option(
        name: [.customLong("subject"), .customLong("genre")],
        help: ArgumentHelp(
            "A genre or subject (can be repeated). The given ones replace all existing subjects of the book.",
            valueName: "name"))
    var subjects: [String] = []

    @Option(help: "The description.") var description: String?
    @Option(
        name: .customLong("cover-url"),
        help: ArgumentHelp("The address of the book's cover picture.", valueName: "link"))
    var coverURL: String?
    @Option(help: ArgumentHelp("The address of a preview of the book.", valueName: "link")) var previewLink: String?
    @Option(help: ArgumentHelp("The address of a web page about the book.", valueName: "link")) var infoLink: String?

    @Option(
        name: .customLong("identifier"),
        help: ArgumentHelp(
            "The book's number in another system, such as goodreads:44767458 (can be repeated). \"goodreads:\" clears it.",
            valueName: "scheme:value"))
    var identifiers: [String] = []

    var isEmpty: Bool {
        [
            title, subtitle, authorNationality, publisher, published, language, originalLanguage, format, series,
            seriesNumber, description, coverURL, previewLink, infoLink,
        ].allSatisfy { $0 == nil } && [authors, translators, subjects, identifiers].allSatisfy(\.isEmpty)
            && pages == nil
    }

    /// Returns the given fields as an edit. Prints a warning if no picture can be fetched from the cover's address.
    ///
    /// - Throws: ``TextRefusal``, ``InputRefusal`` or ``CommandError`` for a value that is refused.
    func edit() throws -> MetadataEdit {
        var edit = MetadataEdit(title: title)
        /// Returns the new value of a field that holds a list of names. If no names are given, returns nil, which keeps
        /// the field. If the only name is empty, returns an empty list, which clears the field.
        func given(_ names: [String]) -> [String]? { names.isEmpty ? nil : names == [""] ? [] : names }
        edit.subtitle = subtitle
        edit.contributors = given(authors)?.map(Self.contributor)
        edit.translators = given(translators)
        edit.authorNationality = authorNationality
        edit.publisher = publisher
        edit.publishedDate = published
        edit.pageCount = pages.map { .some($0) }
        edit.language = language
        edit.originalLanguage = originalLanguage
        edit.format = try format.map(Self.format)
        edit.series = series
        edit.seriesNumber = seriesNumber
        edit.subjects = given(subjects)
        edit.description = description
        edit.coverURL = coverURL
        edit.previewLink = previewLink
        edit.infoLink = infoLink
        edit.identifiers = identifiers
        try edit.check()
        warnAboutCoverHost()
        return edit
    }

    /// Warns if no cover will be fetched from the given address. Any address is stored, but pictures are fetched only
    /// from a few hosts.
    private func warnAboutCoverHost() {
        guard let coverURL, !coverURL.isEmpty else { return }
        let host = coverURL.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" && $0 != ":" && $0 != "?" }
        guard !coverURL.lowercased().hasPrefix("https:") || !CoverHosts.allows(String(host)) else { return }
        Output.shared.printNotice(
            "Covers are fetched only over https, and only from \(CoverHosts.allowed.joined(separator: ", ")). This address is kept, but no cover is fetched from it."
        )
    }

    /// Separates a name from its role: "Ann Goldstein:translator".
    private static func contributor(_ name: String) -> Contributor {
        guard let colon = name.lastIndex(of: ":"),
            let role = Contributor.Role(rawValue: name[name.index(after: colon)...].lowercased()),
            colon > name.startIndex
        else { return Contributor(name: name) }
        return Contributor(name: String(name[..<colon]), role: role)
    }

    /// - Returns: `nil` for an empty text, which clears the format.
    private static func format(_ text: String) throws -> Metadata.Format? {
        if text.isEmpty { return nil }
        guard let format = Metadata.Format.named(text) else {
            throw CommandError(
                .usage,
                "--format is \"\(text.prefix(40).printable)\"; it must be \"physical\", \"digital\" or \"audiobook\"."
            )
        }
        return format
    }
}
