import Bookplate
import HTTP

/// A catalogue that is asked over HTTP.
struct CatalogueSource: TitleSource {
    let catalogue: Catalogue
    let base: WebAddress

    var name: SourceName { catalogue.name }
    var batchSize: Int { catalogue.batchSize }

    var isAskedAtOnce: Bool { catalogue.isNational }

    var options: RequestOptions {
        var options = RequestOptions()
        (options.accept, options.isXMLExpected) = ("application/xml, application/json;q=0.9, */*;q=0.1", true)
        options.pause = catalogue.pause
        if catalogue.pause > .seconds(1) { options.burst = 1 }
        if catalogue.pause > Deadline.lookupLimit { options.attempts = 1 }
        return options
    }

    func isAsked(for isbn: ISBN, found: Metadata?) -> Bool {
        guard catalogue.isAsked(for: isbn) else { return false }
        guard let found, !found.isWeakMatch, found.title != nil else { return true }
        return catalogue.fillsGaps && !found.missingEssentials.isSubset(of: catalogue.missingFields)
    }

    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer] {
        do throws(LookupError) {
            return catalogue.read(try await client.get(base.appending(catalogue.request(isbns))).body, isbns)
        } catch {
            return isbns.answered { _ in error.answer }
        }
    }

    func isAskedForTitles(in language: String?) -> Bool { catalogue.titles.map { $0.language == language } ?? false }

    func find(_ query: TitleQuery, through client: SourceClient) async throws(LookupError) -> [EditionOffer] {
        guard let titles = catalogue.titles else { return [] }
        return try titles.read(try await client.get(base.appending(titles.request(query))).body)
    }
}
