import Bookplate
import HTTP

/// Cleans untrusted text from the sources and cuts it to the library's limits.
enum FieldLimits {
    /// The maximum number of items that are read from a list.
    static let items = 100
    /// The plausible page counts. A source's count outside this range must be an error and is ignored. A user may enter
    /// a higher count (``NumberLimit/pages``).
    static let pages = 1...100_000

    /// - Returns: the text without control characters, cut to `limit` characters; `nil` if nothing is left.
    static func text(_ value: JSONValue?, limit: Int = TextLimit.name) -> String? {
        value?.string.flatMap { text($0, limit: limit) }
    }

    static func text(_ value: String, limit: Int = TextLimit.name) -> String? {
        if value.utf8.count <= limit, value.isPlainLine { return value.isEmpty ? nil : value }
        // The text is cut roughly before cleaning and exactly afterwards, because counting the characters of 5 MB is
        // slow.
        let bounded = value.utf8.count > limit * 16 ? String(value.unicodeScalars.prefix(limit * 4)) : value
        // Only a description may have several lines.
        let cleaned = limit >= TextLimit.description ? bounded.cleaned : bounded.onOneLine.cleaned
        guard cleaned.utf8.count > limit else { return cleaned.isEmpty ? nil : cleaned }
        let cut = String(cleaned.prefix(limit)).cleaned
        return cut.isEmpty ? nil : cut
    }

    /// Returns a title without the punctuation by which catalogues separate it from what follows (ISBD, A.3).
    static func title(_ value: JSONValue?) -> String? {
        let title = text(value, limit: TextLimit.title).map(MarcText.withoutMarks)
        return title?.isEmpty == false ? title : nil
    }

    /// Returns the name of a publisher; `nil` if the catalogue says that it is unknown ("s.n.", sine nomine).
    static func publisher(_ text: String) -> String? {
        var name = text.withoutEntities
        if name.utf8.first == UInt8(ascii: "\""), name.count > 2, name.hasSuffix("\"") {
            name = String(name.dropFirst().dropLast())
        }
        // Only names of few letters can be among those below.
        guard name.utf8.count <= 64 else { return self.text(name) }
        let first = name.utf8.first { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 >= 0x80 }
        guard let first, "spv".utf8.contains(first | 0x20) || first >= 0x80 else { return self.text(name) }
        let letters = name.lowercased().filter { $0.isLetter || $0 == " " }.cleaned
        let unknown = ["sn", "s n", "sine nomine", "publisher not identified", "verlag nicht ermittelbar"]
        guard !unknown.contains(letters) else { return nil }
        return self.text(name)
    }

    /// Returns the subjects that were written for people. Open Library also keeps lists there, such as
    /// "nyt:young-adult-e-book=2016-05-22" and "collectionID:KellerChallenge".
    static func subjects(_ value: JSONValue?) -> [String] {
        texts(value).filter { subject in
            guard let mark = subject.firstIndex(of: ":") else { return true }
            return !["nyt", "collectionid", "series", "award", "lexile"].contains(subject[..<mark].lowercased())
        }
    }

    /// Returns the texts in a list, without duplicates. A single text is treated like a list with one item.
    ///
    /// - Parameter key: the key of the text in items that are objects, such as `{"name": "Penguin"}`.
    static func texts(_ value: JSONValue?, key: String = "name") -> [String] {
        var texts: [String] = []
        let items = value?.items ?? []
        for item in items.isEmpty ? [value].compactMap(\.self) : items {
            if let text = text(item) ?? text(item[key]), !texts.contains(text) { texts.append(text) }
            if texts.count == Self.items { break }
        }
        return texts
    }

    static func pages(_ value: JSONValue?) -> Int? { value?.wholeNumber.flatMap { pages.contains($0) ? $0 : nil } }

    /// Returns a link for people to open, always with https.
    static func link(_ value: JSONValue?) -> String? {
        guard let text = value?.string, let address = WebAddress(text.cleaned) else { return nil }
        return address.secured.description
    }
}

extension StringProtocol {
    /// Returns true if a text contains a word of ASCII. This compares bytes, which is many times as fast as comparing
    /// characters.
    func hasASCII(_ word: String) -> Bool {
        let word = Array(word.utf8)
        let answer = utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = word.first, bytes.count >= word.count else { return word.isEmpty }
            return (0...bytes.count - word.count).contains { start in
                bytes[start] == first && bytes[start..<start + word.count].elementsEqual(word)
            }
        }
        return answer ?? contains(word.map { Character(UnicodeScalar($0)) })
    }
}

extension String {
    /// The text with the entities of HTML replaced that occur in names.
    fileprivate var withoutEntities: String {
        // Most ampersands stand for themselves.
        guard utf8.contains(UInt8(ascii: "&")), utf8.contains(UInt8(ascii: ";")) else { return self }
        return replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }

    /// The text with line breaks and tabs replaced by spaces.
    fileprivate var onOneLine: String {
        contains { $0.isNewline || $0 == "\t" } ? String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) : self
    }
}

/// Converts language codes from the sources to the codes that the library uses: ISO 639-1 if the language has such a
/// code, otherwise ISO 639-2.
enum LanguageCode {
    /// - Parameter text: a code such as "eng", "/languages/eng", "en" or "pt-BR". Codes from MARC are those of ISO
    ///   639-2/B and a few others.
    /// - Returns: `nil` if the text is not a code ("un" at Google), or if the code means no particular language (und,
    ///   mul, zxx, mis).
    static func normalized(_ text: String) -> String? {
        let last = text.utf8.prefix(64).split(separator: UInt8(ascii: "/")).last ?? Substring("").utf8
        let code = (String(last.prefix { !"-_".utf8.contains($0) }) ?? "").lowercased()
        guard code.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        switch code.utf8.count {
        case 2: return known.contains(code) ? code : withdrawn[code]
        case 3: return ["und", "mul", "zxx", "mis"].contains(code) ? nil : twoLetters[code] ?? code
        default: return nil
        }
    }

    private static let known = Set(twoLetters.values)
    /// Codes that ISO 639-1 has replaced, and that still occur.
    private static let withdrawn = ["iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"]
    private static let twoLetters: [String: String] = Dictionary(
        table.split(whereSeparator: \.isWhitespace).map { (String($0.prefix(3)), String($0.suffix(2))) },
        uniquingKeysWith: { first, _ in first })

    /// The codes of ISO 639-2 (both B and T), each with its ISO 639-1 code. Source: the registration authority's list
    /// (Library of Congress, loc.gov/standards/iso639-2), as in Debian's iso-codes 4.15. The last line has codes that
    /// MARC has withdrawn but that still occur in records.
    private static let table = """
        aar:aa abk:ab afr:af aka:ak alb:sq amh:am ara:ar arg:an arm:hy asm:as ava:av ave:ae aym:ay aze:az bak:ba bam:bm
        baq:eu bel:be ben:bn bih:bh bis:bi bod:bo bos:bs bre:br bul:bg bur:my cat:ca ces:cs cha:ch che:ce chi:zh chu:cu
        chv:cv cor:kw cos:co cre:cr cym:cy cze:cs dan:da deu:de div:dv dut:nl dzo:dz ell:el eng:en epo:eo est:et eus:eu
        ewe:ee fao:fo fas:fa fij:fj fin:fi fra:fr fre:fr fry:fy ful:ff geo:ka ger:de gla:gd gle:ga glg:gl glv:gv gre:el
        grn:gn guj:gu hat:ht hau:ha heb:he her:hz hin:hi hmo:ho hrv:hr hun:hu hye:hy ibo:ig ice:is ido:io iii:ii iku:iu
        ile:ie ina:ia ind:id ipk:ik isl:is ita:it jav:jv jpn:ja kal:kl kan:kn kas:ks kat:ka kau:kr kaz:kk khm:km kik:ki
        kin:rw kir:ky kom:kv kon:kg kor:ko kua:kj kur:ku lao:lo lat:la lav:lv lim:li lin:ln lit:lt ltz:lb lub:lu lug:lg
        mac:mk mah:mh mal:ml mao:mi mar:mr may:ms mkd:mk mlg:mg mlt:mt mon:mn mri:mi msa:ms mya:my nau:na nav:nv nbl:nr
        nde:nd ndo:ng nep:ne nld:nl nno:nn nob:nb nor:no nya:ny oci:oc oji:oj ori:or orm:om oss:os pan:pa per:fa pli:pi
        pol:pl por:pt pus:ps que:qu roh:rm ron:ro rum:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slo:sk slv:sl sme:se
        smo:sm sna:sn snd:sd som:so sot:st spa:es sqi:sq srd:sc srp:sr ssw:ss sun:su swa:sw swe:sv tah:ty tam:ta tat:tt
        tel:te tgk:tg tgl:tl tha:th tib:bo tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur uzb:uz
        ven:ve vie:vi vol:vo wel:cy wln:wa wol:wo xho:xh yid:yi yor:yo zha:za zho:zh zul:zu
        scr:hr scc:sr mol:ro iri:ga esp:eo fri:fy tag:tl taj:tg tar:tt gae:gd gag:gl int:ia lap:se mla:mg gua:gn
        """
}

extension JSONValue {
    /// The value as a whole number. Text is accepted too, because some sources put numbers in quotation marks.
    var wholeNumber: Int? { integer ?? string.flatMap { Int($0.cleaned) } }
}
