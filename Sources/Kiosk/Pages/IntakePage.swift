import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// What was captured and waits for a person's answer, so that they find the books on the pile again.
struct IntakePage: Sendable {
    let parts: KioskParts
    /// Candidates before "more".
    private static let candidates = 120

    var routes: [Route] { [Route(.get, "/intake", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let rowViews = ScanRowView(texts: texts, zone: parts.ports.zone)
        let snapshot = await parts.ports.station.snapshot(limit: ScanPage.mostRows)
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
                "station": parts.shown(station: group.station, texts), "items": items,
            ]
        }
        if !open.isEmpty { view["total"] = texts("intake.count", count: open.count) }
        if open.count > shown.count {
            view["more"] = texts("intake.more", count: open.count - shown.count)
            view["moreAddress"] = "/intake?all=1"
        }
        if let undo = snapshot.nextUndo {
            view["undo"] = rowViews.words(for: undo)
            view["undoChange"] = undo.change.rawValue
            view["undoBody"] = undo.said
        }
        view.merge(ScanPage.clearing(open, texts)) { $1 }
        let ticked = Array(open.filter(\.isTicked).reversed().prefix(ScanPage.mostNamed))
        if !ticked.isEmpty {
            let ids = JSONValue(ticked.map(\.id.rawValue))
            view["saveIDs"] = ids.text
            view["tickedBody"] = JSONValue.object([(key: "ids", value: ids)]).text
            view["save"] = texts("scan.saveMany", count: ticked.count)
            view["skipTicked"] = texts("intake.skipMany", count: ticked.count)
        }
        return try await parts.pages.answer(
            Pages.Page(template: "intake", title: texts("layout.intake"), tab: .intake, view: view), context)
    }

    /// What one station captured in one day.
    struct Group: Equatable {
        var day: CalendarDay
        var station: String
        /// In the order of capture; answered ones, too, since they lie between the others on the pile.
        var rows: [Station.Row]
    }

    /// - Parameter rows: in any order.
    /// - Returns: the group with the newest row first.
    static func groups(_ rows: [Station.Row], in zone: TimeZone) -> [Group] {
        var groups: [Group] = []
        var places: [String: Int] = [:]
        for row in rows.sorted(by: { $0.candidate.item.captured > $1.candidate.item.captured }) {
            let item = row.candidate.item
            let day = CalendarDay(item.captured, in: zone)
            let key = "\(day) \(item.device)"
            if let place = places[key] {
                groups[place].rows.append(row)
            } else {
                places[key] = groups.count
                groups.append(Group(day: day, station: item.device.cleanedLine, rows: [row]))
            }
        }
        for place in groups.indices { groups[place].rows.reverse() }
        return groups
    }
}

extension KioskParts {
    /// A station by its name; this one, whose name is the machine's and tells a person nothing, as what it is.
    func shown(station: String, _ texts: Texts) -> String {
        station == ports.device?.cleanedLine ? texts("intake.thisStation") : station
    }
}
