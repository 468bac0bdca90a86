import Bookplate

/// Finds books by their title, for books without a number and for numbers that no source knows.
public struct TitleFinder: Sendable {
    private let search: any TitleSearch
    private let lookup: any MetadataLookup
    /// `nil` if there is no library yet.
    private let shelf: (any Shelf)?

    /// - Parameters:
    ///   - lookup: completes the record of an edition that has an ISBN.
    ///   - shelf: the library, whose copies are listed with the editions; `nil` if there is none yet.
    ///   - language: the language of the person at this machine, as an ISO 639-1 code; `nil` if it is not known.
    public init(search: any TitleSearch, lookup: any MetadataLookup, shelf: (any Shelf)?, language: String? = nil) {
        (self.search, self.lookup, self.shelf, self.language) = (search, lookup, shelf, language)
    }

    /// The language of the person at this machine, as an ISO 639-1 code; `nil` if it is not known.
    public let language: String?

    /// Finds editions, together with the copies that the library has.
    ///
    /// - Parameter language: the language of the person who asks; `nil` for ``language``.
    /// - Throws: the library's error. Errors of sources are part of the answer.
    public func find(
        _ query: TitleQuery, language: String? = nil
    ) async throws -> (answer: TitleAnswer, choices: [EditionChoice]) {
        let answer = await search.find(query, language: language ?? self.language)
        let known = try await shelf?.books(with: answer.offers.compactMap(\.isbn)) ?? [:]
        var choices = answer.offers.map { offer in
            EditionChoice(offer: offer, copies: offer.isbn.flatMap { known[$0] } ?? [])
        }
        guard let shelf else { return (answer, choices) }
        for place in choices.indices where choices[place].copies.isEmpty {
            let offer = choices[place].offer
            choices[place].others = try await shelf.ownedEditions(like: offer.metadata, excluding: offer.isbn)
        }
        return (answer, choices)
    }

    /// Returns the record to save for an edition that a person chose. If it has an ISBN, this is the record that a
    /// capture of this number would get, completed with the fields of the offer.
    public func record(of offer: EditionOffer) async -> Metadata {
        guard let isbn = offer.isbn else { return offer.metadata }
        for await answer in lookup.lookUp([isbn], for: .title, refresh: false) {
            guard case .found(var metadata, _) = answer.outcome, !metadata.isWeakMatch, metadata.title != nil else {
                break
            }
            metadata.fillGaps(from: offer.metadata)
            return metadata
        }
        return offer.metadata
    }
}
