import Bookplate

/// Reads editions in the form in which Open Library stores them. The answers of `/isbn/{isbn}.json` and `jscmd=details`
/// and the dump of editions all have this form. Source: openlibrary.org/type/edition.
enum OpenLibraryEdition {
    /// Converts an edition to metadata. Authors that the edition lists only by key are left out.
    ///
    /// - Parameter parsesDate: false if ``Metadata/publishedDate`` is not needed, which takes a third of the time.
    static func metadata(_ edition: JSONValue, parsesDate: Bool = true) -> Metadata {
        var metadata = Metadata()
        metadata.title = title(edition)
        metadata.subtitle = FieldLimits.title(edition["subtitle"])
        metadata.authors = people(edition)
        metadata.publisher = FieldLimits.texts(edition["publishers"]).lazy.compactMap(FieldLimits.publisher).first
        metadata.publishedDateText = FieldLimits.text(edition["publish_date"])
        metadata.publishedDate = parsesDate ? metadata.publishedDateText.flatMap(PublishedDate.day(in:)) : nil
        metadata.pageCount = pages(edition)
        metadata.language = language(edition["languages"])
        metadata.originalLanguage = language(edition["translated_from"])
        metadata.format = FieldLimits.text(edition["physical_format"]).flatMap(format)
        (metadata.series, metadata.seriesNumber) = series(FieldLimits.texts(edition["series"]))
        // The limit comes first, so that no text takes long to search for Markdown.
        metadata.description = FieldLimits.text(
            edition["description"]?["value"] ?? edition["description"], limit: TextLimit.description
        ).flatMap { FieldLimits.text($0.withoutMarkdown, limit: TextLimit.description) }
        metadata.subjects = FieldLimits.subjects(edition["subjects"])
        metadata.coverURL = edition["covers"]?.items.lazy.compactMap(\.wholeNumber).first { $0 > 0 }
            .map(CoverAddress.ofOpenLibrary)
        metadata.identifiers = identifiers(edition["identifiers"])
        metadata.identifiers["openlibrary"] = number(of: edition).map { [$0] }
        metadata.identifiers[Metadata.workScheme] = edition["works"]?.items.first?["key"]?.string
            .flatMap { number(in: $0, "/works/OL", "W") }.map { ["OL\($0)W"] }
        metadata.identifiers["lccn"] = some(FieldLimits.texts(edition["lccn"]))
        metadata.identifiers["oclc"] = some(FieldLimits.texts(edition["oclc_numbers"]))
        return metadata
    }

    /// Returns the ISBNs that an edition lists, in the form in which they are written there.
    static func numbers(_ edition: JSONValue) -> [String] {
        FieldLimits.texts(edition["isbn_13"]) + FieldLimits.texts(edition["isbn_10"])
    }

    /// Returns the keys of the authors, such as `OL23919A`, in the order of the record.
    static func authorKeys(_ edition: JSONValue) -> [String] {
        (edition["authors"]?.items.prefix(FieldLimits.items) ?? []).compactMap { item in
            // In a work, the key is one level deeper: {"author": {"key": …}}.
            let key = item["key"]?.string ?? item["author"]?["key"]?.string ?? item["author"]?.string
            return key.flatMap { number(in: $0, "/authors/OL", "A") }.map { "OL\($0)A" }
        }
    }

    /// Returns Open Library's number for an edition, such as `OL123M`.
    ///
    /// - Parameter edition: the edition itself, or a record about it.
    static func number(of edition: JSONValue) -> String? {
        edition["key"]?.string.flatMap { number(in: $0, "/books/OL", "M") }.map { "OL\($0)M" }
    }

    /// Returns the path of a record, such as `authors/OL123A`, if the value is the key of one.
    static func key(_ value: JSONValue?) -> String? {
        guard let key = value?.string else { return nil }
        for (prefix, suffix) in [("/authors/OL", "A"), ("/books/OL", "M"), ("/works/OL", "W")] {
            if let number = number(in: key, prefix, suffix) { return "\(prefix.dropFirst())\(number)\(suffix)" }
        }
        return nil
    }

    /// Returns the number in a key, such as 123 for `/books/OL123M`.
    static func number(in key: String, _ prefix: String, _ suffix: String) -> Int64? {
        guard key.utf8.count < 40, key.hasPrefix(prefix), key.hasSuffix(suffix) else { return nil }
        let digits = key.dropFirst(prefix.count).dropLast(suffix.count)
        guard let number = Int64(digits), number > 0, digits.first != "+" else { return nil }
        return number
    }

    /// Returns the identifiers from other catalogues, without the ISBNs.
    static func identifiers(_ value: JSONValue?) -> [String: [String]] {
        var identifiers: [String: [String]] = [:]
        for (scheme, texts) in value?.members ?? [] where identifiers.count < 20 {
            let isPlain =
                scheme.utf8.count <= 32
                && scheme.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
                }
            guard isPlain, !scheme.isEmpty, !["isbn_10", "isbn_13"].contains(scheme) else { continue }
            identifiers[scheme] = some(FieldLimits.texts(texts).prefix(20).map(\.self))
        }
        return identifiers
    }

    /// Returns the number of pages, which records made since 2021 often give only as text ("242", "xii, 83 p.").
    ///
    /// - Parameter edition: the edition itself, or a record about it.
    static func pages(_ edition: JSONValue) -> Int? {
        FieldLimits.pages(edition["number_of_pages"])
            ?? edition["pagination"]?.string.flatMap(FieldLimits.pages(inExtent:))
    }

    private static func title(_ edition: JSONValue) -> String? {
        guard let title = FieldLimits.title(edition["title"]) else { return nil }
        // Older records store the article separately: "The " and "hobbit".
        guard let article = FieldLimits.text(edition["title_prefix"]) else { return title }
        return FieldLimits.text("\(article) \(title)", limit: TextLimit.title)
    }

    /// Returns the people of the edition: the authors whose names it gives, the contributors, and those whom only the
    /// statement of responsibility names. The statement is free text, so that authors are taken from it only if the
    /// edition lists none, by key or by name.
    private static func people(_ edition: JSONValue) -> [Contributor] {
        let authors = FieldLimits.texts(edition["authors"]).map { Contributor(name: $0) }
        var people = authors
        people.add(contributors(edition))
        people.add(FieldLimits.texts(edition["contributions"]).compactMap(Contributors.contributor(in:)))
        let statement = edition["by_statement"]?.string.map(Contributors.statement) ?? []
        let hasAuthors = !(edition["authors"]?.items.isEmpty ?? true)
        people.add(
            statement.filter { person in
                // A name of the statement may be written in another way than that of a listed contributor.
                person.role == .author ? !hasAuthors : !people.contains { $0.role == person.role }
            })
        return people
    }

    /// Returns the contributors whose role is known. Contributors without a role are left out, because they are already
    /// listed as authors.
    private static func contributors(_ edition: JSONValue) -> [Contributor] {
        (edition["contributors"]?.items.prefix(FieldLimits.items) ?? []).compactMap { item in
            guard let name = FieldLimits.text(item["name"]), let word = FieldLimits.text(item["role"]),
                let role = Contributor.Role(word: word)
            else { return nil }
            return Contributor(name: name, role: role)
        }
    }

    private static func language(_ value: JSONValue?) -> String? {
        value?.items.lazy.compactMap { $0["key"]?.string ?? $0.string }.compactMap(LanguageCode.normalized).first
    }

    private static func format(_ text: String) -> Metadata.Format? {
        let text = text.lowercased()
        func names(_ words: String...) -> Bool { words.contains { text.hasASCII($0) } }
        if names("audio", "mp3", "cassette") { return .audiobook }
        if names("ebook", "e-book", "kindle", "electronic", "epub", "pdf", "cd-rom", "diskette") { return .digital }
        let physical = ["paper", "hard", "cover", "bound", "binding", "spiral", "board", "pamphlet", "sheet music"]
        return physical.contains { text.hasASCII($0) } ? .physical : nil
    }

    /// Splits a series such as "Discworld ; 3", "Penguin classics #12", "Culture, bk. 2" or "Studies -- vol. 63" into
    /// its name and its number. Without a number at the end, the whole text is the name. Records that were made from
    /// MARC list a name with ";" at its end and its number one after the other.
    private static func series(_ texts: [String]) -> (name: String?, number: String?) {
        guard let text = texts.first else { return (nil, nil) }
        if texts.count > 1, let number = number(texts[1]),
            // "vol. 1" belongs to the series before it; a bare number may be a series.
            text.hasSuffix(";") || texts[1].cleaned.lowercased().first?.isLetter == true
        {
            let name = MarcText.withoutStop(MarcText.withoutMarks(text))
            if !name.isEmpty { return (name, number) }
        }
        let sign = text.lastIndex { ";#,(".contains($0) }.map { $0..<text.index(after: $0) }
        guard let mark = (text.hasASCII(" -- ") ? text.ranges(of: " -- ").last : nil) ?? sign else {
            return (text, nil)
        }
        let name = String(text[..<mark.lowerBound]).cleaned
        guard !name.isEmpty, let number = number(String(text[mark.upperBound...])) else {
            // Nothing may follow the mark, as in "Counseling and development series ;".
            return (text.hasSuffix(";") ? String(text.dropLast()).cleaned : text, nil)
        }
        return (name, number)
    }

    /// Returns the number in texts such as "3", "bk. 2.5", "#12)" and "Bd. 06/4400".
    private static func number(_ text: String) -> String? {
        guard let number = SeriesNumber.number(in: text)?.lowercased() else { return nil }
        let isNumber =
            (1...10).contains(number.count) && number.first?.isNumber == true
            && number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "/") }
        return isNumber ? number : nil
    }

    private static func some(_ texts: [String]) -> [String]? { texts.isEmpty ? nil : texts }
}

extension String {
    /// The text without the Markdown that people use in Open Library's descriptions
    /// (openlibrary.org/help/faq/editing: emphasis, links, quotations, headings, rules).
    var withoutMarkdown: String {
        guard contains(where: { "*_>[#-".contains($0) }) else { return self }
        return replacing(/(?m)^[ \t]*(?:>[ \t]?)+/, with: "")
            .replacing(/(?m)^[ \t]*(?:\[[^\]\n]{1,80}\]:[ \t]*\S+.*|[-*_]{3,}[ \t]*)$/, with: "")
            .replacing(/(?m)^#{1,6}[ \t]+/, with: "")
            .replacing(/\[([^\[\]\n]{1,300})\]\([^()\s]{1,1000}\)/) { $0.1 }
            .replacing(/\[([^\[\]\n]{2,300})\] ?\[\d{1,3}\]/) { $0.1 }
            .replacing(/\[\d{1,3}\]/, with: "")
            .replacing(/(\*\*|__)(\S(?:[^\n]{0,500}?\S)?)\1/) { $0.2 }
            .replacing(/(^|[\s(])[*_](\S(?:[^*_\n]{0,500}?\S)?)[*_](?=$|[\s.,;:!?)])/) { "\($0.1)\($0.2)" }
    }
}
