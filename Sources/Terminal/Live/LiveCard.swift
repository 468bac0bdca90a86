import Bookplate
import Foundation
import Station

/// The card of the book that the keys act on.
struct LiveCard {
    let state: LiveState
    let columns: Int
    let timeOfDay: (Date) -> String

    /// Returns the card as exactly `count` lines.
    func lines(_ count: Int) -> [ScreenLine] {
        let lines = state.current.map { card($0, isShort: count < 6) } ?? state.pending.last.map(pending) ?? invitation
        return Array(lines.prefix(count)) + Array(repeating: .empty, count: max(0, count - lines.count))
    }

    private func pending(_ detection: Detection) -> [ScreenLine] {
        [ScreenLine("  ○ NOT ON DISK YET …", .attention), ScreenLine("  \(detection.isbn.hyphenated)", .strong)]
    }

    private var invitation: [ScreenLine] {
        var lines: [ScreenLine] = [.empty]
        if case .streaming = state.camera {
            lines.append(ScreenLine("  Hold the back of a book up to the camera.", .strong))
        }
        return lines + [
            ScreenLine("  You can type an ISBN or use a handheld scanner at any time."),
            ScreenLine("  Press ? to see the keys.", .faint),
        ]
    }

    private func card(_ row: Batch.Row, isShort: Bool) -> [ScreenLine] {
        let (metadata, item) = (row.candidate.metadata, row.candidate.item)
        let style = StatusStyle(state.batch.status(of: row), hasTitle: row.candidate.isComplete)
        let head = ScreenLine(
            [.init("  \(style.mark) \(style.word)", style.ink == .faint ? .strong : style.ink)],
            right: [.init("\(timeOfDay(item.captured)) ", .faint)])
        let title = ScreenLine("  " + (metadata.title ?? item.isbn.hyphenated), .strong)
        let authors = metadata.authorNames.joined(separator: ", ")
        let facts = [
            metadata.publishedDateText ?? metadata.publishedDate?.description, metadata.publisher,
            metadata.pageCount.map { "\($0) pages" },
        ].compactMap { $0 }.joined(separator: " · ")
        // Without a title, the number is shown in its place.
        let number = [metadata.title == nil ? nil : item.isbn.hyphenated, item.source?.displayName]
            .compactMap { $0 }.joined(separator: " · ")
        let advice = advice(on: row)
        if isShort {
            let lines = [[authors, facts].filter { !$0.isEmpty }.joined(separator: " · "), advice?.text ?? number]
            return [head, title]
                + zip(lines, [.plain, advice?.ink ?? .faint] as [Ink]).map { ScreenLine("  \($0)", $1) }
        }
        let subtitle = metadata.subtitle.map { [ScreenLine.Piece(" – \($0)", .faint)] } ?? []
        var lines = [head, ScreenLine(title.left + subtitle)]
        for (text, ink) in [(authors, Ink.plain), (facts, .plain), (number, .faint)] where !text.isEmpty {
            lines.append(ScreenLine("  \(text)", ink))
        }
        guard let advice else { return lines }
        return lines + advice.text.oneLine.wrapped(columns - 2).map { ScreenLine("  \($0)", advice.ink) }
    }

    /// Returns the advice below the facts about the book, such as the copy that you have, or the reason why the book
    /// was not found; nil if there is nothing to add.
    private func advice(on row: Batch.Row) -> (text: String, ink: Ink)? {
        let candidate = row.candidate
        switch state.batch.status(of: row) {
        case .owned(let book): return ("You have this book: \(book.status)", .owned)
        case .again: return (StatusStyle.shownAgain, .owned)
        case .notFound, .unavailable, .needsTitle:
            let reason = candidate.item.reason ?? "the book has no title yet"
            return (reason + "; press e to enter the book by hand", .attention)
        case .weakMatch:
            return (
                "The source gave no ISBN, so this may be another book. Press s to save it, e to edit it.", .attention
            )
        case .lookingUp, .found, .saved, .skipped, .postponed:
            guard row.end == nil else { return nil }
            if let known = candidate.existing.first { return ("This book is \(known.status)", .owned) }
            if let other = candidate.otherEditions.first { return (other.otherEditionText, .owned) }
            return candidate.metadata.titleHint.map { ("\($0.sentence) To change it, press e.", .faint) }
        }
    }
}
