import Bookplate

/// What was captured in one go and how each of it stands, as pure state: the terminal's screen and the kiosk's page show it, and
/// one act saves what is ticked.
public struct Batch: Sendable {
    /// What its books are saved with.
    public var preset: Preset
    /// In the order in which they were captured.
    public internal(set) var rows: [Row] = []
    /// What can be taken back, newest last.
    public internal(set) var acts: [Act] = []
    var places: [ID<IntakeItem>: Int] = [:]
    var placesOfNumber: [ISBN: [Int]] = [:]

    public init(preset: Preset = Preset()) { self.preset = preset }

    /// One captured item.
    public struct Row: Sendable, Equatable {
        public internal(set) var candidate: Candidate
        public internal(set) var isLookingUp: Bool
        /// What a person said with the tick; `nil` while nobody has touched it.
        public internal(set) var choice: Bool?
        /// How it left the list, `nil` while it is open.
        public internal(set) var end: End?

        public var id: ID<IntakeItem> { candidate.item.id }
    }

    /// How a row was answered.
    public enum End: Sendable, Equatable {
        case saved(SaveResult)
        /// Out of the queue, unsaved.
        case skipped
        /// Put off: it stays in the queue.
        case left
    }

    /// How a row stands, for mark, word and colour.
    public enum Standing: Sendable, Equatable {
        case lookingUp
        /// Found, and ready to be saved.
        case found
        /// The library held it before.
        case owned(Book)
        /// The same number was captured before in this batch: perhaps another copy, perhaps the same book shown twice.
        case again
        /// Every source answered, and none knows it.
        case notFound
        /// A source could not answer; it is asked again.
        case unavailable
        /// A source knows it without a title.
        case needsTitle
        /// What was found may be another book.
        case weakMatch
        case saved(SaveResult)
        case skipped, left
    }

    /// What a person did to the batch that undo takes back.
    public struct Act: Sendable, Equatable {
        public enum Kind: Sendable, Equatable { case saved, skipped }

        public let kind: Kind
        public let change: ID<Change>
        public let items: [ID<IntakeItem>]
        /// It was refused once; the older ones go before it.
        public internal(set) var isRefused = false
    }

    /// Why a row cannot be ticked.
    public enum TickRefusal: Error, Sendable, Equatable, CustomStringConvertible {
        case needsTitle, answered

        public var description: String {
            switch self {
            case .needsTitle: "it has no title yet; edit it and give it one"
            case .answered: "it is answered already"
            }
        }
    }
}

// MARK: What comes in

extension Batch {
    /// Takes what was captured just now; it is being looked up from then on.
    public mutating func add(_ candidates: [Candidate]) {
        for candidate in candidates where places[candidate.item.id] == nil {
            places[candidate.item.id] = rows.count
            placesOfNumber[candidate.item.isbn, default: []].append(rows.count)
            rows.append(Row(candidate: candidate, isLookingUp: true))
        }
    }

    /// Takes what a lookup found out of an item. It may have read the item before a person changed it, so what the person said
    /// stays: the preset, and the fields that are theirs.
    ///
    /// - Returns: whether it is one of the batch that is still open.
    @discardableResult
    public mutating func take(_ candidate: Candidate) -> Bool {
        guard let place = places[candidate.item.id], rows[place].end == nil else { return false }
        let old = rows[place].candidate
        var item = candidate.item
        item.preset = old.item.preset
        var new = Candidate(item: item, existing: candidate.existing)
        new.metadata = candidate.metadata
        for (field, source) in old.metadata.sources where source == .person {
            new.metadata.take(field, from: old.metadata)
        }
        rows[place].candidate = new
        rows[place].isLookingUp = false
        return true
    }

    /// Takes what became of items otherwise than by a lookup: a person's edit, another preset.
    public mutating func renew(_ candidates: [Candidate]) {
        for candidate in candidates {
            guard let place = places[candidate.item.id], rows[place].end == nil else { continue }
            rows[place].candidate = candidate
        }
    }

    /// The sources are asked once more.
    public mutating func lookUpAgain(_ ids: [ID<IntakeItem>]) {
        for place in ids.compactMap({ places[$0] }) where rows[place].end == nil { rows[place].isLookingUp = true }
    }

    /// No answer will come for these now.
    public mutating func stopLookingUp(_ ids: [ID<IntakeItem>]) {
        for place in ids.compactMap({ places[$0] }) { rows[place].isLookingUp = false }
    }
}

// MARK: How it stands

extension Batch {
    public subscript(_ id: ID<IntakeItem>) -> Row? { places[id].map { rows[$0] } }

    public func standing(of row: Row) -> Standing {
        switch row.end {
        case .saved(let result): return .saved(result)
        case .skipped: return .skipped
        case .left: return .left
        case nil: break
        }
        if let book = row.candidate.owned, !isSavedHere(book) { return .owned(book) }
        if isAgain(row) { return .again }
        if row.isLookingUp, row.candidate.item.outcome == nil { return .lookingUp }
        if row.candidate.metadata.sources[.title] == .person, row.candidate.isComplete { return .found }
        switch row.candidate.item.outcome {
        case .found where row.candidate.metadata.isWeakMatch: return .weakMatch
        case .found: return row.candidate.isComplete ? .found : .needsTitle
        case .notFound: return .notFound
        case nil, .temporary, .blocked, .badData: return .unavailable
        }
    }

    /// Confident rows are ticked by themselves; a person's word goes before.
    public func isTicked(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.isComplete else { return false }
        return row.choice ?? (row.candidate.isSureEnough && standing(of: row) == .found)
    }

    /// What saving the row would need to be told: there is a copy of it already, here or in the library.
    public func isAnotherCopy(_ row: Row) -> Bool { row.candidate.owned != nil || isAgain(row) }

    /// What is saved by itself when the person said yes in advance: what is ticked, and with a yes to another copy also what is
    /// there already, unless the person unticked it.
    public func sure(anotherCopy: Bool) -> [Row] {
        rows.filter { row in
            if isTicked(row) { return true }
            return anotherCopy && row.end == nil && row.choice == nil && !row.isLookingUp
                && row.candidate.isSureEnough && isAnotherCopy(row)
        }
    }

    /// Open rows for which nothing is left to do: the library held the book before, and nobody asked for another copy.
    public var doneWith: [Row] {
        open.filter { row in
            if case .owned = standing(of: row) { !isTicked(row) } else { false }
        }
    }

    /// Whether a person may clear an open row away at once with others: the library holds the book, were it saved from this batch,
    /// and nobody asked for another copy. By itself only what is in ``doneWith`` leaves: of two that were held up there may be two.
    public func isClearable(_ row: Row) -> Bool {
        guard row.end == nil, row.candidate.owned != nil, !isTicked(row) else { return false }
        switch standing(of: row) {
        case .owned, .again: return true
        default: return false
        }
    }

    /// What undo takes back next: the newest act that was not refused, else the newest.
    public var nextToUndo: Act? { acts.last { !$0.isRefused } ?? acts.last }

    /// What one act saves, in the order of capture.
    public var ticked: [Row] { rows.filter { isTicked($0) } }

    /// Rows that nobody has answered.
    public var open: [Row] { rows.filter { $0.end == nil } }

    public var counts: Counts {
        var counts = Counts()
        for row in rows {
            switch standing(of: row) {
            case .lookingUp: counts.lookingUp += 1
            case .found: counts.found += 1
            case .owned: counts.owned += 1
            case .again: counts.again += 1
            case .notFound: counts.notFound += 1
            case .unavailable: counts.unavailable += 1
            case .needsTitle, .weakMatch: counts.unsure += 1
            case .saved: counts.saved += 1
            case .skipped: counts.skipped += 1
            case .left: counts.left += 1
            }
            if isTicked(row) { counts.ticked += 1 }
        }
        return counts
    }

    /// How many rows stand how.
    public struct Counts: Sendable, Equatable {
        public var lookingUp = 0, found = 0, owned = 0, again = 0, notFound = 0, unavailable = 0, unsure = 0
        public var saved = 0, skipped = 0, left = 0
        /// Of those that are open.
        public var ticked = 0

        public init() {}
    }

    /// An earlier row of the same number is open, put off or saved, or a later one is saved. One that was skipped does not count: this
    /// one takes its place.
    private func isAgain(_ row: Row) -> Bool {
        guard let place = places[row.id] else { return false }
        return (placesOfNumber[row.candidate.item.isbn] ?? []).contains { other in
            other < place ? rows[other].end != .skipped : other > place && rows[other].end?.copy != nil
        }
    }

    private func isSavedHere(_ book: Book) -> Bool {
        (book.edition.isbn.flatMap { placesOfNumber[$0] } ?? []).contains { rows[$0].end?.copy == book.id }
    }
}
