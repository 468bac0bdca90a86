import Bookplate
import HTTP

/// Open Library, which answers for many ISBNs in one request. Fields that are missing from its answer are filled in
/// from the records of the editions.
///
/// Source: openlibrary.org/dev/docs/api/books. `jscmd=data` returns the authors of the work but no languages;
/// `jscmd=details` and `/isbn/{isbn}.json` return the record of the edition.
struct OpenLibrary: OnlineSource {
    let base: WebAddress
    let covers: CoverAddress

    var name: SourceName { .openLibrary }
    var batchSize: Int { 20 }

    /// The maximum number of authors per book whose names are requested one by one.
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

    /// Returns a JSON object with the records. Its keys have the form `ISBN:9780306406157`. Books that Open Library
    /// does not know are missing from it.
    private func books(
        _ isbns: [ISBN], _ command: String, through client: SourceClient
    ) async throws(LookupError) -> JSONValue {
        let keys = isbns.map(\.bibkey).joined(separator: ",")
        let address = base.appending("api/books?bibkeys=\(keys)&format=json&jscmd=\(command)")
        let records = try json(await client.get(address))
        guard case .object = records else {
            throw .badData(failure("sent an answer that is not a JSON object"))
        }
        return records
    }

    private func answer(_ record: JSONValue, _ isbn: ISBN) -> SourceAnswer {
        guard case .object = record else { return .badData(failure("sent a record that is not a JSON object")) }
        guard var metadata = OpenLibraryRecord.metadata(record, covers: covers) else {
            return .badData(failure("sent a record without a title"))
        }
        switch RecordMatch(isbn, listed: OpenLibraryRecord.numbers(record)) {
        case .certain: break
        case .weak: metadata.isWeakMatch = true
        case .anotherBook(let other): return .badData(failure("answered with the record of another book, \(other)"))
        }
        metadata.attribute(to: name)
        return .found(metadata)
    }

    /// Fills in missing fields from the records of the editions, with one request for the whole batch. A single
    /// incomplete book is left to ``complete(_:of:through:)``. If the request fails, the records stay as they are,
    /// because an incomplete record is better than a failure.
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

    /// Fills in missing fields from the record of the edition, and requests the authors' names if only their keys are
    /// known. If a request fails, the fields found so far are kept.
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
            // The record can still be used; another source or a later refresh may fill the remaining fields.
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
            // The edition is certainly the requested book, but the record may describe a different book, so the record
            // is discarded.
            if more.title != nil { metadata = more }
            return
        case .weak where !metadata.isWeakMatch && !isSameEdition: return
        case .certain: metadata.isWeakMatch = false
        case .weak: break
        }
        metadata.fillGaps(from: more)
        // The authors come from the work, and the translators from the edition.
        metadata.authors += more.authors.filter { $0.role != .author && !metadata.authors.contains($0) }
    }
}

extension ISBN {
    /// The key of the ISBN in Open Library's requests and answers.
    fileprivate var bibkey: String { "ISBN:\(digits)" }
}

/// Reads records from `/api/books?jscmd=data`.
enum OpenLibraryRecord {
    /// - Returns: `nil` if the record has no title.
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
