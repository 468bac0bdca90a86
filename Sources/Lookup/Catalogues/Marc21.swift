import Bookplate

/// Reads records of MARC 21. Source of the fields and codes: loc.gov/marc/bibliographic.
enum Marc21 {
    /// Returns the record's ISBNs. 020 $z lists wrong numbers and 776 those of other forms of the book.
    static func numbers(_ record: MarcRecord) -> [String] {
        record.all("020").flatMap { $0.all("a") }.map(MarcText.number)
    }

    static func metadata(_ record: MarcRecord, _ isbn: ISBN?) -> Metadata {
        var metadata = Metadata()
        if let title = record.all("245").first { (metadata.title, metadata.subtitle) = self.title(title) }
        let stated = record.all("245").first?["c"].map(Contributors.statement) ?? []
        for field in record.all("100", "110", "700", "710") {
            let name = name(field)
            metadata.authors.add(name, role(field, stated.first { $0.name == name }?.role))
        }
        let publication = publication(record)
        metadata.publisher = publication.lazy.flatMap { $0.all("b") }.compactMap(MarcText.publisher).first
        metadata.setPublished(publication.compactMap { $0["c"] }, year: record.control("008")?.dropFirst(7).prefix(4))
        // The extent of an audio book, a map or a disc is that of its booklet, if it mentions pages at all.
        if !"efgijkmor".contains(record.leader(at: 6)) {
            metadata.pageCount = record.all("300").compactMap { $0["a"] }.compactMap(FieldLimits.pages(inExtent:)).first
        }
        setLanguages(&metadata, record)
        metadata.format = format(record, isbn)
        (metadata.series, metadata.seriesNumber) = series(record)
        // Content advice (4) is no description.
        metadata.description =
            record.all("520").filter { $0.indicator1 != "4" }.lazy.compactMap { field in
                FieldLimits.text(
                    [field["a"], field["b"]].compactMap(\.self).joined(separator: " "), limit: TextLimit.description)
            }.first
        metadata.subjects = record.all("650", "655").compactMap { MarcText.element($0["a"]) }.uniqueSubjects
        metadata.identifiers["lccn"] = record.all("010").lazy.compactMap { $0["a"] }.compactMap {
            FieldLimits.text($0, limit: 64)
        }.first.map { [$0] }
        metadata.identifiers["oclc"] = record.all("035").lazy.compactMap { $0["a"] }.compactMap(oclc).first.map { [$0] }
        return metadata
    }

    // MARK: Title

    /// 245: $a title, $b remainder, $n and $p number and name of a part.
    private static func title(_ field: MarcRecord.Field) -> (String?, String?) {
        let main = field["a"] ?? ""
        var (title, subtitle) = MarcText.title(main, hasStatement: field["c"] != nil)
        title = MarcText.title(
            title,
            parts: field.subfields.filter { "np".contains($0.code) }.map {
                (MarcText.part(of: $0.text, before: "/", "="), isNumber: $0.code == "n")
            })
        // After " =" comes the title in another language, not a subtitle.
        let isParallel = main.cleaned.hasSuffix("=") || field["b"]?.cleaned.hasPrefix("=") == true
        if !isParallel, let rest = MarcText.element(field["b"].map { MarcText.part(of: $0, before: "/", "=") }) {
            subtitle = subtitle.map { "\($0) : \(rest)" } ?? rest
        }
        return (title, subtitle)
    }

    // MARK: People

    /// - Returns: `nil` if the field names a work ($t) instead of a contributor.
    private static func name(_ field: MarcRecord.Field) -> String? {
        guard field["t"] == nil, let name = field["a"] else { return nil }
        guard !field.tag.hasSuffix("10") else {
            return MarcText.element(([name] + field.all("b")).map(MarcText.withoutMarks).joined(separator: ". "))
        }
        // A forename with its number: "Johannes Paul" and "II.".
        if field.indicator1 == "0" {
            return PersonName.displayed(
                [name, field["b"]].compactMap { $0.map(MarcText.withoutMarks) }.joined(separator: " "))
        }
        // "Jr." stands in $c, among titles that do not belong to the name.
        return PersonName.displayed(
            name.contains(",") ? [name, field["c"]].compactMap(\.self).joined(separator: ",") : name)
    }

    /// $4 is a code, $e a word. Of several roles, the first in the order of ``Contributor/Role`` counts.
    ///
    /// - Parameter stated: the role that the statement of responsibility gives the person.
    private static func role(_ field: MarcRecord.Field, _ stated: Contributor.Role?) -> Contributor.Role? {
        let (codes, words) = (field.all("4"), field.all("e"))
        if codes.isEmpty, words.isEmpty {
            // A main entry is the author. An added entry without a role may be anyone; a body usually published.
            return field.tag == "100" ? .author : field.tag == "700" ? stated ?? .other : nil
        }
        return codes.compactMap(Contributor.Role.init(relator:)).foremost
            ?? words.compactMap(Contributor.Role.init(word:)).foremost
    }

    // MARK: Publication

    /// Returns 264 for the publisher (second indicator 1) before 260. Other fields 264 are for printers, distributors
    /// and the copyright.
    private static func publication(_ record: MarcRecord) -> [MarcRecord.Field] {
        let fields = record.all("264")
        return fields.filter { $0.indicator2 == "1" } + record.all("260") + fields.filter { $0.indicator2 == " " }
    }

    private static func setLanguages(_ metadata: inout Metadata, _ record: MarcRecord) {
        let fields = record.all("041")
        // Older records join several codes: "engfre".
        func codes(_ fields: [MarcRecord.Field], _ code: String) -> String? {
            fields.lazy.flatMap { $0.all(code) }.compactMap { LanguageCode.normalized(String($0.cleaned.prefix(3))) }
                .first
        }
        metadata.language =
            codes(fields, "a")
            ?? record.control("008").flatMap { LanguageCode.normalized(String($0.dropFirst(35).prefix(3))) }
        // First indicator 0: not a translation; $h is then the language of something else.
        let original = codes(fields.filter { $0.indicator1 != "0" }, "h")
        if original != metadata.language { metadata.originalLanguage = original }
    }

    /// Transcribed series (490) come before controlled ones (830), and one with a number before one without.
    private static func series(_ record: MarcRecord) -> (String?, String?) {
        let fields = record.all("490") + record.all("830")
        let all = fields.compactMap { field in
            MarcText.series(field["a"], number: field["v"])
        }
        let best = all.first { $0.number != nil } ?? all.first
        return (best?.name, best?.number)
    }

    // MARK: Format

    /// Returns the format only if the record is certain about it.
    private static func format(_ record: MarcRecord, _ isbn: ISBN?) -> Metadata.Format? {
        let carriers = record.all("338").flatMap { $0.all("b") }.map { $0.cleaned.lowercased() }
        let kinds = record.controls.filter { $0.tag == "007" }.compactMap(\.text.first)
        // What follows a plus sign accompanies the book.
        let extent = (record.all("300").map { $0["a"] } + record.all("245").map { $0["h"] }).compactMap {
            $0.map { String($0.prefix { $0 != "+" }) }
        }
        // Spoken word (i, spw).
        if record.leader(at: 6) == "i" || record.all("336").contains(where: { $0["b"] == "spw" }) { return .audiobook }
        // Carriers of computers begin with c (MARC code list of carrier types).
        // Where a record names its carrier, a note about another form of the book says nothing.
        let isDigital =
            carriers.isEmpty
            ? kinds.contains("c") || FormatNote.isDigital(extent) : carriers.contains { $0.hasPrefix("c") }
        if isDigital { return .digital }
        let notes = record.all("020").filter { $0.lists(isbn) }.flatMap { field in
            field.all("a").map(MarcText.note) + field.all("q") + field.all("c")
        }
        if FormatNote.isDigital(notes) { return .digital }
        let isVolume = carriers.contains("nc") || (carriers.isEmpty && kinds.contains("t"))
        return isVolume || (carriers.isEmpty && FormatNote.isPhysical(notes)) ? .physical : nil
    }

    /// Returns the number in "(OCoLC)on1013727193".
    private static func oclc(_ text: String) -> String? {
        guard text.hasPrefix("(OCoLC)") else { return nil }
        let number = text.dropFirst(7).drop { !$0.isNumber }
        return number.isEmpty || !number.allSatisfy(\.isNumber) ? nil : FieldLimits.text(String(number), limit: 64)
    }
}
