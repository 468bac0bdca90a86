import Bookplate

extension LookupChain: TitleSearch {
    /// The number of editions that a person gets to choose from.
    static let offers = 60
    private static let numbersOnly = "it has only numbers; build it again without --numbers-only to find titles"

    public func find(_ query: TitleQuery, language: String?) async -> TitleAnswer {
        let sources = await sourcesOrNone()
        var answer = TitleAnswer(notAsked: notAsked + sources.notAsked)
        var found: [EditionOffer] = []
        for (source, result) in await offers(query, language: language, of: sources) {
            switch result {
            case .success(let offers):
                answer.asked.append(source)
                found += offers
            case .failure(.notAsked(let reason)):
                answer.notAsked.append(NotAsked(source: source, reason: reason))
            case .failure(.temporary(let error)): answer.failures.append(SourceFailure(.temporary, error))
            case .failure(.blocked(let error)): answer.failures.append(SourceFailure(.blocked, error))
            case .failure(.badData(let error)): answer.failures.append(SourceFailure(.badData, error))
            }
        }
        answer.offers = EditionOffer.merged(found, for: query, language: language, limit: Self.offers)
        return answer
    }

    /// Asks the index and the sources at the same time. Each source has 8 s.
    ///
    /// - Parameter sources: the sources that are switched on. National catalogues of other languages are not asked.
    /// - Returns: the editions that each source has, in the order in which the sources win a field.
    func offers(
        _ query: TitleQuery, language: String?, of sources: LookupSources
    ) async -> [(SourceName, Result<[EditionOffer], LookupError>)] {
        let asked = sources.available.compactMap { $0 as? any TitleSource }.filter { $0.isAskedForTitles(in: language) }
        let order = sources.order
        let unreachable = UnreachableSources()
        return await withTaskGroup(of: (SourceName, Result<[EditionOffer], LookupError>).self) { group in
            if let index {
                group.addTask {
                    do throws(SourceError) {
                        guard let offers = try await index.find(query, limit: TitleLimit.offers) else {
                            return (index.name, .failure(.notAsked(reason: Self.numbersOnly)))
                        }
                        return (index.name, .success(offers))
                    } catch {
                        return (index.name, .failure(.badData(error)))
                    }
                }
            }
            for source in asked {
                group.addTask {
                    let client = client(for: source, Deadline(policy.time), isLast: true, unreachable)
                    do throws(LookupError) {
                        return (source.name, .success(try await source.find(query, through: client)))
                    } catch {
                        return (source.name, .failure(error))
                    }
                }
            }
            var results: [(SourceName, Result<[EditionOffer], LookupError>)] = []
            for await result in group { results.append(result) }
            return results.sorted { order.rank(of: $0.0) < order.rank(of: $1.0) }
        }
    }
}

extension EditionOffer {
    /// Returns the editions that fit, the best first: by how well the title fits, then in the person's language, then
    /// complete records, then the newest.
    ///
    /// - Parameters:
    ///   - offers: the offers of all sources, in the order in which they win a field.
    static func merged(
        _ offers: [EditionOffer], for query: TitleQuery, language: String?, limit: Int
    ) -> [EditionOffer] {
        var merged: [EditionOffer] = []
        var places: [String: Int] = [:]
        for offer in offers {
            let place = places[offer.key]
            if let place {
                merged[place].metadata.fillGaps(from: offer.metadata)
            } else {
                places[offer.key] = merged.count
                merged.append(offer)
            }
        }
        let rated = merged.enumerated().compactMap { place, offer -> (rank: [Int], offer: EditionOffer)? in
            guard let distance = query.distance(to: offer.metadata) else { return nil }
            let spoken = offer.metadata.language.map { $0 == language ? 0 : 2 } ?? 1
            let year = offer.metadata.publishedDate?.year ?? 0
            return ([distance, spoken, offer.metadata.missingEssentials.count, -year, place], offer)
        }
        return rated.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.prefix(limit).map(\.offer)
    }

    /// A text that is the same for the same edition from several sources.
    private var key: String {
        if let isbn { return isbn.digits }
        let year = metadata.publishedDate.map { String($0.year) } ?? ""
        return [metadata.title, metadata.authorNames.first, metadata.publisher, year]
            .map { ($0 ?? "").searchFolded }.joined(separator: "\n")
    }
}
