/// The online sources that may be asked, in the order in which they win a field. Sources that are missing are switched
/// off.
public struct SourceOrder: Sendable, Equatable {
    public var sources: [SourceName]

    public init(_ sources: [SourceName]) { self.sources = sources }

    /// Every online source in the standard order: the national catalogues, which know the books of their own groups
    /// best, then the sources for all books.
    public static let standard = SourceOrder([
        .dnb, .bnf, .bn, .libris, .openBD, .openLibrary, .googleBooks, .k10plus, .loc, .citoid,
    ])

    /// Reads names with commas between them, such as "dnb, openLibrary". Upper and lower case do not matter.
    ///
    /// - Returns: `nil` if there is no name, or one that is unknown or named twice.
    public init?(parsing text: String) {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased().cleaned }
        let sources = names.compactMap { name in
            Self.standard.sources.first { $0.rawValue.lowercased() == name }
        }
        guard sources.count == names.count, Set(sources).count == sources.count else { return nil }
        self.sources = sources
    }

    /// Reads an order that another version of the program may have stored. Names that this version does not know are
    /// left out, so that a source that is switched off stays off.
    public init(stored text: String) {
        let names = text.split(separator: ",").map { String($0).cleaned }
        sources = names.compactMap { name in Self.standard.sources.first { $0.rawValue == name } }
    }

    /// The names with commas between them, as ``init(parsing:)`` reads them.
    public var text: String { sources.map(\.rawValue).joined(separator: ", ") }

    /// Returns the order without a source, or with it at its place in the standard order.
    public func toggling(_ source: SourceName) -> SourceOrder {
        var next = self
        if sources.contains(source) {
            next.sources.removeAll { $0 == source }
        } else {
            let later = Self.standard.sources.drop { $0 != source }.dropFirst()
            next.sources.insert(source, at: sources.firstIndex(where: later.contains) ?? sources.count)
        }
        return next
    }

    /// Returns the order with one source at another place.
    public func moving(_ place: Int, to target: Int) -> SourceOrder {
        var next = self
        next.sources.insert(next.sources.remove(at: place), at: target)
        return next
    }

    /// The position of a source among those that win a field, lowest first. The person, the library and the offline
    /// index come before all online sources.
    public func rank(of source: SourceName) -> Int {
        switch source {
        case .person, .library: -2
        case .offlineIndex: -1
        default: sources.firstIndex(of: source) ?? sources.count
        }
    }
}
