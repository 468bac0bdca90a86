import Bookplate

extension RowDraft {
    /// One time through a book as files tell it.
    struct Span {
        var started: CalendarDay?
        var finished: CalendarDay?
        var session: Session?

        var isEmpty: Bool { started == nil && finished == nil && session == nil }
    }

    /// Makes the readings that the file's status, days and number of times speak of.
    ///
    /// - Parameters:
    ///   - spans: in any order.
    ///   - count: how many times it was read, as the file says; more than there are days for become readings without.
    mutating func takeReadings(_ status: Copy.Status, _ spans: [Span], count: Int = 0) {
        copy.status = status
        for span in spans {
            if let started = span.started, let finished = span.finished, finished.isCertainlyBefore(started) {
                doubt("finished on \(finished), before it was started on \(started)")
            }
        }
        let dated = spans.filter { !$0.isEmpty }.enumerated().sorted { left, right in
            let (first, second) = (
                left.element.finished ?? left.element.started, right.element.finished ?? right.element.started
            )
            guard let first, let second, first != second else { return left.offset < right.offset }
            return first < second
        }.map(\.element)
        let isOpen = status == .reading || status == .onHold
        let current = isOpen ? dated.last { $0.finished == nil } : status == .dnf ? dated.last : nil
        var past = dated
        if current != nil, let index = past.lastIndex(where: { !isOpen || $0.finished == nil }) {
            past.remove(at: index)
        }
        var finished = past.map { span in
            var record = ReadingRecord(Reading(state: .finished, started: span.started, finished: span.finished))
            if let session = span.session { record.sessions = [session] }
            return record
        }
        let wanted = status == .read ? max(1, count) : 0
        if wanted > 999 { doubt("read \(count) times was taken for 999 times") }
        let undated = max(0, min(wanted, 999) - finished.count)
        finished = (0..<undated).map { _ in ReadingRecord(Reading(state: .finished)) } + finished
        readings = finished
        guard let state = Reading.State(after: status), state != .finished else { return }
        var reading = Reading(state: state, started: current?.started)
        if status == .dnf { reading.stopped = current?.finished }
        readings.append(ReadingRecord(reading, sessions: current?.session.map { [$0] } ?? []))
    }
}
