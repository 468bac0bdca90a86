import Bookplate

/// A record of `/api/books?jscmd=data`.
enum OpenLibraryRecord {
    /// - Returns: `nil` without a title.
    static func metadata(_ record: JSON, covers: CoverAddress) -> Metadata? {
        guard let title = FieldLimits.text(record["title"], limit: TextLimit.title) else { return nil }
        var metadata = Metadata()
        metadata.title = title
        metadata.subtitle = FieldLimits.text(record["subtitle"], limit: TextLimit.title)
        metadata.authors = FieldLimits.texts(record["authors"]).map { Contributor(name: $0) }
        metadata.publisher = FieldLimits.texts(record["publishers"]).first
        metadata.publishedDateText = FieldLimits.text(record["publish_date"])
        metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
        metadata.pageCount = FieldLimits.pages(record["number_of_pages"])
        metadata.subjects = FieldLimits.texts(record["subjects"])
        let cover = record["cover"]
        metadata.coverURL = ["large", "medium", "small"].lazy.compactMap { covers.stored(cover?[$0]?.string) }.first
        metadata.infoLink = FieldLimits.link(record["url"])
        metadata.identifiers = OpenLibraryEdition.identifiers(record["identifiers"])
        if let number = OpenLibraryEdition.number(of: record) { metadata.identifiers["openlibrary"] = [number] }
        return metadata
    }

    /// The ISBNs it lists.
    static func numbers(_ record: JSON) -> [String] {
        FieldLimits.texts(record["identifiers"]?["isbn_13"]) + FieldLimits.texts(record["identifiers"]?["isbn_10"])
    }
}
