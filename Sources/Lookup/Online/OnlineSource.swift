import Bookplate
import HTTP

/// A metadata source on the internet. Unlike a ``MetadataSource`` it sends its requests through a ``SourceClient``,
/// which enforces the deadline and the rate limits.
protocol OnlineSource: Sendable {
    var name: SourceName { get }
    /// The number of ISBNs in one request.
    var batchSize: Int { get }
    /// True if the source has an API key. It is then asked even if it refused before for lack of one.
    var hasKey: Bool { get }

    /// Asks for up to ``batchSize`` ISBNs.
    ///
    /// - Returns: an answer for every ISBN.
    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer]

    /// Asks for the fields that a found record lacks, if this source has another address for them.
    func complete(_ metadata: Metadata, of isbn: ISBN, through client: SourceClient) async -> Metadata
}

extension OnlineSource {
    var hasKey: Bool { false }
    func complete(_ metadata: Metadata, of isbn: ISBN, through client: SourceClient) async -> Metadata { metadata }

    func failure(_ reason: String, retryAfter: Duration? = nil) -> SourceError {
        SourceError(source: name, reason: reason, retryAfter: retryAfter)
    }

    /// Parses an answer from an address at which there is always something, so that a 404 is an error.
    func json(_ answer: HTTPAnswer) throws(LookupError) -> JSONValue {
        guard !answer.isMissing else {
            throw .badData(failure("answered \(answer.status); is its base address right?"))
        }
        do throws(JSONError) {
            return try JSONValue(parsing: answer.body)
        } catch {
            throw .badData(failure("an answer that cannot be read: \(error)"))
        }
    }
}

extension Metadata {
    /// The fields for which another source is asked. A description or subjects alone are not worth a request.
    static let essentials: Set<Field> = [
        .title, .authors, .publisher, .publishedDate, .pageCount, .language, .coverURL,
    ]

    var missingEssentials: Set<Field> { Self.essentials.subtracting(filledFields) }
}

/// The match between an ISBN and a record, by the numbers that the record lists.
enum RecordMatch {
    case certain, weak
    case anotherBook(String)

    /// - Parameter numbers: ISBN-10 and ISBN-13 as the record lists them, in any form.
    init(_ isbn: ISBN, listed numbers: [String]) {
        let texts = numbers.prefix(FieldLimits.items).map { String($0.prefix(40)) }.filter { !$0.isEmpty }
        let listed = texts.compactMap { text in
            do throws(ISBNRefusal) { return try ISBN(text) } catch { return nil as ISBN? }
        }
        if listed.contains(isbn) {
            self = .certain
        } else if let other = listed.first {
            self = .anotherBook(other.digits)
        } else {
            self = .weak
        }
    }
}
