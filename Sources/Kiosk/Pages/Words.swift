import Bookplate

// What stands in the library as a word for programs, as a word for people. One set of them, for every page.
extension Texts {
    func word(for role: Contributor.Role) -> String { self("common.role_\(role.rawValue)") }

    func word(for format: Metadata.Format?) -> String { self("common.format_\(format?.rawValue ?? "unknown")") }

    func word(for status: Copy.Status) -> String { self("common.\(status.rawValue)") }

    func source(_ source: SourceName) -> String {
        switch source {
        case .library, .offlineIndex, .person: self("common.source_\(source.rawValue)")
        case .openLibrary, .googleBooks, .openLibraryCovers, .googleBooksCovers: source.displayName
        }
    }

    /// A language's name: "German", also of one with a region (BCP 47, 2.1), "German (AT)". What the pages do not know stays a code.
    func language(code: String) -> String {
        let names = section("languages")
        let parts = code.cleanedLine.split(separator: "-", maxSplits: 1)
        guard let name = parts.first.flatMap({ names[$0.lowercased()] }) else {
            return String(code.cleanedLine.prefix(35))
        }
        return parts.count > 1 ? "\(name) (\(parts[1].prefix(20)))" : name
    }

    /// Who numbers books so, as they write themselves: the same in every language.
    func identifier(_ scheme: String) -> String {
        Self.identifiers[scheme.lowercased()] ?? scheme.cleanedLine.replacing("_", with: " ")
    }

    private static let identifiers = [
        "amazon": "Amazon", "asin": "ASIN", "doi": "DOI", "goodreads": "Goodreads", "google": "Google Books",
        "isbn_10": "ISBN-10", "isbn_13": "ISBN-13", "lccn": "LCCN", "librarything": "LibraryThing", "oclc": "OCLC",
        "openlibrary": "Open Library", "overdrive": "OverDrive", "project_gutenberg": "Project Gutenberg",
        "storygraph": "StoryGraph", "wikidata": "Wikidata",
    ]
}

extension String {
    /// As the beginning of a line or a choice: "translator" is "Translator".
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
