import Bookplate
import Foundation
import HTTP
import Synchronization

/// The requests that a station sends to its hub. All requests are idempotent, so any of them can be repeated.
public protocol HubAPI: Sendable {
    func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> HubAnswer
    func status(of items: [ID<QueueItem>]) async throws(HubError) -> HubAnswer
    func keep(thumbnail jpeg: [UInt8], of item: ID<QueueItem>) async throws(HubError)
    func books(_ isbns: [ISBN], within limit: Duration) async throws(HubError) -> [HubBook]
}

/// Reads the station's token for its hub; `nil` if the station is not paired with the hub.
public typealias HubToken = @Sendable () throws(PairedHubsError) -> String?

/// The API of the hub over HTTP. An unknown server may answer at the address, so answers are limited in time and size,
/// and items that were not requested are not accepted.
public struct HubClient: HubAPI {
    private let address: HubAddress
    private let token: HubToken
    private let http: HTTPClient

    /// The size limit of a JSON request in bytes, which is a little below the 64 KiB that the hub accepts.
    static let byteLimit = 60 << 10
    private static let pairing = "api/stations"

    /// - Parameters:
    ///   - token: returns the current token. It is called for every request, so that a station that has been paired
    ///     again can continue.
    ///   - certificateFile: a PEM file with the certificate authorities to trust instead of the system's.
    ///   - authority: the hub's own certificate authority in PEM, which alone is then trusted; `nil` for a hub without
    ///     one.
    public init(
        address: HubAddress, userAgent: String, certificateFile: String?, authority: String? = nil,
        token: @escaping HubToken
    ) {
        self.address = address
        self.token = token
        let trust: TrustedAuthorities = authority.map { .only($0) } ?? certificateFile.map { .file($0) } ?? .system
        http = HTTPClient(userAgent: userAgent, trust: trust)
    }

    // MARK: Pairing

    /// Pairs this station with the hub, using the hub's access code.
    ///
    /// - Returns: the token for further requests, and the name under which the hub lists the station.
    public func pair(
        code: String, name: String, station: ID<PairedStation>
    ) async throws(HubError) -> (token: String, name: String) {
        struct Answer: Decodable { let token, name: String }
        let answer: Answer = try await ask(
            .post, Self.pairing, ["code": .string(code), "name": .string(name), "station": .string(station.rawValue)])
        guard !answer.token.isEmpty, answer.token.utf8.count <= 256,
            answer.token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .notAHub("the token that it sent is not valid") }
        return (answer.token, String(answer.name.cleanedLine.prefix(PairedStation.longestName)))
    }

    /// Connects to the hub, to find out if it wants https, and if this station trusts its certificate. Sends no secret.
    ///
    /// - Throws: ``HubError/unknownAuthority`` if this station does not trust it, and ``HubError/badAddress(_:)`` if
    ///   the hub answers over https only.
    public func connect() async throws(HubError) {
        let answer: HTTPAnswer
        do throws(TransportError) {
            answer = try await http.send(request(.get, "scan"))
        } catch {
            throw hubError(error)
        }
        if address.isPlain, answer.isRedirect, let moved = answer.redirect, moved.scheme == .https {
            throw .badAddress(
                "the hub answers over https only. Run 'scan hub pair \(moved.origin)'; if this station is paired with \(address) already, add '--replaces \(address)'"
            )
        }
    }

    /// Reads the certificate of the hub's own authority. Nothing proves that it comes from the hub, so a person has to
    /// compare it before it is used.
    ///
    /// - Returns: the certificate in DER.
    /// - Throws: ``HubError/notAHub(_:)`` if there is none.
    public func readAuthority(userAgent: String) async throws(HubError) -> [UInt8] {
        let answer: HTTPAnswer
        do throws(TransportError) {
            answer = try await HTTPClient(userAgent: userAgent, trust: .unchecked)
                .send(request(.get, "trust/authority.crt", HTTPLimits(body: 16 << 10)))
        } catch {
            throw hubError(error)
        }
        guard answer.isSuccess else {
            throw .notAHub(
                "its certificate comes from an authority that this station does not know. If you trust that authority, name its file with 'scan settings set caFile FILE'"
            )
        }
        return answer.body
    }

    /// Revokes the token of this station at the hub.
    public func leave() async throws(HubError) {
        struct Answer: Decodable {}
        let _: Answer = try await ask(.delete, "api/hub/station", nil)
    }

    // MARK: Sending

    public func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> HubAnswer {
        let body: [UInt8]
        do {
            let encoder = JSONEncoder()
            // The keys are sorted, so that a delivery has the same bytes each time it is sent.
            encoder.outputFormatting = .sortedKeys
            body = Array(try encoder.encode(["items": deliveries]))
        } catch {
            throw .refused("the items cannot be written as JSON: \(error)")
        }
        let answer: Receipts = try await ask(.post, "api/hub/items", body: HTTPRequest.Body(body))
        return try answer.checked(for: deliveries.map(\.id))
    }

    public func status(of items: [ID<QueueItem>]) async throws(HubError) -> HubAnswer {
        let ids = items.map(\.rawValue.percentEncoded).joined(separator: ",")
        let answer: Receipts = try await ask(.get, "api/hub/items?ids=\(ids)", nil)
        return try answer.checked(for: items)
    }

    public func keep(thumbnail jpeg: [UInt8], of item: ID<QueueItem>) async throws(HubError) {
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
        let requested = Set(isbns)
        return answer.books.filter { requested.contains($0.isbn) }
    }

    private struct Receipts: Decodable {
        let items: [HubReceipt]
        let library, opening: String?

        private static func isID(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }

        func checked(for requested: [ID<QueueItem>]) throws(HubError) -> HubAnswer {
            let known = Set(requested)
            guard items.count <= requested.count, items.allSatisfy({ known.contains($0.id) }) else {
                throw .notAHub("its answer contains items that were not requested")
            }
            guard [library, opening].compactMap(\.self).allSatisfy(Self.isID) else {
                throw .notAHub("its answer contains an id that is not valid")
            }
            return HubAnswer(items, from: HubInstance(library: library, opening: opening))
        }
    }

    // MARK: Requests

    private func ask<Answer: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, _ json: JSONValue?, _ limits: HTTPLimits = HTTPLimits()
    ) async throws(HubError) -> Answer {
        try await ask(method, path, body: json.map { HTTPRequest.Body(Array($0.text.utf8)) }, limits)
    }

    private func ask<Answer: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, body: HTTPRequest.Body?, _ limits: HTTPLimits = HTTPLimits()
    ) async throws(HubError) -> Answer {
        let token: String?
        do throws(PairedHubsError) {
            token = try self.token()
        } catch {
            throw .noToken(error)
        }
        // Without a token only pairing is allowed, although a hub on this machine would answer other requests too.
        if token == nil, path != Self.pairing { throw .revoked }
        var request = request(method, path, limits)
        request.authorization = token.map { "Bearer \($0)" }
        request.body = body
        let answer: HTTPAnswer
        do throws(TransportError) {
            answer = try await http.send(request)
        } catch {
            throw hubError(error)
        }
        guard answer.isSuccess else { throw hubError(answer) }
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(answer.body))
        } catch {
            throw .notAHub("its answer is not the requested JSON")
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ limits: HTTPLimits = HTTPLimits()
    ) -> HTTPRequest {
        var request = HTTPRequest(
            method, address: address.web.appending(path), limits: limits,
            allowed: address.isPlain ? .privateOnly : .any)
        request.origin = address.web.origin
        // A proxy could read requests that are not encrypted.
        request.avoidsProxy = address.isPlain
        return request
    }

    private func hubError(_ error: TransportError) -> HubError {
        switch error {
        case .tls(.unknownIssuer): .unknownAuthority
        case .publicAddress, .privateAddress: .badAddress("\(error); begin the address with https://")
        case .tooLarge, .garbled: .notAHub("\(error)")
        default: .away("\(error)")
        }
    }

    private func hubError(_ answer: HTTPAnswer) -> HubError {
        struct Refusal: Decodable {
            struct Content: Decodable { let code, message: String }
            let error: Content
        }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(answer.body)).error
        let text = String((refusal?.message.cleanedLine ?? "it answered with status \(answer.status)").prefix(300))
        // The full stop is removed, because the message becomes part of a sentence.
        let message = text.hasSuffix(".") ? String(text.dropLast()) : text
        return switch answer.status {
        case 401: refusal?.code == "wrongCode" ? .wrongCode : .revoked
        case 429: .throttled(seconds: min(3600, max(1, answer.retryAfter.flatMap { Int($0) } ?? 30)))
        // A hub sends such a message about the request itself, so the request is never sent again.
        case 400, 413, 422: refusal == nil ? .notAHub(message) : .refused(message)
        case 403, 404, 405, 409, 415: refusal == nil ? .notAHub(message) : .turnedAway(message)
        // A hub that has gone over to https. Nothing is lost: what waits is sent when the station is paired there.
        case 426:
            refusal == nil
                ? .notAHub(message)
                : .away("\(message). Run 'scan hub pair' with that address and '--replaces \(address)'")
        case 500: .failed(message)
        case 501...: .away(message)
        default: .notAHub(message)
        }
    }
}

/// The address of a hub. It must use https, except within the home network: there it may use plain http, and the
/// network address of every connection is checked.
public struct HubAddress: Sendable, Hashable, CustomStringConvertible {
    let web: WebAddress

    /// The default port of the kiosk, which is used for an address that has neither a scheme nor a port.
    static let defaultPort = 8278

    /// - Parameter text: an address such as "https://books.example" or "http://192.168.0.20:8278", or a host without a
    ///   scheme, such as "192.168.0.20" or "shelf.local:9000".
    /// - Throws: ``HubError/badAddress(_:)`` if the text is not the address of a hub.
    public init(_ text: String) throws(HubError) {
        let full = text.contains("://") ? text : "http://" + text
        guard let web = WebAddress(full), web.target == "/" else {
            throw .badAddress(
                "\"\(text.prefix(100))\" is not a valid hub address; write it like https://books.example or 192.168.0.20"
            )
        }
        if web.scheme == .http, !Self.mayBeLocal(web.host) {
            throw .badAddress(
                "\(web.host) may be outside the home network, where plain http would expose this station's token; use https://\(web.host)"
            )
        }
        let isBare = !text.contains("://") && web.port == nil
        self.web = isBare ? WebAddress("\(web.origin):\(Self.defaultPort)") ?? web : web
    }

    /// Returns true for a numeric address, and for a name that only this network resolves. The network address itself
    /// is checked when connecting.
    private static func mayBeLocal(_ host: String) -> Bool {
        host.hasPrefix("[") || host == "localhost" || host.hasSuffix(".local")
            || host.allSatisfy { $0.isNumber || $0 == "." }
    }

    public var description: String { web.origin }

    /// The address in a form for folder names and messages, such as "192.168.0.20-8278".
    public var name: String {
        let text = web.host.filter { $0 != "[" && $0 != "]" } + (web.port.map { "-\($0)" } ?? "")
        return String(text.map { $0 == ":" ? "-" : $0 })
    }

    /// True if the connection is not encrypted.
    public var isPlain: Bool { web.scheme == .http }
}

/// The reason why a request to the hub failed.
public enum HubError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address cannot be that of a hub. Nothing was sent.
    case badAddress(String)
    /// The hub is not available now. Trying again later may help.
    case away(String)
    /// This station does not know the authority that issued the hub's certificate. Nothing was sent.
    case unknownAuthority
    /// The list of hubs, which contains the token, cannot be read now. Nothing was sent.
    case noToken(PairedHubsError)
    /// There is no token, or the hub does not accept it, for example because it was revoked.
    case revoked
    case wrongCode
    /// Too many wrong access codes were sent.
    case throttled(seconds: Int)
    /// The hub will never accept this request.
    case refused(String)
    /// The hub refuses every request, for example because it has a different version, or does not accept the host name
    /// in its address.
    case turnedAway(String)
    /// The hub failed to handle this request because of an error of its own. Other requests may succeed.
    case failed(String)
    /// The server is not a hub, or its answer makes no sense.
    case notAHub(String)

    public var description: String {
        switch self {
        case .badAddress(let why): why
        case .away(let why): "the hub is not available: \(why)"
        case .unknownAuthority:
            "this station does not know the authority that issued the hub's certificate; run 'scan hub pair' again"
        case .noToken(let error): "\(error)"
        case .revoked: "the hub no longer knows this station; pair it again with 'scan hub pair'"
        case .wrongCode: "this is not the hub's access code"
        case .throttled(let seconds): "too many wrong codes; try again in \(seconds) s"
        case .refused(let why): "the hub refused the request: \(why)"
        case .turnedAway(let why): "the hub refuses all requests: \(why)"
        case .failed(let why): "the hub had an error: \(why)"
        case .notAHub(let why): "the server is not a Bookplate hub: \(why)"
        }
    }
}

extension HubError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .badAddress: .invalid
        case .away, .unknownAuthority, .notAHub, .throttled, .turnedAway, .failed: .unavailable
        case .noToken(let error): error.kind
        case .revoked, .wrongCode: .permission
        case .refused: .refused
        }
    }

    public var namesFile: Bool { if case .noToken(let error) = self { error.namesFile } else { false } }

    public var code: String {
        switch self {
        case .badAddress: "hubBadAddress"
        case .away: "hubAway"
        case .unknownAuthority: "hubUnknownAuthority"
        case .noToken(let error): error.code
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

/// The status of the hub, as far as this process knows it. It is set after each request and checked before the next
/// request.
public final class HubLink: Sendable {
    private let state = Mutex(HubStatus.unknown)
    private let checkedHub = Mutex<HubInstance?>(nil)

    public init() {}

    public var status: HubStatus { state.withLock { $0 } }

    func set(_ status: HubStatus) { state.withLock { $0 = status } }

    /// The instance of the hub that has been asked about everything that it had received; `nil` if none has been asked
    /// yet.
    var checked: HubInstance? {
        get { checkedHub.withLock { $0 } }
        set { checkedHub.withLock { $0 = newValue } }
    }

    /// True if requests may be sent. If the hub is away, only the ``HubSender`` tries to reach it, so that nothing else
    /// has to wait.
    var isUsable: Bool {
        switch status {
        case .unknown, .up: true
        case .away, .unpaired: false
        }
    }

    /// Sets the status after a failed request.
    func record(_ error: HubError) {
        set(error == .revoked ? .unpaired : .away("\(error)"))
    }
}
