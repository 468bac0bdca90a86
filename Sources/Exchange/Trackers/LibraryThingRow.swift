import Bookplate

/// Reads LibraryThing's tab-delimited export. Older exports are in ISO-8859-1, newer ones in UTF-16 or UTF-8. Some
/// values are in brackets, and names are written as "Le Guin, Ursula K.".
enum LibraryThingRow: TrackerRow {
    static let format = ExchangeFormat.libraryThing

    static func matches(_ columns: Set<String>) -> Bool {
        columns.contains("title") && columns.contains("primary author")
            || columns.isSuperset(of: ["book id", "title", "collections"])
    }

    static func read(_ row: inout RowDraft) -> String? {
        row.metadata.title = row.text("title", TextLimit.title)
        row.addAuthor(turned(row["primary author"]), Contributor.Role(parsing: row["primary author role"]))
        let roles = row["secondary author roles"].split(separator: "|", omittingEmptySubsequences: false).map(
            String.init)
        for (index, name) in row["secondary author"].split(separator: "|", maxSplits: 99).enumerated() {
            row.addAuthor(
                turned(String(name)), Contributor.Role(parsing: roles.indices.contains(index) ? roles[index] : ""))
        }
        let numbers = (bare(row["isbn"]) + "," + bare(row["isbns"])).split(separator: ",").map { String($0).cleaned }
        row.setISBN(numbers.sorted { $0.utf8.count > $1.utf8.count })
        row.setPublished(bare(row["date"]))
        // The publisher comes first, as in "Ace (1987), Edition: Reissue, Paperback, 304 pages".
        row.metadata.publisher = row.cut(String(row["publication"].prefix { $0 != "(" && $0 != "," }), "publication")
        row.metadata.format = GoodreadsRow.format(row["media"])
        row.setPages("page count")
        row.metadata.language = language(row["languages"], &row)
        row.metadata.originalLanguage = language(row["original languages"], &row)
        for (column, scheme) in [("oclc", "oclc"), ("lccn", "lccn"), ("work id", "librarythingWork")] {
            if let value = row.cut(bare(row[column]), column) { row.metadata.identifiers[scheme] = [value] }
        }
        row.setAdded("entry date")
        row.setRating(row["rating"])
        row.copy.tags = row.names(row["tags"], by: ",", "tags")
        readCollections(&row)
        row.addNote(row["review"], "review")
        row.addNote(row["comment"], "comment")
        row.addNote(row["private comment"], "private comment", isPrivate: true)
        let id = bare(row["book id"]).cleaned
        guard !id.isEmpty, id.utf8.count <= 32 else { return nil }
        row.metadata.identifiers["librarything"] = [id]
        return "libraryThing:\(id)"
    }

    private static func readCollections(_ row: inout RowDraft) {
        var status: Copy.Status?
        for name in row.names(bare(row["collections"]), by: ",", "collections") {
            switch name.lowercased() {
            case "your library": break
            case "wishlist":
                row.copy.isOwned = false
                row.copy.isOnWishlist = true
            case "favorites", "favourites": row.copy.isFavourite = true
            case "read but unowned":
                row.copy.isOwned = false
                status = status ?? .read
            default:
                if let named = Copy.Status(parsing: name) {
                    status = named
                } else if !row.copy.tags.contains(name) {
                    row.copy.tags.append(name)
                }
            }
        }
        let started = bare(row["date started"]).split(separator: ",").map(String.init)
        let finished = bare(row["date read"]).split(separator: ",").map(String.init)
        let spans = (0..<max(started.count, finished.count)).map { index in
            RowDraft.Span(
                started: index < started.count ? row.day(started[index], "date started") : nil,
                finished: index < finished.count ? row.day(finished[index], "date read") : nil)
        }
        let impliedStatus: Copy.Status =
            spans.contains { $0.finished != nil } ? .read : spans.contains { $0.started != nil } ? .reading : .toRead
        row.setReadings(status ?? impliedStatus, spans)
    }

    /// Returns the text without brackets: `2070291340` for `[2070291340]`.
    private static func bare(_ text: String) -> String { text.filter { $0 != "[" && $0 != "]" } }

    /// Turns "Le Guin, Ursula K." into "Ursula K. Le Guin".
    private static func turned(_ name: String) -> String {
        let parts = name.split(separator: ",").map { String($0).cleaned }
        return parts.count == 2 ? "\(parts[1]) \(parts[0])" : name
    }

    /// Returns the ISO 639 code of the first language in the text; `nil` if there is none or it is unknown.
    private static func language(_ text: String, _ row: inout RowDraft) -> String? {
        guard let name = text.split(separator: ",").first.map({ String($0).cleaned }), !name.isEmpty else { return nil }
        guard let code = languages[name.lowercased()] else {
            row.addDoubt("\"\(name.excerpt)\" is not a known language and was left out")
            return nil
        }
        return code
    }

    private static let languages = [
        "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "dutch": "nl",
        "portuguese": "pt", "portuguese (brazil)": "pt", "swedish": "sv", "danish": "da", "norwegian": "no",
        "finnish": "fi", "polish": "pl", "czech": "cs", "russian": "ru", "ukrainian": "uk", "greek": "el",
        "greek (ancient)": "grc", "latin": "la", "hungarian": "hu", "romanian": "ro", "turkish": "tr", "arabic": "ar",
        "hebrew": "he", "japanese": "ja", "chinese": "zh", "korean": "ko", "hindi": "hi", "persian": "fa",
        "catalan": "ca", "icelandic": "is", "irish": "ga", "welsh": "cy", "croatian": "hr", "serbian": "sr",
        "bulgarian": "bg", "slovak": "sk", "slovene": "sl", "english (middle)": "enm", "english (old)": "ang",
        "yiddish": "yi", "vietnamese": "vi", "indonesian": "id", "swahili": "sw", "esperanto": "eo",
    ]
}
