import Bookplate

/// Reads answers of openBD: an array with an object or null for each ISBN. `onix` is a record of ONIX 3.0 (with JSON
/// names), `summary` repeats the most important fields as plain texts. Source: openbd.jp/spec.
enum OpenBD {
    @Sendable static func read(_ bytes: [UInt8], _ isbns: [ISBN]) -> [ISBN: SourceAnswer] {
        JSONAnswer.read(bytes, isbns, of: .openBD) { json, isbn in
            guard case .array(let items) = json else { return nil }
            // Both unknown and invalid numbers are null. The numbers decide, not the positions.
            let records = items.prefix(1_000).filter { numbers($0).contains(isbn.digits) }
            return JSONAnswer.first(records, of: isbn, from: .openBD, numbers: numbers, metadata: metadata)
        }
    }

    private static func numbers(_ record: JSONValue) -> [String] {
        [
            record["onix"]?["RecordReference"], record["onix"]?["ProductIdentifier"]?["IDValue"],
            record["summary"]?["isbn"],
        ].compactMap { $0?.string?.filter { $0 != "-" } }
    }

    private static func metadata(_ record: JSONValue) -> Metadata {
        let summary = record["summary"]
        let description = record["onix"]?["DescriptiveDetail"]
        let texts = record["onix"]?["CollateralDetail"]
        let publishing = record["onix"]?["PublishingDetail"]
        var metadata = Metadata()
        (metadata.title, metadata.subtitle) = title(description?["TitleDetail"]?["TitleElement"], summary)
        metadata.authors = contributors(description?["Contributor"], summary?["author"]?.string)
        metadata.publisher =
            text(publishing?["Imprint"]?["ImprintName"]) ?? text(publishing?["Publisher"]?["PublisherName"])
            ?? text(summary?["publisher"])
        let dates = publishing?["PublishingDate"]?.items.filter {
            // 01: date of publication, 11: date of first publication. Others are those of embargoes and announcements.
            ["01", "11"].contains($0["PublishingDateRole"]?.string)
        }
        metadata.setPublished(((dates ?? []).map { $0["Date"] } + [summary?["pubdate"]]).compactMap { $0?.string })
        // 11: content pages, 00: main content; unit 03: pages.
        let extent = description?["Extent"]?.items.first {
            ["11", "00"].contains($0["ExtentType"]?.string) && $0["ExtentUnit"]?.string == "03"
        }
        metadata.pageCount = FieldLimits.pages(extent?["ExtentValue"])
        func language(_ role: String) -> String? {
            description?["Language"]?.items.first { $0["LanguageRole"]?.string == role }?["LanguageCode"]?.string
                .flatMap(LanguageCode.normalized)
        }
        metadata.language = language("01")
        metadata.originalLanguage = language("02")
        metadata.format = format(description?["ProductForm"]?.string)
        (metadata.series, metadata.seriesNumber) = series(description?["Collection"], summary)
        // 03: description, 02: short description. 04 is the table of contents.
        metadata.description =
            ["03", "02"].lazy.compactMap { type in
                texts?["TextContent"]?.items.first { $0["TextType"]?.string == type }
            }.compactMap { FieldLimits.text($0["Text"], limit: TextLimit.description) }.first
        metadata.coverURL = cover(texts?["SupportingResource"], summary?["cover"]?.string)
        return metadata
    }

    private static func title(_ element: JSONValue?, _ summary: JSONValue?) -> (String?, String?) {
        let element = element?.items.first ?? element
        let text = text(element?["TitleText"]?["content"]) ?? text(summary?["title"])
        let (title, rest) = text.map { MarcText.title($0) } ?? (nil, nil)
        return (title, self.text(element?["Subtitle"]?["content"]) ?? rest)
    }

    /// The roles of ONIX (code list 17). A contributor without a role is an author, if the summary knows no role
    /// either.
    private static func contributors(_ list: JSONValue?, _ summary: String?) -> [Contributor] {
        let listed = people(in: summary ?? "")
        var contributors: [Contributor] = []
        for item in (list?.items ?? []).prefix(FieldLimits.items) {
            guard let written = item["PersonName"]?["content"]?.string, let name = PersonName.displayed(written) else {
                continue
            }
            let roles = item["ContributorRole"]?.items.compactMap(\.string) ?? []
            let plain = name.filter { !$0.isWhitespace }
            let known = listed.first { $0.name.filter { !$0.isWhitespace } == plain }
            contributors.add(name, roles.isEmpty ? known?.role ?? .author : roles.compactMap(role).foremost)
        }
        return contributors.isEmpty ? listed : contributors
    }

    private static func role(_ code: String) -> Contributor.Role? {
        switch code {
        case "A01", "A02", "A03", "A09", "A10": .author
        case "A12", "A35", "A36", "A07": .illustrator
        case "B01", "B02", "B09", "B10", "B11", "B13", "B15", "B21": .editor
        case "B06", "B08": .translator
        case "E03", "E07": .narrator
        default: code.hasPrefix("A") || code.hasPrefix("B") ? .other : nil
        }
    }

    /// Splits a list such as "斉藤 努/著、久保 幹雄/監修" or "後藤裕蔵／著 高橋征義／著" into names and roles. A name can contain
    /// a space; after a role, a space ends the entry.
    static func people(in text: String) -> [Contributor] {
        var contributors: [Contributor] = []
        var (name, role) = ("", nil as String?)
        func close() {
            let known = role.map { Contributor.Role(japanese: $0) ?? .other } ?? .author
            contributors.add(PersonName.displayed(name), known)
            (name, role) = ("", nil)
        }
        for character in text.cleanedLine.prefix(10_000) {
            switch character {
            case "/", "／": role = role ?? ""
            case "、", "，", ";", "；": close()
            case _ where role != nil && character.isWhitespace: close()
            case _ where role != nil: role?.append(character)
            default: name.append(character)
            }
        }
        close()
        return contributors
    }

    private static func series(_ collection: JSONValue?, _ summary: JSONValue?) -> (String?, String?) {
        let collection = collection?.items.first ?? collection
        let elements = collection?["TitleDetail"]?["TitleElement"]
        let element = elements?.items.first ?? elements
        guard let name = text(element?["TitleText"]?["content"]) ?? text(summary?["series"]) else { return (nil, nil) }
        let number = text(element?["PartNumber"]) ?? text(summary?["volume"])
        return (name, SeriesNumber.number(in: number))
    }

    /// The forms of ONIX (code list 150).
    private static func format(_ form: String?) -> Metadata.Format? {
        switch form?.first {
        case "A": .audiobook
        case "B": .physical
        case "D", "E": .digital
        default: nil
        }
    }

    private static func cover(_ resources: JSONValue?, _ summary: String?) -> String? {
        // 01: front cover.
        let resource = resources?.items.first { $0["ResourceContentType"]?.string == "01" }
        let link = resource?["ResourceVersion"]?.items.lazy.compactMap { $0["ResourceLink"]?.string }.first
        return [link, summary].lazy.compactMap(\.self).compactMap(CoverHosts.secured).first
    }

    private static func text(_ value: JSONValue?) -> String? {
        FieldLimits.text(value?.string?.replacing("\u{3000}", with: " ") ?? "", limit: TextLimit.title)
    }
}
