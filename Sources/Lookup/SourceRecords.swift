import Bookplate

extension LookupChain: RecordSearch {
    /// Asks the index and every source that may have the book, all at once. Each source has 8 s.
    public func records(of edition: Edition, language: String?) async -> [SourceRecord] {
        let sources = await sourcesOrNone()
        var records = (notAsked + sources.notAsked).map {
            SourceRecord(source: $0.source, answer: .notAsked(reason: $0.reason))
        }
        if let isbn = edition.isbn {
            records += await self.records(of: isbn, from: sources)
        } else if let query = edition.titleQuery {
            for (source, result) in await offers(query, language: edition.metadata.language ?? language, of: sources) {
                let answer: SourceAnswer =
                    switch result {
                    case .success(let offers): edition.closest(of: offers).map { .found($0.metadata) } ?? .notFound
                    case .failure(let error): error.answer
                    }
                records.append(SourceRecord(source: source, answer: answer))
            }
        }
        return records.sorted { sources.order.rank(of: $0.source) < sources.order.rank(of: $1.source) }
    }

    private func records(of isbn: ISBN, from sources: LookupSources) async -> [SourceRecord] {
        let asked = sources.available.filter { $0.isAsked(for: isbn, found: nil) }
        let unreachable = UnreachableSources()
        return await withTaskGroup(of: SourceRecord.self) { group in
            if let index {
                group.addTask {
                    SourceRecord(source: index.name, answer: await index.lookUp([isbn])[isbn] ?? .notFound)
                }
            }
            for source in asked {
                group.addTask {
                    let client = client(for: source, Deadline(policy.time), isLast: true, unreachable)
                    let answer = await source.lookUp([isbn], through: client)[isbn] ?? .notFound
                    return SourceRecord(source: source.name, answer: answer)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
