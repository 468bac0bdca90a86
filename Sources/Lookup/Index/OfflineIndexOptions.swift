import Bookplate

/// The part of the dumps that an index holds, and what it answers. An index remembers it, so that an update keeps it.
public struct OfflineIndexOptions: Sendable, Equatable {
    /// The languages of the editions to keep, as in ``Metadata/language``; empty for all.
    public let languages: [String]
    /// The countries of the editions to keep, as ISO 3166 codes such as "DE"; empty for all.
    public let countries: [String]
    /// True to leave out the words for titles, and editions without an ISBN.
    public let isNumbersOnly: Bool

    /// - Throws: ``OfflineIndexError/unknownLanguage(_:)`` or ``OfflineIndexError/unknownCountry(_:)``.
    public init(
        languages: [String], countries: [String] = [], isNumbersOnly: Bool = false
    ) throws(OfflineIndexError) {
        var codes: (languages: Set<String>, countries: Set<String>) = ([], [])
        for text in languages {
            guard let code = LanguageCode.normalized(text) else { throw .unknownLanguage(text) }
            codes.languages.insert(code)
        }
        for text in countries {
            guard PublishingCountry.known.contains(text.uppercased()) else { throw .unknownCountry(text) }
            codes.countries.insert(text.uppercased())
        }
        self.languages = codes.languages.sorted()
        self.countries = codes.countries.sorted()
        self.isNumbersOnly = isNumbersOnly
    }

    /// All editions, with the words for titles.
    public static let everything = OfflineIndexOptions()

    private init() { (languages, countries, isNumbersOnly) = ([], [], false) }

    /// Returns true if an edition belongs to the index.
    ///
    /// - Parameters:
    ///   - language: the language that the record gives. Without one, that of the ISBN's registration group counts.
    ///   - country: the country code of MARC that the record gives. Without one, the registration group counts.
    func includes(language: String?, country: String?, key: Int64?) -> Bool {
        if !languages.isEmpty {
            let stated = language ?? key.flatMap(RegistrationGroup.init)?.language
            guard let stated, languages.contains(stated) else { return false }
        }
        if !countries.isEmpty {
            if let stated = country.flatMap(PublishingCountry.iso) { return countries.contains(stated) }
            guard let group = key.flatMap(RegistrationGroup.init) else { return false }
            return group.countries.contains { countries.contains($0) }
        }
        return true
    }
}

/// The countries and the language of a registration group of ISBNs.
private struct RegistrationGroup {
    var countries: [String]
    /// `nil` if books in several languages have numbers of the group.
    var language: String?

    init?(key: Int64) {
        let digits = String(1_000_000_000 + key % 1_000_000_000).dropFirst()
        let isNew = key >= 1_000_000_000
        for length in 1...3 {
            if let group = Self.groups[(isNew ? "979-" : "") + digits.prefix(length)] {
                self = group
                return
            }
        }
        return nil
    }

    private init(countries: [String], language: String?) { (self.countries, self.language) = (countries, language) }

    /// The groups of the larger publishing countries, from the International ISBN Agency's list of ranges
    /// (``isbnRangeSource``). A group of a language lists the countries that share it.
    private static let groups: [String: RegistrationGroup] = Dictionary(
        uniqueKeysWithValues: """
            0:en:US,GB,CA,AU,NZ,IE,ZA 1:en:US,GB,CA,AU,NZ,IE,ZA 2:fr:FR,BE,CH,CA,LU 3:de:DE,AT,CH 4:ja:JP 5::RU 7:zh:CN
            80::CZ,SK 81::IN 82:no:NO 83:pl:PL 84::ES 85:pt:BR 86::RS,BA,ME,MK,SI,HR 87:da:DK 88:it:IT,CH 89:ko:KR
            90:nl:NL,BE 91:sv:SE 93::IN 94:nl:NL 600:fa:IR 602:id:ID 603:ar:SA 604:vi:VN 605:tr:TR 606:ro:RO 607:es:MX
            609:lt:LT 611:th:TH 612:es:PE 615:hu:HU 616:th:TH 617::UA 618:el:GR 619:bg:BG 621::PH 625:tr:TR 626:zh:TW
            950:es:AR 951:fi:FI 952:fi:FI 953:hr:HR 954:bg:BG 956:es:CL 957:zh:TW 958:es:CO 960:el:GR 961:sl:SI 963:hu:HU
            964:fa:IR 965::IL 966::UA 968:es:MX 970:es:MX 971::PH 972:pt:PT 973:ro:RO 974:th:TH 975:tr:TR 979:id:ID
            980:es:VE 984::BD 985::BY 986:zh:TW 987:es:AR 989:pt:PT 979-8:en:US 979-10:fr:FR 979-11:ko:KR 979-12:it:IT
            979-13:es:ES
            """.split(whereSeparator: \.isWhitespace).map { entry in
                let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                let countries = parts[2].split(separator: ",").map(String.init)
                return (parts[0], RegistrationGroup(countries: countries, language: parts[1].isEmpty ? nil : parts[1]))
            })

    static var allCountries: Set<String> { Set(groups.values.flatMap(\.countries)) }
}

/// Countries of publication as MARC writes them.
enum PublishingCountry {
    /// Returns the ISO code for a code of the MARC Code List for Countries (loc.gov/marc/countries), such as "gw " for
    /// Germany or "nyu" for New York.
    static func iso(_ marc: String) -> String? {
        let code = marc.cleaned.lowercased()
        if let country = codes[code] { return country }
        // The states, provinces and parts of four countries have codes of their own, which end with a letter for it.
        guard code.utf8.count == 3, let last = code.last else { return nil }
        return switch last {
        case "u": "US"
        case "c": "CA"
        case "k": "GB"
        case "a": "AU"
        case "r": "RU"
        default: nil
        }
    }

    /// The codes that can be asked for.
    static let known = Set(codes.values).union(RegistrationGroup.allCountries)

    private static let codes: [String: String] = Dictionary(
        """
        ag:AR at:AU au:AT be:BE bg:BD bl:BR bn:BA bo:BO bu:BG bw:BY cc:CN ce:LK ch:TW ci:HR ck:CO cl:CL cr:CR cu:CU
        cy:CY dk:DK dr:DO ec:EC er:EE es:SV fi:FI fr:FR gr:GR gs:GE gt:GT gw:DE ge:DE gh:GH ho:HN hu:HU ic:IS ie:IE
        ii:IN io:ID iq:IQ ir:IR is:IL it:IT iv:CI ja:JP jm:JM jo:JO ke:KE ko:KR kn:KP ku:KW kz:KZ le:LB li:LT lu:LU
        lv:LV ly:LY mc:MC mk:OM mm:MT mr:MA mv:MD mx:MX my:MY mo:ME ne:NL nl:NC no:NO np:NP nq:NI nr:NG nz:NZ pe:PE
        ph:PH pk:PK pl:PL pn:PA po:PT py:PY rb:RS rm:RO ru:RU rw:RW sa:ZA sg:SN si:SG su:SA sp:ES sw:SE sx:NA sy:SY
        sz:CH tg:TG th:TH ti:TN tu:TR tz:TZ ua:EG ug:UG un:UA uy:UY uz:UZ ve:VE vm:VN vc:VA xn:MK xo:SK xr:CZ
        xv:SI ae:DZ ai:AM aj:AZ aa:AL af:AF cm:CM cs:CZ xxu:US us:US xxk:GB uk:GB xxc:CA
        """.split(whereSeparator: \.isWhitespace).map { entry in
            (String(entry.prefix { $0 != ":" }), String(entry.suffix(2)))
        }, uniquingKeysWith: { first, _ in first })
}
