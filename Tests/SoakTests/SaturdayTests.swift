import FaultServer
import Foundation
import LibraryMaker
import Synchronization
import TestTools
import Testing

/// Days of work on one library, all at once: books held up to two cameras, numbers typed into two browsers, photos,
/// another station behind a bad connection, sources that fail, and a service that is killed again and again.
@Suite(.serialized) struct `A Saturday at the shelf` {
    private static let hasBrowser = ProcessInfo.processInfo.environment["BOOKPLATE_BROWSER"] == "1"
    /// The length of the long test; BOOKPLATE_SOAK_MINUTES sets another than an hour.
    private static let minutes =
        ProcessInfo.processInfo.environment["BOOKPLATE_SOAK_MINUTES"].flatMap(Double.init) ?? 60

    @Test(.timeLimit(.minutes(30)))
    func `loses and doubles nothing, whatever is killed or cut`() async throws {
        let soak = try await Soak(days: [Day(0, books: 120)])
        try await soak.run(0, killing: 1...3, patience: .seconds(20))
        try await soak.end()
    }

    @Test(.enabled(if: isLong, "takes an hour: BOOKPLATE_LONG_TESTS=1"), .timeLimit(.minutes(180)))
    func `for an hour loses and doubles nothing, and the service does not grow`() async throws {
        // With a large library, the caches of SQLite have their full size from the first minutes.
        let soak = try await Soak(days: (1...100).map { Day($0, books: 500) }, present: 20_000)
        let browsers = try Self.hasBrowser ? [soak.kept, soak.killed].map(Browser.init) : []
        print("\(browsers.count) browsers")
        let end = ContinuousClock.now + .seconds(60 * Self.minutes)
        var day = 0
        while ContinuousClock.now < end, day < soak.days.count {
            try await soak.run(day, killing: 15...45, patience: .seconds(30))
            try await soak.night(after: day)
            day += 1
        }
        let shown = soak.days[..<day].reduce(0) { $0 + $1.shown.joined().count }
        print("\(shown) codes in the frames of \(day) days")
        #expect(shown >= 5000 || Self.minutes < 60)
        for browser in browsers { try await browser.close() }
        // The service warms up in the first ten minutes.
        let warmUp = min(10, Self.minutes / 2)
        let gauges = soak.gauges.all.filter { $0.hours > warmUp / 60 }
        let expected = Duration.seconds(60 * (Self.minutes - warmUp)) / Measurements.pause
        #expect(Double(gauges.count) > expected / 2, "the service was measured all the time")
        for (name, value) in Gauges.columns {
            let growth = gauges.growth(of: value)
            let rest = gauges.atRest(value).map { String(Int($0.value)) }.joined(separator: " ")
            let most = gauges.reduce(0) { max($0, $1[keyPath: value]) }
            print("\(name): at rest \(rest); at most \(Int(most)); grows \(growth * 100)% an hour")
            #expect(growth < 0.01, "\(name)")
        }
        print("log of the service: \(try Data(contentsOf: soak.kept.log).count) bytes after \(day) days")
        try await soak.end()
    }
}

/// The household with everything that works in it.
private final class Soak: Sendable {
    let days: [Day]
    /// The service that runs from beginning to end, and whose growth is measured.
    let kept: Service
    /// The service that is killed. It is also the hub of the station in the attic.
    let killed: Service
    let gauges = Measurements()
    private let household: Household
    private let attic: Household
    private let hub: String
    private let sources: FaultServer
    private let proxy: CutProxy
    private let ledger = Ledger()
    private let measuring: Task<Void, any Error>
    private let photos: [Data]
    /// The ISBNs of the books that were deleted after earlier days.
    private let cleared = Mutex<Set<String>>([])

    /// - Parameter present: the number of books that the library has at the beginning.
    init(days: [Day], present: Int = 0) async throws {
        self.days = days
        sources = try unreliableSources()
        household = try Household(sources: sources.address)
        if present > 0 { try await makeLibrary(at: household.library, copies: present) }
        attic = try Household(sources: nil)
        let dump = household.folder.appendingPathComponent("editions.txt")
        try Data(Day.dump(days).utf8).write(to: dump)
        for home in [household, attic] {
            try #require(try await home.scan("index", "build", dump.path, "--out", home.index).status == 0)
        }
        photos = try ["frontal.jpg", "three-books.jpg", "no-code-table.jpg", "glare.jpg", "strong-blur.jpg"].map {
            try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/" + $0))
        }
        try #require(try await household.scan("kiosk", "code", input: "kumquat 7\n").status == 0)
        let (kept, killed) = (try Service(household, named: "kept"), try Service(household, named: "killed"))
        (self.kept, self.killed) = (kept, killed)
        try await kept.start()
        try await killed.start()
        proxy = try CutProxy(to: killed.port) { _, _ in
            UInt8.random(in: 0..<8) == 0 ? CutProxy.Cut.allCases.randomElement() : nil
        }
        hub = proxy.address
        let paired = try await attic.scan("hub", "pair", killed.address, "--name", "attic", input: "kumquat 7\n")
        try #require(paired.status == 0)
        // From now on, the station reaches the hub through the proxy only.
        let hubs = attic.folder.appendingPathComponent(".config/bookplate/hub.json")
        let direct = try String(contentsOf: hubs, encoding: .utf8)
        try direct.replacingOccurrences(of: ":\(killed.port)", with: ":\(proxy.port)")
            .write(to: hubs, atomically: true, encoding: .utf8)
        let (gauges, library, begin) = (gauges, household.library, ContinuousClock.now)
        measuring = Task { [weak kept] in
            while let id = kept?.id {
                let hours = (ContinuousClock.now - begin) / .seconds(3600)
                if let now = Gauges(of: id, library: library, hours: hours) { gauges.add(now) }
                try await Task.sleep(for: Measurements.pause)
            }
        }
    }

    /// Runs one day to its end, and compares the library with what the screens have shown.
    ///
    /// - Parameters:
    ///   - pause: the range of the seconds between two kills.
    ///   - patience: the time after which a book without a title is skipped at the end of the day.
    func run(_ number: Int, killing pause: ClosedRange<Int>, patience: Duration) async throws {
        let day = days[number]
        let (closing, seed) = (Closing(), UInt64(number))
        let readers = [kept, killed].map { Reader(service: $0, ledger: ledger, photos: photos) }
        try await withThrowingTaskGroup(of: Void.self) { people in
            for (index, reader) in readers.enumerated() {
                people.addTask { try await reader.work(until: closing, seed: seed &* 2 &+ UInt64(index)) }
                people.addTask { try await reader.lookTogether() }
            }
            people.addTask { [killed, ledger] in
                try await Killer(service: killed, ledger: ledger).work(until: closing, seed: seed, every: pause)
            }
            try await withThrowingTaskGroup(of: Void.self) { work in
                for (service, books) in zip([kept, killed], day.shown) {
                    work.addTask { [ledger] in try await Shelver(service: service, ledger: ledger).show(books) }
                }
                for (reader, numbers) in zip(readers, day.typed) { work.addTask { try await reader.type(numbers) } }
                let station = Attic(household: attic, hub: hub, ledger: ledger)
                work.addTask { try await station.capture(day.delivered, killing: SplitMix(seed: seed)) }
                do { try await work.waitForAll() } catch {
                    closing.close()
                    throw error
                }
            }
            closing.close()
            try await people.waitForAll()
        }
        for reader in readers { try await reader.finish(patience: patience) }
        try await check(number)
    }

    /// Deletes the books of the day for good, so that every Saturday begins with a library of the same size. Then
    /// leaves the services alone until the threads that have nothing to do end and unused memory is returned, so that
    /// each three minutes contain a time at rest. The browsers stay open.
    func night(after number: Int) async throws {
        let known = Set(days[...number].flatMap(\.all)).union(ledger.captured)
        let books = try await household.objects("library", "list").filter { book in
            (book["isbn13"] as? String).map(known.contains) ?? false
        }
        let isbns = books.compactMap { $0["isbn13"] as? String }
        ledger.clear(isbns)
        cleared.withLock { $0.formUnion(isbns) }
        let ids = books.compactMap { $0["id"] as? String }
        try #require(try await household.scan(["library", "delete"] + ids + ["--yes"]).status == 0)
        try #require(try await household.scan("library", "purge", "--all", "--yes").status == 0)
        try await Task.sleep(for: .seconds(30))
    }

    private func check(_ number: Int) async throws {
        let items = try await household.objects("intake", "list", "--all")
        let books = try await household.objects("library", "list")
        func isbns(_ objects: [[String: Any]]) -> [String] { objects.compactMap { $0["isbn13"] as? String } }
        let expected = Set(days[...number].flatMap(\.all))
        // Without the books that the library had at the beginning. Those in the photos are captured, too.
        let known = expected.union(ledger.captured)
        let (captured, present) = (Set(isbns(items)), isbns(books).filter(known.contains))
        #expect(expected.subtracting(ledger.captured).isEmpty, "every book was shown as captured")
        #expect(ledger.captured.subtracting(captured).isEmpty, "what was shown as captured is in the queue")
        #expect(ledger.saved.subtracting(present).isEmpty, "what was shown as saved is in the library")
        #expect(present.count == Set(present).count, "no book is there twice")
        let confirmed = isbns(items.filter { $0["state"] as? String == "confirmed" })
        let missing = Set(confirmed).subtracting(present).subtracting(cleared.withLock(\.self))
        #expect(missing.isEmpty, "every confirmed item has its book")
        #expect(try await household.scan("backup").status == 0, "the library is sound")
        print(
            "day \(number): \(present.count) books, \(items.count) items; \(ledger.counts.sorted { $0.key < $1.key })")
        if let now = gauges.all.last { print(Gauges.columns.map { "\($0.name) \(now[keyPath: $0.path])" }) }
    }

    func end() async throws {
        measuring.cancel()
        #expect(ledger.counts["services killed", default: 0] > 0, "a service was killed")
        #expect(ledger.counts["saved", default: 0] > 0, "books were saved")
        #expect(try await kept.stop() == 0)
        #expect(try await killed.stop() == 0)
        sources.stop()
        try attic.remove()
        try household.remove()
    }
}
