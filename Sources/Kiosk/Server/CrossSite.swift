import Bookplate
import Glibc
import Hummingbird

/// Whether a request comes from a page of this service, as far as a browser tells: Host, Origin (RFC 6454, 7) and Sec-Fetch-Site (W3C
/// Fetch Metadata). Together they keep other sites' pages from acting with the rights of a browser that is let in.
struct CrossSite: Sendable {
    let names: HostNames

    /// - Returns: what the Host stands for.
    /// - Throws: ``RequestRefusal``: 400 where Host is missing or there twice; 403 where the name is not ours.
    func host(of request: Request, local: String?, port: Int) throws(RequestRefusal) -> HostNames.Kind {
        // One Host is taken out of the headers by the codec; what is left there is a second one.
        guard let authority = request.head.authority, !authority.isEmpty, request.headers[.host] == nil else {
            throw RequestRefusal(status: .badRequest, code: "badHost", message: "A request has one Host.")
        }
        guard let kind = names.kind(of: authority, local: local, port: port) else {
            throw RequestRefusal(
                status: .forbidden, code: "foreignHost",
                message: "This service is not known by that name. 'scan kiosk --name NAME' adds one.")
        }
        return kind
    }

    /// Nothing is changed, and nothing shown within another site's page, on that site's word.
    ///
    /// - Throws: ``RequestRefusal`` (403).
    func check(_ request: Request) throws(RequestRefusal) {
        let site = request.headers[.fetchSite]
        if request.changesNothing {
            let isForeign = site == "cross-site" || site == "same-site"
            guard isForeign, request.headers[.fetchMode] != "navigate" else { return }
            throw Self.foreign
        }
        // Without Origin nobody can tell; a Referer can be left out by the page that sends it, and says no more.
        guard let origin = request.headers[.origin], request.headers[values: .origin].count == 1,
            let authority = request.head.authority?.lowercased(),
            origin.lowercased() == "http://" + authority || origin.lowercased() == "https://" + authority,
            site == nil || site == "same-origin"
        else { throw Self.foreign }
    }

    private static let foreign = RequestRefusal(
        status: .forbidden, code: "foreignOrigin",
        message: "Only this service's own pages may ask for that: the Origin is missing or another one.")
}

extension Request {
    /// GET and HEAD (RFC 9110, 9.2.1).
    var changesNothing: Bool { method == .get || method == .head }
}

extension HTTPFields.Element.Name {
    static let host = Self("Host")!
    static let fetchSite = Self("Sec-Fetch-Site")!
    static let fetchMode = Self("Sec-Fetch-Mode")!
}

/// The names under which this service is asked for. Any other name in a request's Host is a foreign page's, made to stand for this
/// machine's address (DNS rebinding).
struct HostNames: Sendable {
    enum Kind: Sendable, Equatable {
        /// A name that stands for the asking machine itself: localhost, 127.0.0.1, ::1.
        case loopback
        case machine
    }

    private let address: String
    /// With the port that the service listens on.
    private let machine: Set<String>
    /// With that port, or none: a proxy in front has one of its own.
    private let given: Set<String>

    /// - Parameter host: the machine's name, without domain.
    init(address: String, names: [String], host: String = Self.hostName()) {
        self.address = address.lowercased()
        let short = host.lowercased()
        machine = short.isEmpty ? [] : [short, short + ".local"]
        given = Set(names.map { $0.lowercased() })
    }

    /// - Parameters:
    ///   - authority: a request's Host: name and port as RFC 9110, 7.2 has them.
    ///   - local: the address of this end of the connection. For a service that listens on all addresses of the machine, the one it
    ///     was asked at.
    ///   - port: that it listens on.
    /// - Returns: `nil` for a name that is not its own.
    func kind(of authority: String, local: String?, port: Int) -> Kind? {
        guard let (name, asked) = Self.parts(of: authority) else { return nil }
        if given.contains(name), asked == nil || asked == port { return Self.isLoopback(name) ? .loopback : .machine }
        guard (asked ?? 80) == port else { return nil }
        if Self.isLoopback(name) { return .loopback }
        if name == address || name == local.map(Self.plain) || machine.contains(name) { return .machine }
        return nil
    }

    /// Whether it is one of the names besides the machine's own.
    func isGiven(_ authority: String) -> Bool { Self.parts(of: authority).map { given.contains($0.name) } ?? false }

    static func isLoopback(_ name: String) -> Bool { name == "localhost" || name == "127.0.0.1" || name == "::1" }

    /// An address as it is written in a Host: IPv4 inside IPv6 (RFC 4291, 2.5.5.2) as IPv4, without zone.
    static func plain(_ address: String) -> String {
        let address = address.lowercased().prefix { $0 != "%" }
        return String(address.hasPrefix("::ffff:") && address.contains(".") ? address.dropFirst(7) : address)
    }

    /// - Returns: the name in lower case, without the brackets of IPv6 and a last dot; `nil` when it is none.
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

    static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(name.prefix { $0 != "." })
    }
}
