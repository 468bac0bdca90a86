import Bookplate
import FoundationEssentials
import Station

/// One row of the batch in a person's words, as the Scan and the Intake page show it.
struct ScanRowView: Sendable {
    let texts: Texts
    let zone: TimeZone

    /// What the page's script says of a row before the service's own card is there, by the words of the API.
    var words: JSONValue {
        let keys = [
            "lookingUp", "found", "owned", "again", "notFound", "unavailable", "needsTitle", "weakMatch", "saved",
            "skipped", "left", "asking",
        ]
        return .object(keys.map { (key: $0, value: .string(texts("scan.\($0)"))) })
    }

    /// A line of the list.
    func listed(_ row: Station.Row, isCurrent: Bool) -> View {
        var view = basics(row)
        view["isCurrent"] = isCurrent
        view["detail"] = detail(row)
        return view
    }

    /// The answer card.
    ///
    /// - Parameter covers: those of owned editions that there are.
    func card(_ row: Station.Row, undo: Batch.Act?, covers: Set<ID<Edition>>) -> View {
        var view = basics(row)
        let (metadata, status) = (row.candidate.metadata, row.status)
        view["time"] = time(row.candidate.item.captured)
        view["subtitle"] = metadata.subtitle?.cleanedLine
        view["message"] = message(row) ?? ""
        if row.isOpen {
            view["undoAct"] = "POST /api/station/rows/\(row.id.rawValue)/skip"
            view["undoSaid"] = "{}"
            view["undoWord"] = texts("common.skip")
        } else if let undo, undo.items.contains(row.id) {
            view["undoAct"] = "POST /api/station/undo"
            view["undoSaid"] = undo.said
            // Saved with others it comes back with them.
            view["undoWord"] = undo.items.count > 1 ? words(for: undo) : texts("common.undo")
        }
        view["cover"] = cover(row, covers)
        view["book"] = (row.owned?.id ?? status.savedCopy)?.rawValue
        view["canSave"] = row.isOpen && row.candidate.isComplete && !row.isThereAlready
        view["canAsk"] = row.canAsk
        return view.merging(formView(row)) { $1 }
    }

    /// A candidate of the Intake page.
    ///
    /// - Parameters:
    ///   - before: the name of what was captured before it, `nil` for none.
    func candidate(_ row: Station.Row, before: String?, after: String?) -> View {
        var view = basics(row)
        view["spoken"] = "\(name(row)): \(word(for: row.status))"
        view["message"] = message(row)
        view["thumbnail"] = row.hasThumbnail ? "/api/intake/\(row.id.rawValue)/thumbnail" : nil
        view["neighbours"] =
            switch (before, after) {
            case (let before?, let after?): texts("intake.between", ["before": before, "after": after])
            case (let before?, nil): texts("intake.after", ["before": before])
            case (nil, let after?): texts("intake.before", ["after": after])
            case (nil, nil): nil
            }
        return view.merging(formView(row)) { $1 }
    }

    /// The title, else the number.
    func name(_ row: Station.Row) -> String {
        row.candidate.metadata.title.map(Self.short) ?? row.candidate.item.isbn.hyphenated
    }

    /// What undo takes back.
    func words(for act: Batch.Act) -> String {
        switch act.kind {
        case .saved: texts("scan.undoSaved", count: act.items.count)
        case .skipped: texts("scan.undoSkipped", count: act.items.count)
        }
    }

    // MARK: -

    private func basics(_ row: Station.Row) -> View {
        let (item, metadata) = (row.candidate.item, row.candidate.metadata)
        let name = name(row)
        let year = metadata.publishedDate.map { String($0.year) } ?? metadata.publishedDateText.map(Self.short)
        let source = item.source.map { texts.source($0) }
        return [
            "id": row.id.rawValue, "look": row.status.look, "mark": row.status.mark,
            "state": word(for: row.status), "name": name, "initial": String(name.prefix(1)),
            "by": [Self.short(metadata.authorNames.joined(separator: ", ")), year ?? ""].filter { !$0.isEmpty }
                .joined(separator: " · "),
            "line": [metadata.title == nil ? "" : item.isbn.hyphenated, source ?? ""].filter { !$0.isEmpty }
                .joined(separator: " · "),
            "hasTick": row.isOpen, "canTick": row.candidate.isComplete, "checked": row.isTicked ? "true" : "false",
            "tickBody": row.isTicked ? #"{"ticked":false}"# : #"{"ticked":true}"#,
        ]
    }

    private func formView(_ row: Station.Row) -> View {
        let metadata = row.candidate.metadata
        return [
            "hasForm": row.isOpen && row.owned == nil, "isFormOpen": row.isOpen && row.needsTitle,
            "title": metadata.title?.cleanedLine ?? "", "authors": metadata.authorNames.joined(separator: "; "),
            "subtitle": metadata.subtitle?.cleanedLine ?? "", "publisher": metadata.publisher?.cleanedLine ?? "",
            "published": metadata.publishedDateText?.cleanedLine ?? metadata.publishedDate?.description ?? "",
            "pageCount": metadata.pageCount.map(String.init) ?? "", "saveWord": texts("scan.saveOne"),
            "canAddCopy": row.isOpen && row.candidate.isComplete && row.isThereAlready,
            "saveBody": #"{"anotherCopy":false}"#, "copyBody": #"{"anotherCopy":true}"#,
        ]
    }

    private func word(for status: Batch.Status) -> String { texts("scan.\(status.word)") }

    private func detail(_ row: Station.Row) -> String {
        switch row.status {
        case .owned(let book):
            book.copy.shelf.map { texts("scan.ownedShort", ["shelf": Self.short($0)]) } ?? texts("scan.ownedPlain")
        case .found: Self.short(row.candidate.metadata.authorNames.joined(separator: ", "))
        case .lookingUp: texts("scan.asking")
        default: word(for: row.status)
        }
    }

    /// What there is to know or to answer, in one line.
    private func message(_ row: Station.Row) -> String? {
        switch row.status {
        case .found, .postponed: return nil
        case .lookingUp: return texts("scan.asking")
        case .owned(let book): return owned(book)
        // Saved meanwhile, it is no longer a question of this list alone.
        case .again: return row.candidate.owned.map(owned) ?? texts("scan.againAsk")
        case .weakMatch: return texts("scan.weakAsk")
        case .notFound, .needsTitle: return texts("scan.titleIsEnough")
        // The sources' own reason is in English, and stands on the command line.
        case .unavailable: return texts("scan.asksAgain")
        case .skipped: return texts("scan.skippedLong")
        case .saved:
            let preset = row.candidate.item.preset
            if preset.isWishlist { return texts("scan.onWishlist") }
            return preset.shelf.map { texts("scan.onShelf", ["shelf": Self.short($0)]) } ?? texts("scan.inLibrary")
        }
    }

    private func owned(_ book: Book) -> String {
        let day = texts.day(CalendarDay(book.copy.added, in: zone))
        guard let shelf = book.copy.shelf else { return texts("scan.ownedSince", ["day": day]) }
        return texts("scan.ownedOn", ["shelf": Self.short(shelf), "day": day])
    }

    private func cover(_ row: Station.Row, _ covers: Set<ID<Edition>>) -> String? {
        if let edition = row.owned?.edition.id, covers.contains(edition) { return "/covers/\(edition.rawValue)" }
        return row.hasThumbnail ? "/api/intake/\(row.id.rawValue)/thumbnail" : nil
    }

    /// "14:05"
    private func time(_ date: Date) -> String { String(texts.instant(date, in: zone).suffix(5)) }

    /// Sources send what they like: one line, cut.
    private static func short(_ text: String) -> String {
        let line = text.cleanedLine
        return line.count > 200 ? line.prefix(199) + "…" : line
    }
}

extension Batch.Act {
    /// What a button sends that takes this very act back.
    var said: String { JSONValue.object([(key: "change", value: .string(change.rawValue))]).text }
}

extension Station.Row {
    /// Nobody has answered it.
    var isOpen: Bool {
        switch status {
        case .saved, .skipped, .postponed: false
        default: true
        }
    }

    var owned: Book? { if case .owned(let book) = status { book } else { nil } }

    /// In the library, or earlier in the batch.
    fileprivate var isThereAlready: Bool { owned != nil || status == .again }

    fileprivate var needsTitle: Bool { !candidate.isComplete && status != .lookingUp && !isThereAlready }

    /// The sources may say more when they are asked once more.
    fileprivate var canAsk: Bool {
        switch status {
        case .notFound, .unavailable, .needsTitle, .weakMatch: true
        default: false
        }
    }
}

extension Batch.Status {
    /// The shape that goes with the colour.
    fileprivate var mark: String {
        switch look {
        case "owned": "●"
        case "attention": "▲"
        default: self == .skipped ? "–" : "✓"
        }
    }
}
