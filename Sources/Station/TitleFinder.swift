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
            let alike = try await shelf.editions(like: offer.metadata, excluding: offer.isbn)
            choices[place].copies = alike.filter { offer.isEdition($0.edition) }
            if choices[place].copies.isEmpty { choices[place].others = alike.filter(\.copy.isOwned) }
        }
        return (answer, choices)
    }

    /// Returns the owned copy of an edition as the library is now; `nil` if there is none.
    public func ownedCopy(of offer: EditionOffer) async throws -> Book? {
        guard let shelf else { return nil }
        let copies: [Book]
        if let isbn = offer.isbn {
            copies = try await shelf.books(with: [isbn])[isbn] ?? []
        } else {
            copies = try await shelf.editions(like: offer.metadata, excluding: nil)
                .filter { offer.isEdition($0.edition) }
        }
        return EditionChoice(offer: offer, copies: copies).owned
    }

    /// Returns the record to save for an edition that a person chose: what the person saw, completed with the record
    /// that a capture of its ISBN would get.
    public func record(of offer: EditionOffer) async -> Metadata {
        guard let isbn = offer.isbn else { return offer.metadata }
        for await answer in lookup.lookUp([isbn], for: .title, refresh: false) {
            guard case .found(let metadata, _) = answer.outcome, !metadata.isWeakMatch else { break }
            var chosen = offer.metadata
            chosen.fillGaps(from: metadata)
            return chosen
        }
        return offer.metadata
    }
}
