import Bookplate
import Hummingbird

/// The Import page. It shows one state of the import at a time: the choice of a file, the progress of the dry run, what
/// the import would do, its progress, or its result. Below, it lists the last imports, each with a button to undo it.
struct ImportPage: Sendable {
    let parts: KioskParts

    /// The number of flagged and refused rows, and of new books, that the page shows at first.
    private static let shownRows = 50
    /// The number of changes among which the last imports are found, and of imports that are listed.
    private static let (searchedChanges, shownImports) = (200, 5)

    var routes: [Route] { [Route(.get, "/import", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let summaries = parts.pages.changeTexts(context)
        let changes = try await context.library.changes(limit: Self.searchedChanges).filter { $0.kind == .importing }
        let job = await parts.imports.job
        let isWhole = try request.queryValue("all") != nil
        let recent = changes.filter { $0.id != job?.change }.prefix(Self.shownImports)
        var view: View = [
            "phase": job?.phase.rawValue ?? "none", "maxBytes": String(ImportAPI.maxBytes),
            "recent": recent.map { undoView($0, summaries, texts) }, "hasRecent": !recent.isEmpty,
        ]
        if let job {
            let change = changes.first { $0.id == job.change }
            var shown = jobView(job, isUndone: change?.undone != nil, context, isWhole: isWhole, texts)
            if let change { shown["undo"] = undoView(change, summaries, texts) }
            view["job"] = shown
        }
        // A page that was opened for a file that is gone says so: the service has been restarted, or another file was
        // sent.
        if let id = try request.queryValue("file"), id != job?.id.rawValue { view["isGone"] = true }
        return try await parts.pages.render(
            Pages.Page(template: "import", title: texts("import.title"), tab: .settings, view: view), context)
    }

    private func jobView(
        _ job: ImportDesk.Job, isUndone: Bool, _ context: KioskContext, isWhole: Bool, _ texts: Texts
    ) -> View {
        var view: View = [
            "id": job.id.rawValue, "fileName": job.order.name, "size": String(max(1, job.size)),
            "read": String(job.bytesRead), "isRunning": job.phase == .checking || job.phase == .importing,
            "running": texts(job.phase == .importing ? "import.importing" : "import.checking"),
            "isChecking": job.phase == .checking, "isChecked": job.phase == .checked, "isDone": job.phase == .done,
            "isFailed": job.phase == .failed, "counts": counts(job, texts), "hasCounts": job.summary != ImportSummary(),
            "isEmpty": job.summary == ImportSummary(), "isUndone": isUndone,
        ]
        if let format = job.format { view["format"] = label(of: format, texts) }
        if let failure = job.failure {
            view["failure"] = texts.reason(of: failure)
            view["canContinue"] = job.hasBegun
            if let error = failure as? ExchangeError, case .unknownColumns = error { view["asksFormat"] = true }
        }
        view["problems"] = problems(
            job, isWhole: isWhole, areLinks: job.phase == .done && !isUndone, parts.pages.importReasons(context), texts)
        let rest = job.problemCount - (isWhole ? job.problems.count : min(job.problems.count, Self.shownRows))
        if rest > 0 {
            view["more"] = texts("import.more", count: rest)
            if !isWhole, job.problems.count > Self.shownRows { view["moreAddress"] = "/import?all=1" }
        }
        if job.problemCount > 0 { view["problemTitle"] = texts("import.problems", count: job.problemCount) }
        if job.phase == .checked || job.phase == .failed && !job.hasBegun {
            view["choices"] = choices(job, context, texts)
        }
        if job.phase == .checked, job.summary.new + job.summary.merged + job.summary.others > 0 {
            view["start"] = texts("import.start", count: job.summary.new + job.summary.merged)
        }
        if job.phase == .done, !isUndone {
            let shown = isWhole ? job.added[...] : job.added.prefix(Self.shownRows)
            view["added"] = shown.map { row($0, isLink: true, texts) }
            view["hasAdded"] = !shown.isEmpty
            let more = job.summary.new - shown.count
            if more > 0 { view["moreAdded"] = texts("import.moreAdded", count: more) }
            if shown.count < job.added.count { view["moreAddedAddress"] = "/import?all=1" }
        }
        return view
    }

    private func counts(_ job: ImportDesk.Job, _ texts: Texts) -> [View] {
        let summary = job.summary
        let all: [(String, Int)] = [
            ("new", summary.new), ("merged", summary.merged), ("unchanged", summary.unchanged),
            ("flagged", summary.flagged), ("refused", summary.refused), ("others", summary.others),
        ]
        return all.filter { $0.1 > 0 || $0.0 == "new" }.map { name, count in
            ["number": texts.grouped(count), "label": texts("import.\(name)"), "kind": name]
        }
    }

    private func problems(
        _ job: ImportDesk.Job, isWhole: Bool, areLinks: Bool, _ importReasons: ImportReasons, _ texts: Texts
    ) -> [View] {
        let shown = isWhole ? job.problems[...] : job.problems.prefix(Self.shownRows)
        return shown.map { result in
            var view = row(result, isLink: areLinks, texts)
            var reasons = result.doubts
            if case .refused(let reason) = result.outcome {
                reasons.insert(reason, at: 0)
                view["isRefused"] = true
            }
            view["reasons"] = reasons.map { reason -> View in
                let (text, language) = importReasons.text(of: reason)
                return ["reason": LibraryHit.short(text), "reasonLanguage": language.rawValue]
            }
            view["number"] = texts("import.row", ["n": texts.grouped(result.row)])
            return view
        }
    }

    private func row(_ result: ImportResult, isLink: Bool, _ texts: Texts) -> View {
        var view: View = ["name": result.title.map(LibraryHit.short) ?? ""]
        if isLink, let copy = result.copy { view["href"] = "/books/\(copy.rawValue)" }
        return view
    }

    private func choices(_ job: ImportDesk.Job, _ context: KioskContext, _ texts: Texts) -> View {
        let preset = job.order.preset
        let chosen = job.order.format
        var view: View = [
            // Bookplate's own JSON says itself whose the books are and where they stand.
            "hasPreset": job.format != .json, "shelf": preset.shelf ?? "", "tags": preset.tags.joined(separator: ", "),
            "isOwned": preset.isOwned,
            "formats": ExchangeFormat.allCases.filter { $0 != .json }.map { format -> View in
                ["value": format.rawValue, "label": label(of: format, texts), "isChosen": format == chosen]
            },
        ]
        if context.readers.count > 1 {
            view["hasReaders"] = true
            view["readers"] = context.readers.map { reader -> View in
                ["value": reader.id.rawValue, "label": texts.name(of: reader), "isChosen": reader.id == job.reader]
            }
        }
        return view
    }

    private func label(of format: ExchangeFormat, _ texts: Texts) -> String {
        switch format {
        case .goodreads, .storyGraph, .libraryThing, .openreads: format.displayName
        case .csv, .json: texts("import.format_\(format.rawValue)")
        }
    }

    private func undoView(_ change: Change, _ summaries: ChangeTexts, _ texts: Texts) -> View {
        let (summary, language) = summaries.summary(of: change)
        var view: View = [
            "summary": summary, "summaryLanguage": language.rawValue,
            "when": texts.instant(change.at, in: parts.ports.zone),
            "undoBody": JSONValue.object([(key: "change", value: .string(change.id.rawValue))]).text,
            "undoLabel": texts("settings.undoNamed", ["summary": summary]),
            "redoLabel": texts("settings.redoNamed", ["summary": summary]),
        ]
        if let undone = change.undone {
            view["undone"] = texts("settings.undone", ["when": texts.instant(undone, in: parts.ports.zone)])
            view["canRedo"] = change.canBeRedone
        } else {
            view["canUndo"] = true
        }
        return view
    }
}
