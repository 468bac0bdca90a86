import Bookplate
import FoundationEssentials
import HTTP

/// The reason why a source returned no record.
enum LookupError: Error, Sendable, Equatable {
    case notAsked(reason: String)
    case temporary(SourceError)
    case blocked(SourceError)
    case badData(SourceError)

    var answer: SourceAnswer {
        switch self {
        case .notAsked(let reason): .notAsked(reason: reason)
        case .temporary(let failure): .temporary(failure)
        case .blocked(let failure): .blocked(failure)
        case .badData(let failure): .badData(failure)
        }
    }

    func sourceError(_ source: SourceName) -> SourceError {
        switch self {
        case .notAsked(let reason): SourceError(source: source, reason: reason)
        case .temporary(let failure), .blocked(let failure), .badData(let failure): failure
        }
    }

    /// Creates the error for a transfer that failed.
    init(_ error: TransportError, of source: SourceName, at now: Date) {
        let failure = SourceError(source: source, reason: error.description)
        switch error {
        case .tls(.notYetValid), .tls(.expired), .tls(.unknownIssuer):
            // A date before this program was written means that the clock was reset, for example by an empty battery.
            // No certificate can be checked then.
            self = now < Self.earliest ? .temporary(.clockNotSet(source, now)) : Self.certificate(error, failure)
        case .tls(.wrongHost): self = .blocked(failure)
        case .tooLarge, .garbled: self = .badData(failure)
        default: self = .temporary(failure)
        }
    }

    private static let earliest = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01

    private static func certificate(_ error: TransportError, _ failure: SourceError) -> LookupError {
        error == .tls(.unknownIssuer) ? .blocked(failure) : .temporary(failure)
    }

    /// Creates the error for an answer that is neither a record nor a clear statement that there is none.
    ///
    /// - Returns: `nil` for status 2xx, 404 and 410, which the source handles.
    init?(_ answer: HTTPAnswer, of source: SourceName, at now: Date, isXMLExpected: Bool = false) {
        func failure(_ reason: String, retryAfter: Duration? = nil) -> SourceError {
            SourceError(source: source, reason: reason, retryAfter: retryAfter)
        }
        let retryAfter = answer.retryAfter.map { RetryAfter.duration($0, at: now) }
        switch answer.status {
        case 200..<300 where isXMLExpected ? answer.isHTML : answer.looksLikeAPage:
            self = .blocked(failure("answered with a web page; the network requires you to sign in"))
        case 200..<300, 404, 410: return nil
        case 511: self = .blocked(failure("the network requires you to sign in (511)"))
        case 401, 403, 407, 451: self = .blocked(failure("refuses to answer (\(answer.status))"))
        case 429:
            self = .temporary(
                failure("has received too many requests (429)", retryAfter: retryAfter ?? RetryAfter.default))
        case 408, 425, 500...:
            self = .temporary(failure("is not working (\(answer.status))", retryAfter: retryAfter))
        default: self = .badData(failure("sent an unexpected answer (\(answer.status))"))
        }
    }
}

extension SourceError {
    fileprivate static func clockNotSet(_ source: SourceName, _ now: Date) -> SourceError {
        let day = now.formatted(.iso8601.year().month().day())
        return SourceError(
            source: source,
            reason: "its certificate cannot be checked, because this machine's clock shows \(day); set the clock")
    }
}

extension HTTPAnswer {
    /// True if the body is HTML, according to its type or its first words.
    var isHTML: Bool {
        if contentType.contains("html") { return true }
        let start = String(decoding: body.prefix(1024), as: UTF8.self).lowercased().drop {
            $0.isWhitespace || $0 == "\u{FEFF}"
        }
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    }

    /// True if the body is HTML instead of data. A picture never counts as HTML, even if the server says so in the
    /// content type.
    var looksLikeAPage: Bool {
        guard PictureKind(body) == nil else { return false }
        if isHTML { return true }
        return body.prefix(1024).first { !" \r\n\t".utf8.contains($0) } == UInt8(ascii: "<")
    }
}

/// The Retry-After header (RFC 9110, 10.2.3).
enum RetryAfter {
    /// The time to wait after an answer with status 429 that has no Retry-After header.
    static let `default`: Duration = .seconds(60)
    /// The longest time that a header can ask for.
    static let longest: Duration = .seconds(3600)
    private static let range = 1...longest / .seconds(1)

    /// - Parameter text: the value of the header, a number of seconds or a date. Any other text gives ``default``.
    /// - Returns: the time to wait, from one second to one hour.
    static func duration(_ text: String, at now: Date) -> Duration {
        if let seconds = Double(text), seconds.isFinite { return clamped(seconds) }
        // A bare number is not a date, but curl_getdate() would accept it as one.
        guard text.contains(":"), case .success(let curl) = CurlLibrary.shared, let date = curl.date(text) else {
            return `default`
        }
        return clamped(date.timeIntervalSince(now))
    }

    private static func clamped(_ seconds: Double) -> Duration {
        .milliseconds(Int64(min(max(seconds, range.lowerBound), range.upperBound) * 1000))
    }
}
