import Bookplate

extension Metadata {
    /// The metadata as it is stored: texts cleaned and cut at their limits, what is empty left out.
    var storable: Metadata {
        var stored = self
        stored.title = title?.storable(TextLimit.title)
        stored.subtitle = subtitle?.storable(TextLimit.title)
        stored.publisher = publisher?.storable(TextLimit.name)
        stored.publishedDateText = publishedDateText?.storable(TextLimit.name)
        stored.pageCount = pageCount.flatMap { $0 > 0 ? $0 : nil }
        stored.language = language?.storable(TextLimit.name)
        stored.originalLanguage = originalLanguage?.storable(TextLimit.name)
        stored.authorNationality = authorNationality?.storable(TextLimit.name)
        stored.series = series?.storable(TextLimit.name)
        stored.seriesNumber = seriesNumber?.storable(TextLimit.name)
        stored.description = description?.storable(TextLimit.description)
        stored.coverURL = coverURL?.storable(linkLimit)
        stored.previewLink = previewLink?.storable(linkLimit)
        stored.infoLink = infoLink?.storable(linkLimit)
        stored.authors = authors.compactMap { author in
            author.name.storable(TextLimit.name).map { Contributor(name: $0, role: author.role) }
        }
        stored.subjects = subjects.compactMap { $0.storable(TextLimit.name) }
        stored.identifiers = [:]
        for (scheme, values) in identifiers {
            let values = values.compactMap { $0.storable(TextLimit.name) }
            guard let scheme = scheme.storable(TextLimit.name), !values.isEmpty else { continue }
            stored.identifiers[scheme] = values
        }
        let filled = Set(stored.filledFields)
        stored.sources = sources.filter { filled.contains($0.key) }
        return stored
    }
}

/// Longer addresses are no addresses of covers or book pages.
private let linkLimit = 2048

extension String {
    /// The text cleaned and cut after `limit` characters; `nil` when nothing is left.
    func storable(_ limit: Int) -> String? {
        // No character that is meant needs more than 16 bytes; the bound keeps a text of megabytes from being counted.
        let text = utf8.count <= limit ? self : String(decoding: utf8.prefix(limit * 16), as: UTF8.self)
        let cleaned = text.cleaned
        let cut = cleaned.utf8.count <= limit ? cleaned : String(cleaned.prefix(limit)).cleaned
        return cut.isEmpty ? nil : cut
    }
}
