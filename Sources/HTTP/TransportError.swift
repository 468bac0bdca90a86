/// Why no answer came. An answer that says no (404, 429, 500) is no transport error.
public enum TransportError: Error, Sendable, Equatable {
    /// No way there: no name, no route, or nobody listens.
    case offline(String)
    /// Connecting, or the whole transfer, took too long, or next to nothing came for seconds.
    case timedOut(connecting: Bool)
    case tls(TLSReason)
    /// The body or the headers are longer than allowed.
    case tooLarge(limit: Int)
    /// The connection ended before the answer did.
    case truncated
    /// The connection was reset, or ended before the answer began.
    case reset
    /// The name stands for an address of this machine or of a private network.
    case privateAddress(String)
    /// The name stands for an address outside of this machine and of private networks.
    case publicAddress(String)
    /// What came is no HTTP, or cannot be decompressed.
    case garbled(String)
    case cancelled
    /// libcurl is missing, or said something else.
    case other(String)

    /// Why a certificate was not accepted.
    public enum TLSReason: Sendable, Equatable {
        case expired, notYetValid, wrongHost, unknownIssuer
        case other(String)
    }

    /// Whether the same request may well succeed a moment later.
    public var isWorthRetrying: Bool { self == .reset || self == .truncated }
}

extension TransportError: CustomStringConvertible {
    /// For a person, without a full stop.
    public var description: String {
        switch self {
        case .offline(let cause): "offline: \(cause)"
        case .timedOut(connecting: true): "offline: no connection in time; the network or the source is down"
        case .timedOut(connecting: false): "no complete answer in time"
        case .tls(let reason): reason.description
        case .tooLarge(let limit): "the answer is larger than \(limit / 1024) KiB"
        case .truncated: "the answer broke off"
        case .reset: "the connection was reset"
        case .privateAddress(let address): "the address \(address) is a private one and was not connected to"
        case .publicAddress(let address): "the address \(address) is no private one and was not connected to"
        case .garbled(let cause): "the answer cannot be read: \(cause)"
        case .cancelled: "cancelled"
        case .other(let cause): cause
        }
    }
}

extension TransportError.TLSReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .expired: "its certificate has expired"
        case .notYetValid: "its certificate is not valid yet; check this machine's clock"
        case .wrongHost: "its certificate is for another host; the network may want a sign-in"
        case .unknownIssuer:
            "its certificate is signed by nobody this machine trusts; the network may want a sign-in, or set BOOKPLATE_CA_FILE"
        case .other(let cause): "no secure connection: \(cause)"
        }
    }

    /// - Parameter verification: OpenSSL's X509_V_ERR_… number; 0 when the chain is sound.
    init(verification: Int, message: String) {
        switch verification {
        case 9: self = .notYetValid
        case 10: self = .expired
        case 2, 18, 19, 20, 21: self = .unknownIssuer
        case 62, 63, 64: self = .wrongHost
        // libcurl compares the names itself before it takes OpenSSL's verdict on the chain: the number is still the one it began with.
        case 0, 1: self = .wrongHost
        default: self = .other(message)
        }
    }
}
