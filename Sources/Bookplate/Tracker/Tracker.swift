import FoundationEssentials

/// A copy's status with its readings: what the rules of the reading tracker work on.
///
/// The rules are pure: they take the time, change this value and say what they changed, step by step, for whoever stores it.
/// They need the latest entry of each reading only, never a book's whole history or its sessions.
public struct Tracker: Sendable, Equatable {
    public private(set) var status: Copy.Status
    /// Oldest first, each with its latest progress entry.
    public private(set) var readings: [Reading]
    /// Of the edition; `nil` or 0 when unknown.
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

    /// The reading that the book shows: none while it is To Read.
    public var shown: Reading? { readings.shown(by: status) }

    /// One thing that a rule changed.
    public enum Step: Sendable, Equatable {
        case status(Copy.Status)
        /// A new reading: in front of another one, or as the last. Its progress is a step of its own.
        case opened(Reading, before: ID<Reading>?)
        /// A reading's state or dates.
        case changed(Reading)
        /// A reading went, with its entries and sessions.
        case removed(ID<Reading>)
        /// A new progress entry.
        case recorded(ProgressEntry, in: ID<Reading>)
        /// The time of an entry that was there.
        case redated(ProgressEntry, in: ID<Reading>)
        /// An entry as a person put it right, and the one that the reading shows then.
        case corrected(ProgressEntry, in: ID<Reading>, latest: ProgressEntry?)
        /// An entry went; the one that the reading shows then.
        case forgotten(ID<ProgressEntry>, in: ID<Reading>, latest: ProgressEntry?)
    }

    /// When something is done, and what follows from it by itself.
    public struct Moment: Sendable, Equatable {
        public var now: Date
        /// The reader's, which says what day it is.
        public var zone: TimeZone
        public var automatic: Automatic

        public init(now: Date, zone: TimeZone, automatic: Automatic) {
            self.now = now
            self.zone = zone
            self.automatic = automatic
        }

        /// The day of `now` on the reader's calendar.
        public var today: CalendarDay { CalendarDay(now, in: zone) }

        /// Of a batch or an import, by which nothing happens by itself.
        public static func ofBatch(at now: Date) -> Moment {
            Moment(now: now, zone: .gmt, automatic: [])
        }
    }

    /// What a change of status may do by itself. A batch and an import do nothing by themselves: what they bring in was read at
    /// some other time.
    public struct Automatic: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Empty dates are filled with today: ``LibrarySetting/automaticDates``.
        public static let dates = Automatic(rawValue: 1)
        /// Progress goes to nothing or to all of it.
        public static let progress = Automatic(rawValue: 2)
    }

    /// Carries a step out on this value and adds it to what was done.
    mutating func take(_ step: Step, _ steps: inout [Step]) {
        switch step {
        case .status(let new): status = new
        case .opened(let reading, let next):
            readings.insert(reading, at: next.flatMap(index) ?? readings.count)
        case .changed(let reading):
            if let index = index(of: reading.id) { readings[index] = reading }
        case .removed(let id): readings.removeAll { $0.id == id }
        case .recorded(let entry, let id):
            // An entry of an earlier day takes its place in the history; the latest one is what the book shows.
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
    /// The readings that count, oldest first: what people number from 1.
    public var countedReadings: [Reading] { readings.filter { $0.state != .cancelled } }

    /// The number of a reading, from 1; `nil` for one that was cancelled or is not this copy's.
    public func number(of reading: ID<Reading>) -> Int? {
        countedReadings.firstIndex { $0.id == reading }.map { $0 + 1 }
    }
}

extension Tracker {
    /// Sets the status, and does with the readings what follows from it.
    ///
    /// | from \ to | To Read | Reading | Read | On Hold | Did Not Finish |
    /// |---|---|---|---|---|---|
    /// | To Read | – | opens, started | opens, finished | opens, undated | opens, stopped |
    /// | Reading | cancels | – | finishes | the same reading | stops |
    /// | Read | cancels | opens, started | – | opens, undated | opens, stopped |
    /// | On Hold | cancels | the same reading | finishes | – | stops |
    /// | Did Not Finish | cancels | opens, started | opens, finished | opens, undated | – |
    ///
    /// One rule makes the cells that nobody asked for: a reading that is closed stays as it was, so whatever comes after Read or
    /// Did Not Finish is another time through the book. (A slip is taken back by undo, a wrong date by ``setDates(_:of:)``.)
    /// A book put on hold was begun on some day that nobody said, so that reading has no dates.
    ///
    /// Dates are filled only where they are empty and the moment allows it, never so that a reading would end before it began.
    /// To Reading begins with no progress where there is none, to Read ends with all of it; both entries are marked automatic.
    ///
    /// - Parameter day: a person's word for the day on which it was started, finished or stopped; it replaces what was there,
    ///   also when the status stays the same. To Read and On Hold have no such day.
    /// - Returns: nothing when the status stays the same and no day was given.
    public mutating func set(
        _ new: Copy.Status, on day: CalendarDay? = nil, _ moment: Moment
    ) throws(ReadingRefusal) -> [Step] {
        var steps: [Step] = []
        guard let state = Reading.State(after: new) else {
            guard new != status else { return [] }
            if var reading = shown {
                reading.state = .cancelled
                take(.changed(reading), &steps)
            }
            take(.status(new), &steps)
            return steps
        }
        guard new != status || day != nil else { return [] }
        let goesOn = shown.map { $0.state == .open || new == status } ?? false
        let before = goesOn ? shown : nil
        var reading = before ?? Reading()
        reading.state = state
        if let date = new.date {
            if let day {
                reading[keyPath: date] = day
                try reading.checkDates()
            } else if moment.automatic.contains(.dates), reading[keyPath: date] == nil {
                var dated = reading
                dated[keyPath: date] = moment.today
                if dated.datesAreSound { reading = dated }
            }
        }
        let entry = moment.automatic.contains(.progress) && new != status ? automaticEntry(new, reading, moment) : nil
        if before == nil {
            take(.opened(reading, before: nil), &steps)
        } else if reading != before {
            take(.changed(reading), &steps)
        }
        if new != status { take(.status(new), &steps) }
        if let entry { take(.recorded(entry, in: reading.id), &steps) }
        return steps
    }

    /// The entry that a new status makes: nothing read when a reading begins without one, everything when it is Read.
    ///
    /// Nothing was read when the first day began, so that a session of that day, told later, comes after it.
    private func automaticEntry(_ status: Copy.Status, _ reading: Reading, _ moment: Moment) -> ProgressEntry? {
        let amount: ProgressEntry.Amount
        var at = reading.noSoonerThanProgress(moment.now)
        switch status {
        case .reading where reading.progress == nil:
            amount = countsPages(reading) ? .page(0) : .percent(0)
            at = min(at, (reading.started ?? moment.today).beginning(in: moment.zone))
        case .read where reading.progress?.amount.fraction(of: pageCount) != 1:
            if countsPages(reading), let pageCount, pageCount > 0 {
                amount = .page(pageCount)
            } else {
                amount = .percent(100)
            }
        default: return nil
        }
        return ProgressEntry(at: at, amount: amount, isAutomatic: true)
    }

    /// The unit in use: that of the reading, else of the one before it, else pages when the book's are known.
    private func countsPages(_ reading: Reading) -> Bool {
        let last = reading.progress ?? readings.last { $0.state != .cancelled && $0.progress != nil }?.progress
        return last.map { $0.amount.page != nil } ?? ((pageCount ?? 0) > 0)
    }
}

extension Copy.Status {
    /// The date of a reading that belongs to getting this status.
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

/// What is to become of a field.
public enum Edit<Value: Sendable & Equatable>: Sendable, Equatable {
    case keep
    case clear
    case set(Value)

    /// The field after it.
    public func applied(to value: Value?) -> Value? {
        switch self {
        case .keep: value
        case .clear: nil
        case .set(let new): new
        }
    }
}

/// A person's word on the days of a reading; each may be known to the month or year only.
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
}

extension Tracker {
    /// Sets and clears dates of a reading. The status stays what it is.
    ///
    /// A finished reading takes no stopped day, one that was given up no finished day, and one that goes on neither: it would be
    /// sorted as finished and counted nowhere. A day that is there can be cleared from any.
    ///
    /// - Parameter id: `nil` for the one that the book shows.
    public mutating func setDates(_ edit: DateEdit, of id: ID<Reading>?) throws(ReadingRefusal) -> [Step] {
        let before = try reading(id)
        var reading = before
        reading.started = edit.started.applied(to: reading.started)
        reading.finished = edit.finished.applied(to: reading.finished)
        reading.stopped = edit.stopped.applied(to: reading.stopped)
        if case .set = edit.finished, reading.state != .finished { throw .wrongEnd(reading.state) }
        if case .set = edit.stopped, reading.state != .stopped { throw .wrongEnd(reading.state) }
        try reading.checkDates()
        guard reading != before else { return [] }
        var steps: [Step] = []
        take(.changed(reading), &steps)
        return steps
    }

    /// Adds a time through the book that was over before it was told: given up when a stopped day is given, else finished.
    ///
    /// It is put among the others by its days, but the reading that the status speaks of stays the last.
    public mutating func addPast(
        started: CalendarDay?, finished: CalendarDay?, stopped: CalendarDay?
    ) throws(ReadingRefusal) -> [Step] {
        guard finished == nil || stopped == nil else { throw .twoEnds }
        let reading = Reading(
            state: stopped == nil ? .finished : .stopped, started: started, finished: finished, stopped: stopped)
        try reading.checkDates()
        let later = readings.first { other in
            guard other.state != .cancelled, let day = other.day else { return false }
            // Of one that nobody dated, all that is known is that it is no later than those that are.
            return reading.day.map { $0 < day } ?? true
        }
        let fits = status == .toRead || reading.state == Reading.State(after: status)
        var steps: [Step] = []
        take(.opened(reading, before: later?.id ?? (fits && reading.day != nil ? nil : shown?.id)), &steps)
        return steps
    }

    /// Takes a reading away, with its entries and sessions. Whatever is not To Read keeps a reading of its status.
    public mutating func remove(_ id: ID<Reading>) throws(ReadingRefusal) -> [Step] {
        let reading = try reading(id)
        var after = self
        var steps: [Step] = []
        after.take(.removed(reading.id), &steps)
        guard after.shown?.state == Reading.State(after: status) else { throw .lastReading(status) }
        self = after
        return steps
    }

    /// A reading that counts.
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
    /// The day by which it stands among other readings.
    var day: CalendarDay? { finished ?? stopped ?? started }

    /// Whether it ends no sooner than it began, as far as that is certain.
    var datesAreSound: Bool {
        guard let started else { return true }
        return ![finished, stopped].compactMap(\.self).contains { $0.isCertainlyBefore(started) }
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

/// A person's correction of a progress entry; `nil` leaves a part as it is.
public struct ProgressEdit: Sendable, Equatable {
    public var amount: ProgressEntry.Amount?
    public var at: Date?

    public init(amount: ProgressEntry.Amount? = nil, at: Date? = nil) {
        self.amount = amount
        self.at = at
    }
}

extension Tracker {
    /// Corrects an entry of a reading's history: a page mistyped, a day told wrong.
    ///
    /// A reading that is over takes no new progress, but corrections it does: the entry says which reading is meant. What a person
    /// corrected is not automatic any more. A page that a session ended on is the session's, and is corrected there.
    ///
    /// A page beyond the last one is kept, as when it is recorded: the page count may be wrong.
    ///
    /// - Parameters:
    ///   - entry: as it is stored.
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
            // As when it is recorded: what a person tells of is never hidden by what nobody said.
            begun.at = corrected.at
            other = begun
            take(.redated(begun, in: id), &steps)
        }
        let isLatest = other.map { $0.at <= corrected.at } ?? true
        take(.corrected(corrected, in: id, latest: isLatest ? corrected : other), &steps)
        return steps
    }

    /// Takes an entry out of a reading's history. The status stays what it is.
    ///
    /// - Parameter other: the latest of the reading's other entries.
    public mutating func forget(
        _ entry: ProgressEntry, in id: ID<Reading>, beside other: ProgressEntry?
    ) throws(ReadingRefusal) -> [Step] {
        _ = try reading(id)
        guard entry.session == nil else { throw .entryOfSession }
        var steps: [Step] = []
        take(.forgotten(entry.id, in: id, latest: other), &steps)
        return steps
    }
}
