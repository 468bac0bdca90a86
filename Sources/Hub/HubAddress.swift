import HTTP

/// Where a hub is: https anywhere, or plain http within the house, where the very address that is connected to is looked at each
/// time.
public struct HubAddress: Sendable, Hashable, CustomStringConvertible {
    let web: WebAddress

    /// The kiosk's own port, for an address without scheme and port.
    static let usualPort = 8278

    /// - Parameter text: "https://books.example", "http://192.168.0.20:8278", or a bare "192.168.0.20", "shelf.local:9000".
    /// - Throws: ``HubTrouble/badAddress(_:)``.
    public init(_ text: String) throws(HubTrouble) {
        let full = text.contains("://") ? text : "http://" + text
        guard let web = WebAddress(full), web.target == "/" else {
            throw .badAddress(
                "\"\(text.prefix(100))\" is no address; it looks like https://books.example or 192.168.0.20")
        }
        if web.scheme == .http, !Self.isOfTheHouse(web.host) {
            throw .badAddress(
                "\(web.host) may be outside of the house, where plain http would give the token away; write https://\(web.host)"
            )
        }
        let isBare = !text.contains("://") && web.port == nil
        self.web = isBare ? WebAddress("\(web.origin):\(Self.usualPort)") ?? web : web
    }

    /// Names that only this network can give an address, and addresses themselves; which one it is shows at the connection.
    private static func isOfTheHouse(_ host: String) -> Bool {
        host.hasPrefix("[") || host == "localhost" || host.hasSuffix(".local")
            || host.allSatisfy { $0.isNumber || $0 == "." }
    }

    public var description: String { web.origin }

    /// As a folder and a person's message can name it: "192.168.0.20-8278".
    public var name: String {
        let text = web.host.filter { $0 != "[" && $0 != "]" } + (web.port.map { "-\($0)" } ?? "")
        return String(text.map { $0 == ":" ? "-" : $0 })
    }

    var isPlain: Bool { web.scheme == .http }
}

/// Why the hub does not do what it is asked.
public enum HubTrouble: Error, Sendable, Equatable, CustomStringConvertible {
    /// No hub can be there; nothing was sent.
    case badAddress(String)
    /// Nobody answers, or not now: worth another try.
    case away(String)
    /// The token is not, or no longer, one of its own.
    case revoked
    case wrongCode
    /// Too many wrong codes came before.
    case throttled(seconds: Int)
    /// It does not take this, whenever it comes.
    case refused(String)
    /// It lets nothing in this way, whatever it is: another name or version than its own.
    case turnedAway(String)
    /// It broke over this; what else is sent may go through.
    case failed(String)
    /// What answers is no hub, or one that makes no sense.
    case notAHub(String)

    public var description: String {
        switch self {
        case .badAddress(let why): why
        case .away(let why): "the hub is away: \(why)"
        case .revoked: "the hub does not know this station any more; pair it again with scan hub pair"
        case .wrongCode: "that is not the hub's access code"
        case .throttled(let seconds): "too many wrong codes; the hub takes another one in \(seconds) s"
        case .refused(let why): "the hub refuses it: \(why)"
        case .turnedAway(let why): "the hub lets nothing in: \(why)"
        case .failed(let why): "the hub failed: \(why)"
        case .notAHub(let why): "what answers there is no hub: \(why)"
        }
    }
}
