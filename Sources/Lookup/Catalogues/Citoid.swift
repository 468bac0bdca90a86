import Bookplate

/// Reads answers of Citoid, Wikipedia's citation service: an array of items of Zotero, with people as pairs of first
/// and last name (format `mediawiki`) or as creators. Source: mediawiki.org/wiki/Citoid/API.
enum Citoid {
    @Sendable static func read(_ bytes: [UInt8], _ isbns: [ISBN]) -> [ISBN: SourceAnswer] {
        JSONAnswer.read(bytes, isbns, of: .citoid) { json, isbn in
            guard case .array(let items) = json else {
                // The body of its 404.
                let isMissing =
                    json["type"]?.string?.hasSuffix("not_found") == true || json["title"]?.string == "Not found."
                return isMissing ? .notFound : nil
            }
            return JSONAnswer.first(items, of: isbn, from: .citoid, numbers: numbers, metadata: metadata)
        }
    }

    /// A list of numbers, or one text with commas.
    private static func numbers(_ item: JSONValue) -> [String] {
        FieldLimits.texts(item["ISBN"]).flatMap { $0.split { ", ;".contains($0) }.map(String.init) }
    }

    private static func metadata(_ item: JSONValue) -> Metadata {
        var metadata = Metadata()
        (metadata.title, metadata.subtitle) =
            FieldLimits.text(item["title"], limit: TextLimit.title).map { MarcText.title($0) } ?? (nil, nil)
        for (key, role) in roles {
            for pair in (item[key]?.items ?? []).prefix(FieldLimits.items) { metadata.authors.add(name(pair), role) }
        }
        for creator in (item["creators"]?.items ?? []).prefix(FieldLimits.items) {
            let kind = creator["creatorType"]?.string ?? "author"
            metadata.authors.add(name(creator), roles.first { $0.key == kind }?.role)
        }
        metadata.publisher = MarcText.publisher(item["publisher"]?.string)
        metadata.setPublished([item["date"]?.string].compactMap(\.self))
        metadata.pageCount =
            FieldLimits.pages(item["numPages"]) ?? item["numPages"]?.string.flatMap(FieldLimits.pages(inExtent:))
        metadata.language = item["language"]?.string.flatMap(LanguageCode.normalized)
        metadata.format = item["itemType"]?.string == "audioRecording" ? .audiobook : nil
        if let series = MarcText.series(item["series"]?.string, number: item["seriesNumber"]?.string) {
            (metadata.series, metadata.seriesNumber) = (series.name, series.number)
        }
        metadata.description = FieldLimits.text(item["abstractNote"], limit: TextLimit.description)
        metadata.identifiers["oclc"] = FieldLimits.text(item["oclc"], limit: 64).map { [$0] }
        return metadata
    }

    /// The types of creators of Zotero that make someone a contributor.
    private static let roles: [(key: String, role: Contributor.Role)] = [
        ("author", .author), ("translator", .translator), ("editor", .editor), ("contributor", .other),
        ("seriesEditor", .other),
    ]

    /// Joins the parts of a name. A name that the service has not divided stands in the last part: "Timms, Duncan.".
    private static func name(_ value: JSONValue) -> String? {
        let parts =
            value.items.isEmpty
            ? [
                value["firstName"]?.string ?? "",
                value["lastName"]?.string ?? value["name"]?.string ?? value.string ?? "",
            ]
            : value.items.compactMap(\.string)
        let filled = parts.map(\.cleanedLine).filter { !$0.isEmpty }
        let name = filled.joined(separator: " ")
        // The service has divided "Gliessman, Stephen R., 1948-" at a space.
        return filled.count == 1 || name.contains(",") ? PersonName.displayed(name) : FieldLimits.text(name)
    }
}
