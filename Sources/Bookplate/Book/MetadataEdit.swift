/// A person's changes to a book's metadata: nil leaves a field as it is, an empty value clears it.
public struct MetadataEdit: Sendable, Equatable {
    public var title: String?
    public var subtitle: String?
    /// Names in the order of the title page; other contributors stay.
    public var authors: [String]?
    public var publisher: String?
    /// As a person writes it: "March 2009".
    public var publishedDate: String?
    public var pageCount: Int??

    public init(title: String? = nil) { self.title = title }

    /// Checks the values, writes those that differ, and marks them as a person's.
    ///
    /// - Returns: the fields that were changed.
    public func apply(to metadata: inout Metadata) throws -> Set<Metadata.Field> {
        var new = metadata
        if let title { new.title = try title.checked(as: "title", limit: TextLimit.title) }
        if let subtitle { new.subtitle = try Self.optional(subtitle, "subtitle", TextLimit.title) }
        if let authors {
            let names = try authors.compactMap { try Self.optional($0, "author", TextLimit.name) }
            new.authors = names.map { Contributor(name: $0) } + metadata.authors.filter { $0.role != .author }
        }
        if let publisher { new.publisher = try Self.optional(publisher, "publisher", TextLimit.name) }
        if let publishedDate {
            let published = publishedDate.cleanedLine.isEmpty ? nil : try Metadata.published(publishedDate)
            (new.publishedDateText, new.publishedDate) = (published?.text, published?.day)
        }
        if let pageCount {
            try NumberLimit.check(pageCount, as: "page count", in: NumberLimit.pages)
            new.pageCount = pageCount
        }
        let fields = new.fields(differingFrom: metadata)
        for field in fields { new.sources[field] = .person }
        metadata = new
        return fields
    }

    private static func optional(_ text: String, _ what: String, _ limit: Int) throws(TextRefusal) -> String? {
        text.cleanedLine.isEmpty ? nil : try text.checked(as: what, limit: limit)
    }
}
