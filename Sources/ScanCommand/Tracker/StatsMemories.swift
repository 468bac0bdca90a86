import ArgumentParser
import Bookplate
import Foundation

struct StatsOnThisDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on-this-day",
        abstract: "What was started, finished or being read on this day a year ago and before.")
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let memories = try await places.stats().onThisDay(at: now, in: zone)
        let today = CalendarDay(now, in: zone)
        if output.json {
            return Output.shared.line(["today": JSONValue(today), "memories": .array(memories.map(\.json))])
        }
        Output.shared.line(Charts.forOutput.shown(MemoryScreen(memories: memories, charts: .forOutput).lines))
    }
}

/// What this day remembers as lines, a few books a year.
struct MemoryScreen {
    let memories: [Memory]
    let charts: Charts
    private static let mostPerYear = 10

    var lines: [String] {
        guard !memories.isEmpty else {
            return "Nothing was started, finished or being read on this day in earlier years.".wrapped(charts.width)
        }
        var lines: [String] = []
        for year in Set(memories.map(\.yearsAgo)).sorted() {
            let ofYear = memories.filter { $0.yearsAgo == year }
            guard let first = ofYear.first else { continue }
            lines += (lines.isEmpty ? [] : [""])
            lines.append(
                charts.style.strong(year == 1 ? "A year ago, \(first.day)" : "\(year) years ago, \(first.day)"))
            for memory in ofYear.prefix(Self.mostPerYear) {
                let text =
                    "You \(memory.what.verb) \(memory.book.displayTitle.oneLine), \(memory.book.displayAuthors.oneLine)"
                lines.append("  " + text.fitted(charts.width - 2))
            }
            if ofYear.count > Self.mostPerYear { lines.append("  and \(ofYear.count - Self.mostPerYear) more") }
        }
        return lines
    }
}
