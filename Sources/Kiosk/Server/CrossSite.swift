import Bookplate
import Hummingbird

/// Refuses requests that a browser sends on behalf of other sites' pages, judging by Host, Origin (RFC 6454, 7) and
/// Sec-Fetch-Site (W3C Fetch Metadata). Together, these checks keep such pages from using the rights of a signed-in
/// browser.
struct CrossSite: Sendable {
    let names: HostNames

    /// Returns the kind of name in the Host header.
    ///
    /// - Throws: ``RequestRefusal``: 400 if Host is missing or repeated, 403 if it has a name that does not belong to
    ///   this service.
    func host(
        of request: Request, local: String?, port: Int, isEncrypted: Bool
    ) throws(RequestRefusal) -> HostNames.Kind {
        // The codec removes the first Host from the headers. If there is still a Host, the request had two.
        guard let authority = request.head.authority, !authority.isEmpty, request.headers[.host] == nil else {
            throw RequestRefusal(.badHost, "A request must have exactly one Host header.")
        }
        guard let kind = names.kind(of: authority, local: local, port: port, isEncrypted: isEncrypted) else {
            throw RequestRefusal(
                .foreignHost, "This service is not known by that name. To add a name, use 'scan kiosk --name NAME'.")
        }
        return kind
    }

    /// Refuses a request from another site's page if the request would change anything, or if it loads anything other
    /// than a whole page.
    ///
    /// - Throws: ``RequestRefusal`` (403).
    func check(_ request: Request) throws(RequestRefusal) {
        let site = request.headers[.fetchSite]
        if request.isSafe {
            let isForeign = site == "cross-site" || site == "same-site"
            guard isForeign, request.headers[.fetchMode] != "navigate" else { return }
            throw Self.foreign
        }
        // A missing Origin is refused too. Referer cannot replace it, because the sending page can suppress Referer.
        guard let origin = request.headers[.origin], request.headers[values: .origin].count == 1,
            let authority = request.head.authority?.lowercased(),
            origin.lowercased() == "http://" + authority || origin.lowercased() == "https://" + authority,
            site == nil || site == "same-origin"
        else { throw Self.foreign }
    }

    private static let foreign = RequestRefusal(
        .foreignOrigin,
        "Only this service's own pages may send this request, but its Origin is missing or from another site.")
}

extension Request {
    /// True for the methods GET and HEAD (RFC 9110, 9.2.1).
    var isSafe: Bool { method == .get || method == .head }
}

extension HTTPFields.Element.Name {
    static let host = Self("Host")!
    static let fetchSite = Self("Sec-Fetch-Site")!
    static let fetchMode = Self("Sec-Fetch-Mode")!
}

/// The host names of this service. Any other name in a request's Host belongs to another site, whose DNS entry may
/// point to this machine's address (DNS rebinding).
struct HostNames: Sendable {
    enum Kind: Sendable, Equatable {
        /// localhost, 127.0.0.1 or ::1.
        case loopback
        /// Any name of this machine other than localhost, 127.0.0.1 and ::1.
        case machine
    }

    private let address: String
    /// The names of this machine, which are accepted with the port on which the service listens.
    private let machine: Set<String>
    /// The configured names. They are accepted with the service's port and also without a port, because a proxy in
    /// front of the service has its own port.
    private let configured: Set<String>

    /// - Parameters:
    ///   - names: the configured host names.
    ///   - host: the machine's name, without a domain.
    init(address: String, names: [String], host: String = MachineAddress.hostName()) {
        self.address = address.lowercased()
        let short = host.lowercased()
        machine = short.isEmpty ? [] : [short, short + ".local"]
        configured = Set(names.map { $0.lowercased() })
    }

    /// - Parameters:
    ///   - authority: the request's Host, which has a name and a port (RFC 9110, 7.2).
    ///   - local: the address of this end of the connection. The service may listen on several addresses.
    ///   - port: the port on which the service listens.
    ///   - isEncrypted: true for https, whose standard port is 443 and not 80.
    /// - Returns: `nil` for a name that does not belong to this service.
    func kind(of authority: String, local: String?, port: Int, isEncrypted: Bool = false) -> Kind? {
        guard let (name, namedPort) = Self.parts(of: authority) else { return nil }
        if configured.contains(name), namedPort == nil || namedPort == port {
            return Self.isLoopback(name) ? .loopback : .machine
        }
        guard (namedPort ?? (isEncrypted ? 443 : 80)) == port else { return nil }
        if Self.isLoopback(name) { return .loopback }
        if name == address || name == local.map(Self.plain) || machine.contains(name) { return .machine }
        return nil
    }

    /// Returns true if the host name in `authority` (`host[:port]`) is one of the configured names.
    func isConfigured(_ authority: String) -> Bool {
        Self.parts(of: authority).map { configured.contains($0.name) } ?? false
    }

    static func isLoopback(_ name: String) -> Bool { name == "localhost" || name == "127.0.0.1" || name == "::1" }

    /// Returns an address in the form in which it appears in a Host header, without a zone. An IPv4 address inside an
    /// IPv6 address (RFC 4291, 2.5.5.2) becomes an IPv4 address.
    static func plain(_ address: String) -> String {
        let address = address.lowercased().prefix { $0 != "%" }
        return String(address.hasPrefix("::ffff:") && address.contains(".") ? address.dropFirst(7) : address)
    }

    /// Splits an authority, which has the form `host[:port]`, into its name and its port.
    ///
    /// - Returns: the name in lower case, without the brackets around an IPv6 address and without a trailing dot; `nil`
    ///   if the authority is invalid.
    static func parts(of authority: String) -> (name: String, port: Int?)? {
        let text = authority.lowercased()
        guard text.utf8.count <= 300 else { return nil }
        var name: Substring
        var rest: Substring
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard name.contains(":") else { return nil }
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            (name, rest) = (text[..<end], text[end...])
            if name.hasSuffix(".") { name = name.dropLast() }
        }
        guard !name.isEmpty else { return nil }
        guard rest.first == ":" else { return rest.isEmpty ? (String(name), nil) : nil }
        rest = rest.dropFirst()
        guard (1...5).contains(rest.utf8.count), rest.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(rest)
        else { return nil }
        return (String(name), port)
    }

    /// Returns a name or an address as it appears in a URL: IPv6 addresses are in brackets (RFC 3986, 3.2.2).
    static func bracketed(_ name: String) -> String { name.contains(":") ? "[\(name)]" : name }
}
