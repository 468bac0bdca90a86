import FoundationEssentials

/// A copy's status and its readings: the state on which the rules of the reading tracker work.
///
/// The rules are pure: they are given the time, change this value and return their changes as steps for the caller to
/// store. They need only the latest entry of each reading, never a book's whole history or its sessions.
public struct Tracker: Sendable, Equatable {
    public private(set) var status: Copy.Status
    /// The readings, oldest first, each with its latest progress entry.
    public private(set) var readings: [Reading]
    /// The edition's page count; `nil` or 0 if unknown.
    public let pageCount: Int?

    public init(status: Copy.Status, readings: [Reading], pageCount: Int?) {
        self.status = status
        self.readings = readings
        self.pageCount = pageCount
    }

    public init(_ book: Book) {
        self.init(
            status: book.copy.status, readings: book.copy.readings, pageCount: book.edition.metadata.pageCount)
    }

    /// The reading that is shown for the book; `nil` while the book is To Read.
    public var shown: Reading? { readings.shown(by: status) }

    /// One step of a change to the tracker. The tracker's rules return such steps.
    public enum Step: Sendable, Equatable {
        case status(Copy.Status)
        /// A new reading, inserted before the given reading; `nil` inserts it last. The progress of this reading is a
        /// separate step.
        case opened(Reading, before: ID<Reading>?)
        /// A change to a reading's state or dates.
        case changed(Reading)
        /// The removal of a reading, with its entries and sessions.
        case removed(ID<Reading>)
        /// A new progress entry.
        case recorded(ProgressEntry, in: ID<Reading>)
        /// A change to the time of an existing entry.
        case redated(ProgressEntry, in: ID<Reading>)
        /// A person's correction of an entry, and the latest entry of the reading after the correction.
        case corrected(ProgressEntry, in: ID<Reading>, latest: ProgressEntry?)
        /// The deletion of an entry, and the latest entry of the reading after the deletion.
        case forgotten(ID<ProgressEntry>, in: ID<Reading>, latest: ProgressEntry?)
    }

    /// The time of an act, and the automatic effects of the act.
    public struct Moment: Sendable, Equatable {
        public var now: Date
        /// The reader's time zone, which determines the day.
        public var zone: TimeZone
        public var automatic: Automatic

        public init(now: Date, zone: TimeZone, automatic: Automatic) {
            self.now = now
            self.zone = zone
            self.automatic = automatic
        }

        /// The day of `now` on the reader's calendar.
        public var today: CalendarDay { CalendarDay(now, in: zone) }

        /// Returns the moment for the acts of a batch or an import, which have no automatic effects.
        public static func ofBatch(at now: Date) -> Moment {
            Moment(now: now, zone: .gmt, automatic: [])
        }
    }

    /// The automatic effects of a change of status. A batch and an import have none, because their books were read at
    /// some other time.
    public struct Automatic: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Empty dates are set to today (see ``LibrarySetting/automaticDates``).
        public static let dates = Automatic(rawValue: 1)
        /// The progress is set: to nothing read when a reading begins, and to the whole book when it is finished.
        public static let progress = Automatic(rawValue: 2)
    }

    /// Applies a step to this value, and appends it to `steps`.
    mutating func apply(_ step: Step, _ steps: inout [Step]) {
        switch step {
        case .status(let new): status = new
        case .opened(let reading, let next):
            readings.insert(reading, at: next.flatMap(index) ?? readings.count)
        case .changed(let reading):
            if let index = index(of: reading.id) { readings[index] = reading }
        case .removed(let id): readings.removeAll { $0.id == id }
        case .recorded(let entry, let id):
            // An entry with an earlier time goes to its place in the history; the book shows the latest entry.
            if let index = index(of: id), readings[index].progress.map({ $0.at <= entry.at }) ?? true {
                readings[index].progress = entry
            }
        case .redated(let entry, let id):
            if let index = index(of: id), readings[index].progress?.id == entry.id { readings[index].progress = entry }
        case .corrected(_, let id, let latest), .forgotten(_, let id, let latest):
            if let index = index(of: id) { readings[index].progress = latest }
        }
        steps.append(step)
    }

    func index(of id: ID<Reading>) -> Int? { readings.firstIndex { $0.id == id } }
}

extension Copy {
    /// The readings that are not cancelled, oldest first. People see them numbered in this order, from 1.
    public var countedReadings: [Reading] { readings.filter { $0.state != .cancelled } }

    /// Returns the number under which people see a reading (1 is the oldest); `nil` if it was cancelled or does not
    /// belong to this copy.
    public func number(of reading: ID<Reading>) -> Int? {
        countedReadings.firstIndex { $0.id == reading }.map { $0 + 1 }
    }
}

extension Tracker {
    /// Sets the status and updates the readings accordingly.
    ///
    /// | from \ to | To Read | Reading | Read | On Hold | Did Not Finish |
    /// |---|---|---|---|---|---|
    /// | To Read | – | opens, started | opens, finished | opens, undated | opens, stopped |
    /// | Reading | cancels | – | finishes | the same reading | stops |
    /// | Read | cancels | opens, started | – | opens, undated | opens, stopped |
    /// | On Hold | cancels | the same reading | finishes | – | stops |
    /// | Did Not Finish | cancels | opens, started | opens, finished | opens, undated | – |
    ///
    /// The cases that are not obvious follow one rule: a closed reading stays as it was, so any status after Read or
    /// Did Not Finish opens another reading of the book. (Undo reverts a mistake, and ``setDates(_:of:)`` corrects a
    /// date.) A book that is put on hold without an open reading was begun on an unknown day, so its new reading has no
    /// dates.
    ///
    /// Without `day`, a date is set only if it is empty and the automatic effects of `moment` include
    /// ``Automatic/dates``, and never if the reading would then end before it began. A change to Reading records that
    /// nothing was read, if there is no progress yet. A change to Read records that the whole book was read. Both
    /// entries are marked automatic.
    ///
    /// - Parameter day: the day on which the book was started, finished or stopped, given by a person; it replaces the
    ///   old date, even if the status stays the same. To Read and On Hold have no such day.
    /// - Returns: the steps; empty if the status stays the same and no day was given.
    public mutating func set(
        _ new: Copy.Status, on day: CalendarDay? = nil, _ moment: Moment
    ) throws(ReadingRefusal) -> [Step] {
        var dates = DateEdit()
        if let day, let date = new.date { dates[date] = .set(day) }
        return try set(new, dates: dates, moment)
    }

    /// Sets the status as ``set(_:on:_:)`` does, together with any of the dates of the reading.
    ///
    /// - Parameter dates: a person's dates, which replace the old ones, even if the status stays the same. A date that
    ///   the person clears is not set automatically. To Read has no dates.
    /// - Returns: the steps; empty if neither the status nor a date changes.
    public mutating func set(
        _ new: Copy.Status, dates: DateEdit, _ moment: Moment
    ) throws(ReadingRefusal) -> [Step] {
        var steps: [Step] = []
        guard let state = Reading.State(after: new) else {
            guard new != status else { return [] }
            if var reading = shown {
                reading.state = .cancelled
                apply(.changed(reading), &steps)
            }
            apply(.status(new), &steps)
            return steps
        }
        guard new != status || dates != DateEdit() else { return [] }
        let goesOn = shown.map { $0.state == .open || new == status } ?? false
        let before = goesOn ? shown : nil
        var reading = before ?? Reading()
        reading.state = state
        try reading.edit(dates)
        if let date = new.date, dates[date] == .keep, moment.automatic.contains(.dates), reading[keyPath: date] == nil {
            var dated = reading
            dated[keyPath: date] = moment.today
            if dated.datesAreSound { reading = dated }
        }
        let entry = moment.automatic.contains(.progress) && new != status ? automaticEntry(new, reading, moment) : nil
        if before == nil {
            apply(.opened(reading, before: nil), &steps)
        } else if reading != before {
            apply(.changed(reading), &steps)
        }
        if new != status { apply(.status(new), &steps) }
        if let entry { apply(.recorded(entry, in: reading.id), &steps) }
        return steps
    }

    /// Returns the automatic progress entry for a change to this status. If a reading begins without progress, the
    /// entry says that nothing was read. If the book is set to Read, the entry says that the whole book was read.
    ///
    /// The entry for nothing read gets the time at which the first day of the reading began, so that a session of that
    /// day comes after the entry, even if the session is added later. The entry for the whole book gets the last second
    /// of the day of the finish, so that it comes after the sessions of that day; today, it gets the present time. If
    /// only the month or year is known, its last day is used. The entry never comes before an earlier entry.
    private func automaticEntry(_ status: Copy.Status, _ reading: Reading, _ moment: Moment) -> ProgressEntry? {
        let amount: ProgressEntry.Amount
        var at = reading.noSoonerThanProgress(moment.now)
        switch status {
        case .reading where reading.progress == nil:
            amount = countsPages(reading) ? .page(0) : .percent(0)
            at = min(at, (reading.started ?? moment.today).beginning(in: moment.zone))
        case .read where reading.progress?.amount.fraction(of: pageCount) != 1:
            let end = reading.finished?.end(in: moment.zone) ?? moment.now
            at = reading.noSoonerThanProgress(min(moment.now, end))
            if countsPages(reading), let pageCount, pageCount > 0 {
                amount = .page(pageCount)
            } else {
                amount = .percent(100)
            }
        default: return nil
        }
        return ProgressEntry(at: at, amount: amount, isAutomatic: true)
    }

    /// Returns true if progress is counted in pages, and false if it is counted in percent. The unit of this reading's
    /// latest entry is used or, without an entry, the unit of the latest earlier reading that has one. If there is no
    /// entry at all, pages are counted if the page count is known.
    private func countsPages(_ reading: Reading) -> Bool {
        let last = reading.progress ?? readings.last { $0.state != .cancelled && $0.progress != nil }?.progress
        return last.map { $0.amount.page != nil } ?? ((pageCount ?? 0) > 0)
    }
}

extension Copy.Status {
    /// The date that a change to this status sets in the reading; `nil` if it sets none.
    var date: WritableKeyPath<Reading, CalendarDay?>? {
        switch self {
        case .reading: \.started
        case .read: \.finished
        case .dnf: \.stopped
        case .toRead, .onHold: nil
        }
    }
}

extension Tracker {
    /// Records a page or percentage.
    ///
    /// A book that is To Read or On Hold is set to Reading, because a person who records a page is reading the book.
    /// For a book that is Read or Did Not Finish, the act is refused: the entry could correct the old reading or begin
    /// a new one, and only the reader knows which.
    ///
    /// A page beyond the last page is stored as given and shown as 100%; see ``ProgressEntry/Amount/isBeyond(_:)``.
    /// Reaching the last page does not finish the book, because an afterword may follow.
    ///
    /// - Parameter past: the time at which the reader was at this page or percentage, which must equal the time of
    ///   `moment`; `nil` for now. An entry for now comes after all known entries.
    public mutating func record(
        _ amount: ProgressEntry.Amount, at past: Date? = nil, _ moment: Moment
    ) throws(ReadingRefusal) -> [Step] {
        let amount = try amount.checked()
        var steps: [Step] = []
        switch status {
        case .read, .dnf: throw .closed(status)
        case .toRead, .onHold:
            // Because of this entry, the automatic entry for nothing read is not needed.
            var moment = moment
            moment.automatic.remove(.progress)
            steps = try set(.reading, moment)
        case .reading: break
        }
        guard let reading = shown else { throw .noReading }
        if let past, var latest = reading.progress, latest.isAutomatic, latest.at > past {
            // An automatic entry must never hide a person's entry.
            latest.at = past
            apply(.redated(latest, in: reading.id), &steps)
        }
        apply(
            .recorded(
                ProgressEntry(at: past ?? reading.noSoonerThanProgress(moment.now), amount: amount), in: reading.id),
            &steps)
        return steps
    }

    /// Records the page on which a session ended, at the time of its end.
    ///
    /// Nothing is recorded if the session has no end page, if the reading was closed while the session was running, or
    /// if the session is a past one and a later page is known already. An automatic entry that would hide the new entry
    /// is moved back in time.
    ///
    /// - Parameter now: the present time if the session is ending now, so that its page becomes the current page, even
    ///   if that is a step back; `nil` for a past session.
    public mutating func record(_ session: Session, of id: ID<Reading>, endedAt now: Date?) -> [Step] {
        guard let end = session.end, let page = session.endPage, let index = index(of: id) else { return [] }
        let reading = readings[index]
        var at = end
        if let now {
            guard reading.state == .open else { return [] }
            // A session that ended in the past is older than the entries that were made since.
            if end >= now { at = reading.noSoonerThanProgress(end) }
        } else if let latest = reading.progress, latest.at <= end, page < reading.currentPage(of: pageCount) {
            return []
        }
        var steps = moveAutomaticEntry(before: session, of: id)
        apply(.recorded(ProgressEntry(at: at, amount: .page(page), session: session.id), in: id), &steps)
        return steps
    }

    /// Moves the automatic entry of an open reading back to the start of a session, because an automatic entry must
    /// never hide what a person entered. The entry is moved only if it is the latest entry, lies after the end of the
    /// session, and has a lower page than the session's last page.
    public mutating func moveAutomaticEntry(before session: Session, of id: ID<Reading>) -> [Step] {
        guard let end = session.end, let page = session.endPage, let index = index(of: id) else { return [] }
        let reading = readings[index]
        guard reading.state == .open, var latest = reading.progress, latest.isAutomatic, latest.at > end,
            page > reading.currentPage(of: pageCount)
        else { return [] }
        latest.at = session.start
        var steps: [Step] = []
        apply(.redated(latest, in: id), &steps)
        return steps
    }
}

extension Reading {
    /// Returns the reader's current page, as recorded or computed from the percentage; 0 if unknown.
    ///
    /// - Parameter pageCount: the edition's page count; `nil` or 0 if unknown.
    public func currentPage(of pageCount: Int?) -> Int {
        progress?.amount.page(of: pageCount) ?? 0
    }

    /// Returns the time for the next entry: `now`, or the time of the latest entry if that is later. An entry that was
    /// made while the clock was ahead must not hide the next one.
    func noSoonerThanProgress(_ now: Date) -> Date { max(now, progress?.at ?? now) }
}

extension ProgressEntry.Amount {
    /// Checks the amount, and returns it in stored form, with percentages rounded to hundredths.
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

    /// Returns the page that was reached: the recorded page, or the page computed from the percentage and rounded down.
    ///
    /// - Parameter pageCount: the page count of the book; `nil` or 0 if unknown.
    /// - Returns: `nil` for a percentage of a book whose page count is unknown.
    public func page(of pageCount: Int?) -> Int? {
        switch self {
        case .page(let page): return page
        case .percent(let percent):
            guard let pageCount, pageCount > 0 else { return nil }
            // Computed in hundredths of a percent, as stored, so that 29 % of 100 pages is page 29. A binary fraction
            // would be slightly less.
            return Int((percent * 100).rounded()) * min(pageCount, NumberLimit.pages.upperBound) / 10_000
        }
    }

    /// Returns a part of a book in whole percent, as it is shown to people. The result is 100 only if the book was read
    /// to the end.
    ///
    /// - Parameter part: the part of the book that was read, 0 to 1.
    public static func wholePercent(_ part: Double) -> Int {
        part < 1 ? min(99, Int((max(0, part) * 100).rounded())) : 100
    }

    /// Returns true for a page beyond the last page. Such a page is stored and shown as 100%, and callers should point
    /// this out.
    ///
    /// - Parameter pageCount: the page count of the book; `nil` or 0 if unknown. Then no page is beyond the last page.
    public func isBeyond(_ pageCount: Int?) -> Bool {
        guard let page, let pageCount, pageCount > 0 else { return false }
        return page > pageCount
    }
}

/// A person's edit of the dates of a reading; each date may be only a month or year.
public struct DateEdit: Sendable, Equatable {
    public var started: Edit<CalendarDay>
    public var finished: Edit<CalendarDay>
    public var stopped: Edit<CalendarDay>

    public init(
        started: Edit<CalendarDay> = .keep, finished: Edit<CalendarDay> = .keep, stopped: Edit<CalendarDay> = .keep
    ) {
        self.started = started
        self.finished = finished
        self.stopped = stopped
    }

    /// The edit of a date that a change of status sets.
    fileprivate subscript(date: WritableKeyPath<Reading, CalendarDay?>) -> Edit<CalendarDay> {
        get {
            switch date {
            case \.started: started
            case \.finished: finished
            default: stopped
            }
        }
        set {
            switch date {
            case \.started: started = newValue
            case \.finished: finished = newValue
            default: stopped = newValue
            }
        }
    }
}

extension Tracker {
    /// Sets and clears dates of a reading. The status does not change.
    ///
    /// A finished reading accepts no stop date, and a stopped reading accepts no finish date. An open reading accepts
    /// neither, because with an end date it would be sorted among the finished readings, but not counted as one. Any
    /// existing date can be cleared.
    ///
    /// - Parameter id: the reading to change; `nil` for the reading that is shown for the book.
    public mutating func setDates(_ edit: DateEdit, of id: ID<Reading>?) throws(ReadingRefusal) -> [Step] {
        let before = try reading(id)
        var reading = before
        try reading.edit(edit)
        guard reading != before else { return [] }
        var steps: [Step] = []
        apply(.changed(reading), &steps)
        return steps
    }

    /// Adds a past reading. If a stop date is given, the reading counts as stopped, and otherwise as finished.
    ///
    /// The days of the reading determine its place among the other readings, but the reading to which the current
    /// status refers stays the last.
    public mutating func addPast(
        started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?
    ) throws(ReadingRefusal) -> [Step] {
        guard finished == nil || stopped == nil else { throw .twoEnds }
        let reading = Reading(
            state: stopped == nil ? .finished : .stopped, started: started, finished: finished, stopped: stopped)
        try reading.checkDates()
        let later = readings.first { other in
            guard other.state != .cancelled, let day = other.day else { return false }
            // A reading without dates is placed before the readings with dates.
            return reading.day.map { $0 < day } ?? true
        }
        let fits = status == .toRead || reading.state == Reading.State(after: status)
        var steps: [Step] = []
        apply(.opened(reading, before: later?.id ?? (fits && reading.day != nil ? nil : shown?.id)), &steps)
        return steps
    }

    /// Removes a reading, with its entries and sessions. A book that is not To Read must keep a reading that matches
    /// its status.
    public mutating func remove(_ id: ID<Reading>) throws(ReadingRefusal) -> [Step] {
        let reading = try reading(id)
        var after = self
        var steps: [Step] = []
        after.apply(.removed(reading.id), &steps)
        guard after.shown?.state == Reading.State(after: status) else { throw .lastReading(status) }
        self = after
        return steps
    }

    /// Returns the reading with this id or, without an id, the reading that is shown for the book. A cancelled reading
    /// is treated as missing.
    func reading(_ id: ID<Reading>?) throws(ReadingRefusal) -> Reading {
        guard let id else {
            guard let shown else { throw .noReading }
            return shown
        }
        guard let index = index(of: id), readings[index].state != .cancelled else { throw .noSuchReading }
        return readings[index]
    }
}

extension Reading {
    /// The day that determines the reading's place among the other readings.
    var day: CalendarDay? { finished ?? stopped ?? started }

    /// False if the dates show for certain that the reading ended before it began.
    var datesAreSound: Bool {
        guard let started else { return true }
        return ![finished, stopped].compactMap(\.self).contains { $0.isCertainlyBefore(started) }
    }

    /// Sets and clears dates, and checks that the reading can have them.
    fileprivate mutating func edit(_ dates: DateEdit) throws(ReadingRefusal) {
        guard dates != DateEdit() else { return }
        started = dates.started.applied(to: started)
        finished = dates.finished.applied(to: finished)
        stopped = dates.stopped.applied(to: stopped)
        if case .set = dates.finished, state != .finished { throw .wrongEnd(state) }
        if case .set = dates.stopped, state != .stopped { throw .wrongEnd(state) }
        try checkDates()
    }

    func checkDates() throws(ReadingRefusal) {
        guard let started else { return }
        if let finished, finished.isCertainlyBefore(started) {
            throw .finishedBeforeStarted(started: started, finished: finished)
        }
        if let stopped, stopped.isCertainlyBefore(started) {
            throw .stoppedBeforeStarted(started: started, stopped: stopped)
        }
    }
}

/// A person's correction of a progress entry; `nil` leaves a value unchanged.
public struct ProgressEdit: Sendable, Equatable {
    public var amount: ProgressEntry.Amount?
    public var at: Date?

    public init(amount: ProgressEntry.Amount? = nil, at: Date? = nil) {
        self.amount = amount
        self.at = at
    }
}

extension Tracker {
    /// Corrects an entry of a reading's history, such as a mistyped page or a wrong day.
    ///
    /// A closed reading accepts no new progress, but it accepts corrections, because the entry belongs to a known
    /// reading. A corrected entry no longer counts as automatic. An entry that was made when a session ended must be
    /// corrected in the session.
    ///
    /// As with new progress, a page beyond the last page is stored, because the page count may be wrong.
    ///
    /// - Parameters:
    ///   - entry: the entry as it is stored.
    ///   - other: the latest of the reading's other entries.
    public mutating func correct(
        _ entry: ProgressEntry, by edit: ProgressEdit, in id: ID<Reading>, beside other: ProgressEntry?, now: Date
    ) throws(ReadingRefusal) -> [Step] {
        let reading = try reading(id)
        guard entry.session == nil else { throw .entryOfSession }
        var corrected = entry
        corrected.amount = try edit.amount?.checked() ?? entry.amount
        corrected.at = edit.at ?? entry.at
        guard corrected.at <= now || corrected.at == entry.at else { throw .entryInFuture }
        guard corrected != entry else { return [] }
        corrected.isAutomatic = false
        var (other, steps) = (other, [Step]())
        if reading.state == .open, reading.progress?.id == entry.id, var begun = other, begun.isAutomatic,
            begun.at > corrected.at
        {
            // As with new progress, an automatic entry must never hide a person's entry.
            begun.at = corrected.at
            other = begun
            apply(.redated(begun, in: id), &steps)
        }
        let isLatest = other.map { $0.at <= corrected.at } ?? true
        apply(.corrected(corrected, in: id, latest: isLatest ? corrected : other), &steps)
        return steps
    }

    /// Deletes an entry of a reading's history. The status does not change.
    ///
    /// - Parameter other: the latest of the reading's other entries.
    public mutating func forget(
        _ entry: ProgressEntry, in id: ID<Reading>, beside other: ProgressEntry?
    ) throws(ReadingRefusal) -> [Step] {
        _ = try reading(id)
        guard entry.session == nil else { throw .entryOfSession }
        var steps: [Step] = []
        apply(.forgotten(entry.id, in: id, latest: other), &steps)
        return steps
    }
}
