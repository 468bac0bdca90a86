import Bookplate
import HTTP

/// A metadata source on the internet. Unlike a ``MetadataSource``, it sends its requests through a ``SourceClient``,
/// which enforces the deadline and the rate limits.
protocol OnlineSource: Sendable {
    var name: SourceName { get }
    /// The number of ISBNs in one request.
    var batchSize: Int { get }
    /// True if an API key is set for the source. The source is then queried even if it refused earlier requests without
    /// a key.
    var hasKey: Bool { get }

    /// True if the source is asked at the start of a lookup, together with the others of which this is true; false if
    /// it is asked after them, for what is still missing.
    var isAskedAtOnce: Bool { get }

    /// The form of the answers, the pause between requests, and so on.
    var options: RequestOptions { get }

    /// Returns true if the source may add something to what the sources before it have found.
    ///
    /// - Parameter found: the record so far; `nil` if there is none.
    func isAsked(for isbn: ISBN, found: Metadata?) -> Bool

    /// Queries the source for up to ``batchSize`` ISBNs.
    ///
    /// - Returns: an answer for every ISBN.
    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer]

    /// Returns true if ``complete(_:of:through:)`` may add fields to a record of this source.
    func canComplete(_ metadata: Metadata) -> Bool

    /// Requests the fields that are missing from a record, if the source has another address for them.
    func complete(
        _ metadata: Metadata, of isbn: ISBN, through client: SourceClient
    ) async throws(LookupError) -> Metadata
}

/// An online source that can be searched for titles.
protocol TitleSource: OnlineSource {
    /// Returns true if the source is asked by a person with this language; `nil` if the language is not known.
    func isAskedForTitles(in language: String?) -> Bool

    /// Finds editions by their title. They may fit more or less.
    func find(_ query: TitleQuery, through client: SourceClient) async throws(LookupError) -> [EditionOffer]
}

/// The number of editions that one source is asked for.
enum TitleLimit { static let offers = 20 }

extension OnlineSource {
    var hasKey: Bool { false }
    var isAskedAtOnce: Bool { false }
    var options: RequestOptions { RequestOptions() }

    func isAsked(for isbn: ISBN, found: Metadata?) -> Bool {
        found.map { $0.isWeakMatch || !$0.missingEssentials.isEmpty } ?? true
    }

    func canComplete(_ metadata: Metadata) -> Bool { false }
    func complete(
        _ metadata: Metadata, of isbn: ISBN, through client: SourceClient
    ) async throws(LookupError) -> Metadata { metadata }

    func failure(_ reason: String, retryAfter: Duration? = nil) -> SourceError {
        SourceError(source: name, reason: reason, retryAfter: retryAfter)
    }

    /// Parses the JSON of an answer from an address that always exists, so status 404 or 410 is an error.
    func json(_ answer: HTTPAnswer) throws(LookupError) -> JSONValue {
        guard !answer.isMissing else {
            throw .badData(failure("answered with status \(answer.status); check its base address"))
        }
        do throws(JSONError) {
            return try JSONValue(parsing: answer.body)
        } catch {
            throw .badData(failure("sent an answer that cannot be read: \(error)"))
        }
    }
}

/// The result of comparing an ISBN with the numbers that a record lists.
enum RecordMatch {
    case certain, weak
    case anotherBook(String)

    /// - Parameter numbers: the ISBNs that the record lists, in any form.
    init(_ isbn: ISBN, listed numbers: [String]) {
        let texts = numbers.prefix(FieldLimits.items).map { String($0.prefix(40)) }.filter { !$0.isEmpty }
        let listed = texts.compactMap(ISBN.init(listed:))
        if listed.contains(isbn) {
            self = .certain
        } else if let other = listed.first {
            self = .anotherBook(other.digits)
        } else {
            self = .weak
        }
    }
}

extension ISBN {
    /// Reads a number that a record lists.
    ///
    /// - Returns: `nil` if it is not an ISBN. Records also list wrong numbers, and those of other kinds.
    init?(listed text: String) {
        do throws(ISBNRefusal) { try self.init(text) } catch { return nil }
    }
}
