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
