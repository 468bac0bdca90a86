/// Groups editions that are probably one thing twice. One pass over all editions is enough, because editions are
/// compared by hashing.
public struct DuplicateFinder<Number: Hashable & Sendable>: Sendable {
    private var entries: [Entry] = []
    private var byKey: [WorkIdentity.Key: [Int]] = [:]
    private var byWork: [String: [Int]] = [:]
    private var distinct: [Number: Set<Number>] = [:]

    private struct Entry {
        var edition: Number
        var hasISBN: Bool
        var copies: Int
        var identity: WorkIdentity?
        var language: String?
        var year: String?
    }

    /// A group of editions and the reason for it.
    public struct Group: Sendable, Equatable {
        public var reason: DuplicateGroup.Reason
        public var editions: [Number]
    }

    public init() {}

    /// - Parameters:
    ///   - edition: the number by which the edition is returned.
    ///   - works: the identifiers of the edition's work.
    ///   - language: the language of the edition; `nil` if it is not known.
    ///   - year: the year of its publication; `nil` if it is not known.
    public mutating func add(
        _ edition: Number, hasISBN: Bool, copies: Int, _ identity: WorkIdentity?, works: [String] = [],
        language: String? = nil, year: String? = nil
    ) {
        if let identity { byKey[identity.key, default: []].append(entries.count) }
        for work in works { byWork[work, default: []].append(entries.count) }
        entries.append(
            Entry(
                edition: edition, hasISBN: hasISBN, copies: copies, identity: identity, language: language, year: year))
    }

    /// Notes that two editions are not the same, whatever their records say.
    public mutating func markDistinct(_ edition: Number, _ other: Number) {
        distinct[edition, default: []].insert(other)
        distinct[other, default: []].insert(edition)
    }

    /// The groups: probable mistakes first, then by title. Editions with an ISBN come first in a group, and otherwise
    /// editions are in the order in which they were added.
    public var groups: [Group] {
        let same = byKey.values.filter { $0.count > 1 }.flatMap { indices in
            partition(indices) { $0.identity?.subtitle }.flatMap { partition($0) { $0.identity?.seriesNumber } }
        }.filter { $0.count > 1 }
        // Editions of a work differ in language and year; a book that was entered twice does not.
        let twice = same.flatMap { partition($0, by: \.language) }.flatMap { partition($0, by: \.year) }
            .flatMap(undecided)
        var found: [(reason: DuplicateGroup.Reason, indices: [Int])] = []
        for indices in twice where indices.count > 1 && indices.contains(where: { !entries[$0].hasISBN }) {
            found.append((.enteredTwice, indices))
        }
        for index in entries.indices where entries[index].copies > 1 { found.append((.copies, [index])) }
        for indices in connected(same + byWork.values.filter { $0.count > 1 }) {
            for numbered in undecided(indices.filter { entries[$0].hasISBN }) where numbered.count > 1 {
                found.append((.editions, numbered))
            }
        }
        let order = DuplicateGroup.Reason.allCases
        let sorted = found.map { group in
            let indices = group.indices.sorted { (entries[$0].hasISBN ? 0 : 1, $0) < (entries[$1].hasISBN ? 0 : 1, $1) }
            let title = entries[indices[0]].identity?.key.title ?? ""
            return (place: order.firstIndex(of: group.reason) ?? 0, title: title, indices: indices)
        }.sorted { ($0.place, $0.title, $0.indices[0]) < ($1.place, $1.title, $1.indices[0]) }
        return sorted.map { Group(reason: order[$0.place], editions: $0.indices.map { entries[$0].edition }) }
    }

    /// Splits editions with equal keys by a detail that a record may lack. If all records that have the detail agree,
    /// the others belong to them. Otherwise, nobody knows to which of them the others belong, so they stay apart.
    private func partition(_ indices: [Int], by detail: (Entry) -> String?) -> [[Int]] {
        let parts = Dictionary(grouping: indices) { detail(entries[$0]) }
        return parts.keys.compactMap(\.self).count > 1 ? Array(parts.values) : [indices]
    }

    /// Splits editions into those that may still be the same as another one of their part.
    private func undecided(_ indices: [Int]) -> [[Int]] {
        guard indices.contains(where: { distinct[entries[$0].edition] != nil }) else { return [indices] }
        var (rest, parts) = (indices, [[Int]]())
        while let first = rest.popLast() {
            var part = [first]
            var next = 0
            while next < part.count {
                let others = distinct[entries[part[next]].edition] ?? []
                let split = rest.partition { !others.contains(entries[$0].edition) }
                part += rest[split...]
                rest.removeSubrange(split...)
                next += 1
            }
            parts.append(part)
        }
        return parts
    }

    /// Joins lists that have an element in common.
    private func connected(_ lists: [[Int]]) -> [[Int]] {
        var parents = Array(entries.indices)
        func root(of index: Int) -> Int {
            var index = index
            while parents[index] != index {
                parents[index] = parents[parents[index]]
                index = parents[index]
            }
            return index
        }
        for list in lists {
            for index in list {
                let (own, first) = (root(of: index), root(of: list[0]))
                parents[own] = first
            }
        }
        let members = Set(lists.flatMap(\.self)).sorted()
        return Array(Dictionary(grouping: members, by: root).values)
    }
}
