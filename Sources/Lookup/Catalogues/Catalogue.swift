import Bookplate

/// A catalogue as a value: what to send, and how to read the answer. It sends nothing itself; whoever asks it keeps the
/// deadline, the rate limit and the pause.
struct Catalogue: Sendable {
    let name: SourceName
    /// The public address of the server.
    let base: String
    /// The beginnings of the ISBNs that the catalogue is asked for: prefix and registration group, such as "9783". It
    /// is empty for a catalogue that is asked for every ISBN.
    var groups: [String] = []
    /// True if the catalogue is worth a request for a book that another source knows, but not in every field. The
    /// others are asked only for books that nobody else has, because they are slow and asked by the whole world.
    var fillsGaps = true
    /// The essential fields that its records never have.
    var missingFields: Set<Metadata.Field> = [.coverURL]
    /// The maximum number of ISBNs in one request.
    var batchSize = 1
    /// The pause between two requests.
    var pause: Duration = .seconds(1)
    /// Returns the path and the query of a request, percent-encoded and without a leading slash.
    let request: @Sendable ([ISBN]) -> String
    /// Reads an answer with status 200 or 404. There is an answer for every ISBN.
    let read: @Sendable ([UInt8], [ISBN]) -> [ISBN: SourceAnswer]
    /// The search for titles; `nil` if the catalogue is not searched.
    var titles: TitleRequest?

    /// True if the catalogue is that of a registration group. It is asked at the same time as Open Library.
    var isNational: Bool { !groups.isEmpty }

    func isAsked(for isbn: ISBN) -> Bool { groups.isEmpty || groups.contains { isbn.digits.hasPrefix($0) } }

    /// All catalogues, in the standard order.
    static let all: [Catalogue] = [
        dnb, bnf, bn, libris, openBD, k10plus, loc, citoid,
    ]

    /// Germany, Austria and the German part of Switzerland. Source: dnb.de/sru.
    static let dnb = sru(
        .dnb, "https://services.dnb.de", path: "sru/dnb", groups: ["9783"], schema: "MARC21-xml", scheme: "dnb",
        language: "de", titles: { words($0, title: "tit%3D", author: "per%3D") }
    ) { "NUM%3D\($0.digits)" }

    /// France, and the other countries of the French language. Source: bnf.fr/fr/service-sru.
    static let bnf = sru(
        .bnf, "https://catalogue.bnf.fr", path: "api/SRU", groups: ["9782", "97910"], version: "1.2", dialect: .unimarc,
        language: "fr", titles: { words($0, title: "bib.title%20all%20", author: "bib.author%20all%20") }
    ) { "bib.isbn%20all%20%22\($0.digits)%22" }

    /// The union catalogue of German and other libraries, with books of the whole world. Source:
    /// wiki.k10plus.de/display/K10PLUS/SRU.
    static let k10plus = sru(
        .k10plus, "https://sru.k10plus.de", path: "opac-de-627", schema: "marcxml", scheme: "k10plus"
    ) { "pica.isb=\($0.digits)" }

    /// The index does not convert numbers, and books before 2007 are listed with their ISBN-10 alone. The library
    /// allows five requests a minute. Source: loc.gov/standards/sru/resources/lcServers.html.
    static let loc = sru(
        .loc, "https://lx2.loc.gov", path: "sru/lcdb", fillsGaps: false,
        pause: .seconds(12), schema: "marcxml"
    ) { isbn in
        "bath.ISBN=\(isbn.digits)" + (isbn.isbn10.map { "%20or%20bath.ISBN=\($0)" } ?? "")
    }

    /// Poland. Source: data.bn.org.pl/docs/bibs.
    static let bn = Catalogue(
        name: .bn, base: "https://data.bn.org.pl", groups: ["97883"],
        request: { "api/institutions/bibs.marcxml?isbnIssn=\($0[0].digits)&limit=5" },
        read: MarcReader(name: .bn, dialect: .marc21, scheme: "bn").read,
        titles: TitleRequest(
            language: "pl",
            request: { query in
                "api/institutions/bibs.marcxml?title=\(query.title.percentEncoded)"
                    + (query.author.map { "&author=\($0.percentEncoded)" } ?? "") + "&limit=\(TitleLimit.offers)"
            }, read: MarcReader(name: .bn, dialect: .marc21, scheme: "bn").offers))

    /// Sweden. Source: libris.kb.se/help/tech_xsearch_swe.jsp.
    static let libris = Catalogue(
        name: .libris, base: "https://libris.kb.se", groups: ["97891"],
        request: { "xsearch?query=ISBN:\($0[0].digits)&format=json&n=5" }, read: Libris.read,
        titles: TitleRequest(
            language: "sv",
            request: { query in
                let author = query.authorWords.joined(separator: " ")
                let words =
                    "tit:(\(query.titleWords.joined(separator: " ")))" + (author.isEmpty ? "" : " forf:(\(author))")
                return "xsearch?query=\(words.percentEncoded)&format=json&n=\(TitleLimit.offers)"
            }, read: Libris.offers))

    /// Japan. It answers for up to 1,000 numbers, but a record may have 30 KB, and an answer at most 1 MiB. Source:
    /// openbd.jp.
    static let openBD = Catalogue(
        name: .openBD, base: "https://api.openbd.jp", groups: ["9784"], missingFields: [],
        batchSize: 30,
        request: { "v1/get?isbn=" + $0.map(\.digits).joined(separator: ",") }, read: OpenBD.read)

    /// Wikipedia's citation service, which asks many catalogues itself and is slow. Source:
    /// mediawiki.org/wiki/Citoid/API.
    static let citoid = Catalogue(
        name: .citoid, base: "https://en.wikipedia.org", fillsGaps: false, pause: .seconds(2),
        request: { "api/rest_v1/data/citation/mediawiki/\($0[0].digits)" }, read: Citoid.read)

    /// A catalogue that is searched by SRU (loc.gov/standards/sru) and answers with MARC records.
    ///
    /// - Parameters:
    ///   - schema: the name of the record's form at this server; `nil` for its default.
    ///   - scheme: the key under which the record's number is stored.
    ///   - language: the language of the people who search the catalogue for titles.
    ///   - titles: returns the query for titles, as `query`; `nil` if the catalogue is not searched for them.
    ///   - query: returns the query in CQL, percent-encoded.
    private static func sru(
        _ name: SourceName, _ base: String, path: String, groups: [String] = [], fillsGaps: Bool = true,
        pause: Duration = .seconds(1), version: String = "1.1", schema: String? = nil, dialect: MarcDialect = .marc21,
        scheme: String? = nil, language: String = "", titles: (@Sendable (TitleQuery) -> String)? = nil,
        query: @escaping @Sendable (ISBN) -> String
    ) -> Catalogue {
        let reader = MarcReader(name: name, dialect: dialect, scheme: scheme)
        @Sendable func address(_ query: String, _ records: Int) -> String {
            // The Library of Congress counts records but sends none if startRecord is missing.
            "\(path)?version=\(version)&operation=searchRetrieve&query=\(query)"
                + (schema.map { "&recordSchema=\($0)" } ?? "") + "&startRecord=1&maximumRecords=\(records)"
        }
        return Catalogue(
            name: name, base: base, groups: groups, fillsGaps: fillsGaps, pause: pause,
            request: { address(query($0[0]), 5) }, read: reader.read,
            titles: titles.map { titles in
                TitleRequest(
                    language: language, request: { address(titles($0), TitleLimit.offers) }, read: reader.offers)
            })
    }

    /// Returns a query in CQL, percent-encoded: all words of the title and of the author's name, in any order.
    ///
    /// - Parameters:
    ///   - title: the index of titles with its relation.
    ///   - author: the index of persons with its relation.
    private static func words(_ query: TitleQuery, title: String, author: String) -> String {
        (query.titleWords.map { title + "%22\($0.percentEncoded)%22" }
            + query.authorWords.map { author + "%22\($0.percentEncoded)%22" }).joined(separator: "%20and%20")
    }
}

/// The search of a catalogue for titles, as a value.
struct TitleRequest: Sendable {
    /// The language of the people who ask this catalogue, as an ISO 639-1 code.
    let language: String
    /// Returns the path and the query of a request, as ``Catalogue/request``.
    let request: @Sendable (TitleQuery) -> String
    /// Reads an answer with status 200 or 404.
    let read: @Sendable ([UInt8]) throws(LookupError) -> [EditionOffer]
}
