import Bookplate
import HTTP

/// Open Library: many ISBNs in one request; what that answer lacks is repaired from the edition itself.
///
/// Source: openlibrary.org/dev/docs/api/books. `jscmd=data` takes the authors from the work and has no languages; `jscmd=details` and
/// `/isbn/{isbn}.json` give the edition's own record.
struct OpenLibrary: OnlineSource {
    let base: WebAddress
    let covers: CoverAddress

    var name: SourceName { .openLibrary }
    var batchSize: Int { 20 }

    /// More authors than this are not asked for one by one.
    private static let authorRequests = 3

    func lookUp(_ isbns: [ISBN], on visit: Visit) async -> [ISBN: SourceAnswer] {
        let records: JSONValue
        do throws(Trouble) {
            records = try await books(isbns, "data", on: visit)
        } catch {
            return isbns.answered { _ in error.answer }
        }
        var answers = isbns.answered { isbn in records[isbn.bibkey].map { answer($0, isbn) } ?? .notFound }
        await repairTogether(&answers, on: visit)
        return answers
    }

    /// The members of the answer: the bibkeys asked for, those unknown are absent.
    private func books(_ isbns: [ISBN], _ command: String, on visit: Visit) async throws(Trouble) -> JSONValue {
        let keys = isbns.map(\.bibkey).joined(separator: ",")
        let address = base.appending("api/books?bibkeys=\(keys)&format=json&jscmd=\(command)")
        let records = try json(await visit.get(address))
        guard case .object = records else {
            throw .badData(failure("an answer that is no object"))
        }
        return records
    }

    private func answer(_ record: JSONValue, _ isbn: ISBN) -> SourceAnswer {
        guard case .object = record else { return .badData(failure("a record that is no object")) }
        guard var metadata = OpenLibraryRecord.metadata(record, covers: covers) else {
            return .badData(failure("a record without a title"))
        }
        switch RecordMatch(isbn, listed: OpenLibraryRecord.numbers(record)) {
        case .sure: break
        case .weak: metadata.isWeakMatch = true
        case .anotherBook(let other): return .badData(failure("answered with the record of another book, \(other)"))
        }
        metadata.attribute(to: name)
        return .found(metadata)
    }

    /// Fills what the editions know better, for all of a batch with one request. One book alone is repaired by ``completed(_:of:on:)``,
    /// and a batch whose editions do not come stays as it is: what was found is worth more than a second failure.
    private func repairTogether(_ answers: inout [ISBN: SourceAnswer], on visit: Visit) async {
        let lacking = answers.keys.sorted().filter { Self.isRepairable(answers[$0]) }
        guard lacking.count > 1 else { return }
        let records: JSONValue
        do throws(Trouble) { records = try await books(lacking, "details", on: visit) } catch { return }
        for isbn in lacking {
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

    /// Asks for the edition, and for its authors where only their keys are known. A miss or a failure leaves the record as it is.
    func completed(_ metadata: Metadata, of isbn: ISBN, on visit: Visit) async -> Metadata {
        var metadata = metadata
        do throws(Trouble) {
            let answer = try await visit.get(base.appending("isbn/\(isbn.digits).json"))
            guard !answer.isMissing else { return metadata }
            let edition = try json(answer)
            fill(&metadata, from: edition, isbn)
            guard metadata.authorNames.isEmpty else { return metadata }
            var authors: [Contributor] = []
            for key in OpenLibraryEdition.authorKeys(edition).prefix(Self.authorRequests) {
                let author = try await visit.get(base.appending("authors/\(key).json"))
                guard !author.isMissing, let name = FieldLimits.text(try json(author)["name"]) else { continue }
                authors.append(Contributor(name: name))
            }
            metadata.authors.insert(contentsOf: authors, at: 0)
            if !authors.isEmpty { metadata.sources[.authors] = name }
        } catch {
            // The record is found all the same; another source, or a refresh, may fill the rest.
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
        case .sure where metadata.isWeakMatch && !isSameEdition:
            // The edition is the book asked for; the record may be another, and gives it nothing.
            if more.title != nil { metadata = more }
            return
        case .weak where !metadata.isWeakMatch && !isSameEdition: return
        case .sure: metadata.isWeakMatch = false
        case .weak: break
        }
        metadata.fillGaps(from: more)
        // The work knows who wrote it, the edition who translated it.
        metadata.authors += more.authors.filter { $0.role != .author && !metadata.authors.contains($0) }
    }
}

extension ISBN {
    /// The key under which Open Library is asked and answers.
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

    /// The ISBNs it lists.
    static func numbers(_ record: JSONValue) -> [String] {
        FieldLimits.texts(record["identifiers"]?["isbn_13"]) + FieldLimits.texts(record["identifiers"]?["isbn_10"])
    }
}
