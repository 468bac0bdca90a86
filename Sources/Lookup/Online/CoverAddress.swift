import Bookplate
import HTTP

/// Which cover addresses are kept, and where they are fetched.
struct CoverAddress: Sendable {
    /// Where covers by number are fetched from (`BOOKPLATE_COVERS_URL`).
    let base: WebAddress

    /// Open Library's own place for covers: what is stored, whatever the base is set to.
    static let canonical = "https://covers.openlibrary.org"

    /// The address of an Open Library cover by its number.
    static func ofOpenLibrary(_ number: Int) -> String { canonical + "/b/id/\(number)-L.jpg" }

    /// An address as a source gives it, in the form that is stored.
    ///
    /// - Returns: `nil` for what will never be fetched.
    func stored(_ text: String?) -> String? {
        guard let text, let address = WebAddress(text.cleaned) else { return nil }
        if isOwn(address) { return address.description }
        guard address.port == nil, CoverHosts.allows(address.host) else { return nil }
        return address.secured.description
    }

    /// Whether the cover server is set to this machine, and the address lies there.
    func isOwn(_ address: WebAddress) -> Bool { base.isLoopback && address.origin == base.origin }

    /// Whether a cover, or a redirect on the way to it, may be fetched from here.
    func allows(_ address: WebAddress) -> Bool {
        isOwn(address) || address.origin == base.origin
            || (address.scheme == .https && address.port == nil && CoverHosts.allows(address.host))
    }

    /// Where a stored address is fetched: Open Library's at the base that is set.
    func fetched(_ stored: String) -> WebAddress? {
        guard let address = WebAddress(stored) else { return nil }
        guard address.origin == Self.canonical else { return allows(address) ? address : nil }
        let path = address.target.prefix { $0 != "?" }.dropFirst()
        return base.appending("\(path)?default=false")
    }
}
