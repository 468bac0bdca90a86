import Bookplate
import HTTP

/// Open Library, with many ISBNs in one request; fields missing in that answer are filled from the edition's own
/// record.
///
/// Source: openlibrary.org/dev/docs/api/books. `jscmd=data` has the authors of the work and no languages;
/// `jscmd=details` and `/isbn/{isbn}.json` return the edition's own record.
struct OpenLibrary: OnlineSource {
    let base: WebAddress
    let covers: CoverAddress

    var name: SourceName { .openLibrary }
    var batchSize: Int { 20 }

    /// The most authors that are requested one by one.
    private static let authorRequests = 3

    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer] {
        let records: JSONValue
        do throws(LookupError) {
            records = try await books(isbns, "data", through: client)
        } catch {
            return isbns.answered { _ in error.answer }
        }
        var answers = isbns.answered { isbn in records[isbn.bibkey].map { answer($0, isbn) } ?? .notFound }
        await repairTogether(&answers, through: client)
        return answers
    }

    /// Returns the records by the bibkeys that were asked for; unknown ones are absent.
    private func books(
        _ isbns: [ISBN], _ command: String, through client: SourceClient
    ) async throws(LookupError) -> JSONValue {
        let keys = isbns.map(\.bibkey).joined(separator: ",")
        let address = base.appending("api/books?bibkeys=\(keys)&format=json&jscmd=\(command)")
        let records = try json(await client.get(address))
        guard case .object = records else {
            throw .badData(failure("an answer that is not an object"))
        }
        return records
    }

    private func answer(_ record: JSONValue, _ isbn: ISBN) -> SourceAnswer {
        guard case .object = record else { return .badData(failure("a record that is not an object")) }
        guard var metadata = OpenLibraryRecord.metadata(record, covers: covers) else {
            return .badData(failure("a record without a title"))
        }
        switch RecordMatch(isbn, listed: OpenLibraryRecord.numbers(record)) {
        case .certain: break
        case .weak: metadata.isWeakMatch = true
        case .anotherBook(let other): return .badData(failure("answered with the record of another book, \(other)"))
        }
        metadata.attribute(to: name)
        return .found(metadata)
    }

    /// Fills missing fields from the editions, for a whole batch with one request. A single book is repaired by
    /// ``complete(_:of:through:)``. If the request fails, the records stay as they are: a found record is worth more
    /// than a second failure.
    private func repairTogether(_ answers: inout [ISBN: SourceAnswer], through client: SourceClient) async {
        let incomplete = answers.keys.sorted().filter { Self.isRepairable(answers[$0]) }
        guard incomplete.count > 1 else { return }
        let records: JSONValue
        do throws(LookupError) {
            records = try await books(incomplete, "details", through: client)
        } catch { return }
        for isbn in incomplete {
            guard case .found(var metadata)? = answers[isbn], let edition = records[isbn.bibkey]?["details"] else {
                continue
            }
            fill(&metadata, from: edition, isbn)
            answers[isbn] = .found(metadata)
        }
    }

    private static func isRepairable(_ answer: SourceAnswer?) -> Bool {
        guard case .found(let metadata)? = answer else { return false }
        return metadata.authorNames.isEmpty || metadata.language == nil
    }

    /// Asks for the edition, and for its authors if only their keys are known. If that fails, the record stays as it
    /// is.
    func complete(_ metadata: Metadata, of isbn: ISBN, through client: SourceClient) async -> Metadata {
        var metadata = metadata
        do throws(LookupError) {
            let answer = try await client.get(base.appending("isbn/\(isbn.digits).json"))
            guard !answer.isMissing else { return metadata }
            let edition = try json(answer)
            fill(&metadata, from: edition, isbn)
            guard metadata.authorNames.isEmpty else { return metadata }
            var authors: [Contributor] = []
            for key in OpenLibraryEdition.authorKeys(edition).prefix(Self.authorRequests) {
                let author = try await client.get(base.appending("authors/\(key).json"))
                guard !author.isMissing, let name = FieldLimits.text(try json(author)["name"]) else { continue }
                authors.append(Contributor(name: name))
            }
            metadata.authors.insert(contentsOf: authors, at: 0)
            if !authors.isEmpty { metadata.sources[.authors] = name }
        } catch {
            // The record is usable all the same; another source, or a refresh, may fill the rest.
        }
        return metadata
    }

    private func fill(_ metadata: inout Metadata, from edition: JSONValue, _ isbn: ISBN) {
        var more = OpenLibraryEdition.metadata(edition)
        more.attribute(to: name)
        let number = more.identifiers["openlibrary"]?.first
        let isSameEdition = number.map { metadata.identifiers["openlibrary"]?.contains($0) == true } ?? false
        switch RecordMatch(isbn, listed: OpenLibraryEdition.numbers(edition)) {
        case .anotherBook: return
        case .certain where metadata.isWeakMatch && !isSameEdition:
            // The edition is the requested book; the record may be another and is discarded.
            if more.title != nil { metadata = more }
            return
        case .weak where !metadata.isWeakMatch && !isSameEdition: return
        case .certain: metadata.isWeakMatch = false
        case .weak: break
        }
        metadata.fillGaps(from: more)
        // The work lists the authors, the edition its translators.
        metadata.authors += more.authors.filter { $0.role != .author && !metadata.authors.contains($0) }
    }
}

extension ISBN {
    /// The key of the ISBN in Open Library's requests and answers.
    fileprivate var bibkey: String { "ISBN:\(digits)" }
}

/// A record of `/api/books?jscmd=data`.
enum OpenLibraryRecord {
    /// - Returns: `nil` without a title.
    static func metadata(_ record: JSONValue, covers: CoverAddress) -> Metadata? {
        guard let title = FieldLimits.text(record["title"], limit: TextLimit.title) else { return nil }
        var metadata = Metadata()
        metadata.title = title
        metadata.subtitle = FieldLimits.text(record["subtitle"], limit: TextLimit.title)
        metadata.authors = FieldLimits.texts(record["authors"]).map { Contributor(name: $0) }
        metadata.publisher = FieldLimits.texts(record["publishers"]).first
        metadata.publishedDateText = FieldLimits.text(record["publish_date"])
        metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
        metadata.pageCount = FieldLimits.pages(record["number_of_pages"])
        metadata.subjects = FieldLimits.texts(record["subjects"])
        let cover = record["cover"]
        metadata.coverURL = ["large", "medium", "small"].lazy.compactMap { covers.stored(cover?[$0]?.string) }.first
        metadata.infoLink = FieldLimits.link(record["url"])
        metadata.identifiers = OpenLibraryEdition.identifiers(record["identifiers"])
        if let number = OpenLibraryEdition.number(of: record) { metadata.identifiers["openlibrary"] = [number] }
        return metadata
    }

    /// Returns the ISBNs that a record lists.
    static func numbers(_ record: JSONValue) -> [String] {
        FieldLimits.texts(record["identifiers"]?["isbn_13"]) + FieldLimits.texts(record["identifiers"]?["isbn_10"])
    }
}
