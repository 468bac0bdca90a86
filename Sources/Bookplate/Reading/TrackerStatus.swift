import FoundationEssentials

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
