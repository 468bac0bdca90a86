import Bookplate

/// Reads answers of Libris' xsearch. Every value is a text or a list of texts. Source:
/// libris.kb.se/help/tech_xsearch_swe.jsp.
enum Libris {
    @Sendable static func read(_ bytes: [UInt8], _ isbns: [ISBN]) -> [ISBN: SourceAnswer] {
        JSONAnswer.read(bytes, isbns, of: .libris) { json, isbn in
            guard case .array(let records)? = json["xsearch"]?["list"] else {
                return json["xsearch"]?["records"]?.wholeNumber == 0 ? .notFound : nil
            }
            return JSONAnswer.first(
                records, of: isbn, from: .libris, numbers: { FieldLimits.texts($0["isbn"]).map(MarcText.number) },
                metadata: metadata)
        }
    }

    @Sendable static func offers(_ bytes: [UInt8]) throws(LookupError) -> [EditionOffer] {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch {
            throw .badData(
                SourceError(source: .libris, reason: "sent an answer that cannot be read: \(error)"))
        }
        guard case .array(let records)? = json["xsearch"]?["list"] else {
            if json["xsearch"]?["records"]?.wholeNumber == 0 { return [] }
            throw .badData(SourceError(source: .libris, reason: "sent an answer of an unexpected form"))
        }
        return records.prefix(FieldLimits.items).compactMap { record in
            var metadata = metadata(record)
            guard metadata.title != nil else { return nil }
            metadata.attribute(to: .libris)
            let numbers = FieldLimits.texts(record["isbn"]).map(MarcText.number)
            return EditionOffer(isbn: numbers.lazy.compactMap(ISBN.init(listed:)).first, metadata: metadata)
        }
    }

    private static func metadata(_ record: JSONValue) -> Metadata {
        var metadata = Metadata()
        (metadata.title, metadata.subtitle) =
            FieldLimits.texts(record["title"]).first.map { MarcText.title($0) } ?? (nil, nil)
        // xsearch gives no roles. The first of the names is the author; the others may be translators or illustrators.
        for (number, name) in FieldLimits.texts(record["creator"]).enumerated() {
            metadata.authors.add(PersonName.displayed(name), number == 0 ? .author : .other)
        }
        // The place precedes the publisher. After the publisher may come the printer.
        metadata.publisher =
            FieldLimits.texts(record["publisher"]).lazy.map { text in
                text.firstRange(of: " : ").map { String(text[$0.upperBound...]) } ?? text
            }.compactMap(MarcText.publisher).first
        metadata.setPublished(FieldLimits.texts(record["date"]))
        metadata.language = FieldLimits.texts(record["language"]).lazy.compactMap(LanguageCode.normalized).first
        metadata.format = format(FieldLimits.texts(record["type"]))
        // "Li:S" and the like are the cataloguer's notes.
        metadata.description = values(record["description"]).lazy.compactMap {
            FieldLimits.text($0, limit: TextLimit.description)
        }.first { $0.contains(" ") }
        if let address = FieldLimits.texts(record["identifier"]).first, let number = address.split(separator: "/").last
        {
            metadata.identifiers["libris"] = [String(number.prefix(64))]
            metadata.infoLink = FieldLimits.link(.string(address))
        }
        return metadata
    }

    private static func format(_ types: [String]) -> Metadata.Format? {
        let types = types.map { $0.lowercased() }
        if types.contains(where: { $0.contains("e-book") || $0.contains("electronic") }) { return .digital }
        return types.contains { $0.contains("audio") || $0.contains("talbok") } ? .audiobook : nil
    }

    private static func values(_ value: JSONValue?) -> [String] {
        guard let value else { return [] }
        return value.string.map { [$0] } ?? value.items.compactMap(\.string)
    }
}
