import Bookplate

// Fields that several catalogues write alike, whatever the form of their records is.

/// Notes behind an ISBN and statements of extent that name a format.
enum FormatNote {
    static func isDigital(_ notes: [String]) -> Bool {
        contains(
            notes, "electronic", "ebook", "e-book", "epub", "pdf", "online", "kindle", "elektronisch", "électronique",
            "numérique", "cd-rom")
    }

    static func isPhysical(_ notes: [String]) -> Bool {
        contains(
            notes, "paper", "pbk", "hbk", "hard", "cloth", "softcover", "softback", "bound", "kart", "brosch", "geb",
            "fest", "br.",
            "rel",
            "cart", "opr", "häft", "inb", "pp.")
    }

    private static func contains(_ notes: [String], _ words: String...) -> Bool {
        notes.contains { note in
            let note = note.lowercased()
            return words.contains { note.contains($0) }
        }
    }
}

extension Sequence<Contributor.Role> {
    /// The first of these roles in the order in which ``Contributor/Role`` lists them; `nil` without any.
    var foremost: Contributor.Role? {
        let roles = Array(self)
        return Contributor.Role.allCases.first(where: roles.contains)
    }
}

extension [String] {
    /// The subjects without repetitions that differ only in capitals, cut to the library's limit.
    var uniqueSubjects: [String] {
        var seen: Set<String> = []
        return Array(filter { seen.insert($0.lowercased()).inserted }.prefix(FieldLimits.items))
    }
}

extension Metadata {
    /// Sets the date of publication from the first text that contains one. Brackets mark what the cataloguer supplied,
    /// and are left out.
    ///
    /// - Parameter year: the year in the coded fields, if no text has one.
    mutating func setPublished(_ texts: [String], year: Substring? = nil) {
        let texts = texts.compactMap { text in
            FieldLimits.text(MarcText.withoutStop(MarcText.withoutMarks(text)).filter { !"[]".contains($0) })
        }
        let text = texts.first { PublishedDate.day(in: $0) != nil } ?? year.map(String.init)
        publishedDate = text.flatMap(PublishedDate.day(in:))
        // "20130906" is not a date that people read.
        let isCompact = text.map { $0.count > 4 && $0.allSatisfy { $0.isASCII && $0.isNumber } } ?? false
        publishedDateText = publishedDate == nil ? texts.first : isCompact ? publishedDate?.description : text
    }
}
