import Bookplate
import FoundationEssentials
import Hummingbird

/// The result of replacing the library with a backup. The service has begun again since.
public struct RestoreOutcome: Sendable {
    public var backup: KeptBackup
    /// The time at which the restore ended.
    public var at: Date
    /// The number of books in the library now; `nil` if it was not replaced.
    public var books: Int?
    /// True if the access code was removed and stations were revoked, because the previous library could not be read.
    public var isAccessClosed = false
    /// The reason why the library was not replaced.
    public var error: (any Error)?

    public init(backup: KeptBackup, at: Date) { (self.backup, self.at) = (backup, at) }
}

/// The page that lists the library's backups. For one of them, it compares the backup with the library, and offers to
/// replace the library with it.
struct RestorePage: Sendable {
    let parts: KioskParts

    private static let (shownBackups, shownChanges, countedChanges) = (50, 20, 500)

    var routes: [Route] { [Route(.get, "/restore", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let maintenance = parts.ports.maintenance
        let backups = try await maintenance.backups()
        var view: View = [:]
        if let name = try request.queryValue("backup") {
            let changes = try await context.library.changes(limit: Self.countedChanges)
            let outcome = maintenance.restored.flatMap { $0.backup.name == name ? $0 : nil }
            // After a failure, and once the library has changed again, the backup can be restored again.
            let isOver =
                if let outcome { outcome.books != nil && !changes.contains { $0.at > outcome.at } } else { false }
            if let outcome, isOver || outcome.books == nil { view["outcome"] = outcomeView(outcome, texts) }
            if !isOver, let backup = backups.first(where: { $0.name == name }) {
                view["chosen"] = try await comparison(with: backup, changes, context, texts)
            }
            if view.isEmpty { throw RequestRefusal.notFound("backup") }
        } else {
            view["isList"] = true
            view["backups"] = backups.prefix(Self.shownBackups).map { rowView($0, texts) }
            view["hasBackups"] = !backups.isEmpty
        }
        var page = Pages.Page(template: "restore", title: texts("restore.title"), tab: .settings, view: view)
        if view["isList"] == nil { page.parent = .init(address: "/restore", title: page.title) }
        return try await parts.pages.render(page, context)
    }

    private func rowView(_ backup: KeptBackup, _ texts: Texts) -> View {
        [
            "when": texts.instant(backup.at, in: parts.ports.zone), "size": texts.megabytes(backup.bytes),
            "books": backup.books.map { texts("common.books", count: $0) } ?? "",
            "address": "/restore?backup=" + PercentEncoding.encoded(backup.name),
        ]
    }

    /// - Parameter newest: the newest changes, at most ``countedChanges``.
    private func comparison(
        with backup: KeptBackup, _ newest: [Change], _ context: KioskContext, _ texts: Texts
    ) async throws -> View {
        var all = BookQuery()
        (all.limit, all.countLimit) = (1, .max)
        let books = try await context.library.books(matching: all).total
        // The time in a backup's name is rounded down to a second.
        let end = backup.lastChange ?? backup.at
        let changes = newest.filter { $0.at > end && $0.undone == nil }
        let areAllKnown = newest.count < Self.countedChanges || newest.contains { $0.at <= end }
        var view = rowView(backup, texts)
        view["now"] = texts("common.books", count: books)
        view["lost"] =
            changes.isEmpty
            ? texts("restore.nothingLost")
            : areAllKnown
                ? texts("restore.lost", count: changes.count)
                : texts("restore.manyLost", ["count": texts.grouped(changes.count)])
        let summaries = parts.pages.changeTexts(context)
        view["changes"] = changes.prefix(Self.shownChanges).map { change -> View in
            let (summary, language) = summaries.summary(of: change)
            return [
                "summary": summary, "summaryLanguage": language.rawValue,
                "at": texts.instant(change.at, in: parts.ports.zone),
            ]
        }
        if changes.count > Self.shownChanges {
            view["moreChanges"] = texts("restore.more", count: changes.count - Self.shownChanges)
        }
        if parts.ports.maintenance.restore != nil {
            view["act"] = "POST /api/backups/\(PercentEncoding.encoded(backup.name))/restore"
        }
        view["question"] = texts(
            "restore.question", ["when": texts.instant(backup.at, in: parts.ports.zone)])
        return view
    }

    private func outcomeView(_ outcome: RestoreOutcome, _ texts: Texts) -> View {
        let when = texts.instant(outcome.backup.at, in: parts.ports.zone)
        guard let books = outcome.books else {
            let reason = outcome.error.map(texts.reason(of:)) ?? ""
            return ["isFailed": true, "text": texts("restore.failed", ["reason": reason])]
        }
        return [
            "text": texts("restore.done", ["books": texts("common.books", count: books), "when": when]),
            "isAccessClosed": outcome.isAccessClosed,
        ]
    }
}

extension Texts {
    /// Returns a size in megabytes with one decimal.
    fileprivate func megabytes(_ bytes: Int) -> String {
        self("restore.size", ["n": tenths(Double(bytes) / 1_000_000)])
    }
}

/// Lists backups, and replaces the library with one of them.
struct RestoreAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/backups", for: .household, list),
            Route(.post, "/api/backups/:name/restore", for: .household, restore),
        ]
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["backups": .array(try await parts.ports.maintenance.backups().map(\.json))])
    }

    /// Begins to replace the library. The service ends its requests, replaces the library and begins again; pages then
    /// reload.
    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let name = try context.parameters.require("name")
        guard let restore = parts.ports.maintenance.restore,
            let backup = try await parts.ports.maintenance.backups().first(where: { $0.name == name })
        else { throw RequestRefusal.notFound("backup") }
        do {
            try await restore(backup)
        } catch let refusal as any Refusal where refusal.code == "inUse" {
            throw RequestRefusal(
                .libraryInUse,
                "Another program on the station has the library open, such as 'scan' in a terminal. Close it and try again."
            )
        }
        return JSONResponse(backup.json, status: .accepted)
    }
}
