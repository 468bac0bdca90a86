extension Metadata {
    /// Takes one field, with its source, over from `other`.
    public mutating func take(_ field: Field, from other: Metadata) {
        switch field {
        case .title: title = other.title
        case .subtitle: subtitle = other.subtitle
        case .authors: authors = other.authors
        case .publisher: publisher = other.publisher
        case .publishedDate:
            publishedDate = other.publishedDate
            publishedDateText = other.publishedDateText
        case .pageCount: pageCount = other.pageCount
        case .language: language = other.language
        case .originalLanguage: originalLanguage = other.originalLanguage
        case .authorNationality: authorNationality = other.authorNationality
        case .format: format = other.format
        case .series:
            series = other.series
            seriesNumber = other.seriesNumber
        case .description: description = other.description
        case .subjects: subjects = other.subjects
        case .coverURL: coverURL = other.coverURL
        case .previewLink: previewLink = other.previewLink
        case .infoLink: infoLink = other.infoLink
        case .identifiers: identifiers = other.identifiers
        // The edition's own.
        case .isbn: break
        }
        sources[field] = other.sources[field]
    }

    /// The fields that say something else in `other`; their sources do not matter.
    public func fields(differingFrom other: Metadata) -> Set<Field> {
        Set(
            Field.allCases.filter { field in
                var mine = Metadata()
                var theirs = Metadata()
                mine.take(field, from: self)
                theirs.take(field, from: other)
                mine.sources = [:]
                theirs.sources = [:]
                return mine != theirs
            })
    }
}
