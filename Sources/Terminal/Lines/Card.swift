import Bookplate
import Foundation

/// The compact card of one candidate, as wide as the terminal but at most 76 columns.
struct Card {
    let candidate: Candidate
    /// The position in the batch, such as "3 of 24", or an empty string.
    let position: String
    let style: Style

    /// The candidate's status as a shape, a word and a colour.
    var state: (mark: String, word: String, paint: (String) -> String) {
        if candidate.owned != nil { return ("●", "OWNED ALREADY", style.owned) }
        switch candidate.item.outcome {
        case .found where candidate.metadata.isWeakMatch: return ("▲", "PERHAPS ANOTHER BOOK", style.attention)
        case .found where candidate.isComplete: return ("✓", "NEW", style.new)
        case .notFound: return ("▲", "NOT FOUND", style.attention)
        case .found: return ("▲", "NO TITLE", style.attention)
        case nil where candidate.isComplete: return ("✓", "NEW", style.new)
        case nil: return ("▲", "NOT LOOKED UP YET", style.attention)
        case .temporary, .blocked, .badData: return ("▲", "SOURCE UNAVAILABLE", style.attention)
        }
    }

    func lines(width columns: Int = terminalSize().columns) -> [String] {
        let inner = max(30, min(76, columns) - 4)
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
            rows.append(style.attention("Read from print: compare the number with the book.".fitted(inner)))
        }
        if let owned = candidate.owned {
            rows.append(style.owned("You have it: \(owned.status)".fitted(inner)))
        } else if let known = candidate.existing.first {
            rows.append(style.owned("It is \(known.status)".fitted(inner)))
        } else if let reason = candidate.item.reason {
            rows.append(contentsOf: reason.oneLine.wrapped(inner).map(style.attention))
        }
        let state = state
        let head = "\(state.mark) \(state.word)"
        let dashes = String(repeating: "─", count: max(1, inner - head.columns - position.columns - 2))
        return ["┌ \(state.paint(head)) \(dashes) \(position) ┐"] + rows.map { "│ \($0.padded(inner)) │" }
            + ["└" + String(repeating: "─", count: inner + 2) + "┘"]
    }
}
