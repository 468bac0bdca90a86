import Bookplate
import Foundation
import Testing

@testable import Kiosk
@testable import Station

private let utc = TimeZone(secondsFromGMT: 0)!

@Suite(.timeLimit(.minutes(5))) struct `The Intake page` {
    @Test func `says what to do when nothing waits`() async throws {
        try await withStation { station in
            let page = try await station.get("/intake")
            #expect(page.contains("Nothing is waiting"))
            #expect(page.contains(#"<a class="button primary" href="/scan">"#))
        }
    }

    @Test func `says between which books one was captured`() async throws {
        try await withStation { station in
            for number in ["9780441478125", "9780441172719", "9783161484100"] {
                try await station.becomes("notFound", station.capture(number))
            }
            let page = try await station.get("/intake")
            #expect(page.contains("between 978-0-441-47812-5 and 978-3-16-148410-0"))
            #expect(page.contains("before 978-0-441-17271-9"))
            #expect(page.contains("after 978-0-441-17271-9"))
            #expect(page.contains("3 books are waiting"))
        }
    }

    @Test func `names the ticked books that it saves`() async throws {
        try await withStation { station in
            let item = try await station.capture("9780441478125")
            try await station.becomes("notFound", item)
            let before = try await station.get("/intake")
            #expect(!before.contains(#"id="save-ticked""#))
            try await station.send("PATCH", "/api/station/rows/\(item)", #"{"title":"Emma"}"#)
            let page = try await station.get("/intake")
            let body = #"data-saves="[&quot;\#(item)&quot;]">Save 1 book "#
            #expect(page.contains(body))
            try await station.send("POST", "/api/station/rows/save", #"{"ids":["\#(item)"]}"#)
            let after = try await station.get("/intake")
            #expect(after.contains("Nothing is waiting"))
            #expect(after.contains("Undo saving 1 book"))
        }
    }

    @Test func `has a group for each day and device, the newest first`() {
        func row(_ hours: Double, _ station: String) -> Station.Row {
            var item = QueueItem(
                isbn: try! ISBN("9780441478125"), raw: "", origin: .camera, device: station,
                captured: Date(timeIntervalSince1970: hours * 3600))
            item.reason = "\(hours)"
            return Station.Row(
                candidate: Candidate(item: item), status: .notFound, isTicked: false, isAnotherCopy: false,
                hasThumbnail: false,
                isClearable: false)
        }
        let groups = IntakePage.groups(
            [row(26, "attic"), row(25, "hall"), row(1, "attic"), row(24.5, "attic")], in: utc)
        let names = groups.map { "\($0.day) \($0.device)" }
        #expect(names == ["1970-01-02 attic", "1970-01-02 hall", "1970-01-01 attic"])
        #expect(groups[0].rows.map { $0.candidate.item.reason } == ["24.5", "26.0"])
    }
}
