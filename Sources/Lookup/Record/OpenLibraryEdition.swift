import Bookplate

/// Reads editions in the form in which Open Library stores them. The answers of `/isbn/{isbn}.json` and `jscmd=details`
/// and the dump of editions all have this form. Source: openlibrary.org/type/edition.
enum OpenLibraryEdition {
    /// Converts an edition to metadata. Authors that the edition lists only by key are left out.
    static func metadata(_ edition: JSONValue) -> Metadata {
        var metadata = Metadata()
        metadata.title = title(edition)
        metadata.subtitle = FieldLimits.text(edition["subtitle"], limit: TextLimit.title)
        metadata.authors = FieldLimits.texts(edition["authors"]).map { Contributor(name: $0) } + contributors(edition)
        metadata.publisher = FieldLimits.texts(edition["publishers"]).first
        metadata.publishedDateText = FieldLimits.text(edition["publish_date"])
        metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
        metadata.pageCount = FieldLimits.pages(edition["number_of_pages"])
        metadata.language = language(edition["languages"])
        metadata.originalLanguage = language(edition["translated_from"])
        metadata.format = FieldLimits.text(edition["physical_format"]).flatMap(format)
        (metadata.series, metadata.seriesNumber) = series(FieldLimits.texts(edition["series"]).first)
        metadata.description = FieldLimits.text(
            edition["description"]?["value"] ?? edition["description"], limit: TextLimit.description)
        metadata.subjects = FieldLimits.texts(edition["subjects"])
        metadata.coverURL = edition["covers"]?.items.lazy.compactMap(\.wholeNumber).first { $0 > 0 }
            .map(CoverAddress.ofOpenLibrary)
        metadata.identifiers = identifiers(edition["identifiers"])
        metadata.identifiers["openlibrary"] = number(of: edition).map { [$0] }
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

    private static func title(_ edition: JSONValue) -> String? {
        guard let title = FieldLimits.text(edition["title"], limit: TextLimit.title) else { return nil }
        // Older records store the article separately: "The " and "hobbit".
        guard let article = FieldLimits.text(edition["title_prefix"]) else { return title }
        return FieldLimits.text("\(article) \(title)", limit: TextLimit.title)
    }

    /// Returns the contributors whose role is known. Contributors without a role are left out, because they are already
    /// listed as authors.
    private static func contributors(_ edition: JSONValue) -> [Contributor] {
        (edition["contributors"]?.items.prefix(FieldLimits.items) ?? []).compactMap { item in
            guard let name = FieldLimits.text(item["name"]), let role = FieldLimits.text(item["role"]) else {
                return nil
            }
            let word = role.lowercased()
            let roles: [(String, Contributor.Role)] = [
                ("translat", .translator), ("edit", .editor), ("illustrat", .illustrator), ("narrat", .narrator),
            ]
            guard let known = roles.first(where: { word.hasPrefix($0.0) }) else { return nil }
            return Contributor(name: name, role: known.1)
        }
    }

    private static func language(_ value: JSONValue?) -> String? {
        value?.items.lazy.compactMap { $0["key"]?.string ?? $0.string }.compactMap(LanguageCode.normalized).first
    }

    private static func format(_ text: String) -> Metadata.Format? {
        let text = text.lowercased()
        func names(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if names("audio", "mp3", "cassette") { return .audiobook }
        if names("ebook", "e-book", "kindle", "electronic", "epub", "pdf") { return .digital }
        return names("paper", "hard", "cover", "bound", "binding", "spiral", "board") ? .physical : nil
    }

    /// Splits a series such as "Discworld ; 3", "Penguin classics #12" or "Culture, bk. 2" into its name and its
    /// number. Without a number at the end, the whole text is the name.
    private static func series(_ text: String?) -> (name: String?, number: String?) {
        guard let text else { return (nil, nil) }
        guard let mark = text.lastIndex(where: { ";#,(".contains($0) }) else { return (text, nil) }
        let name = String(text[..<mark]).cleaned
        var number = text[text.index(after: mark)...].lowercased().filter { !"();# ".contains($0) }
        for word in ["book", "bk.", "volume", "vol.", "v.", "number", "no.", "nr."] where number.hasPrefix(word) {
            number.removeFirst(word.count)
        }
        let isNumber = (1...6).contains(number.count) && number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        return isNumber && !name.isEmpty ? (name, number) : (text, nil)
    }

    private static func some(_ texts: [String]) -> [String]? { texts.isEmpty ? nil : texts }
}
