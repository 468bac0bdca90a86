import FoundationEssentials

extension Tracker {
    /// Records how far the reader is.
    ///
    /// A book that is To Read is started by it and one On Hold goes on, because whoever tells a page is reading. One that is Read
    /// or was given up is refused: the same words could correct the old reading or begin a new one, and only the reader knows.
    ///
    /// A page beyond the last is kept as said and shown as all of it: ``ProgressEntry/Amount/isBeyond(_:)`` tells. Reaching the
    /// last page does not finish the book: there are afterwords.
    ///
    /// - Parameter past: when the reader was there, as `moment` says it too; `nil` for now, which comes after all that is known.
    public mutating func record(
        _ amount: ProgressEntry.Amount, at past: Date? = nil, _ moment: Moment
    ) throws(ReadingRefusal) -> [Step] {
        let amount = try amount.checked()
        var steps: [Step] = []
        switch status {
        case .read, .dnf: throw .closed(status)
        case .toRead, .onHold:
            // What is said now makes the entry of nothing read superfluous.
            var moment = moment
            moment.automatic.remove(.progress)
            steps = try set(.reading, moment)
        case .reading: break
        }
        guard let reading = shown else { throw .noReading }
        if let past, var latest = reading.progress, latest.isAutomatic, latest.at > past {
            // What a person tells of is never hidden by what nobody said.
            latest.at = past
            take(.redated(latest, in: reading.id), &steps)
        }
        take(
            .recorded(
                ProgressEntry(at: past ?? reading.noSoonerThanProgress(moment.now), amount: amount), in: reading.id),
            &steps)
        return steps
    }

    /// Records the page on which a session ended, dated by its end.
    ///
    /// Nothing is recorded for a session without an end page, nor where that would take the reader back: in a reading that was
    /// closed meanwhile, or for a session told afterwards, when a page further on is known already. The automatic entry of nothing
    /// read gives way to it.
    ///
    /// - Parameter now: when it is being ended, so that its page is the current one, however small; `nil` for one told afterwards.
    public mutating func record(_ session: Session, of id: ID<Reading>, endedAt now: Date?) -> [Step] {
        guard let end = session.end, let page = session.endPage, let index = index(of: id) else { return [] }
        let reading = readings[index]
        var at = end
        if let now {
            guard reading.state == .open else { return [] }
            // One whose end lies back stands behind what was told since.
            if end >= now { at = reading.noSoonerThanProgress(end) }
        } else if let latest = reading.progress, latest.at <= end, page < reading.currentPage(of: pageCount) {
            return []
        }
        var steps = giveWay(to: session, of: id)
        take(.recorded(ProgressEntry(at: at, amount: .page(page), session: session.id), in: id), &steps)
        return steps
    }

    /// Where the latest entry of a reading that goes on is an automatic one, a session before it that came further moves it to
    /// its own start: what a person tells of is never hidden by what nobody said.
    public mutating func giveWay(to session: Session, of id: ID<Reading>) -> [Step] {
        guard let end = session.end, let page = session.endPage, let index = index(of: id) else { return [] }
        let reading = readings[index]
        guard reading.state == .open, var latest = reading.progress, latest.isAutomatic, latest.at > end,
            page > reading.currentPage(of: pageCount)
        else { return [] }
        latest.at = session.start
        var steps: [Step] = []
        take(.redated(latest, in: id), &steps)
        return steps
    }
}

extension Reading {
    /// The page that the reader is on: as told, or worked out from the percentage; 0 where neither says it.
    ///
    /// - Parameter pageCount: of the edition; `nil` or 0 when unknown.
    public func currentPage(of pageCount: Int?) -> Int {
        progress?.amount.page(of: pageCount) ?? 0
    }

    /// An instant for the next entry: a clock that was once ahead must not hide what is said now.
    func noSoonerThanProgress(_ now: Date) -> Date { max(now, progress?.at ?? now) }
}

extension ProgressEntry.Amount {
    /// The amount as it is kept: percent in hundredths.
    func checked() throws(ReadingRefusal) -> Self {
        switch self {
        case .page(let page): .page(try Self.checked(page: page))
        case .percent(let percent):
            if percent >= 0, percent <= 100 {
                .percent((percent * 100).rounded() / 100)
            } else {
                throw .badPercent(percent)
            }
        }
    }

    static func checked(page: Int) throws(ReadingRefusal) -> Int {
        guard page >= 0 else { throw .negativePage(page) }
        guard page <= NumberLimit.pages.upperBound else { throw .hugePage(page) }
        return page
    }

    /// The page reached: as told, or worked out from the percentage and rounded down.
    ///
    /// - Parameter pageCount: `nil` or 0 when unknown.
    /// - Returns: `nil` for a percentage of a book whose page count is unknown.
    public func page(of pageCount: Int?) -> Int? {
        switch self {
        case .page(let page): return page
        case .percent(let percent):
            guard let pageCount, pageCount > 0 else { return nil }
            // In hundredths of a percent, as it is kept: 29 % of 100 pages is page 29, which a binary fraction falls short of.
            return Int((percent * 100).rounded()) * min(pageCount, NumberLimit.pages.upperBound) / 10_000
        }
    }

    /// A part as people read it, in whole percent: only what is read to the end is 100.
    ///
    /// - Parameter part: 0 to 1.
    public static func wholePercent(_ part: Double) -> Int {
        part < 1 ? min(99, Int((max(0, part) * 100).rounded())) : 100
    }

    /// Whether it is a page beyond the last: kept, shown as all of it, and to be pointed out.
    ///
    /// - Parameter pageCount: `nil` or 0 when unknown; then nothing is beyond it.
    public func isBeyond(_ pageCount: Int?) -> Bool {
        guard let page, let pageCount, pageCount > 0 else { return false }
        return page > pageCount
    }
}
