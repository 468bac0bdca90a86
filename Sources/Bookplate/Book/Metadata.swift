/// The description of an edition by metadata sources or a person. Every field can be missing. Texts are plain and never
/// contain markup.
public struct Metadata: Sendable, Equatable, Codable {
    public var title: String?
    public var subtitle: String?
    /// The contributors in the order of the title page.
    public var authors: [Contributor] = []
    public var publisher: String?
    /// The date of publication, as precise as ``publishedDateText`` gives it.
    public var publishedDate: CalendarDay?
    /// The date of publication as the source writes it, such as "March 2009".
    public var publishedDateText: String?
    /// The page count, greater than 0; `nil` if unknown.
    public var pageCount: Int?
    /// The code of the language: ISO 639-1 where there is one, else ISO 639-2.
    public var language: String?
    public var originalLanguage: String?
    public var authorNationality: String?
    public var format: Format?
    public var series: String?
    /// The number of the book in its series, such as "2", "2.5" or "A".
    public var seriesNumber: String?
    public var description: String?
    public var subjects: [String] = []
    /// The address of a cover: https, on one of the hosts that ``CoverHosts`` allows.
    public var coverURL: String?
    public var previewLink: String?
    public var infoLink: String?
    /// The identifiers of the edition in other systems, by scheme ("openlibrary", "goodreads", "lccn", "oclc",
    /// "google", …).
    public var identifiers: [String: [String]] = [:]
    /// True if the source gave no ISBN, so it is not certain that this is the requested book. Such metadata is marked
    /// when people see it, and `--yes` never saves it.
    public var isWeakMatch = false
    /// The reason that people see for ``isWeakMatch``.
    public static let weakMatchReason = "this may be another book, because the source does not give an ISBN"
    /// The source of each filled field.
    public var sources: [Field: SourceName] = [:]

    public init() {}

    public enum Format: String, Sendable, Codable, CaseIterable { case physical, digital, audiobook }

    /// The fields whose source is recorded. For ``isbn``, which belongs to ``Edition``, only an edit by a person is
    /// recorded.
    public enum Field: String, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
        case title, subtitle, authors, publisher, publishedDate, pageCount, language, originalLanguage,
            authorNationality
        case format, series, description, subjects, coverURL, previewLink, infoLink, identifiers, isbn
    }
}

extension Metadata {
    /// Decodes stored metadata. A missing key gives an empty field, so that metadata that was stored before a field
    /// existed can still be read.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try values.decodeIfPresent(Value.self, forKey: key)
        }
        title = try value(.title)
        subtitle = try value(.subtitle)
        authors = try value(.authors) ?? []
        publisher = try value(.publisher)
        publishedDate = try value(.publishedDate)
        publishedDateText = try value(.publishedDateText)
        pageCount = try value(.pageCount)
        language = try value(.language)
        originalLanguage = try value(.originalLanguage)
        authorNationality = try value(.authorNationality)
        format = try value(.format)
        series = try value(.series)
        seriesNumber = try value(.seriesNumber)
        description = try value(.description)
        subjects = try value(.subjects) ?? []
        coverURL = try value(.coverURL)
        previewLink = try value(.previewLink)
        infoLink = try value(.infoLink)
        identifiers = try value(.identifiers) ?? [:]
        isWeakMatch = try value(.isWeakMatch) ?? false
        sources = try value(.sources) ?? [:]
    }
}

/// A person who contributed to the book, and their role.
public struct Contributor: Sendable, Hashable, Codable {
    public var name: String
    public var role: Role

    public init(name: String, role: Role = .author) {
        self.name = name
        self.role = role
    }

    public enum Role: String, Sendable, Codable, CaseIterable {
        case author, translator, editor, illustrator, narrator, other
    }
}

/// The origin of metadata.
public enum SourceName: String, Sendable, Codable, CaseIterable {
    case library, offlineIndex, openLibrary, googleBooks
    /// The catalogues of libraries and of the book trade.
    case dnb, bnf, bn, libris, openBD, k10plus, loc, citoid
    /// The servers for cover pictures. They are separate hosts, so their rate limits and failures are separate from
    /// those of the catalogues.
    case openLibraryCovers, googleBooksCovers, openBDCovers, dnbCovers
    /// A person typed the metadata.
    case person

    /// The name that is shown to people.
    public var displayName: String {
        switch self {
        case .library: "the library"
        case .offlineIndex: "offline index"
        case .openLibrary: "Open Library"
        case .googleBooks: "Google Books"
        case .dnb: "Deutsche Nationalbibliothek"
        case .bnf: "Bibliothèque nationale de France"
        case .bn: "Biblioteka Narodowa"
        case .libris: "Libris"
        case .openBD: "openBD"
        case .k10plus: "K10plus"
        case .loc: "Library of Congress"
        case .citoid: "Citoid"
        case .openLibraryCovers: "Open Library's covers"
        case .googleBooksCovers: "Google's covers"
        case .openBDCovers: "openBD's covers"
        case .dnbCovers: "Deutsche Nationalbibliothek's covers"
        case .person: "entered by hand"
        }
    }
}

extension Metadata {
    /// The names of the contributors whose role is author.
    public var authorNames: [String] { authors.filter { $0.role == .author }.map(\.name) }

    /// Fills empty fields from `other`. Filled fields stay as they are, and identifiers are merged.
    public mutating func fillGaps(from other: Metadata) {
        fill(\.title, .title, other)
        fill(\.subtitle, .subtitle, other)
        fill(\.publisher, .publisher, other)
        fill(\.pageCount, .pageCount, other)
        fill(\.language, .language, other)
        fill(\.originalLanguage, .originalLanguage, other)
        fill(\.authorNationality, .authorNationality, other)
        fill(\.format, .format, other)
        fill(\.description, .description, other)
        fill(\.coverURL, .coverURL, other)
        fill(\.previewLink, .previewLink, other)
        fill(\.infoLink, .infoLink, other)
        // The date and its text belong together, as do the series and its number.
        if publishedDate == nil, publishedDateText == nil {
            (publishedDate, publishedDateText) = (other.publishedDate, other.publishedDateText)
            sources[.publishedDate] = other.sources[.publishedDate]
        }
        if series == nil {
            (series, seriesNumber) = (other.series, other.seriesNumber ?? seriesNumber)
            sources[.series] = other.sources[.series]
        } else if seriesNumber == nil, other.series == nil {
            // The number without the name of the series, as Google has it.
            seriesNumber = other.seriesNumber
        }
        if authors.isEmpty {
            authors = other.authors
            sources[.authors] = other.sources[.authors]
        }
        if subjects.isEmpty {
            subjects = other.subjects
            sources[.subjects] = other.sources[.subjects]
        }
        for (scheme, values) in other.identifiers {
            identifiers[scheme, default: []] += values.filter { !identifiers[scheme, default: []].contains($0) }
        }
        if sources[.identifiers] == nil { sources[.identifiers] = other.sources[.identifiers] }
    }

    private mutating func fill<Value>(_ field: WritableKeyPath<Metadata, Value?>, _ name: Field, _ other: Metadata) {
        guard self[keyPath: field] == nil, let value = other[keyPath: field] else { return }
        self[keyPath: field] = value
        sources[name] = other.sources[name]
    }

    /// Records `source` as the origin of every filled field.
    public mutating func attribute(to source: SourceName) {
        sources = Dictionary(uniqueKeysWithValues: filledFields.map { ($0, source) })
    }

    /// The fields that are not empty.
    public var filledFields: [Field] {
        let filled: [(Field, Bool)] = [
            (.title, title != nil), (.subtitle, subtitle != nil), (.authors, !authors.isEmpty),
            (.publisher, publisher != nil),
            (.publishedDate, publishedDate != nil || publishedDateText != nil), (.pageCount, pageCount != nil),
            (.language, language != nil), (.originalLanguage, originalLanguage != nil),
            (.authorNationality, authorNationality != nil), (.format, format != nil), (.series, series != nil),
            (.description, description != nil), (.subjects, !subjects.isEmpty), (.coverURL, coverURL != nil),
            (.previewLink, previewLink != nil), (.infoLink, infoLink != nil), (.identifiers, !identifiers.isEmpty),
        ]
        return filled.filter(\.1).map(\.0)
    }
}

extension Metadata {
    /// The fields that a record needs. If one of them is missing, another source is queried. A missing description or
    /// missing subjects are not worth another request.
    static let essentials: Set<Field> = [
        .title, .authors, .publisher, .publishedDate, .pageCount, .language, .coverURL,
    ]

    /// The fields that a record needs and that are empty.
    public var missingEssentials: Set<Field> { Self.essentials.subtracting(filledFields) }
}

extension Metadata {
    /// Copies one field and its source from `other`.
    public mutating func copy(_ field: Field, from other: Metadata) {
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
        // The ISBN belongs to the edition, so there is nothing to copy.
        case .isbn: break
        }
        sources[field] = other.sources[field]
    }

    /// Returns the fields whose values differ from `other`; their sources are not compared.
    public func fields(differingFrom other: Metadata) -> Set<Field> {
        Set(
            Field.allCases.filter { field in
                var mine = Metadata()
                var theirs = Metadata()
                mine.copy(field, from: self)
                theirs.copy(field, from: other)
                mine.sources = [:]
                theirs.sources = [:]
                return mine != theirs
            })
    }
}

extension Metadata {
    /// The value of a field as one text for people; `nil` if the field is empty. Equal values have equal texts.
    public func text(of field: Field) -> String? {
        func listed(_ texts: [String], _ separator: String) -> String? {
            texts.isEmpty ? nil : texts.joined(separator: separator)
        }
        return switch field {
        case .title: title
        case .subtitle: subtitle
        case .authors:
            listed(authors.map { $0.role == .author ? $0.name : "\($0.name) (\($0.role.rawValue))" }, ", ")
        case .publisher: publisher
        case .publishedDate: publishedDateText ?? publishedDate?.description
        case .pageCount: pageCount.map(String.init)
        case .language: language
        case .originalLanguage: originalLanguage
        case .authorNationality: authorNationality
        case .format: format?.rawValue
        case .series: series.map { name in seriesNumber.map { "\(name), \($0)" } ?? name }
        case .description: description
        case .subjects: listed(subjects, ", ")
        case .coverURL: coverURL
        case .previewLink: previewLink
        case .infoLink: infoLink
        case .identifiers:
            listed(identifiers.sorted { $0.key < $1.key }.flatMap { key, texts in texts.map { "\(key):\($0)" } }, ", ")
        case .isbn: nil
        }
    }
}

extension Metadata {
    /// The fields that all editions of a work in one language have in common.
    public var ofWork: Metadata {
        var work = Metadata()
        for field: Field in [
            .title, .subtitle, .authors, .authorNationality, .language, .originalLanguage, .series, .description,
            .subjects,
        ] { work.copy(field, from: self) }
        work.identifiers[Metadata.workScheme] = identifiers[Metadata.workScheme]
        work.sources[.identifiers] = work.identifiers.isEmpty ? nil : sources[.identifiers]
        return work
    }
}
