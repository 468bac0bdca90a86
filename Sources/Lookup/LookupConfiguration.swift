import Bookplate
import HTTP

/// The settings of the lookup, such as the addresses of the sources and the contact for the people who run them.
public struct LookupConfiguration: Sendable {
    let openLibrary: WebAddress
    let googleBooks: WebAddress
    let covers: WebAddress
    private let catalogues: [CatalogueSource]
    let googleBooksKey: String?
    let userAgent: String
    let certificateFile: String?
    let isOffline: Bool

    /// - Parameters:
    ///   - version: the version of the program, for the User-Agent.
    ///   - homepage: the web page of the program, which the User-Agent contains for the operators of the sources.
    ///   - contact: an e-mail or web address of the person who runs this station, which Open Library requests.
    ///   - openLibrary: the base address of Open Library. This address and the following two must use https; plain http
    ///     is allowed only for this machine.
    ///   - googleBooks: the base address of Google Books, without `/books/v1`.
    ///   - covers: the base address of Open Library's covers.
    ///   - catalogues: base addresses of catalogues in place of the public ones.
    ///   - googleBooksKey: the API key for Google Books, which usually refuses requests without a key.
    ///   - certificateFile: a PEM file with the certificate authorities to trust instead of the system's.
    ///   - isOffline: true if no online source may be queried (`BOOKPLATE_OFFLINE`).
    /// - Throws: ``LookupConfigurationError`` if a setting cannot be used.
    public init(
        version: String, homepage: String, contact: String? = nil,
        openLibrary: String = "https://openlibrary.org", googleBooks: String = "https://www.googleapis.com",
        covers: String = "https://covers.openlibrary.org", catalogues: [SourceName: String] = [:],
        googleBooksKey: String? = nil,
        certificateFile: String? = nil, isOffline: Bool = false
    ) throws(LookupConfigurationError) {
        self.openLibrary = try Self.base(openLibrary, of: "Open Library")
        self.googleBooks = try Self.base(googleBooks, of: "Google Books")
        self.covers = try Self.base(covers, of: "covers")
        var sources: [CatalogueSource] = []
        for catalogue in Catalogue.all {
            let base = try Self.base(catalogues[catalogue.name] ?? catalogue.base, of: catalogue.name.displayName)
            sources.append(CatalogueSource(catalogue: catalogue, base: base))
        }
        self.catalogues = sources
        let key = googleBooksKey?.cleaned ?? ""
        guard key.utf8.count <= 256, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .badKey }
        self.googleBooksKey = key.isEmpty ? nil : key
        let contact = contact?.cleaned ?? ""
        guard contact.utf8.count <= 200, contact.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            !contact.contains(where: { "()\\".contains($0) })
        else { throw .badContact(contact) }
        userAgent = "Bookplate/\(version) (+\(homepage)" + (contact.isEmpty ? "" : "; \(contact)") + ")"
        self.certificateFile = certificateFile.flatMap { $0.isEmpty ? nil : $0 }
        self.isOffline = isOffline
    }

    private static func base(_ text: String, of what: String) throws(LookupConfigurationError) -> WebAddress {
        guard let address = WebAddress(text), !address.target.contains("?") else {
            throw .badAddress(what: what, text: text)
        }
        guard address.scheme == .https || address.isLoopback else { throw .plainHTTP(what: what, text: text) }
        return address
    }
}

/// The reason why a setting of the lookup cannot be used.
public enum LookupConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    case badAddress(what: String, text: String)
    case plainHTTP(what: String, text: String)
    case badKey
    case badContact(String)

    public var description: String {
        switch self {
        case .badAddress(let what, let text):
            "the \(what) address \"\(text.cleaned.prefix(100))\" is not valid; write it like https://example.org"
        case .plainHTTP(let what, let text):
            "the \(what) address \"\(text.cleaned.prefix(100))\" uses plain http, which is allowed only for this machine; use https"
        case .badKey:
            "the Google Books key is too long or contains a space or another character that keys never contain; copy it again"
        case .badContact(let text):
            "the contact \"\(text.prefix(100))\" cannot be used; give an e-mail or web address of at most 200 characters, without accents or brackets"
        }
    }
}

extension LookupConfiguration {
    /// The public base address of a catalogue; `nil` for a source that is none.
    public static func publicAddress(of catalogue: SourceName) -> String? {
        Catalogue.all.first { $0.name == catalogue }?.base
    }

    /// Returns the online sources that are switched on, in their order.
    func sources(in order: SourceOrder) -> [any OnlineSource] {
        order.sources.compactMap { name in
            switch name {
            case .openLibrary: OpenLibrary(base: openLibrary, covers: CoverAddress(base: covers))
            case .googleBooks:
                GoogleBooks(base: googleBooks, key: googleBooksKey, covers: CoverAddress(base: covers))
            default: catalogues.first { $0.name == name }
            }
        }
    }
}

extension HTTPClient {
    /// Creates a client with the user agent and the certificate authorities from the configuration.
    convenience init(_ configuration: LookupConfiguration) {
        self.init(userAgent: configuration.userAgent, certificateFile: configuration.certificateFile)
    }
}

extension LookupConfigurationError: Refusal {
    public var kind: RefusalKind { .configuration }

    public var code: String {
        switch self {
        case .badAddress: "lookupBadAddress"
        case .plainHTTP: "lookupPlainHTTP"
        case .badKey: "lookupBadKey"
        case .badContact: "lookupBadContact"
        }
    }
}
