import Bookplate
import HTTP

/// A catalogue that is asked over HTTP.
struct CatalogueSource: OnlineSource {
    let catalogue: Catalogue
    let base: WebAddress

    var name: SourceName { catalogue.name }
    var batchSize: Int { catalogue.batchSize }

    var options: RequestOptions {
        var options = RequestOptions()
        (options.accept, options.isXMLExpected) = ("application/xml, application/json;q=0.9, */*;q=0.1", true)
        options.pause = catalogue.pause
        if catalogue.pause > .seconds(1) { options.burst = 1 }
        return options
    }

    /// The catalogue of the number's own group fills gaps. The others are only asked for books that nobody else has,
    /// because they are slow, and asked by the whole world.
    func isAsked(for isbn: ISBN, found: Metadata?) -> Bool {
        guard catalogue.isAsked(for: isbn) else { return false }
        guard let found, !found.isWeakMatch, found.title != nil else { return true }
        return catalogue.rank == .national && !found.missingEssentials.isEmpty
    }

    func lookUp(_ isbns: [ISBN], through client: SourceClient) async -> [ISBN: SourceAnswer] {
        do throws(LookupError) {
            return catalogue.read(try await client.get(base.appending(catalogue.request(isbns))).body, isbns)
        } catch {
            return isbns.answered { _ in error.answer }
        }
    }
}
