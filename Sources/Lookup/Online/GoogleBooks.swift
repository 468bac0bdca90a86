import Bookplate
import FoundationEssentials
import HTTP

/// Google Books, with one ISBN per request. Source: developers.google.com/books/docs/v1/reference/volumes.
///
/// Without a key, Google Books currently always answers with status 429. It is queried anyway, because that may change.
/// After such an answer, Google Books is skipped until the next day, and lookups report it as *not asked*.
struct GoogleBooks: TitleSource {
    let base: WebAddress
    let key: String?
    let covers: CoverAddress

    var name: SourceName { .googleBooks }
    var batchSize: Int { 1 }
    var hasKey: Bool { key != nil }

    /// The reason that is reported with *not asked*, and the steps that a user can take.
    static let needsKey =
        "needs a key: create one at console.cloud.google.com (Books API) and set BOOKPLATE_GOOGLEBOOKS_KEY"

    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer] {
        var answers: [ISBN: SourceAnswer] = [:]
        for isbn in isbns { answers[isbn] = await lookUp(isbn, through: client) }
        return answers
    }

    private func lookUp(_ isbn: ISBN, through client: SourceClient) async -> SourceAnswer {
        do throws(LookupError) {
            return answer(try await volumes("isbn:\(isbn.digits)", through: client), isbn)
        } catch {
            return error.answer
        }
    }

    /// - Parameter query: the query, percent-encoded, and further parameters.
    private func volumes(_ query: String, through client: SourceClient) async throws(LookupError) -> JSONValue {
        let query = "books/v1/volumes?q=\(query)" + (key.map { "&key=\($0.percentEncoded)" } ?? "")
        return try json(await client.get(base.appending(query)) { classify($0, at: client.policy.time.date()) })
    }

    func isAskedForTitles(in language: String?) -> Bool { true }

    func find(_ query: TitleQuery, through client: SourceClient) async throws(LookupError) -> [EditionOffer] {
        let words =
            query.titleWords.map { "intitle:\($0.percentEncoded)" }
            + query.authorWords.map { "inauthor:\($0.percentEncoded)" }
        let answer = try await volumes(
            words.joined(separator: "+") + "&printType=books&maxResults=\(TitleLimit.offers)", through: client)
        guard answer["totalItems"]?.wholeNumber != nil else {
            throw .badData(failure("sent an answer without the number of results"))
        }
        return (answer["items"]?.items ?? []).prefix(FieldLimits.items).compactMap { item in
            guard let metadata = metadata(item), metadata.title != nil else { return nil }
            return EditionOffer(
                isbn: Self.numbers(item).lazy.compactMap(ISBN.init(listed:)).first, metadata: metadata)
        }
    }

    /// Returns the error for an answer with one of Google's error statuses; `nil` if the general rules apply. Source of
    /// the reasons: cloud.google.com/apis/design/errors.
    private func classify(_ answer: HTTPAnswer, at now: Date) -> LookupError? {
        switch answer.status {
        case 429 where key == nil: return .notAsked(reason: Self.needsKey)
        case 400, 403, 429: break
        default: return nil
        }
        let error: JSONValue?
        do throws(JSONError) { error = try JSONValue(parsing: answer.body)["error"] } catch { return nil }
        guard let error, case .object = error else { return nil }
        var reasons =
            FieldLimits.texts(error["errors"], key: "reason") + FieldLimits.texts(error["details"], key: "reason")
        if let status = FieldLimits.text(error["status"]) { reasons.append(status) }
        func has(_ words: String...) -> Bool { reasons.contains { words.contains($0) } }
        let message = FieldLimits.text(error["message"], limit: 200) ?? "no reason given"
        if has("API_KEY_INVALID", "keyInvalid") || message.contains("API key not valid") {
            return .blocked(failure("its key is not valid; check BOOKPLATE_GOOGLEBOOKS_KEY"))
        }
        if has("accessNotConfigured", "SERVICE_DISABLED") {
            return .blocked(failure("the Books API is not enabled for its key; enable it at console.cloud.google.com"))
        }
        let limits = error["details"]?.items.prefix(FieldLimits.items).compactMap {
            $0["metadata"]?["quota_limit"]?.string
        }
        if has("dailyLimitExceeded", "dailyLimitExceededUnreg") || limits?.contains("defaultPerDayPerProject") == true {
            return .temporary(DayQuota.error(at: now))
        }
        if answer.status == 429 { return nil }
        if has("rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded") {
            return .temporary(failure("has received too many requests (403)", retryAfter: RetryAfter.default))
        }
        let refusal = failure("refuses to answer (\(answer.status)): \(message)")
        return answer.status == 403 ? .blocked(refusal) : .badData(refusal)
    }

    private func answer(_ json: JSONValue, _ isbn: ISBN) -> SourceAnswer {
        guard case .object = json else { return .badData(failure("sent an answer that is not a JSON object")) }
        let items = json["items"]?.items ?? []
        guard !items.isEmpty else {
            guard json["totalItems"]?.wholeNumber != nil else {
                return .badData(failure("sent an answer without the number of results"))
            }
            return .notFound
        }
        var weak: Metadata?
        var other: String?
        for item in items.prefix(FieldLimits.items) {
            guard var metadata = metadata(item) else { continue }
            switch RecordMatch(isbn, listed: Self.numbers(item)) {
            case .certain: return .found(metadata)
            case .anotherBook(let number): other = other ?? number
            case .weak:
                // A record that lists other kinds of numbers but no ISBN describes something without an ISBN, so it
                // cannot be the requested book.
                guard item["volumeInfo"]?["industryIdentifiers"]?.items.isEmpty ?? true else { continue }
                metadata.isWeakMatch = true
                metadata.sources[.identifiers] = name
                weak = weak ?? metadata
            }
        }
        if let weak { return .found(weak) }
        guard let other else { return .badData(failure("sent only records that describe no book")) }
        return .badData(failure("answered with the record of another book, \(other)"))
    }

    private static func numbers(_ item: JSONValue) -> [String] {
        FieldLimits.texts(item["volumeInfo"]?["industryIdentifiers"], key: "identifier")
    }

    /// - Returns: `nil` if the record says nothing about the book. Without a title, the other fields still help,
    ///   because another source or a person may give the title.
    private func metadata(_ item: JSONValue) -> Metadata? {
        guard let info = item["volumeInfo"] else { return nil }
        var metadata = Metadata()
        metadata.title = FieldLimits.title(info["title"])
        metadata.subtitle = FieldLimits.title(info["subtitle"])
        metadata.authors = FieldLimits.texts(info["authors"]).map { Contributor(name: $0) }
        metadata.publisher = info["publisher"]?.string.flatMap(FieldLimits.publisher)
        metadata.publishedDate = info["publishedDate"]?.string.flatMap(PublishedDate.day(in:))
        metadata.publishedDateText = FieldLimits.text(info["publishedDate"]).map { text in
            // The time of day in "2015-10-01T00:00:00+02:00" means nothing.
            metadata.publishedDate.map { text.hasPrefix("\($0)T") ? "\($0)" : text } ?? text
        }
        metadata.pageCount = FieldLimits.pages(info["pageCount"])
        metadata.language = info["language"]?.string.flatMap(LanguageCode.normalized)
        // Google has no word for the binding. "isEbook" is false for printed books and for books that are not sold.
        if case .bool(true)? = item["saleInfo"]?["isEbook"] { metadata.format = .digital }
        // The name of the series is not in the record, so this number only completes another source's series.
        metadata.seriesNumber = FieldLimits.text(info["seriesInfo"]?["bookDisplayNumber"], limit: 20)
        metadata.description = FieldLimits.text(info["description"], limit: TextLimit.description)
        guard !metadata.filledFields.isEmpty else { return nil }
        metadata.subjects = FieldLimits.texts(info["categories"])
        let images = info["imageLinks"]
        metadata.coverURL =
            ["large", "medium", "thumbnail", "smallThumbnail"].lazy
            .compactMap { covers.stored(images?[$0]?.string.map(\.withoutPageCurl)) }.first
        metadata.previewLink = FieldLimits.link(info["previewLink"])
        metadata.infoLink = FieldLimits.link(info["infoLink"])
        metadata.identifiers["google"] = FieldLimits.text(item["id"], limit: 64).map { [$0] }
        metadata.attribute(to: name)
        return metadata
    }
}

extension String {
    /// The address of a cover without the page corner that Google draws into it.
    fileprivate var withoutPageCurl: String { replacing("&edge=curl", with: "") }
}

/// The requests that Google allows an API key for one day. The day begins at midnight in California. Source:
/// docs.cloud.google.com/api-keys/docs/quotas, "Daily quotas reset at midnight Pacific Time".
enum DayQuota {
    /// Returns the error for a quota that is used up, which names the hour on this machine's clock when Google answers
    /// again.
    static func error(at now: Date, in zone: TimeZone = .current) -> SourceError {
        let end = self.end(at: now)
        var local = Calendar(identifier: .gregorian)
        local.timeZone = zone
        let time = local.dateComponents([.hour, .minute], from: end)
        let clock = [time.hour ?? 0, time.minute ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return SourceError(
            source: .googleBooks, reason: "has used up its quota for today; it answers again at \(clock)",
            retryAfter: .seconds(end.timeIntervalSince(now)))
    }

    private static func end(at now: Date) -> Date {
        var california = Calendar(identifier: .gregorian)
        // A machine without a time zone database has no name for it; then the hour of winter has to do.
        california.timeZone = TimeZone(identifier: "America/Los_Angeles") ?? TimeZone(secondsFromGMT: -8 * 3600) ?? .gmt
        let today = california.startOfDay(for: now)
        return california.date(byAdding: .day, value: 1, to: today) ?? today.addingTimeInterval(86_400)
    }
}
