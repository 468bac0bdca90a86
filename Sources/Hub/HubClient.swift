import Bookplate
import Foundation
import HTTP
import Synchronization

/// What a station asks of its hub. Every call can be made again without harm.
public protocol HubCalls: Sendable {
    func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> [HubReceipt]
    func status(of items: [ID<IntakeItem>]) async throws(HubError) -> [HubReceipt]
    func keep(thumbnail jpeg: [UInt8], of item: ID<IntakeItem>) async throws(HubError)
    func books(_ isbns: [ISBN], within limit: Duration) async throws(HubError) -> [HubBook]
}

/// The hub's API over HTTP. What answers there may be anybody: answers have limits in time and size, and only what was asked for is
/// taken from them.
public struct HubClient: HubCalls {
    private let address: HubAddress
    private let token: @Sendable () -> String?
    private let http: HTTPClient

    /// The largest request in JSON, in bytes; the hub takes 64 KiB.
    static let mostBytes = 60 << 10
    private static let pairing = "api/stations"

    /// - Parameters:
    ///   - token: asked for with every call, so that a station that is paired again goes on.
    ///   - certificateFile: a PEM file of authorities to trust instead of the system's.
    public init(
        address: HubAddress, userAgent: String, certificateFile: String?, token: @escaping @Sendable () -> String?
    ) {
        self.address = address
        self.token = token
        http = HTTPClient(userAgent: userAgent, certificateFile: certificateFile)
    }

    // MARK: Pairing

    /// Says the access code, and gets the token with which this station may send from then on.
    ///
    /// - Returns: the token, and the name under which the hub lists the station.
    public func pair(
        code: String, name: String, station: ID<PairedStation>
    ) async throws(HubError) -> (token: String, name: String) {
        struct Answer: Decodable { let token, name: String }
        let answer: Answer = try await ask(
            .post, Self.pairing, ["code": .string(code), "name": .string(name), "station": .string(station.rawValue)])
        guard !answer.token.isEmpty, answer.token.utf8.count <= 256,
            answer.token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .notAHub("its token is none") }
        return (answer.token, String(answer.name.cleanedLine.prefix(PairedStation.longestName)))
    }

    /// Takes this station's own token back.
    public func leave() async throws(HubError) {
        struct Answer: Decodable {}
        let _: Answer = try await ask(.delete, "api/hub/station", nil)
    }

    // MARK: Sending

    public func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> [HubReceipt] {
        let body: [UInt8]
        do {
            let encoder = JSONEncoder()
            // The same delivery is the same bytes, whenever it is sent again.
            encoder.outputFormatting = .sortedKeys
            body = Array(try encoder.encode(["items": deliveries]))
        } catch {
            throw .refused("it cannot be written as JSON: \(error)")
        }
        let answer: Receipts = try await ask(.post, "api/hub/items", body: HTTPRequest.Body(body))
        return try answer.checked(for: deliveries.map(\.id))
    }

    public func status(of items: [ID<IntakeItem>]) async throws(HubError) -> [HubReceipt] {
        let ids = items.map(\.rawValue.percentEncoded).joined(separator: ",")
        let answer: Receipts = try await ask(.get, "api/hub/items?ids=\(ids)", nil)
        return try answer.checked(for: items)
    }

    public func keep(thumbnail jpeg: [UInt8], of item: ID<IntakeItem>) async throws(HubError) {
        struct Answer: Decodable {}
        let _: Answer = try await ask(
            .put, "api/hub/items/\(item.rawValue.percentEncoded)/thumbnail",
            body: HTTPRequest.Body(jpeg, type: "image/jpeg"))
    }

    public func books(_ isbns: [ISBN], within limit: Duration) async throws(HubError) -> [HubBook] {
        struct Answer: Decodable { let books: [HubBook] }
        let answer: Answer = try await ask(
            .post, "api/hub/books", ["isbns": JSONValue(isbns.map(\.digits))],
            HTTPLimits(connect: limit, total: limit, slowFor: limit))
        let asked = Set(isbns)
        return answer.books.filter { asked.contains($0.isbn) }
    }

    private struct Receipts: Decodable {
        let items: [HubReceipt]

        func checked(for asked: [ID<IntakeItem>]) throws(HubError) -> [HubReceipt] {
            let known = Set(asked)
            guard items.count <= asked.count, items.allSatisfy({ known.contains($0.id) }) else {
                throw .notAHub("it answers what was not asked")
            }
            return items
        }
    }

    // MARK: One request

    private func ask<Answer: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, _ json: JSONValue?, _ limits: HTTPLimits = HTTPLimits()
    ) async throws(HubError) -> Answer {
        try await ask(method, path, body: json.map { HTTPRequest.Body(Array($0.text.utf8)) }, limits)
    }

    private func ask<Answer: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, body: HTTPRequest.Body?, _ limits: HTTPLimits = HTTPLimits()
    ) async throws(HubError) -> Answer {
        let token = token()
        // Without one only pairing is answered, and by a hub on this very machine whatever the household may ask.
        if token == nil, path != Self.pairing { throw .revoked }
        var request = HTTPRequest(
            method, address: address.web.appending(path), limits: limits,
            allowed: address.isPlain ? .privateOnly : .any,
            authorization: token.map { "Bearer \($0)" }, body: body)
        request.origin = address.web.origin
        // A proxy would get to read what is not encrypted.
        request.avoidsProxy = address.isPlain
        let answer: HTTPAnswer
        do throws(TransportError) {
            answer = try await http.send(request)
        } catch {
            throw trouble(error)
        }
        guard answer.isSuccess else { throw trouble(answer) }
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(answer.body))
        } catch {
            throw .notAHub("its answer is not the JSON that was asked for")
        }
    }

    private func trouble(_ error: TransportError) -> HubError {
        switch error {
        case .publicAddress, .privateAddress: .badAddress("\(error); write https://")
        case .tooLarge, .garbled: .notAHub("\(error)")
        default: .away("\(error)")
        }
    }

    private func trouble(_ answer: HTTPAnswer) -> HubError {
        struct Refusal: Decodable {
            struct Words: Decodable { let code, message: String }
            let error: Words
        }
        let words = try? JSONDecoder().decode(Refusal.self, from: Data(answer.body)).error
        // Without its full stop: it becomes part of a sentence.
        let told = String((words?.message.cleanedLine ?? "it answers \(answer.status)").prefix(300))
        let message = told.hasSuffix(".") ? String(told.dropLast()) : told
        return switch answer.status {
        case 401: words?.code == "wrongCode" ? .wrongCode : .revoked
        case 429: .throttled(seconds: min(3600, max(1, answer.retryAfter.flatMap { Int($0) } ?? 30)))
        // Of what was sent itself, in a hub's own words: then it is never sent again.
        case 400, 413, 422: words == nil ? .notAHub(message) : .refused(message)
        case 403, 404, 405, 409, 415: words == nil ? .notAHub(message) : .turnedAway(message)
        case 500: .failed(message)
        case 501...: .away(message)
        default: .notAHub(message)
        }
    }
}

/// Where a hub is: https anywhere, or plain http within the house, where the very address that is connected to is looked at each
/// time.
public struct HubAddress: Sendable, Hashable, CustomStringConvertible {
    let web: WebAddress

    /// The kiosk's own port, for an address without scheme and port.
    static let usualPort = 8278

    /// - Parameter text: "https://books.example", "http://192.168.0.20:8278", or a bare "192.168.0.20", "shelf.local:9000".
    /// - Throws: ``HubError/badAddress(_:)``.
    public init(_ text: String) throws(HubError) {
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
public enum HubError: Error, Sendable, Equatable, CustomStringConvertible {
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

extension HubError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .badAddress: .invalid
        case .away, .notAHub, .throttled, .turnedAway, .failed: .unavailable
        case .revoked, .wrongCode: .permission
        case .refused: .refused
        }
    }

    public var code: String {
        switch self {
        case .badAddress: "hubBadAddress"
        case .away: "hubAway"
        case .revoked: "hubRevoked"
        case .wrongCode: "hubWrongCode"
        case .throttled: "hubThrottled"
        case .refused: "hubRefused"
        case .turnedAway: "hubTurnedAway"
        case .failed: "hubFailed"
        case .notAHub: "hubNotAHub"
        }
    }
}

/// How the hub stands, as this process knows: set by whoever talks to it, asked by whoever would.
public final class HubLink: Sendable {
    public enum Status: Sendable, Equatable {
        /// Not asked yet.
        case unknown
        case up
        /// And why; tried again in growing pauses.
        case away(String)
        /// The token is no longer good: nothing is sent until the station is paired again.
        case unpaired
    }

    private let state = Mutex(Status.unknown)

    public init() {}

    public var status: Status { state.withLock { $0 } }

    func set(_ status: Status) { state.withLock { $0 = status } }

    /// Whether a question may be put: one that is away is left to the sender, so that nobody else waits for it.
    var mayAsk: Bool {
        switch status {
        case .unknown, .up: true
        case .away, .unpaired: false
        }
    }

    /// Takes note of why a question was not answered.
    func note(_ trouble: HubError) {
        set(trouble == .revoked ? .unpaired : .away("\(trouble)"))
    }
}
