import Bookplate
import FoundationEssentials

/// Notes, discussion notes, quotes, and what imports flagged.
struct BookAnnotations {
    let whole: WholeBook
    /// Whether all are shown, not only the latest.
    let showsAll: Bool
    let texts: Texts
    let zone: TimeZone

    var view: View {
        let (notes, talks) = (whole.notes.filter { $0.kind == .note }, whole.notes.filter { $0.kind == .discussion })
        var view: View = [
            // The newest first: what was written last is what one comes back to.
            "notes": cut(notes.reversed()).map(note), "talks": cut(talks.reversed()).map(note),
            "quotes": cut(whole.quotes).map(quote),
            "flags": whole.flags.map {
                ["flagSource": texts.identifier($0.source), "flagWhat": $0.what, "flagRaw": $0.raw] as View
            },
            "isFlagged": !whole.flags.isEmpty,
            "notesCount": notes.isEmpty ? "" : String(notes.count),
            "talksCount": talks.isEmpty ? "" : String(talks.count),
            "quotesCount": whole.quotes.isEmpty ? "" : String(whole.quotes.count),
        ]
        let most = max(notes.count, talks.count, whole.quotes.count)
        if !showsAll, most > BookPage.remarksAtFirst {
            view["showAll"] = texts("book.showAll", count: whole.notes.count + whole.quotes.count)
        }
        return view
    }

    private func cut<Content>(_ contents: [Content]) -> ArraySlice<Content> {
        showsAll ? contents[...] : contents.prefix(BookPage.remarksAtFirst)
    }

    private func note(_ note: Note) -> View {
        ["noteID": note.id.rawValue, "text": note.text, "created": texts.instant(note.created, in: zone)]
    }

    private func quote(_ quote: Quote) -> View {
        [
            "quoteID": quote.id.rawValue, "text": quote.text, "quotePage": quote.page.map(String.init) ?? "",
            "shownPage": quote.page.map { texts("book.page", ["page": texts.grouped($0)]) } ?? texts("book.noPage"),
        ]
    }
}
