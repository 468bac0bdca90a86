import Bookplate
import HTTP

/// Open Library, which answers for many ISBNs in one request. Fields that are missing from its answer are filled in
/// from the records of the editions.
///
/// Source: openlibrary.org/dev/docs/api/books. `jscmd=data` returns the authors of the work but no languages;
/// `jscmd=details` and `/isbn/{isbn}.json` return the record of the edition.
struct OpenLibrary: TitleSource {
    let base: WebAddress
    let covers: CoverAddress

    var name: SourceName { .openLibrary }
    var batchSize: Int { 25 }
    var isAskedAtOnce: Bool { true }

    /// The maximum number of authors per book whose names are requested one by one.
    private static let authorRequests = 3
    /// The number of works whose editions are requested in a search for a title.
    private static let searchedWorks = 3
    private static let editionsOfWork = 50
    /// The maximum number of merged records on the way to the one that is left.
    private static let merges = 3

    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer] {
        let records: JSONValue
        do throws(LookupError) {
            records = try await books(isbns, "data", through: client)
        } catch {
            return isbns.answered { _ in error.answer }
        }
        var answers = isbns.answered { isbn in records[isbn.bibkey].map { answer($0, isbn) } ?? .notFound }
        await addEditions(to: &answers, through: client)
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

    /// Adds what only the records of the editions have, such as languages, series and translators, with one request
    /// for the whole batch. If the request fails, the records stay as they are, because an incomplete record is better
    /// than a failure.
    private func addEditions(to answers: inout [ISBN: SourceAnswer], through client: SourceClient) async {
        let found = answers.keys.sorted().filter { if case .found? = answers[$0] { true } else { false } }
        guard !found.isEmpty else { return }
        let records: JSONValue
        do throws(LookupError) {
            records = try await books(found, "details", through: client)
        } catch { return }
        for isbn in found {
            guard case .found(var metadata)? = answers[isbn], let edition = records[isbn.bibkey]?["details"] else {
                continue
            }
            fill(&metadata, from: edition, isbn)
            answers[isbn] = .found(metadata)
        }
    }

    /// An edition without an author of its work gives the keys of its own authors.
    func canComplete(_ metadata: Metadata) -> Bool { metadata.authorNames.isEmpty }

    /// Requests the authors' names if the edition gives only their keys.
    func complete(
        _ metadata: Metadata, of isbn: ISBN, through client: SourceClient
    ) async throws(LookupError) -> Metadata {
        var metadata = metadata
        guard let edition = try await record("isbn/\(isbn.digits).json", through: client) else { return metadata }
        fill(&metadata, from: edition, isbn)
        guard metadata.authorNames.isEmpty else { return metadata }
        var authors: [Contributor] = []
        for key in OpenLibraryEdition.authorKeys(edition).prefix(Self.authorRequests) {
            guard let author = try await record("authors/\(key).json", through: client),
                let name = FieldLimits.text(author["name"])
            else { continue }
            authors.append(Contributor(name: name))
        }
        metadata.authors.insert(contentsOf: authors, at: 0)
        if !authors.isEmpty { metadata.sources[.authors] = name }
        return metadata
    }

    func isAskedForTitles(in language: String?) -> Bool { true }

    /// Searches for works, and requests the editions of the best of them, because a search returns one edition a work.
    ///
    /// Source: openlibrary.org/dev/docs/api/search and openlibrary.org/dev/docs/api/books (editions of a work).
    func find(_ query: TitleQuery, through client: SourceClient) async throws(LookupError) -> [EditionOffer] {
        let author = query.author.map { "&author=\($0.percentEncoded)" } ?? ""
        let found = try json(
            await client.get(
                base.appending(
                    "search.json?title=\(query.title.percentEncoded)\(author)&fields=key,title,author_name&limit=\(TitleLimit.offers)"
                )))
        guard case .array(let works)? = found["docs"] else {
            throw .badData(failure("sent an answer without results"))
        }
        var offers: [EditionOffer] = []
        for work in works.prefix(Self.searchedWorks) {
            guard let key = OpenLibraryEdition.key(work["key"]) else { continue }
            let editions = try json(
                await client.get(base.appending("\(key)/editions.json?limit=\(Self.editionsOfWork)")))
            let authors = FieldLimits.texts(work["author_name"]).map { Contributor(name: $0) }
            offers += (editions["entries"]?.items ?? []).prefix(Self.editionsOfWork).compactMap {
                offer($0, by: authors)
            }
        }
        return offers
    }

    /// - Parameter authors: the authors of the work, of whom an edition has only the keys.
    private func offer(_ edition: JSONValue, by authors: [Contributor]) -> EditionOffer? {
        var metadata = OpenLibraryEdition.metadata(edition)
        guard metadata.title != nil else { return nil }
        if metadata.authorNames.isEmpty { metadata.authors.insert(contentsOf: authors, at: 0) }
        metadata.attribute(to: name)
        let isbn = OpenLibraryEdition.numbers(edition).lazy.compactMap(ISBN.init(listed:)).first
        return EditionOffer(isbn: isbn, metadata: metadata)
    }

    /// Requests one record by its path. A record that was merged into another names that one
    /// (openlibrary.org/type/redirect).
    ///
    /// - Returns: `nil` if there is no record, or no longer.
    private func record(_ path: String, through client: SourceClient) async throws(LookupError) -> JSONValue? {
        var path = path
        for _ in 0...Self.merges {
            let answer = try await client.get(base.appending(path))
            guard !answer.isMissing else { return nil }
            let record = try json(answer)
            switch record["type"]?["key"]?.string {
            case "/type/redirect":
                guard let target = OpenLibraryEdition.key(record["location"]) else { return nil }
                path = "\(target).json"
            case "/type/delete": return nil
            default: return record
            }
        }
        return nil
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
        // Only the edition has the article of a title that is stored separately.
        if edition["title_prefix"]?.string != nil, metadata.title == FieldLimits.title(edition["title"]) {
            metadata.title = more.title
        }
        metadata.fillGaps(from: more)
        // The authors come from the work, and the translators from the edition.
        metadata.authors.add(more.authors.filter { $0.role != .author })
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
        guard let title = FieldLimits.title(record["title"]) else { return nil }
        var metadata = Metadata()
        metadata.title = title
        metadata.subtitle = FieldLimits.title(record["subtitle"])
        metadata.authors = FieldLimits.texts(record["authors"]).map { Contributor(name: $0) }
        metadata.publisher = FieldLimits.texts(record["publishers"]).lazy.compactMap(FieldLimits.publisher).first
        metadata.publishedDateText = FieldLimits.text(record["publish_date"])
        metadata.publishedDate = metadata.publishedDateText.flatMap(PublishedDate.day(in:))
        metadata.pageCount = OpenLibraryEdition.pages(record)
        metadata.subjects = FieldLimits.subjects(record["subjects"])
        let cover = record["cover"]
        metadata.coverURL = ["large", "medium", "small"].lazy.compactMap { covers.stored(cover?[$0]?.string) }
            // An edition whose cover was removed has the number -1.
            .first { !$0.contains("/b/id/-") }
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
