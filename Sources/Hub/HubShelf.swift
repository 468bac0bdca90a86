import Bookplate
import FoundationEssentials

/// The hub's shelf as a station sees it: what is owned is known there, and what is confirmed goes there by the outbox.
public struct HubShelf: Shelf {
    private let outbox: any Outbox
    private let client: any HubCalls
    private let link: HubLink

    private let patience: Duration

    /// - Parameter patience: how long an answer is waited for before the station goes on by itself. A hub that is away is not asked
    ///   at all.
    public init(outbox: any Outbox, client: any HubCalls, link: HubLink, patience: Duration = .seconds(1)) {
        self.outbox = outbox
        self.client = client
        self.link = link
        self.patience = patience
    }

    public func add(
        _ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date
    ) async throws -> [SaveResult] {
        // The hub has the last word on what is owned; what it is known to own is told before.
        let isbns = confirmed.filter { !$0.anotherCopy }.compactMap(\.isbn)
        let known = try await books(with: isbns)
        let own = try await outbox.copiesAtHub(with: isbns)
        var results: [SaveResult?] = confirmed.map { confirmed in
            guard !confirmed.anotherCopy, let owned = confirmed.isbn.flatMap({ known[$0]?.first(where: \.isOwned) })
            else {
                return nil
            }
            // Its own item, saved before: the outbox says so.
            guard let item = confirmed.item else { return .owned(owned) }
            return owned.id.rawValue == item.rawValue || owned.id == own[item]?.id ? nil : .owned(owned)
        }
        let open = confirmed.indices.filter { results[$0] == nil }
        let saved = try await outbox.confirm(open.map { confirmed[$0] }, continuing: change, at: now)
        for (index, result) in zip(open, saved) { results[index] = result }
        return results.compactMap { $0 }
    }

    /// What the hub has and what waits for it; while it is away, what was confirmed here.
    public func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]] {
        guard !isbns.isEmpty else { return [:] }
        guard let known = await client.known(isbns, link, within: patience) else {
            return try await outbox.confirmedBooks(with: isbns, undelivered: false)
        }
        let waiting = try await outbox.confirmedBooks(with: isbns, undelivered: true)
        let takenBack = Set(try await outbox.copiesAtHub(with: isbns).values.filter(\.isUndone).map(\.id))
        let there = known.map { known in (known.isbn, known.books.filter { !takenBack.contains($0.id) }) }
        return Dictionary(there, uniquingKeysWith: { $1 })
            .merging(waiting) { $0 + $1 }.filter { !$0.value.isEmpty }
    }

    public func book(_ id: ID<Copy>) async throws -> Book? { nil }

    public func update(
        _ id: ID<Copy>, at now: Date, _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (book: Book, change: ID<Change>) { throw NotHere() }

    public func update(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date,
        _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) { throw NotHere() }

    public func trash(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?) { throw NotHere() }

    public func restore(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?) { throw NotHere() }

    public func deleteForGood(_ ids: [ID<Copy>]) async throws { throw NotHere() }

    /// A station captures; the books are looked after at the hub.
    public struct NotHere: Error, CustomStringConvertible {
        public let description = "the hub keeps the books: this is done there"
    }
}

extension Book {
    fileprivate static func isOwned(_ book: Book) -> Bool { book.copy.isOwned && book.copy.deleted == nil }
    fileprivate var isOwned: Bool { Self.isOwned(self) }
}

extension HubBook {
    /// With texts as they may be shown.
    fileprivate var books: [Book] {
        copies.prefix(50).map { held in
            var copy = Copy(id: held.id, added: Date(rfc3339: held.added) ?? Date(timeIntervalSince1970: 0))
            (copy.isOwned, copy.isOnWishlist) = (held.isOwned, held.isOnWishlist)
            copy.shelf = held.shelf.map { String($0.cleanedLine.prefix(TextLimit.name)) }
            copy.deleted = held.deleted.flatMap { Date(rfc3339: $0) }
            return Book(edition: Edition(isbn: isbn, metadata: metadata ?? Metadata()), copy: copy)
        }
    }
}

extension HubCalls {
    /// - Returns: `nil` when the hub does not answer now.
    func known(_ isbns: [ISBN], _ link: HubLink, within patience: Duration) async -> [HubBook]? {
        guard link.mayAsk else { return nil }
        var known: [HubBook] = []
        var rest = isbns[...]
        while !rest.isEmpty {
            let round = Array(rest.prefix(HubBook.mostAtOnce))
            rest = rest.dropFirst(round.count)
            do throws(HubError) {
                known += try await books(round, within: patience)
            } catch {
                link.note(error)
                return nil
            }
        }
        return known
    }
}

/// Asks the hub what it knows of a number, and the station's own sources for the rest.
public struct HubLookup: MetadataLookup {
    private let client: any HubCalls
    private let link: HubLink
    private let own: any MetadataLookup
    private let patience: Duration

    /// - Parameter patience: as that of ``HubShelf``.
    public init(
        client: any HubCalls, link: HubLink, own: any MetadataLookup, patience: Duration = .seconds(1)
    ) {
        self.client = client
        self.link = link
        self.own = own
        self.patience = patience
    }

    public func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        let (client, link, own, patience) = (client, link, own, patience)
        return AsyncStream { continuation in
            let task = Task {
                var open = isbns
                if !refresh, let known = await client.known(isbns, link, within: patience) {
                    for book in known {
                        guard var metadata = book.metadata, !metadata.isWeakMatch else { continue }
                        // Whoever typed it there: here nobody did, and a better record may replace it.
                        for (field, source) in metadata.sources where source == .person {
                            metadata.sources[field] = .library
                        }
                        continuation.yield(LookupAnswer(isbn: book.isbn, outcome: .found(metadata, from: .library)))
                        open.removeAll { $0 == book.isbn }
                    }
                }
                if !open.isEmpty {
                    for await answer in own.lookUp(open, refresh: refresh) { continuation.yield(answer) }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
