import Bookplate
import Foundation
import Station

/// Lays out the live screen for the available rows and columns. From top to bottom, the screen shows the camera, a card
/// with the last capture, the preset, the batch with the newest book first, a message, the counts and the keys.
struct LiveScreen {
    let state: LiveState
    let columns: Int
    let rows: Int
    /// Formats the time of day of a capture, such as "12:41".
    var timeOfDay: (Date) -> String = { $0.clockTime(in: .current) }

    /// True if there is room for horizontal rules and a full card.
    private var isRoomy: Bool { rows >= 18 }

    /// Returns the screen as exactly `rows` lines.
    func lines() -> [ScreenLine] {
        let top = topLines()
        let bottom = messageLines + [countsLine, LiveKeys(state: state).line(columns: columns)]
        let room = max(0, rows - top.count - bottom.count)
        let lines = top + middle(room) + bottom
        return Array(lines.suffix(rows))
    }

    private func middle(_ room: Int) -> [ScreenLine] {
        let lines: [ScreenLine] =
            switch state.mode {
            case .list, .number: cardAndList(room)
            case .help: LiveKeys.help(columns: columns, rows: room)
            case .edit(let id, let form): editLines(id, form, room)
            case .editions(_, _, let list):
                [.rule("Find by title", columns: columns)]
                    + list.lines(width: columns).map { ScreenLine($0.text, $0.ink) }
            case .preset(let form): presetLines(form)
            }
        return Array(lines.prefix(room)) + Array(repeating: .empty, count: max(0, room - lines.count))
    }

    // MARK: Top

    private func topLines() -> [ScreenLine] {
        var right: [ScreenLine.Piece] = []
        if let hub = state.hub { right.append(.init(" \(hub.summary.text)", hub.summary.ink)) }
        if state.isOffline { right.append(.init(" ○ offline", .faint)) }
        if state.isMuted { right.append(.init(" muted", .faint)) }
        let name = ScreenLine.Piece("Bookplate  ", .strong)
        switch state.camera {
        case .starting: return [ScreenLine([name, .init("○ starting the camera …", .faint)], right: right)]
        case .ended:
            let text = state.isStream ? "○ the stream ended" : "○ the camera is off"
            return [ScreenLine([name, .init(text, .faint)], right: right)]
        case .streaming(let camera, let format):
            var facts = " \(format.width)x\(format.height) \(format.pixelFormat.rawValue)"
            if state.framesPerSecond > 0 { facts += " \(Int(state.framesPerSecond.rounded())) fps" }
            return [ScreenLine([name, .init("● ", .new), .init(camera), .init(facts, .faint)], right: right)]
        case .failed(let error):
            let reason = error.description.oneLine.wrapped(columns - 2).prefix(isRoomy ? 3 : 1)
            return [ScreenLine([name, .init("▲ \(error.kind.word)", .attention)], right: right)]
                + reason.map { ScreenLine("  \($0)", .attention) }
        }
    }

    // MARK: The card and the list

    private func cardAndList(_ room: Int) -> [ScreenLine] {
        var lines: [ScreenLine] = isRoomy ? [.rule(columns: columns)] : []
        lines += LiveCard(state: state, columns: columns, timeOfDay: timeOfDay).lines(isRoomy ? 6 : 4)
        if isRoomy { lines.append(.rule(columns: columns)) }
        lines.append(presetLine)
        return lines + LiveList(state: state, columns: columns).lines(room - lines.count, isTitled: isRoomy)
    }

    /// The line with the preset and the camera's hint, or only the hint if there is no room for both.
    private var presetLine: ScreenLine {
        let preset = [ScreenLine.Piece("  "), .init(state.batch.preset.line, .faint)]
        guard let hint = state.hint.map({ ScreenLine.Piece("▲ \($0.text) ", .attention) }) else {
            return ScreenLine(preset)
        }
        return columns - hint.text.columns < 30 ? ScreenLine([.init("  "), hint]) : ScreenLine(preset, right: [hint])
    }

    // MARK: Forms

    private func editLines(_ id: ID<QueueItem>, _ form: EditForm, _ room: Int) -> [ScreenLine] {
        let number = state.batch[id]?.candidate.item.isbn.hyphenated ?? ""
        let fields = form.rows
        let position = fields.firstIndex(where: \.isBeingEdited) ?? 0
        let notes = notes(form.note, keys: EditForm.keys(hasFind: true))
        // If there is no room for all fields, those around the one that is being edited are shown.
        let most = max(1, min(fields.count, room - notes.count - 1))
        let first = min(max(0, position - most / 2), fields.count - most)
        let place = most < fields.count ? ", field \(position + 1) of \(fields.count)" : ""
        return [.rule("Edit \(number)\(place)", columns: columns)]
            + fields[first..<first + most].map { field($0.label, $0.text, $0.isBeingEdited ? form.editor : nil) }
            + notes
    }

    private func presetLines(_ form: PresetForm) -> [ScreenLine] {
        var lines: [ScreenLine] = [.rule("Preset of this batch", columns: columns)]
        for (index, (label, text)) in zip(PresetForm.labels, form.texts).enumerated() {
            let isBeingEdited = index == form.index
            // A field that is no text has its cursor at the end.
            let editor = form.editor ?? LineEditor(label: "", text: text)
            lines.append(field(label, text, isBeingEdited ? editor : nil))
        }
        return lines
            + notes(
                form.note,
                keys: "Enter: next field; after the last field, use the preset for all unsaved books. Esc: cancel.")
    }

    /// Returns the note of a form, or else its keys, below an empty line.
    private func notes(_ note: String?, keys: String) -> [ScreenLine] {
        let lines = (note ?? keys).wrapped(columns - 2)
        return [.empty] + lines.map { ScreenLine("  \($0)", note == nil ? .faint : .attention) }
    }

    /// - Parameter editor: the editor of the field; nil if the field is not being edited.
    private func field(_ label: String, _ text: String, _ editor: LineEditor?) -> ScreenLine {
        guard let editor else { return ScreenLine([.init("  \(label): ", .faint), .init(text)]) }
        let head = "▸ \(label): "
        return ScreenLine([.init(head, .strong)] + editor.pieces(room: max(4, columns - head.columns)))
    }

    // MARK: Bottom

    /// The lines of the message. A long message is not cut but takes several lines, because its end says what to do
    /// next.
    private var messageLines: [ScreenLine] {
        var lines: [ScreenLine] = []
        if case .number(let entry) = state.mode {
            let verdict = entry.verdict
            let head = "  ISBN: "
            let room = max(4, columns - head.columns - 2)
            lines = [
                ScreenLine(
                    [.init(head, .strong)] + entry.editor.pieces(room: min(41, room))
                        + [.init("  "), .init(verdict.text, verdict.ink)])
            ]
            guard isRoomy else { return lines }
        }
        if let message = state.message {
            lines += message.text.oneLine.wrapped(columns - 2).prefix(isRoomy ? 3 : 1).map {
                ScreenLine("  \($0)", message.ink)
            }
        }
        // The error is shown as long as it lasts. If there is no room for the message and the error, only the message
        // is shown.
        if let error = state.captureError, isRoomy || lines.isEmpty {
            lines += error.oneLine.wrapped(columns - 2).prefix(isRoomy ? 3 : 1).map {
                ScreenLine("  \($0)", .problem)
            }
        }
        return lines.isEmpty ? [.empty] : lines
    }

    private var countsLine: ScreenLine {
        let counts = state.batch.counts.line
        var left = "  " + (counts.isEmpty ? "Nothing captured yet" : counts)
        if !state.pending.isEmpty { left += " · \(state.pending.count) not on disk yet" }
        guard state.earlier > 0 else { return ScreenLine(left) }
        let waiting = "\(state.earlier) waiting from earlier runs"
        let advice = state.hub == nil ? "'scan intake confirm'" : "the hub's Intake page shows them"
        let right = [waiting + " (\(advice)) ", waiting + " "].first { left.columns + $0.columns + 1 <= columns }
        return ScreenLine([.init(left)], right: right.map { [.init($0, .faint)] } ?? [])
    }
}
