import Bookplate
import Foundation
import Testing

@testable import Library

@Suite struct `A station's token` {
    @Test func `is different each time, and matches only itself`() throws {
        let (one, other) = (StationToken(), StationToken())
        #expect(one.text != other.text && one.text.utf8.count == 89)
        let read = try #require(StationToken(one.text))
        #expect(read.has(hash: one.hash) && !read.has(hash: other.hash) && !read.has(hash: ""))
    }

    @Test func `that was revoked does not count towards the limit`() async throws {
        let library = try LibraryFile.inMemory()
        var stations: [ID<PairedStation>] = []
        for number in 1...200 {
            let station = ID<PairedStation>()
            _ = try await library.pair(station, named: "station \(number)", at: .now)
            stations.append(station)
        }
        await #expect(throws: StationRefusal.tooMany(limit: 200)) {
            try await library.pair(ID(), named: "one more", at: .now)
        }
        _ = try await library.revoke(stations[0], at: .now)
        _ = try await library.pair(ID(), named: "one more", at: .now)
        // The number of revoked stations is never more than one above the limit.
        for station in stations.dropFirst() { _ = try await library.revoke(station, at: .now) }
        for number in 1...10 {
            let station = ID<PairedStation>()
            _ = try await library.pair(station, named: "again \(number)", at: .now)
            _ = try await library.revoke(station, at: .now)
        }
        #expect(try await library.pairedStations().count { $0.revoked != nil } <= 201)
    }

    @Test func `is not stored in the library`() async throws {
        let library = try LibraryFile.inMemory()
        let (_, token) = try await library.pair(ID(), named: "kitchen", at: .now)
        let secret = try #require(token.split(separator: ".").last)
        let rows = try await library.read { db in try db.rows("SELECT * FROM station").map { "\($0)" } }
        #expect(rows.count == 1 && !rows[0].contains(secret))
        #expect(try await library.pairedStation(withToken: token, at: .now)?.name == "kitchen")
        #expect(try await library.pairedStations().first?.lastUsed != nil)
    }

    @Test func `keeps undelivered items of an outbox when old items are swept`() async throws {
        let folder = "/tmp/bookplate-outbox-\(ID<LibraryFile>())"
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        let item = try await outbox.enqueue(
            [Detection(isbn: try ISBN("9780441478125"), raw: "x", origin: .camera)], preset: Preset(), lease: .zero,
            at: .now)[0]
        try await outbox.close([item.id])
        try await outbox.write { db in try db.run("DELETE FROM intakeItem") }
        #expect(try await outbox.undeliveredCount() == 1)
        try await outbox.write { db in
            try db.run("UPDATE outboxItem SET sent = revision")
            try db.run("DELETE FROM intakeItem")
        }
        #expect(try await outbox.item(item.id) == nil)
        try FileManager.default.removeItem(atPath: folder)
    }
}
