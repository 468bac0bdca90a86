import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// The Scan page, with the live picture, a card for the last capture, and the batch.
struct ScanPage: Sendable {
    let parts: KioskParts
    /// The number of rows that the page lists above its "more" link.
    private static let shownRows = 30
    /// The maximum number of queue items that one request names by their ids. With this limit, the request's body stays
    /// within ``Request/maxJSONBytes``.
    static let maxNamedItems = 1500

    /// Returns the values of the button that skips all owned books in the queue; empty if there are no such books.
    static func clearView(_ rows: some Sequence<Station.Row>, _ texts: Texts) -> View {
        let owned = rows.filter(\.isClearable)
        guard !owned.isEmpty else { return [:] }
        let ids = JSONValue(owned.prefix(maxNamedItems).map(\.id.rawValue))
        return [
            "clear": texts("scan.clear", count: owned.count),
            "clearBody": JSONValue.object([(key: "ids", value: ids)]).text,
        ]
    }

    /// The maximum number of rows of the batch that a page shows and counts. Nobody scans that many books in an
    /// afternoon.
    static let maxRows = 5000

    var routes: [Route] {
        [
            Route(.get, "/", for: .guests) { _, context in
                // Only the household may open the Scan page, so guests are sent to the Home page, and so is somebody
                // whose library is empty: it then offers all ways to add the first books.
                let isFirstVisit = try await isFirstVisit(context)
                let opensScan = context.caller == .household && !isFirstVisit
                return Response(
                    status: .seeOther, headers: [.location: opensScan ? "/scan" : "/home", .cacheControl: "no-store"])
            },
            Route(.get, "/scan", for: .household, page),
            Route(.get, "/api/station/lamps", for: .household, lamps),
        ]
    }

    /// Returns true if there are neither books nor captures.
    private func isFirstVisit(_ context: KioskContext) async throws -> Bool {
        guard try await context.library.isEmpty() else { return false }
        return try await context.library.count(in: [.waiting]) == 0
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let snapshot = await parts.ports.station.snapshot(limit: Self.maxRows)
        let preset = await parts.preset(of: context)
        let rowViews = ScanRowView(
            texts: texts, zone: parts.ports.zone, preset: preset, device: parts.ports.device)
        let query = request.uri.queryParameters
        let isWhole = query["all"] != nil
        let rows = snapshot.rows
        let isOwn = rows.map { $0.candidate.item.preset.browser == context.browser }
        // Every other device has a list of its own, and the station's own screen shows all.
        let listsOthers = context.browser == nil || query["others"] != nil
        // There may be thousands of rows, and they are large, so these lists hold positions in `rows`, newest first.
        let all = rows.indices.filter { rows[$0].status != .skipped && !rows[$0].isCleared }
        let newest = listsOthers ? all : all.filter { isOwn[$0] }
        let saved = newest.filter { rows[$0].isSaved }
        // The saved rows are the last, so that they do not push the open ones out of sight.
        let listed = newest.filter { !rows[$0].isSaved } + saved
        let chosen = query["row"].map(String.init)
        let current = chosen.flatMap { id in rows.first { $0.id.rawValue == id } } ?? newest.first.map { rows[$0] }
        let shown = isWhole ? listed : Array(listed.prefix(Self.shownRows))

        var view: View = [
            "texts": rowViews.statusTexts.text, "cameraState": snapshot.camera.word,
            "isBlind": snapshot.camera.isBlind, "cameraText": cameraText(snapshot.camera, texts),
            "preset": presetView(preset, texts),
            "rows": shown.map { position -> View in
                let row = rows[position]
                var view = rowViews.listed(row, isCurrent: row.id == current?.id)
                if position == saved.first { view["savedCount"] = texts("scan.savedCount", count: saved.count) }
                // It clears those of all devices.
                view["mayClear"] = listsOthers
                return view
            },
        ]
        for (state, camera) in [("None", nil), ("Starting", CameraState.starting), ("Ended", .ended)] {
            view["camera\(state)"] = cameraText(camera, texts)
        }
        view["chosen"] = chosen ?? ""
        view["browser"] = context.browser ?? ""
        // At the station's own screen, a phone is invited; on any other device, its own camera is offered.
        view["isOther"] = !context.isAtStation
        if let current {
            let covers = try await context.library.keptCovers(among: [current.owned?.edition.id].compactMap(\.self))
            view["card"] = rowViews.card(current, covers: covers)
        }
        let hasCamera = snapshot.camera != nil
        view["readsTitles"] = parts.ports.readPrint != nil
        view["emptyTitle"] = texts(hasCamera ? "scan.emptyTitle" : "scan.emptyTitleNone")
        view["emptyText"] = texts(hasCamera ? "scan.emptyText" : "scan.emptyTextNone")
        if listed.count > shown.count {
            view["more"] = texts("scan.more", count: listed.count - shown.count)
            view["moreAddress"] = "/scan?all=1" + (query["others"] == nil ? "" : "&others=1")
        }
        if context.browser != nil {
            let others = all.count { !isOwn[$0] }
            if !listsOthers, others > 0 {
                view["others"] = texts("scan.others", count: others)
                view["othersAddress"] = "/scan?others=1" + (isWhole ? "&all=1" : "")
            } else if listsOthers {
                view["others"] = texts("scan.ownOnly")
                view["othersAddress"] = "/scan" + (isWhole ? "?all=1" : "")
            }
        }
        if !snapshot.pending.isEmpty, let error = snapshot.captureError {
            let reason = texts.reason(of: error)
            view["pending"] = texts("scan.notYet", count: snapshot.pending.count, ["reason": reason])
        }
        // A device with a list of its own offers no undo of what was done with the other books.
        if let undo = snapshot.nextUndo,
            listsOthers || Set(undo.items).isSubset(of: zip(rows, isOwn).lazy.filter(\.1).map(\.0.id))
        {
            view["undo"] = rowViews.undoLabel(for: undo)
            view["undoChange"] = undo.change.rawValue
            view["undoBody"] = undo.requestBody
        }
        // The ids of the ticked rows, the oldest first. The page contains them so that saving does not include books
        // that were captured after the page was rendered.
        let ticked = newest.filter { rows[$0].isTicked }.reversed().prefix(Self.maxNamedItems)
        if !ticked.isEmpty {
            view["save"] = texts("scan.saveMany", count: ticked.count)
            view["saveIDs"] = JSONValue(ticked.map { rows[$0].id.rawValue }).text
        } else {
            view.merge(Self.clearView(newest.lazy.map { rows[$0] }, texts)) { $1 }
        }
        return try await parts.pages.render(
            Pages.Page(
                template: "scan", title: texts("layout.scan"), tab: .scan, view: view,
                scripts: [context.isAtStation ? "phone-sheet" : "own-camera"]), context)
    }

    /// Returns the state of the camera and the network, which the head of every page shows.
    private func lamps(_ request: Request, _ context: KioskContext) async -> JSONResponse {
        let snapshot = await parts.ports.station.snapshot(limit: 0)
        return JSONResponse([
            "camera": snapshot.camera.json(parts.pages.texts(context)), "offline": .bool(snapshot.isOffline),
            "untitled": .integer(snapshot.counts.untitled),
        ])
    }

    private func cameraText(_ camera: CameraState?, _ texts: Texts) -> String {
        switch camera {
        case nil: texts("scan.noCamera")
        case .starting: texts("scan.starting")
        case .streaming: ""
        case .failed(let error): texts.message(for: error).cleanedLine
        case .ended: texts("scan.ended")
        }
    }

    private func presetView(_ preset: Preset, _ texts: Texts) -> View {
        var view: View = [
            "shelf": preset.shelf ?? "", "tags": preset.tags.map { ["name": $0] as View },
            "tagsJSON": JSONValue(preset.tags).text, "isWishlist": preset.isWishlist,
            "scope": texts(preset.browser == nil ? "scan.presetOfStation" : "scan.presetOfDevice"),
            "statuses": Copy.Status.allCases.map { status -> View in
                [
                    "value": status.rawValue, "label": texts("common.\(status.rawValue)"),
                    "isChosen": status == preset.status,
                ]
            },
        ]
        if let reader = preset.reader { view["ofReader"] = texts("readers.chosen", ["name": reader.cleanedLine]) }
        return view
    }
}

extension CameraState? {
    /// True if there is no picture to show, and none is about to come.
    fileprivate var isBlind: Bool {
        switch self {
        case .starting, .streaming: false
        case nil, .failed, .ended: true
        }
    }

    /// The name by which the page's script knows this state.
    fileprivate var word: String {
        switch self {
        case nil: "none"
        case .starting: "starting"
        case .streaming: "streaming"
        case .failed: "trouble"
        case .ended: "ended"
        }
    }
}

/// Prepares rows of the batch for the templates of the Scan page and the Intake page.
struct ScanRowView: Sendable {
    let texts: Texts
    let zone: TimeZone
    /// The preset of the browser. Rows that will be saved with another one say so.
    let preset: Preset
    /// The name of this device in the queue. Rows that a phone or another station captured name it.
    let device: String?

    /// A label for each state of a row, by the state's name in the API. The script shows these labels until the card is
    /// loaded.
    var statusTexts: JSONValue {
        let keys = [
            "lookingUp", "found", "owned", "again", "notFound", "unavailable", "needsTitle", "weakMatch", "saved",
            "skipped", "left", "asking",
        ]
        return .object(keys.map { (key: $0, value: .string(texts("scan.\($0)"))) })
    }

    /// Returns the template values for a row of the list.
    func listed(_ row: Station.Row, isCurrent: Bool) -> View {
        var view = basics(row)
        view["isCurrent"] = isCurrent
        view["detail"] = [detail(row), otherPreset(row), otherDevice(row)].compactMap(\.self).filter { !$0.isEmpty }
            .joined(separator: " · ")
        return view
    }

    private func otherDevice(_ row: Station.Row) -> String? {
        let name = row.candidate.item.device
        guard let device, name != device else { return nil }
        return texts("scan.from", ["device": Self.short(name)])
    }

    /// Returns the template values for the card that shows a row in detail.
    ///
    /// - Parameter covers: the owned editions that have a cover.
    func card(_ row: Station.Row, covers: Set<ID<Edition>>) -> View {
        var view = basics(row)
        let (metadata, status) = (row.candidate.metadata, row.status)
        view["time"] = time(row.candidate.item.captured)
        view["subtitle"] = metadata.subtitle?.cleanedLine
        view["message"] = message(row) ?? ""
        if let edit = hint(row)?.edit {
            let fields = [("title", edit.title), ("series", edit.series), ("seriesNumber", edit.seriesNumber)]
            view["hintEdit"] =
                JSONValue.object(fields.compactMap { key, value in value.map { (key, .string($0)) } }).text
        }
        view["isOpen"] = row.isOpen
        view["cover"] = cover(row, covers)
        view["book"] = (row.owned?.id ?? status.savedCopy)?.rawValue
        view["canSave"] = row.isOpen && row.candidate.isComplete && !row.isThereAlready
        view["canAsk"] = row.canAsk
        if row.isOpen, row.needsTitle || row.status == .weakMatch {
            view["findAddress"] = "/find?row=\(row.id.rawValue)"
        }
        return view.merging(formView(row)) { $1 }
    }

    /// Returns the template values for a candidate on the Intake page.
    ///
    /// - Parameters:
    ///   - before: the name of the book captured just before this one; `nil` if there is none.
    ///   - after: the name of the book captured just after this one; `nil` if there is none.
    func candidate(_ row: Station.Row, before: String?, after: String?) -> View {
        var view = basics(row)
        view["spoken"] = "\(name(row)): \(label(for: row.status))"
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

    /// Returns the title of the book, or its ISBN if it has no title.
    func name(_ row: Station.Row) -> String {
        row.candidate.metadata.title.map(Self.short) ?? row.candidate.item.isbn.hyphenated
    }

    /// Returns a label that says what will be undone.
    func undoLabel(for act: Batch.Act) -> String {
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
        let cover = DrawnCover(title: name, language: metadata.language)
        return [
            "id": row.id.rawValue, "look": row.status.tone, "mark": row.status.mark,
            "state": label(for: row.status), "name": name, "tint": cover.colour,
            "authorNames": Self.short(metadata.authorNames.joined(separator: ", ")),
            "by": [Self.short(metadata.authorNames.joined(separator: ", ")), year ?? ""].filter { !$0.isEmpty }
                .joined(separator: " · "),
            "line": [metadata.title == nil ? "" : item.isbn.hyphenated, source ?? "", otherPreset(row) ?? ""]
                .filter { !$0.isEmpty }.joined(separator: " · "),
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

    private func label(for status: Batch.Status) -> String { texts("scan.\(status.word)") }

    private func detail(_ row: Station.Row) -> String {
        switch row.status {
        case .owned(let book): ownedShort(book)
        // The earlier capture of this book may have been saved in the meantime.
        case .again: row.candidate.owned.map(ownedShort) ?? label(for: row.status)
        case .found: Self.short(row.candidate.metadata.authorNames.joined(separator: ", "))
        case .lookingUp: texts("scan.asking")
        default: label(for: row.status)
        }
    }

    private func ownedShort(_ book: Book) -> String {
        book.copy.shelf.map { texts("scan.ownedShort", ["shelf": Self.short($0)]) } ?? texts("scan.ownedPlain")
    }

    /// Returns the preset with which the row will be saved; `nil` if it is the browser's own, or if the row is
    /// answered.
    private func otherPreset(_ row: Station.Row) -> String? {
        var other = row.candidate.item.preset
        other.browser = preset.browser
        guard row.isOpen, !preset.isPreset(ofItemWith: other) else { return nil }
        let parts = [
            other.isWishlist ? texts("common.wishlist") : nil, other.shelf.map(Self.short),
            texts("common.\(other.status.rawValue)"),
        ]
        let names = (parts.compactMap(\.self) + other.tags.map(Self.short)).joined(separator: ", ")
        return texts("scan.savedAs", ["preset": names])
    }

    /// Returns a line that explains the state of the row, or asks the person for a decision.
    private func message(_ row: Station.Row) -> String? {
        switch row.status {
        case .found, .postponed:
            return known(row) ?? row.candidate.otherEditions.first.map(texts.otherEdition) ?? hint(row).map(text)
        case .lookingUp: return texts("scan.asking")
        case .owned(let book): return owned(book)
        // The earlier capture of this book may have been saved in the meantime.
        case .again: return row.candidate.owned.map(owned) ?? texts("scan.againAsk")
        case .weakMatch: return texts("scan.weakAsk")
        case .notFound, .needsTitle: return texts("scan.titleIsEnough")
        // The source's reason is left out because it is in English. The command line shows it.
        case .unavailable: return texts("scan.asksAgain")
        case .skipped: return texts("scan.skippedLong")
        case .saved:
            let preset = row.candidate.item.preset
            if preset.isWishlist { return texts("scan.onWishlist") }
            return preset.shelf.map { texts("scan.onShelf", ["shelf": Self.short($0)]) } ?? texts("scan.inLibrary")
        }
    }

    /// Returns what the library has of a book that is not owned, such as a borrowed book imported from another tracker,
    /// because saving changes that record instead of adding a second one; `nil` if it has nothing.
    private func known(_ row: Station.Row) -> String? {
        let candidate = row.candidate
        guard row.isOpen, candidate.owned == nil, !candidate.existing.isEmpty, !candidate.item.preset.isWishlist
        else { return nil }
        return texts(candidate.existing.contains { $0.copy.deleted == nil } ? "scan.notOwned" : "scan.inTrash")
    }

    /// Returns a hint about the title of a book that waits to be saved; `nil` if there is none.
    private func hint(_ row: Station.Row) -> TitleHint? {
        guard row.isOpen, case .found = row.status else { return nil }
        return row.candidate.metadata.titleHint
    }

    private func text(_ hint: TitleHint) -> String {
        switch hint.kind {
        case .series:
            let name = [hint.series, hint.seriesNumber].compactMap(\.self).joined(separator: ", ")
            return texts("scan.hintSeries", ["series": Self.short(name)])
        case .repeatedSubtitle: return texts("scan.hintSubtitle")
        case .capitals: return texts("scan.hintCapitals")
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

    /// Returns the time of day, such as "14:05".
    private func time(_ date: Date) -> String { String(texts.instant(date, in: zone).suffix(5)) }

    /// Shortens a text that comes from an online source to one line of at most 200 characters.
    private static func short(_ text: String) -> String {
        let line = text.cleanedLine
        return line.count > 200 ? line.prefix(199) + "…" : line
    }
}

extension Batch.Act {
    /// The body of a request to undo this act.
    var requestBody: String { JSONValue.object([(key: "change", value: .string(change.rawValue))]).text }
}

extension Station.Row {
    /// True while nobody has saved or skipped the row.
    var isOpen: Bool {
        switch status {
        case .saved, .skipped, .postponed: false
        default: true
        }
    }

    /// True if the row was saved.
    var isSaved: Bool { if case .saved = status { true } else { false } }

    var owned: Book? { if case .owned(let book) = status { book } else { nil } }

    /// True if the book is in the library already, or was captured earlier in the batch.
    fileprivate var isThereAlready: Bool { owned != nil || status == .again }

    fileprivate var needsTitle: Bool { !candidate.isComplete && status != .lookingUp && !isThereAlready }

    /// True if looking up the book in the sources again may lead to a better result.
    fileprivate var canAsk: Bool {
        switch status {
        case .notFound, .unavailable, .needsTitle, .weakMatch: true
        default: false
        }
    }
}

extension Batch.Status {
    /// The shape that marks the state in addition to its colour.
    fileprivate var mark: String {
        switch tone {
        case "owned": "●"
        case "attention": "▲"
        default: self == .skipped ? "–" : "✓"
        }
    }
}
