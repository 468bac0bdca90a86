/// The answer of one source for a book, apart from the other sources.
public struct SourceRecord: Sendable, Equatable {
    public var source: SourceName
    public var answer: SourceAnswer

    public init(source: SourceName, answer: SourceAnswer) {
        self.source = source
        self.answer = answer
    }

    /// The record; `nil` if the source has none, or if it may be another book's.
    public var metadata: Metadata? {
        guard case .found(let metadata) = answer, !metadata.isWeakMatch else { return nil }
        return metadata
    }

    /// True if the record may be another book's.
    public var isWeak: Bool {
        if case .found(let metadata) = answer { metadata.isWeakMatch } else { false }
    }

    /// True if the source was asked and gave no usable answer, so that it may have a record.
    public var hasFailed: Bool {
        switch answer {
        case .found, .notFound, .notAsked: false
        case .temporary, .blocked, .badData: true
        }
    }

    /// The reason, for people, that the source has no record; `nil` if it has one.
    public var reason: String? {
        switch answer {
        case .found(let metadata): metadata.isWeakMatch ? Metadata.weakMatchReason : nil
        case .notFound: "no record"
        case .notAsked(let reason): reason
        case .temporary(let error), .blocked(let error), .badData(let error): error.reason
        }
    }
}

/// The values of one field: the one that the library has, and those of the sources.
public struct FieldComparison: Sendable, Equatable {
    /// A value, with the sources that give it.
    public struct Value: Sendable, Equatable {
        public var text: String
        /// The sources, in the order in which they win a field. The list is empty for the library's own value, if no
        /// source gives it.
        public var sources: [SourceName]
        /// True if the library has this value.
        public var isCurrent: Bool
    }

    public var field: Metadata.Field
    /// The values, the library's first.
    public var values: [Value]

    /// The fields that a person can choose from the records of sources.
    public static let fields: [Metadata.Field] = [
        .title, .subtitle, .authors, .publisher, .publishedDate, .pageCount, .language, .originalLanguage, .format,
        .series, .subjects, .description, .coverURL,
    ]

    /// Compares the fields of a book with the records of sources. Fields that no source has are left out.
    public static func all(_ metadata: Metadata, with records: [SourceRecord]) -> [FieldComparison] {
        fields.compactMap { field in
            let current = metadata.text(of: field)
            var values = current.map { [Value(text: $0, sources: [], isCurrent: true)] } ?? []
            var isGiven = false
            for record in records {
                guard let text = record.metadata?.text(of: field) else { continue }
                isGiven = true
                if let place = values.firstIndex(where: { $0.text == text }) {
                    values[place].sources.append(record.source)
                } else {
                    values.append(Value(text: text, sources: [record.source], isCurrent: false))
                }
            }
            return isGiven ? FieldComparison(field: field, values: values) : nil
        }
    }
}
