import Bookplate
import HTTP

/// Whom to ask, and as whom.
public struct LookupConfiguration: Sendable {
    let openLibrary: WebAddress
    let googleBooks: WebAddress
    let covers: WebAddress
    let googleBooksKey: String?
    let userAgent: String
    let certificateFile: String?
    let isOffline: Bool

    /// - Parameters:
    ///   - version: of the program, goes into the User-Agent.
    ///   - homepage: where a source's operator reads about the program; goes into the User-Agent.
    ///   - contact: an e-mail or web address of who runs this station; Open Library asks for one.
    ///   - openLibrary: base address of Open Library; https, or plain http on this machine itself. So are the next two.
    ///   - googleBooks: base address of Google Books, without `/books/v1`.
    ///   - covers: base address of Open Library's covers.
    ///   - googleBooksKey: without one Google Books usually refuses to answer.
    ///   - certificateFile: a PEM file of authorities to trust instead of the system's.
    ///   - isOffline: whether no online source is asked (`BOOKPLATE_OFFLINE`).
    /// - Throws: ``LookupConfigurationError`` that names the setting.
    public init(
        version: String, homepage: String, contact: String? = nil,
        openLibrary: String = "https://openlibrary.org", googleBooks: String = "https://www.googleapis.com",
        covers: String = "https://covers.openlibrary.org", googleBooksKey: String? = nil,
        certificateFile: String? = nil, isOffline: Bool = false
    ) throws(LookupConfigurationError) {
        self.openLibrary = try Self.base(openLibrary, of: "Open Library")
        self.googleBooks = try Self.base(googleBooks, of: "Google Books")
        self.covers = try Self.base(covers, of: "covers")
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

/// A setting of the lookup that cannot be used.
public enum LookupConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    case badAddress(what: String, text: String)
    case plainHTTP(what: String, text: String)
    case badKey
    case badContact(String)

    public var description: String {
        switch self {
        case .badAddress(let what, let text):
            "the \(what) address \"\(text.cleaned.prefix(100))\" is no address; it looks like https://example.org"
        case .plainHTTP(let what, let text):
            "the \(what) address \"\(text.cleaned.prefix(100))\" is plain http, which only this machine itself may use; write https"
        case .badKey: "the Google Books key has a space or a letter that no key has; copy it again"
        case .badContact(let text):
            "the contact \"\(text.prefix(100))\" cannot stand in a header; an e-mail or web address in plain letters can"
        }
    }
}

extension HTTPClient {
    /// As who the configuration says, trusting whom it says.
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
