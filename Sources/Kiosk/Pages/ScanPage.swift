import Bookplate
import Hummingbird
import Station

/// The station: the live picture, the answer to the last capture, and the batch.
struct ScanPage: Sendable {
    let parts: KioskParts
    /// Rows of the list before "… more".
    private static let rows = 30
    /// Items that one act names, so that its body keeps within ``Request/mostJSON``.
    static let mostNamed = 1500

    /// What takes the owned books out of the queue at once: nothing is left to do for these, and nobody wants to say so one by one.
    static func clearing(_ rows: [Station.Row], _ texts: Texts) -> View {
        let owned = rows.filter(\.isClearable)
        guard !owned.isEmpty else { return [:] }
        let ids = JSONValue(owned.prefix(mostNamed).map(\.id.rawValue))
        return [
            "clear": texts("scan.clear", count: owned.count),
            "clearBody": JSONValue.object([(key: "ids", value: ids)]).text,
        ]
    }
    /// Rows of the batch that a page counts and names; nobody holds more books in an afternoon.
    static let mostRows = 5000

    var routes: [Route] {
        [
            Route(.get, "/", for: .guests) { _, context in
                // A guest has no station.
                Response(
                    status: .seeOther,
                    headers: [.location: context.visitor == .household ? "/scan" : "/home", .cacheControl: "no-store"])
            },
            Route(.get, "/scan", for: .household, page),
            Route(.get, "/api/station/lamps", for: .household, lamps),
        ]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let rowViews = ScanRowView(texts: texts, zone: parts.ports.zone)
        let snapshot = await parts.ports.station.snapshot(limit: Self.mostRows)
        let query = request.uri.queryParameters
        let isWhole = query["all"] != nil
        let listed = snapshot.rows.filter { $0.status != .skipped }
        let chosen = query["row"].map(String.init)
        let current = snapshot.rows.first { $0.id.rawValue == chosen } ?? listed.first
        let shown = isWhole ? listed : Array(listed.prefix(Self.rows))

        var view: View = [
            "words": rowViews.words.text, "cameraState": snapshot.camera.word,
            "cameraText": cameraText(snapshot.camera, texts), "preset": presetView(snapshot.preset, texts),
            "rows": shown.map { rowViews.listed($0, isCurrent: $0.id == current?.id) },
        ]
        for (state, camera) in [("None", nil), ("Starting", CameraState.starting), ("Ended", .ended)] {
            view["camera\(state)"] = cameraText(camera, texts)
        }
        view["chosen"] = chosen ?? ""
        if let current {
            let covers = try await parts.library.keptCovers(among: [current.owned?.edition.id].compactMap(\.self))
            view["card"] = rowViews.card(current, undo: snapshot.nextUndo, covers: covers)
        }
        let hasCamera = snapshot.camera != nil
        view["emptyTitle"] = texts(hasCamera ? "scan.emptyTitle" : "scan.emptyTitleNone")
        view["emptyText"] = texts(hasCamera ? "scan.emptyText" : "scan.emptyTextNone")
        if listed.count > shown.count {
            view["more"] = texts("scan.more", count: listed.count - shown.count)
            view["moreAddress"] = "/scan?all=1"
        }
        if !snapshot.pending.isEmpty, let error = snapshot.captureError {
            let reason = texts.reason(of: error, parts.ports.trouble)
            view["pending"] = texts("scan.notYet", count: snapshot.pending.count, ["reason": reason])
        }
        if let undo = snapshot.nextUndo {
            view["undo"] = rowViews.words(for: undo)
            view["undoChange"] = undo.change.rawValue
            view["undoBody"] = undo.said
        }
        // Oldest first, as they were captured: what came after the page was made is no part of the person's yes.
        let ticked = Array(snapshot.rows.filter(\.isTicked).reversed().prefix(Self.mostNamed))
        if !ticked.isEmpty {
            view["save"] = texts("scan.saveMany", count: ticked.count)
            view["saveIDs"] = JSONValue(ticked.map(\.id.rawValue)).text
        }
        if ticked.isEmpty { view.merge(Self.clearing(snapshot.rows, texts)) { $1 } }
        return try await parts.pages.answer(
            Pages.Page(template: "scan", title: texts("layout.scan"), tab: .scan, view: view), context)
    }

    /// What the head of every page shows of the station.
    private func lamps(_ request: Request, _ context: KioskContext) async -> JSONAnswer {
        let snapshot = await parts.ports.station.snapshot(limit: Self.mostRows)
        let untitled = snapshot.rows.count { row in
            !row.candidate.isComplete && (row.status == .lookingUp || row.status == .unavailable)
        }
        return JSONAnswer([
            "camera": snapshot.camera.json(parts.pages.texts(context)), "offline": .bool(snapshot.isOffline),
            "untitled": .integer(untitled),
        ])
    }

    private func cameraText(_ camera: CameraState?, _ texts: Texts) -> String {
        switch camera {
        case nil: texts("scan.noCamera")
        case .starting: texts("scan.starting")
        case .streaming: ""
        case .trouble(let trouble): texts.words(for: trouble).cleanedLine
        case .ended: texts("scan.ended")
        }
    }

    private func presetView(_ preset: Preset, _ texts: Texts) -> View {
        [
            "shelf": preset.shelf ?? "", "tags": preset.tags.map { ["name": $0] as View },
            "tagsJSON": JSONValue(preset.tags).text, "isWishlist": preset.isWishlist,
            "statuses": Copy.Status.allCases.map { status -> View in
                [
                    "value": status.rawValue, "label": texts("common.\(status.rawValue)"),
                    "isChosen": status == preset.status,
                ]
            },
        ]
    }
}

extension CameraState? {
    /// As the page's script knows it.
    fileprivate var word: String {
        switch self {
        case nil: "none"
        case .starting: "starting"
        case .streaming: "streaming"
        case .trouble: "trouble"
        case .ended: "ended"
        }
    }
}
