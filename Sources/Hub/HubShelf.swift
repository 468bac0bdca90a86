import Bookplate
import FoundationEssentials

/// The hub's library as a station uses it. The station queries the hub to find out which books are owned. Books that
/// are confirmed on the station go to the outbox, from which they are sent to the hub.
public struct HubShelf: Shelf {
    private let outbox: any Outbox
    private let client: any HubAPI
    private let link: HubLink
    private let timeout: Duration

    /// - Parameter timeout: the maximum time to wait for an answer before the station continues without the hub. No
    ///   request is sent to a hub that is known to be away.
    public init(outbox: any Outbox, client: any HubAPI, link: HubLink, timeout: Duration = .seconds(1)) {
        self.outbox = outbox
        self.client = client
        self.link = link
        self.timeout = timeout
    }

    public func add(
        _ confirmed: [Confirmed], continuing change: ID<Change>?, at now: Date
    ) async throws -> [SaveResult] {
        // The hub makes the final decision on which books are owned. Books that the hub is already known to have are
        // reported at once.
        let isbns = confirmed.filter { !$0.anotherCopy }.compactMap(\.isbn)
        let known = try await books(with: isbns)
        let own = try await outbox.copiesAtHub(with: isbns)
        var results: [SaveResult?] = confirmed.map { confirmed in
            guard !confirmed.anotherCopy, let owned = confirmed.isbn.flatMap({ known[$0]?.first(where: \.isOwned) })
            else {
                return nil
            }
            // If the owned copy was saved from the same item, the outbox reports that.
            guard let item = confirmed.item else { return .owned(owned) }
            return owned.id.rawValue == item.rawValue || owned.id == own[item]?.id ? nil : .owned(owned)
        }
        let open = confirmed.indices.filter { results[$0] == nil }
        let saved = try await outbox.confirm(open.map { confirmed[$0] }, continuing: change, at: now)
        for (index, result) in zip(open, saved) { results[index] = result }
        return results.compactMap { $0 }
    }

    /// Returns the hub's books with these ISBNs, and the books that wait in the outbox. While the hub is away, returns
    /// all books with these ISBNs that were confirmed on this station.
    public func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]] {
        guard !isbns.isEmpty else { return [:] }
        guard let known = await client.knownBooks(isbns, link, within: timeout) else {
            return try await outbox.confirmedBooks(with: isbns, undelivered: false)
        }
        let waiting = try await outbox.confirmedBooks(with: isbns, undelivered: true)
        let undone = Set(try await outbox.copiesAtHub(with: isbns).values.filter(\.isUndone).map(\.id))
        let there = known.map { known in (known.isbn, known.books.filter { !undone.contains($0.id) }) }
        return Dictionary(there, uniquingKeysWith: { $1 })
            .merging(waiting) { $0 + $1 }.filter { !$0.value.isEmpty }
    }

    /// Returns none, because the hub is asked about numbers only.
    public func editions(like metadata: Metadata, excluding isbn: ISBN?) async throws -> [Book] { [] }

    /// Does nothing, because a station looks up the whole record of a book before it sends the book to the hub.
    public func complete(_ records: [ISBN: Metadata], at now: Date) async throws -> Int { 0 }
}

extension Book {
    fileprivate static func isOwned(_ book: Book) -> Bool { book.copy.isOwned && book.copy.deleted == nil }
    fileprivate var isOwned: Bool { Self.isOwned(self) }
}

extension HubBook {
    /// The copies as books, with cleaned texts.
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

extension HubAPI {
    /// Returns the hub's books with these ISBNs; `nil` if the hub does not answer now.
    func knownBooks(_ isbns: [ISBN], _ link: HubLink, within timeout: Duration) async -> [HubBook]? {
        guard link.isUsable else { return nil }
        var known: [HubBook] = []
        var rest = isbns[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(HubBook.mostAtOnce))
            rest = rest.dropFirst(batch.count)
            do throws(HubError) {
                known += try await books(batch, within: timeout)
            } catch {
                link.record(error)
                return nil
            }
        }
        return known
    }
}

/// Looks up metadata at the hub first, and in the station's own sources for books that the hub does not know.
public struct HubLookup: MetadataLookup {
    private let client: any HubAPI
    private let link: HubLink
    private let own: any MetadataLookup
    private let timeout: Duration

    /// - Parameter timeout: the maximum time to wait for the hub's answer before the station's own sources are used.
    public init(
        client: any HubAPI, link: HubLink, own: any MetadataLookup, timeout: Duration = .seconds(1)
    ) {
        self.client = client
        self.link = link
        self.own = own
        self.timeout = timeout
    }

    /// Whatever the goal is, the station's sources are asked for the whole record, because a book that was sent to the
    /// hub cannot be completed from here.
    public func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        let (client, link, own, timeout) = (client, link, own, timeout)
        return AsyncStream { continuation in
            let task = Task {
                var open = isbns
                if !refresh, let known = await client.knownBooks(isbns, link, within: timeout) {
                    for book in known {
                        guard var metadata = book.metadata, !metadata.isWeakMatch else { continue }
                        // A person entered these fields at the hub and not on this station, so a better record may
                        // replace them here.
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
