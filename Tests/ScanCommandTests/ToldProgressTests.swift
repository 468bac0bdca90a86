import Foundation
import Testing

@testable import ScanCommand

@Suite struct `Progress and sessions told afterwards` {
    private let when = When(
        now: Date(timeIntervalSince1970: 1_795_262_400), zone: TimeZone(identifier: "Europe/Berlin") ?? .gmt)

    @Test func `takes progress that is told afterwards, and shows the latest`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune", "--on", "2026-01-02")
            let past = try scan.run("reading", "page", "dune", "100", "--on", "2026-01-10", "--json").objects()
            #expect(past.first?["page"] as? Int == 100)
            try scan.run("reading", "percent", "dune", "50", "--on", "yesterday")
            let earlier = try scan.run("reading", "page", "dune", "20", "--on", "2026-01-03", "--json").objects()
            #expect(earlier.first?["percent"] as? Double == 50)
            let readings = try scan.run("reading", "history", "dune", "--json").objects()
            let entries = try #require(readings.first?["entries"] as? [[String: Any]])
            #expect(entries.map { $0["page"] as? Int } == [nil, 100, 20, 0])
            let begun = try scan.run("reading", "page", "odyssey", "5", "--on", "2026-01-05", "--json").objects()
            #expect(begun.first?["started"] as? String == "2026-01-05")
            for wrong in [["2999-01-01"], ["2026-01"], ["x"]] {
                #expect(try scan.run(["reading", "page", "dune", "9", "--on"] + wrong).status == 64)
            }
            let two = try scan.run("reading", "page", "dune", "5", "6")
            #expect(two.status == 64 && two.err.contains("one number"), "\(two.err)")
        }
    }

    @Test func `added with no minute to it names no option that is not there`() throws {
        try withTwoBooks { scan in
            let ending = try scan.run(
                "session", "add", "dune", "--start", "2026-01-02 14:30", "--end", "2026-01-02 14:30")
            #expect(ending.status != 0 && !ending.err.contains("--force"), "\(ending.err)")
            #expect(try scan.run("session", "start", "dune").status == 0)
            let second = try scan.run("session", "start", "odyssey")
            #expect(!second.err.contains("first."), "\(second.err)")
        }
    }

    @Test(arguments: ["2026-03-29 02:30", "2026-03-29T02:59:59"])
    func `times that the clocks skip are refused with the reason`(text: String) {
        let error = #expect(throws: CommandError.self) { try when.time(text, for: "--at") }
        #expect(error?.description.contains("on 2026-03-29, because the clocks skip it") == true)
    }
}
