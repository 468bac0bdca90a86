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
        stored.coverURL = coverURL?.storable(TextLimit.link)
        stored.previewLink = previewLink?.storable(TextLimit.link)
        stored.infoLink = infoLink?.storable(TextLimit.link)
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

extension String {
    /// The text cleaned (on one line unless its limit is a text's with lines) and cut after `limit` characters; `nil` when
    /// nothing is left.
    func storable(_ limit: Int) -> String? {
        let cleaned = start(bytes: limit * TextLimit.bytesPerCharacter).cleaned(forLimit: limit)
        let cut = cleaned.utf8.count <= limit ? cleaned : String(cleaned.prefix(limit)).cleaned(forLimit: limit)
        return cut.isEmpty ? nil : cut
    }

    /// As much of the text as fits into so many bytes of UTF-8, cut between characters as Unicode's scalars have it.
    private func start(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
