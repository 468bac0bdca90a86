import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct `The rotation of backups` {
    private let rotation = BackupRotation(prefix: "library-")
    private let day = 86_400.0

    /// Returns the names of one backup per day, newest first.
    private func daily(_ days: some Sequence<Int>, from now: Date = noon) -> [String] {
        days.map { rotation.name(at: now.addingTimeInterval(-Double($0) * day)) }
    }

    private func kept(_ names: [String], now: Date = noon) -> [String] {
        let surplus = Set(rotation.surplus(names.reversed(), now: now))
        return names.filter { !surplus.contains($0) }
    }

    @Test func `keeps the newest of the last seven days and of the last four weeks`() {
        // 2026-11-21 is a Saturday. Its week began 5 days earlier, and the weeks before it ended 6, 13 and 20 days
        // earlier.
        #expect(kept(daily(0..<60)) == daily([0, 1, 2, 3, 4, 5, 6, 13, 20]))
    }

    @Test func `counts days and weeks that have a backup, not those that have none`() {
        let names = daily([0, 3, 40, 41, 100, 200, 300, 400, 500, 600])
        #expect(kept(names) == daily([0, 3, 40, 41, 100, 200, 300]))
    }

    @Test func `keeps the newest of one day`() {
        let names = (0..<10).map { rotation.name(at: noon.addingTimeInterval(-Double($0) * 600)) }
        #expect(kept(names) == [names[0]])
    }

    @Test(arguments: [0, 1, 6, 9, 10, 25, 365, 4000])
    func `never removes everything or the newest`(count: Int) {
        let names = daily(0..<count)
        let left = kept(names)
        #expect(left.first == names.first)
        #expect(left.count == min(count, 9) || count == 9 || count == 10)
    }

    @Test(arguments: [
        "library.sqlite", "library-2026-11-01.sqlite", "my library-2026-11-01T120000Z.sqlite",
        "library-2026-11-01T120000Z.sqlite.old", "library-2026-11-31T120000Z.sqlite",
        "library-2026-11-01T240000Z.sqlite", "library-raspi-2026-11-01T120000Z.sqlite", "library-before-import.sqlite",
        "Library-2026-11-01T120000Z.sqlite", "library-２026-11-01T120000Z.sqlite", "", "library-",
    ])
    func `leaves files with other names alone`(name: String) {
        #expect(rotation.instant(of: name) == nil)
        #expect(!rotation.surplus(daily(0..<60) + [name], now: noon).contains(name))
    }

    @Test func `reads the names that it writes`() {
        for second in stride(from: 0.0, to: 4e9, by: 12_345_677) {
            let instant = Date(timeIntervalSince1970: second)
            #expect(rotation.instant(of: rotation.name(at: instant)) == instant)
        }
    }

    @Test func `a clock far behind removes no good backup`() {
        let good = daily(0..<9)
        // The clock of a Raspberry Pi without a network starts in 1970, and the Pi makes some backups, one per day.
        var names = good
        for day in 0..<30 {
            let now = Date(timeIntervalSince1970: Double(day) * 86_400)
            names.append(rotation.name(at: now))
            names = kept(names, now: now)
            #expect(names.contains(rotation.name(at: now)))
            #expect(names.starts(with: good))
        }
        // When the clock is right again, the oldest backups are removed. These are the backups from 1970.
        #expect(kept(names).starts(with: daily(0..<7)))
    }

    @Test func `a clock far ahead keeps good backups for weeks, and its own do no harm afterwards`() {
        let good = daily(0..<9)
        var names = good
        let later = noon.addingTimeInterval(3650 * day)
        for day in 0..<30 {
            let now = later.addingTimeInterval(Double(day) * self.day)
            names = kept([rotation.name(at: now)] + names, now: now)
            #expect(names.contains(good[0]) || day >= 20)
        }
        let fromAhead = Set(names)
        for day in 0..<30 {
            let now = noon.addingTimeInterval(Double(day + 1) * self.day)
            names = kept([rotation.name(at: now)] + names, now: now)
        }
        #expect(names.count { !fromAhead.contains($0) } >= 9)
    }
}
