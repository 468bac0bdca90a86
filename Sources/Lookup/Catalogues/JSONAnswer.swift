import Bookplate

/// Reads a catalogue's answer in JSON, as ``MarcReader`` reads one in XML.
enum JSONAnswer {
    /// Parses an answer and reads it for every ISBN.
    ///
    /// - Parameter record: returns the answer for one ISBN; `nil` if the JSON has another form than the service's.
    static func read(
        _ bytes: [UInt8], _ isbns: [ISBN], of name: SourceName, _ answer: (JSONValue, ISBN) -> SourceAnswer?
    ) -> [ISBN: SourceAnswer] {
        func failure(_ reason: String) -> SourceAnswer { .badData(SourceError(source: name, reason: reason)) }
        do throws(JSONError) {
            let json = try JSONValue(parsing: bytes)
            return isbns.answered { answer(json, $0) ?? failure("sent an answer of an unexpected form") }
        } catch {
            return isbns.answered { _ in failure("sent an answer that cannot be read: \(error)") }
        }
    }

    /// Returns the first record that lists the ISBN and has a title.
    static func first(
        _ records: [JSONValue], of isbn: ISBN, from name: SourceName, numbers: (JSONValue) -> [String],
        metadata: (JSONValue) -> Metadata
    ) -> SourceAnswer {
        let certain = records.prefix(FieldLimits.items).filter { record in
            if case .certain = RecordMatch(isbn, listed: numbers(record)) { return true } else { return false }
        }
        guard !certain.isEmpty else { return .notFound }
        guard var found = certain.lazy.map(metadata).first(where: { $0.title != nil }) else {
            return .badData(SourceError(source: name, reason: "sent a record without a title"))
        }
        found.attribute(to: name)
        return .found(found)
    }
}
