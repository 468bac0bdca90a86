import Bookplate
import Foundation
import LibraryMaker
import Testing

@testable import Kiosk

/// The bars of the Stats page and of the review of a year.
@Suite(.timeLimit(.minutes(5))) struct `A bar that counts books` {
    @Test(arguments: [
        ("stats?period=all", 50), ("stats?period=year&of=2024", 50), ("stats?period=month&of=2024-02", 50),
        ("stats?period=own&from=2023-11-15&to=2024-03-10", 50), ("year/2024", 15),
    ])
    func `leads to as many books as it says`(_ page: String, _ least: Int) async throws {
        try await withMadeLibrary { kiosk in
            let answer = try await kiosk.send("GET", "/" + page)
            #expect(answer.status == 200)
            let bars = Self.bars(in: answer.text)
            #expect(bars.count >= least, "\(page)")
            for (address, count) in bars {
                let found = try await kiosk.send("GET", "/api/books?limit=1&" + address.dropFirst("/library?".count))
                #expect(found.number("total") == Double(count), "\(address)")
            }
        }
    }

    @Test func `leads to everybody's timeline in the statistics of everybody, or to what all readers share`()
        async throws
    {
        try await withMadeLibrary(readers: 2) { kiosk in
            let html = try await kiosk.send("GET", "/stats?period=all&readers=all").text
            let bars = Self.bars(in: html)
            #expect(!bars.isEmpty && bars.allSatisfy { $0.address.contains("format") || $0.address.contains("lang") })
            for (address, count) in bars {
                let found = try await kiosk.send("GET", "/api/books?limit=1&" + address.dropFirst("/library?".count))
                #expect(found.number("total") == Double(count), "\(address)")
            }
            let years = html.matches(of: /<a href="(\/stats\/timeline\?period=year[^"]+)" aria-label="[^"]*books?"/)
            #expect(!years.isEmpty)
            for year in years {
                let address = year.1.replacing("&amp;", with: "&")
                #expect(address.hasSuffix("&readers=all"))
                #expect(try await kiosk.send("GET", String(address)).status == 200)
            }
        }
    }

    /// Returns the addresses of books and the numbers beside them.
    private static func bars(in html: String) -> [(address: String, count: Int)] {
        let marks = html.matches(of: /<a href="(\/library\?[^"]+)" aria-label="[^"]*: ([\d,]+) books?"/).map {
            ($0.1, $0.2)
        }
        let row =
            #/
            <a\ href="(/library\?[^"]+)"(?:\ dir="auto")?>[^<]*</a></th>
            (?:<td\ class="part".*?</td>)?
            <td>([\d,]+)</td>
            /#
        let rows = html.matches(of: row).map { ($0.1, $0.2) }
        return (marks + rows).map { address, count in
            (String(address.replacing("&amp;", with: "&")), Int(count.replacing(",", with: "")) ?? -1)
        }
    }

    private func withMadeLibrary(readers: Int = 1, _ body: (RunningKiosk) async throws -> Void) async throws {
        let folder = "/tmp/bookplate-kiosk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await copyMadeLibrary(to: folder + "/library.sqlite", copies: 300, seed: 5, readers: readers)
        let kiosk = try await RunningKiosk(folder: folder) { _, ports in
            ports.zone = try #require(TimeZone(identifier: "Europe/Berlin"))
            ports.now = { Date(timeIntervalSince1970: 1_795_262_400) }
        }
        try await kiosk.use(body)
    }
}
