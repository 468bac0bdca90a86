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
