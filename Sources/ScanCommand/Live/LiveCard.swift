import Bookplate
import Foundation
import Station

/// The book that the keys are about, large.
struct LiveCard {
    let state: LiveState
    let columns: Int
    let timeOfDay: (Date) -> String

    /// Exactly `count` lines.
    func lines(_ count: Int) -> [ScreenLine] {
        let lines = state.current.map { card($0, isShort: count < 6) } ?? state.pending.last.map(onTheWay) ?? invitation
        return Array(lines.prefix(count)) + Array(repeating: .empty, count: max(0, count - lines.count))
    }

    private func onTheWay(_ detection: Detection) -> [ScreenLine] {
        [ScreenLine("  ○ ON THE WAY TO THE DISK …", .attention), ScreenLine("  \(detection.isbn.hyphenated)", .strong)]
    }

    private var invitation: [ScreenLine] {
        var lines: [ScreenLine] = [.empty]
        if case .streaming = state.camera {
            lines.append(ScreenLine("  Hold the back of a book up to the camera.", .strong))
        }
        return lines + [
            ScreenLine("  Typed numbers and handheld scanners work at any time."),
            ScreenLine("  ? shows the keys.", .faint),
        ]
    }

    private func card(_ row: Batch.Row, isShort: Bool) -> [ScreenLine] {
        let (metadata, item) = (row.candidate.metadata, row.candidate.item)
        let look = StatusStyle(state.batch.status(of: row), hasTitle: row.candidate.isComplete)
        let head = ScreenLine(
            [.init("  \(look.mark) \(look.word)", look.ink == .faint ? .strong : look.ink)],
            right: [.init("\(timeOfDay(item.captured)) ", .faint)])
        let title = ScreenLine("  " + (metadata.title ?? item.isbn.hyphenated), .strong)
        let authors = metadata.authorNames.joined(separator: ", ")
        let facts = [
            metadata.publishedDateText ?? metadata.publishedDate?.description, metadata.publisher,
            metadata.pageCount.map { "\($0) pages" },
        ].compactMap { $0 }.joined(separator: " · ")
        // Without a title the number stands in its place.
        let number = [metadata.title == nil ? nil : item.isbn.hyphenated, item.source?.displayName]
            .compactMap { $0 }.joined(separator: " · ")
        let way = inTheWay(row)
        if isShort {
            let lines = [[authors, facts].filter { !$0.isEmpty }.joined(separator: " · "), way?.text ?? number]
            return [head, title] + zip(lines, [.plain, way?.ink ?? .faint] as [Ink]).map { ScreenLine("  \($0)", $1) }
        }
        let subtitle = metadata.subtitle.map { [ScreenLine.Piece(" – \($0)", .faint)] } ?? []
        var lines = [head, ScreenLine(title.left + subtitle)]
        for (text, ink) in [(authors, Ink.plain), (facts, .plain), (number, .faint)] where !text.isEmpty {
            lines.append(ScreenLine("  \(text)", ink))
        }
        guard let way else { return lines }
        return lines + way.text.oneLine.wrapped(columns - 2).map { ScreenLine("  \($0)", way.ink) }
    }

    /// Where the household has it, or why nothing is known.
    private func inTheWay(_ row: Batch.Row) -> (text: String, ink: Ink)? {
        let candidate = row.candidate
        switch state.batch.status(of: row) {
        case .owned(let book): return ("You have it: \(book.status)", .owned)
        case .again: return ("Again: another copy? c adds one, k forgets that it was shown again.", .owned)
        case .notFound, .unavailable, .needsTitle:
            return ((candidate.item.reason ?? "it has no title yet") + "; e enters it by hand", .attention)
        case .weakMatch: return ("The source names no ISBN: s saves it all the same, e corrects it", .attention)
        case .lookingUp, .found, .saved, .skipped, .postponed:
            guard let known = candidate.existing.first, row.end == nil else { return nil }
            return ("It is \(known.status)", .owned)
        }
    }
}

extension Date {
    /// Hours and minutes where the person is.
    var localTimeOfDay: String {
        var (seconds, parts) = (time_t(timeIntervalSince1970), tm())
        localtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min))"
    }
}
