import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// The Intake page, which shows the captured books that wait for a person's decision. Books that one station captured
/// on one day are shown together, so that they are easier to find.
struct IntakePage: Sendable {
    let parts: KioskParts
    /// The number of candidates that the page shows above its "more" link.
    private static let candidates = 120

    var routes: [Route] { [Route(.get, "/intake", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let rowViews = ScanRowView(
            texts: texts, zone: parts.ports.zone, preset: await parts.preset(of: context), device: parts.ports.device)
        let snapshot = await parts.ports.station.snapshot(limit: ScanPage.maxRows)
        let open = snapshot.rows.filter(\.isOpen)
        let isWhole = request.uri.queryParameters["all"] != nil
        let shown = Set((isWhole ? open : Array(open.prefix(Self.candidates))).map(\.id))

        var view: View = ["isEmpty": open.isEmpty]
        let groups = Self.groups(snapshot.rows, in: parts.ports.zone)
        view["groups"] = groups.enumerated().compactMap { number, group -> View? in
            let names = group.rows.map { rowViews.name($0) }
            let items = group.rows.indices.filter { shown.contains(group.rows[$0].id) }.map { index in
                rowViews.candidate(
                    group.rows[index], before: index > 0 ? names[index - 1] : nil,
                    after: index + 1 < names.count ? names[index + 1] : nil)
            }
            guard !items.isEmpty else { return nil }
            let isToday = group.day == CalendarDay(parts.ports.now(), in: parts.ports.zone)
            return [
                "number": number, "day": isToday ? texts("intake.today") : texts.day(group.day),
                "device": parts.deviceLabel(group.device, texts), "items": items,
            ]
        }
        if !open.isEmpty { view["total"] = texts("intake.count", count: open.count) }
        if open.count > shown.count {
            view["more"] = texts("intake.more", count: open.count - shown.count)
            view["moreAddress"] = "/intake?all=1"
        }
        if let undo = snapshot.nextUndo {
            view["undo"] = rowViews.undoLabel(for: undo)
            view["undoChange"] = undo.change.rawValue
            view["undoBody"] = undo.requestBody
        }
        view.merge(ScanPage.clearView(open, texts)) { $1 }
        let ticked = Array(open.filter(\.isTicked).reversed().prefix(ScanPage.maxNamedItems))
        if !ticked.isEmpty {
            let ids = JSONValue(ticked.map(\.id.rawValue))
            view["saveIDs"] = ids.text
            view["tickedBody"] = JSONValue.object([(key: "ids", value: ids)]).text
            view["save"] = texts("scan.saveMany", count: ticked.count)
            view["skipTicked"] = texts("intake.skipMany", count: ticked.count)
        }
        return try await parts.pages.render(
            Pages.Page(template: "intake", title: texts("layout.intake"), tab: .intake, view: view), context)
    }

    /// The books that one station captured on one day.
    struct Group: Equatable {
        var day: CalendarDay
        var device: String
        /// The rows in the order of capture. Saved and skipped rows are included, because their books still lie in the
        /// pile between the books that wait.
        var rows: [Station.Row]
    }

    /// Groups rows by day and station.
    ///
    /// - Parameter rows: the rows in any order.
    /// - Returns: the groups, beginning with the group of the newest row.
    static func groups(_ rows: [Station.Row], in zone: TimeZone) -> [Group] {
        var groups: [Group] = []
        var indexes: [String: Int] = [:]
        for row in rows.sorted(by: { $0.candidate.item.captured > $1.candidate.item.captured }) {
            let item = row.candidate.item
            let day = CalendarDay(item.captured, in: zone)
            let key = "\(day) \(item.device)"
            if let index = indexes[key] {
                groups[index].rows.append(row)
            } else {
                indexes[key] = groups.count
                groups.append(Group(day: day, device: item.device.cleanedLine, rows: [row]))
            }
        }
        for index in groups.indices { groups[index].rows.reverse() }
        return groups
    }
}

extension KioskParts {
    /// Returns the label for the station that captured a book: "This station" for this one, otherwise its name.
    func deviceLabel(_ device: String, _ texts: Texts) -> String {
        device == ports.device?.cleanedLine ? texts("intake.thisStation") : device
    }
}
