import Bookplate

/// Reads records of UNIMARC. Source of the fields and codes: UNIMARC Manual, bibliographic format;
/// transition-bibliographique.fr.
enum Unimarc {
    /// Returns the record's ISBNs; 010 $z lists wrong ones.
    static func numbers(_ record: MarcRecord) -> [String] {
        record.all("010").flatMap { $0.all("a") }.map(MarcText.number)
    }

    static func metadata(_ record: MarcRecord, _ isbn: ISBN?) -> Metadata {
        var metadata = Metadata()
        if let title = record.all("200").first { (metadata.title, metadata.subtitle) = self.title(title) }
        for field in record.all("700", "701", "702", "710", "711", "712") {
            metadata.authors.add(name(field), role(field))
        }
        // Second indicator of 214: 0 publisher, 1 producer, 2 distributor, 3 printer, 4 copyright.
        let publication = record.all("214").filter { ["0", " "].contains($0.indicator2) } + record.all("210")
        metadata.publisher = publication.lazy.flatMap { $0.all("c") }.compactMap(MarcText.publisher).first
        metadata.setPublished(
            publication.compactMap { $0["d"] }, year: record.all("100").first?["a"]?.dropFirst(9).prefix(4))
        if !"efgijklmr".contains(record.leader(at: 6)) {
            metadata.pageCount = record.all("215").compactMap { $0["a"] }.compactMap(FieldLimits.pages(inExtent:)).first
        }
        let languages = record.all("101")
        metadata.language = language(languages, "a")
        let original = language(languages, "c")
        if original != metadata.language { metadata.originalLanguage = original }
        metadata.format = format(record, isbn)
        (metadata.series, metadata.seriesNumber) = series(record)
        metadata.description =
            record.all("330").lazy.compactMap { $0["a"] }.compactMap {
                FieldLimits.text($0, limit: TextLimit.description)
            }.first
        metadata.subjects = record.all("606").compactMap { MarcText.element($0["a"]) }.uniqueSubjects
        // The BnF puts the permanent address (ark) of the record into 003.
        if let ark = record.control("003").flatMap({ $0.firstRange(of: "ark:/")?.lowerBound }),
            let address = record.control("003"), let name = FieldLimits.text(String(address[ark...]), limit: 64)
        {
            metadata.identifiers["bnf"] = [name]
            metadata.infoLink = FieldLimits.link(.string(address))
        }
        metadata.identifiers["oclc"] = record.all("035").lazy.compactMap { $0["a"] }.filter {
            $0.hasPrefix("OCLC") || $0.hasPrefix("(OCoLC)")
        }.compactMap { FieldLimits.text(String($0.drop { !$0.isNumber }), limit: 64) }.first.map { [$0] }
        return metadata
    }

    /// 200: $a title, $e subtitle, $h and $i number and name of a part.
    private static func title(_ field: MarcRecord.Field) -> (String?, String?) {
        var (title, subtitle) = MarcText.title(field["a"] ?? "", hasStatement: field["f"] != nil)
        title = MarcText.title(
            title, parts: field.subfields.filter { "hi".contains($0.code) }.map { ($0.text, isNumber: $0.code == "h") })
        let rest = ([subtitle].compactMap(\.self) + field.all("e")).compactMap(MarcText.element)
        subtitle = FieldLimits.text(rest.joined(separator: " : "), limit: TextLimit.title)
        return (title, subtitle)
    }

    /// $a family name or name of a body, $b first name.
    private static func name(_ field: MarcRecord.Field) -> String? {
        guard let name = field["a"] else { return nil }
        guard field.tag.dropFirst().first == "0" else { return MarcText.element(name) }
        return PersonName.displayed([name, field["b"]].compactMap(\.self).joined(separator: ", "))
    }

    private static func role(_ field: MarcRecord.Field) -> Contributor.Role? {
        let codes = field.all("4")
        guard codes.isEmpty else { return codes.compactMap(Contributor.Role.init(function:)).foremost }
        switch field.tag {
        // Primary and alternative responsibility.
        case "700", "701": return .author
        // Secondary responsibility, of any kind.
        case "702": return .other
        default: return nil
        }
    }

    private static func language(_ fields: [MarcRecord.Field], _ code: String) -> String? {
        fields.lazy.flatMap { $0.all(code) }.compactMap { LanguageCode.normalized($0.cleaned) }.first
    }

    /// 225 is the series as printed; 461 and 410 link to it. One with a number comes before one without.
    private static func series(_ record: MarcRecord) -> (String?, String?) {
        let printed = record.all("225").compactMap { MarcText.series($0["a"], number: $0["v"]) }
        let linked = (record.all("461") + record.all("410")).compactMap { MarcText.series($0["t"], number: $0["v"]) }
        let best = (printed + linked).first { $0.number != nil } ?? (printed + linked).first
        return (best?.name, best?.number)
    }

    /// Returns the format only if the record is certain about it: by its kind (i spoken word, l computer file), the
    /// medium in 200 $b, or the binding behind the ISBN.
    private static func format(_ record: MarcRecord, _ isbn: ISBN?) -> Metadata.Format? {
        let media = record.all("200").flatMap { $0.all("b") }
        if record.leader(at: 6) == "i" || media.contains(where: { $0.lowercased().contains("sonore") }) {
            return .audiobook
        }
        let bindings = record.all("010").filter { $0.lists(isbn) }.flatMap {
            $0.all("b") + $0.all("a").map(MarcText.note)
        }
        if record.leader(at: 6) == "l" || FormatNote.isDigital(media + bindings) { return .digital }
        let isPrinted = media.contains { $0.lowercased().contains("imprimé") } || FormatNote.isPhysical(bindings)
        return isPrinted ? .physical : nil
    }
}
