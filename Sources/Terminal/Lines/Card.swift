import Bookplate
import Foundation
import Station

/// The compact card for one book of the batch. It is as wide as the terminal, but at most 76 columns.
struct Card {
    let row: Station.Row
    /// The position in the batch, such as "3 of 24", or an empty string.
    let position: String
    let style: Style

    func lines(width columns: Int = terminalSize().columns) -> [String] {
        let inner = max(30, min(76, columns) - 4)
        let candidate = row.candidate
        let metadata = candidate.metadata
        var rows: [String] = []
        rows.append(style.strong((metadata.title ?? "No title yet").oneLine.fitted(inner)))
        if let subtitle = metadata.subtitle { rows.append(subtitle.oneLine.fitted(inner)) }
        let authors = Edition.displayAuthors(metadata.authorNames)
        rows.append(authors.oneLine.fitted(inner))
        let facts = [
            metadata.publishedDateText ?? metadata.publishedDate?.description, metadata.publisher,
            metadata.pageCount.map { "\($0) pages" }, metadata.language,
        ].compactMap { $0?.oneLine }
        if !facts.isEmpty { rows.append(facts.joined(separator: " · ").fitted(inner)) }
        let origin = [
            candidate.item.isbn.hyphenated, candidate.item.source?.displayName,
            candidate.item.image.map { ($0 as NSString).lastPathComponent },
        ].compactMap { $0?.oneLine }
        rows.append(style.faint(origin.joined(separator: " · ").fitted(inner)))
        if candidate.item.isReadFromPrint {
            rows.append(style.attention("The number was read from print. Compare it with the book.".fitted(inner)))
        }
        if row.status == .again {
            rows.append(style.owned(StatusStyle.shownAgain.fitted(inner)))
        } else if let owned = candidate.owned {
            rows.append(style.owned("You have this book: \(owned.status)".fitted(inner)))
        } else if let known = candidate.existing.first {
            rows.append(style.owned("This book is \(known.status)".fitted(inner)))
        } else if let other = candidate.otherEditions.first {
            rows.append(contentsOf: other.otherEditionText.wrapped(inner).map(style.owned))
        } else if let reason = candidate.item.reason {
            rows.append(contentsOf: reason.oneLine.wrapped(inner).map(style.attention))
        }
        let status = StatusStyle(row.status, hasTitle: candidate.isComplete)
        let head = "\(status.mark) \(status.word)"
        let dashes = String(repeating: "─", count: max(1, inner - head.columns - position.columns - 2))
        return ["┌ \(style.paint(head, status.ink)) \(dashes) \(position) ┐"] + rows.map { "│ \($0.padded(inner)) │" }
            + ["└" + String(repeating: "─", count: inner + 2) + "┘"]
    }
}
