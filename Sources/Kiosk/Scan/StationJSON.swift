import Bookplate
import Station

// The JSON that describes the station. All keys are always present, and missing values are null.

extension Station.Row {
    var json: JSONValue {
        let (item, metadata) = (candidate.item, candidate.metadata)
        return [
            "id": .string(id.rawValue), "isbn13": .string(item.isbn.digits),
            "hyphenated": .string(item.isbn.hyphenated), "standing": .string(status.word),
            "look": .string(status.tone), "ticked": .bool(isTicked),
            "title": JSONValue(metadata.title), "subtitle": JSONValue(metadata.subtitle),
            "authors": JSONValue(metadata.authorNames),
            "published": JSONValue(metadata.publishedDate?.description ?? metadata.publishedDateText),
            "publisher": JSONValue(metadata.publisher), "pageCount": JSONValue(metadata.pageCount),
            "source": JSONValue(item.source?.rawValue), "reason": JSONValue(reason),
            "owned": candidate.owned.map(Self.json(ofOwned:)) ?? .null,
            "saved": JSONValue(status.savedCopy?.rawValue),
            "captured": .string(item.captured.rfc3339), "origin": .string(item.origin.rawValue),
            "station": .string(item.device), "hasThumbnail": .bool(hasThumbnail), "preset": item.preset.json,
            "browser": JSONValue(item.preset.browser),
        ]
    }

    private static func json(ofOwned book: Book) -> JSONValue {
        [
            "copyId": .string(book.id.rawValue), "title": JSONValue(book.edition.metadata.title),
            "shelf": JSONValue(book.copy.shelf), "added": .string(book.copy.added.rfc3339),
        ]
    }

    /// A text that explains to a person why the row needs attention; `nil` if there is no reason.
    private var reason: String? {
        guard status.tone == "attention" else { return nil }
        if let reason = candidate.item.reason { return reason }
        guard candidate.metadata.isWeakMatch else { return nil }
        return Metadata.weakMatchReason
    }
}

extension Batch.Status {
    var word: String {
        switch self {
        case .lookingUp: "lookingUp"
        case .found: "found"
        case .owned: "owned"
        case .again: "again"
        case .notFound: "notFound"
        case .unavailable: "unavailable"
        case .needsTitle: "needsTitle"
        case .weakMatch: "weakMatch"
        case .saved: "saved"
        case .skipped: "skipped"
        case .postponed: "left"
        }
    }

    /// The group of states to which this state belongs. Pages show all states of a group in the same style.
    var tone: String {
        switch self {
        case .lookingUp, .found: "new"
        case .owned, .again: "owned"
        case .notFound, .unavailable, .needsTitle, .weakMatch: "attention"
        case .saved, .skipped, .postponed: "done"
        }
    }

    var savedCopy: ID<Copy>? { if case .saved(let result) = self { result.copy } else { nil } }
}

extension Preset {
    var json: JSONValue {
        let json: JSONValue = [
            "shelf": JSONValue(shelf), "tags": JSONValue(tags), "status": .string(status.rawValue),
            "wishlist": .bool(isWishlist),
        ]
        return json.appending(reader.map { [("reader", .string($0))] } ?? [])
    }
}

extension Station.Snapshot {
    func json(_ texts: Texts) -> JSONValue {
        [
            "camera": camera.json(texts), "offline": .bool(isOffline), "hint": JSONValue(view.hint?.rawValue),
            "framesPerSecond": .integer(view.framesPerSecond), "preset": preset.json,
            "counts": [
                "waiting": .integer(counts.waiting), "looking": .integer(counts.lookingUp),
                "ticked": .integer(counts.ticked), "open": .integer(counts.open),
            ],
            "pending": .integer(pending.count),
            "captureTrouble": JSONValue(captureError.map { texts.reason(of: $0) }),
            "rows": .array(rows.filter { !$0.isCleared }.map(\.json)),
            "undo": nextUndo.map { act in
                [
                    "kind": .string(act.kind.word), "count": .integer(act.items.count),
                    "change": .string(act.change.rawValue),
                ]
            } ?? .null,
        ]
    }
}

extension Batch.Act.Kind {
    var word: String {
        switch self {
        case .saved: "saved"
        case .skipped: "skipped"
        }
    }
}

extension Station.Saved {
    var json: JSONValue {
        ["saved": .integer(saved), "owned": .integer(owned), "change": JSONValue(change?.rawValue)]
    }
}

extension CameraState? {
    /// Returns the state as JSON. The member `text` is the message of an error; it is null in all other states, because
    /// pages have their own texts for them.
    func json(_ texts: Texts) -> JSONValue {
        var (state, kind, text): (String, String?, String?) = ("none", nil, nil)
        var (name, width, height): (String?, Int?, Int?) = (nil, nil, nil)
        switch self {
        case nil: break
        case .starting: state = "starting"
        case .streaming(let camera, let format):
            (state, name, width, height) = ("streaming", camera.cleanedLine, format.width, format.height)
        case .failed(let error): (state, kind, text) = ("trouble", error.kind.rawValue, texts.message(for: error))
        case .ended: state = "ended"
        }
        return [
            "state": .string(state), "kind": JSONValue(kind), "text": JSONValue(text), "name": JSONValue(name),
            "width": JSONValue(width), "height": JSONValue(height),
        ]
    }
}

extension Station.News {
    /// Returns the event that is sent to pages, or `nil` for news that pages do not need.
    func event(_ texts: [Language: Texts]) -> KioskEvent? {
        switch self {
        case .captured(let row): KioskEvent(name: "captured", data: row.json)
        case .known(let row, _): KioskEvent(name: "known", data: row.json)
        case .refused(let event, let refusal):
            Self.refused(event.raw ?? "", event.kind) { language in
                refusal.flatMap { texts[language]?.message(for: $0) } ?? event.reason ?? ""
            }
        case .notCaptured(let detections, let error):
            Self.refused(detections.first?.raw ?? "", .isbn) { language in
                texts[language].map { $0("refusals.notCaptured", ["reason": $0.reason(of: error)]) }
                    ?? "not captured: \(error)"
            }
        case .batch: KioskEvent(name: "batch", data: .object([]))
        case .camera(let state): KioskEvent(name: "camera") { language in texts[language].map(state.json) ?? .null }
        case .view(let view): KioskEvent(name: "glance", data: view.json)
        case .captureWaits, .saved, .settled, .failed, .inputEnded, .sourceEnded, .scannerReady, .scannerFailed: nil
        }
    }

    private static func refused(
        _ payload: String, _ kind: CodeKind?, _ reason: @escaping @Sendable (Language) -> String
    ) -> KioskEvent {
        let payload = String(payload.cleanedLine.prefix(200))
        return KioskEvent(name: "refused") { language in
            ["payload": .string(payload), "kind": JSONValue(kind?.rawValue), "reason": .string(reason(language))]
        }
    }
}

extension Station.CameraView {
    fileprivate var json: JSONValue {
        [
            "width": .integer(width), "height": .integer(height),
            "symbols": .array(
                symbols.map { corners in .array(corners.map { .array([.integer($0.x), .integer($0.y)]) }) }),
            "hint": JSONValue(hint?.rawValue), "framesPerSecond": .integer(framesPerSecond),
        ]
    }
}

extension Corners {
    /// The corners in pixels, as whole numbers.
    var json: JSONValue { .array(all.map { .array([.integer(Int($0.x)), .integer(Int($0.y))]) }) }
}
