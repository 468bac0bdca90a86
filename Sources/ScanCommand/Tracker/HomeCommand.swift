import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct HomeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home", abstract: "Show the books that you are reading, and those that you finished last.",
        discussion: """
            Shows each book that you are reading with its progress and the day on which
            you will probably finish it. The book with the latest activity comes first.
            Below them are the five books that you finished last.

              scan home
              scan home --json
            """)

    @Option(name: [.customShort("n"), .long], help: "The maximum number of books to show under 'Reading now'.")
    var limit = 20
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let library = try Wiring(settings: paths.settings()).openExistingLibrary()
        let home = try await library?.home(limit: limit, at: now, in: zone) ?? Home(at: now, in: zone)
        if output.json { return Output.shared.printLine(home.json) }
        Output.shared.printLine(Charts.forOutput.text(of: HomeScreen(home: home, charts: .forOutput, zone: zone).lines))
    }
}

extension Home {
    /// The empty home page for a user who has no library yet.
    init(at now: Date, in zone: TimeZone) {
        self.init(today: CalendarDay(now, in: zone), readingNow: [], readingCount: 0, recentlyRead: [])
    }
}
