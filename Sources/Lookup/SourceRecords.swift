import Bookplate

extension LookupChain: RecordSearch {
    /// Asks the index and every source that may have the book, all at once. Each source has 8 s.
    public func records(of isbn: ISBN) async -> [SourceRecord] {
        let sources = await sourcesOrNone()
        let order = sources.order
        let asked = sources.available.filter { $0.isAsked(for: isbn, found: nil) }
        var records = (notAsked + sources.notAsked).map {
            SourceRecord(source: $0.source, answer: .notAsked(reason: $0.reason, isForNow: $0.isForNow))
        }
        let unreachable = UnreachableSources()
        await withTaskGroup(of: SourceRecord.self) { group in
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
            for await record in group { records.append(record) }
        }
        return records.sorted { order.rank(of: $0.source) < order.rank(of: $1.source) }
    }
}
