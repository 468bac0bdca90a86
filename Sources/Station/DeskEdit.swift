import Bookplate

extension Desk.Edit {
    /// Writes what is said and differs, and marks it as a person's.
    ///
    /// - Returns: the fields that were changed.
    func apply(to metadata: inout Metadata) throws -> Set<Metadata.Field> {
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

extension Preset {
    /// Its names as they are stored.
    public func checked() throws(TextRefusal) -> Preset {
        var preset = self
        preset.shelf = try shelf.map { text throws(TextRefusal) in try text.checked(as: "shelf", limit: TextLimit.name)
        }
        preset.tags = []
        for tag in tags { preset.tags.append(try tag.checked(as: "tag", limit: TextLimit.name)) }
        return preset
    }
}
