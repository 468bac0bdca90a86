import Bookplate
import HTTP

/// A metadata source on the internet. Unlike ``MetadataSource`` it is told how much time and how many turns are left: a ``Visit``.
protocol OnlineSource: Sendable {
    var name: SourceName { get }
    /// How many ISBNs go into one request.
    var batchSize: Int { get }
    /// Whether asking goes on although the source refused for want of a key: one has been set since.
    var hasKey: Bool { get }

    /// Asks for up to ``batchSize`` ISBNs.
    ///
    /// - Returns: an answer for every ISBN.
    func lookUp(_ isbns: [ISBN], on visit: Visit) async -> [ISBN: SourceAnswer]

    /// Asks for what one found record still lacks, where this source has another place to look.
    func completed(_ metadata: Metadata, of isbn: ISBN, on visit: Visit) async -> Metadata
}

extension OnlineSource {
    var hasKey: Bool { false }
    func completed(_ metadata: Metadata, of isbn: ISBN, on visit: Visit) async -> Metadata { metadata }

    func failure(_ reason: String, retryAfter: Duration? = nil) -> SourceError {
        SourceError(source: name, reason: reason, retryAfter: retryAfter)
    }

    /// What an answer says, where one that nothing is there makes no sense.
    func json(_ answer: HTTPAnswer) throws(Trouble) -> JSONValue {
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
    /// The facts for which another source is asked. A description or subjects alone are worth no request.
    static let essentials: Set<Field> = [
        .title, .authors, .publisher, .publishedDate, .pageCount, .language, .coverURL,
    ]

    var missingEssentials: Set<Field> { Self.essentials.subtracting(filledFields) }
}

/// Whether a record that lists these numbers is about `isbn`.
enum RecordMatch {
    case sure, weak
    case anotherBook(String)

    /// - Parameter numbers: ISBN-10 and ISBN-13 as the record lists them, in any shape.
    init(_ isbn: ISBN, listed numbers: [String]) {
        let texts = numbers.prefix(FieldLimits.items).map { String($0.prefix(40)) }.filter { !$0.isEmpty }
        let listed = texts.compactMap { text in
            do throws(ISBNRefusal) { return try ISBN(text) } catch { return nil as ISBN? }
        }
        if listed.contains(isbn) {
            self = .sure
        } else if let other = listed.first {
            self = .anotherBook(other.digits)
        } else {
            self = .weak
        }
    }
}
