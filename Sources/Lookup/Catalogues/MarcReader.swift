import Bookplate

/// A form of MARC, with the functions that read its fields.
struct MarcDialect: Sendable {
    /// Returns the numbers that the record lists as its own ISBNs, without notes.
    let numbers: @Sendable (MarcRecord) -> [String]
    /// Converts a record. The format may depend on the ISBN, because one record can list those of several bindings;
    /// `nil` for a record without one.
    let metadata: @Sendable (MarcRecord, ISBN?) -> Metadata

    /// MARC 21: loc.gov/marc/bibliographic.
    static let marc21 = MarcDialect(numbers: Marc21.numbers, metadata: Marc21.metadata)
    /// UNIMARC as the BnF sends it: bnf.fr/fr/unimarc-bibliographique.
    static let unimarc = MarcDialect(numbers: Unimarc.numbers, metadata: Unimarc.metadata)
}

/// Finds the record of an ISBN, or all books, in a catalogue's answer.
struct MarcReader: Sendable {
    let name: SourceName
    let dialect: MarcDialect
    /// The key under which the record's number in this catalogue is stored in ``Metadata/identifiers``; `nil` if it is
    /// not stored.
    var scheme: String?

    func read(_ bytes: [UInt8], _ isbns: [ISBN]) -> [ISBN: SourceAnswer] {
        do throws(LookupError) {
            let records = try records(bytes)
            return isbns.answered { answer(for: $0, among: records) }
        } catch {
            return isbns.answered { _ in error.answer }
        }
    }

    /// Reads the answer to a search for titles. Records without a title are left out.
    func offers(_ bytes: [UInt8]) throws(LookupError) -> [EditionOffer] {
        try records(bytes).filter(isBook).compactMap { record in
            let isbn = dialect.numbers(record).lazy.compactMap(ISBN.init(listed:)).first
            var metadata = number(record, dialect.metadata(record, isbn))
            guard metadata.title != nil else { return nil }
            metadata.attribute(to: name)
            return EditionOffer(isbn: isbn, metadata: metadata)
        }
    }

    private func records(_ bytes: [UInt8]) throws(LookupError) -> [MarcRecord] {
        let answer: MarcAnswer
        do throws(MarcError) {
            answer = try MarcAnswer(bytes)
        } catch {
            throw .badData(failure("sent an answer that cannot be read: \(error)"))
        }
        if answer.records.isEmpty, let diagnostic = answer.diagnostic { throw failed(diagnostic) }
        guard answer.isComplete else {
            let count = answer.count.map { "\($0) records" } ?? "no number of records"
            throw .badData(failure("announced \(count) but sent none that can be read"))
        }
        return answer.records
    }

    /// False for an article in a book (a) or a journal (b), which may list the number of the whole.
    private func isBook(_ record: MarcRecord) -> Bool { !["a", "b"].contains(record.leader(at: 7)) }

    /// If several records list the ISBN, one is chosen whole, because they describe different things: printings,
    /// editions and e-books under the number of the printed book. Whoever holds a book to the camera has the printed
    /// one, so that comes first and an e-book last. Then comes a record that lists the 13-digit number, because lists
    /// of ISBN-10 often contain those of other bindings. The catalogue's order decides the rest.
    private func answer(for isbn: ISBN, among records: [MarcRecord]) -> SourceAnswer {
        let certain = records.filter(isBook).filter { record in
            if case .certain = RecordMatch(isbn, listed: dialect.numbers(record)) { return true } else { return false }
        }
        guard !certain.isEmpty else { return .notFound }
        let ranked = certain.enumerated().compactMap { offset, record -> (rank: [Int], metadata: Metadata)? in
            let metadata = dialect.metadata(record, isbn)
            guard metadata.title != nil else { return nil }
            let kind =
                switch metadata.format {
                case .physical: 0
                case nil: 1
                case .audiobook: 2
                case .digital: 3
                }
            let isListedInFull = dialect.numbers(record).contains { $0.filter(\.isNumber) == isbn.digits }
            return ([kind, isListedInFull ? 0 : 1, offset], number(record, metadata))
        }
        let best = ranked.min { $0.rank.lexicographicallyPrecedes($1.rank) }
        guard var metadata = best?.metadata else { return .badData(failure("sent a record without a title")) }
        metadata.attribute(to: name)
        return .found(metadata)
    }

    /// Adds the number that the record has in this catalogue.
    private func number(_ record: MarcRecord, _ metadata: Metadata) -> Metadata {
        var metadata = metadata
        if let scheme, let number = FieldLimits.text(record.control("001") ?? "", limit: 64) {
            metadata.identifiers[scheme] = metadata.identifiers[scheme] ?? [number]
        }
        return metadata
    }

    /// Source of the codes: loc.gov/standards/sru/diagnostics/diagnosticsList.html.
    private func failed(_ diagnostic: MarcAnswer.Diagnostic) -> LookupError {
        let texts = [diagnostic.message, diagnostic.details, diagnostic.uri].compactMap {
            FieldLimits.text($0, limit: 200)
        }
        let reason = failure("reports an error: \(texts.isEmpty ? "no reason given" : texts.joined(separator: ", "))")
        switch diagnostic.uri.split(separator: "/").last {
        // General system error; system temporarily unavailable.
        case "1", "2": return .temporary(reason)
        // Authentication error.
        case "3": return .blocked(reason)
        default: return .badData(reason)
        }
    }

    private func failure(_ reason: String) -> SourceError { SourceError(source: name, reason: reason) }
}

extension MarcRecord.Field {
    /// Returns true if this field of numbers and bindings belongs to the ISBN: subfield $a lists it. Without an ISBN,
    /// every field does.
    func lists(_ isbn: ISBN?) -> Bool {
        guard let isbn else { return true }
        if case .certain = RecordMatch(isbn, listed: all("a").map(MarcText.number)) { return true }
        return false
    }
}

extension MarcAnswer {
    /// False if the catalogue has records that it did not send in a readable form, or if it does not say how many it
    /// has. Only SRU counts; in other forms, no records means none.
    fileprivate var isComplete: Bool {
        !records.isEmpty || count == 0 || (count == nil && root != "searchRetrieveResponse")
    }
}
