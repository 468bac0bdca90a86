import FoundationEssentials

/// One page or percent update of a reading.
public struct ProgressEntry: Sendable, Equatable {
    public var id: ID<ProgressEntry>
    public var at: Date
    /// In the unit in which it was given.
    public var amount: Amount
    /// Made by a change of status, not by a person.
    public var isAutomatic: Bool
    /// The session whose end made it.
    public var session: ID<Session>?

    public init(
        id: ID<ProgressEntry> = ID(), at: Date, amount: Amount, isAutomatic: Bool = false, session: ID<Session>? = nil
    ) {
        self.id = id
        self.at = at
        self.amount = amount
        self.isAutomatic = isAutomatic
        self.session = session
    }

    public enum Amount: Sendable, Hashable {
        /// From 0; may be beyond the book's page count, and is then shown as all of it.
        case page(Int)
        /// 0 to 100, in hundredths.
        case percent(Double)

        public var page: Int? { if case .page(let page) = self { page } else { nil } }
        public var percent: Double? { if case .percent(let percent) = self { percent } else { nil } }

        /// The part read, 0 to 1; a page beyond the last counts as all of it.
        ///
        /// - Parameter pageCount: `nil` or 0 when unknown.
        /// - Returns: `nil` for a page of a book whose page count is unknown.
        public func fraction(of pageCount: Int?) -> Double? {
            switch self {
            case .page(let page):
                guard let pageCount, pageCount > 0 else { return nil }
                return min(1, Double(page) / Double(pageCount))
            case .percent(let percent): return percent / 100
            }
        }
    }
}
