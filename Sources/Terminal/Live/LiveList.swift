import Bookplate
import Station

/// The list of the books in the batch, newest first, with one line per book. It is scrolled to the selected row.
struct LiveList {
    let state: LiveState
    let columns: Int

    /// Returns the list as exactly `count` lines.
    func lines(_ count: Int, isTitled: Bool) -> [ScreenLine] {
        guard count > 0 else { return [] }
        let rows = state.batch.rows
        let under = isTitled ? count - 1 : count
        // The newest pending detections are at the top, and take at most a third of the lines.
        let pending = state.pending.reversed().prefix(max(min(1, under), under / 3)).map { line(pending: $0) }
        let room = under - pending.count
        let selected = rows.firstIndex { $0.id == state.current?.id }.map { rows.count - 1 - $0 } ?? 0
        let first = max(0, min(selected - room / 2, rows.count - room))
        let shown = rows.reversed().dropFirst(first).prefix(max(0, room))
        var lines = pending + shown.map { line($0, isSelected: $0.id == state.current?.id) }
        if isTitled {
            lines.insert(.rule(title(above: first, below: rows.count - first - shown.count), columns: columns), at: 0)
        }
        return lines + Array(repeating: .empty, count: max(0, count - lines.count))
    }

    private func title(above: Int, below: Int) -> String {
        let hidden = [above > 0 ? "↑ \(above) newer" : nil, below > 0 ? "↓ \(below) older" : nil].compactMap { $0 }
        return hidden.isEmpty ? "" : hidden.joined(separator: "  ")
    }

    private func line(pending detection: Detection) -> ScreenLine {
        ScreenLine([
            .init("     "), .init("○ ", .attention), .init("\(detection.isbn.hyphenated)  ", .strong),
            .init("not on disk yet …", .faint),
        ])
    }

    private func line(_ row: Batch.Row, isSelected: Bool) -> ScreenLine {
        let style = StatusStyle(state.batch.status(of: row), hasTitle: row.candidate.isComplete)
        let tick = row.end != nil ? "   " : state.batch.isTicked(row) ? "[x]" : "[ ]"
        let detailWidth = columns >= 60 ? 23 : min(columns / 3, style.detail.columns)
        let authorWidth = columns >= 76 ? (columns - 40) * 2 / 5 : 0
        let titleWidth = max(8, columns - 8 - detailWidth - authorWidth - (authorWidth > 0 ? 2 : 1))
        let metadata = row.candidate.metadata
        let title = (metadata.title ?? row.candidate.item.isbn.hyphenated).oneLine
        let isFaint = row.end != nil
        var pieces: [ScreenLine.Piece] = [
            .init(isSelected ? "▸" : " ", .strong), .init("\(tick) "), .init("\(style.mark) ", style.ink),
            .init(title.fitted(titleWidth).padded(titleWidth) + " ", isFaint ? .faint : isSelected ? .strong : .plain),
        ]
        let author = (metadata.authorNames.first ?? "").oneLine
        if authorWidth > 0, style.detail.isEmpty {
            pieces.append(.init(author.fitted(authorWidth + 1 + detailWidth), .faint))
        } else if authorWidth > 0 {
            pieces.append(.init(author.fitted(authorWidth).padded(authorWidth) + " ", .faint))
        }
        pieces.append(.init(style.detail.oneLine.fitted(detailWidth), style.ink))
        return ScreenLine(pieces)
    }
}
