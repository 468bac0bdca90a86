import Bookplate
import Foundation
import Library
import Testing

@testable import Station

private let dune = "9780441013593"
private let emma = "9780141439587"

@Suite(.timeLimit(.minutes(5))) struct `Changes of the queue by other processes` {
    @Test func `appear in the batch: captures, skips, saves and undos`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        let other = try rig.another()
        try await rig.run {
            let detections = try [dune, emma].map { Detection(isbn: try ISBN($0), raw: $0, origin: .camera) }
            let items = try await other.enqueue(detections, preset: Preset(), lease: .zero, at: .now)
            await turn(rig)
            let rows = try await rig.rows { $0.count == 2 && $0.allSatisfy { $0.status == .found } }

            let change = try #require(try await other.skip([items[0].id], at: .now))
            await turn(rig)
            _ = try await rig.rows { $0.map(\.id) == [items[1].id] }

            _ = try await other.undo(change, at: .now)
            await turn(rig)
            _ = try await rig.rows { $0.count == 2 }

            _ = try await other.add([rows[0].candidate.confirm(by: .person)], at: .now)
            await turn(rig)
            _ = try await rig.rows { $0.map(\.id) == [items[0].id] }
            await #expect(throws: Station.Refusal.gone) {
                _ = try await rig.station.save([items[1].id], anotherCopy: false)
            }
        }
    }

    @Test func `reopen a row that was saved here and undone elsewhere`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        let other = try rig.another()
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let saved = try await rig.station.save([row.id], anotherCopy: false)
            let change = try #require(saved.change)
            _ = try await other.undo(change, at: .now)
            await turn(rig)
            let rows = try await rig.rows { $0.first?.status == .found }
            #expect(rows.count == 1)
            #expect(await rig.station.snapshot().nextUndo == nil)
            #expect(try await rig.saveTicked().saved == 1)
        }
    }

    @Test func `make a row owned when the book is added elsewhere`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        let other = try rig.another()
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            var metadata = Metadata()
            metadata.title = "Dune"
            let entered = try Confirmed(
                enteredBy: .form, isbn: ISBN(dune), metadata: metadata, preset: Preset(shelf: "Hall"))
            _ = try await other.add([entered], at: .now)
            await turn(rig)
            let rows = try await rig.rows { if case .owned = $0.first?.status { true } else { false } }
            #expect(rows[0].candidate.owned?.copy.shelf == "Hall" && !rows[0].isTicked)
            let refused = try await rig.station.save([row.id], anotherCopy: false)
            #expect(refused.saved == 0 && refused.owned == 1 && refused.change == nil)
            #expect(try await rig.station.save([row.id], anotherCopy: true).saved == 1)
        }
    }

    @Test func `are read less often while more than a hundred items wait, however many were answered`() async throws {
        let rig = try StationRig()
        try await rig.run {
            // The empty queue has been read.
            await rig.clock.hasSleeper(for: .milliseconds(300))
            let captures = Array(repeating: Detection(isbn: try ISBN(dune), raw: dune, origin: .photo), count: 101)
            let items = try await rig.another().enqueue(captures, preset: Preset(), lease: .zero, at: .now)
            await turn(rig)
            await rig.clock.hasSleeper(for: .milliseconds(600))
            _ = try await rig.station.skip(items.map(\.id))
            rig.station.libraryChanged()
            rig.clock.advance(by: .milliseconds(600))
            await rig.clock.hasSleeper(for: .milliseconds(300))
        }
    }

    @Test(arguments: [(0, 300), (100, 300), (101, 600), (500, 1500), (5000, 2000)])
    func `are read again after 300 ms for each hundred that wait, and after 2 s at most`(waiting: Int, pause: Int) {
        #expect(Station.queueInterval(for: waiting) == .milliseconds(pause))
    }

    /// Reports a change of the library; the station reads a short queue at most every 300 ms.
    private func turn(_ rig: StationRig) async {
        await rig.clock.hasSleeper(for: .milliseconds(300))
        rig.station.libraryChanged()
        rig.clock.advance(by: .milliseconds(300))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A locked library` {
    @Test func `makes an act fail, and nothing is lost or done twice`() async throws {
        let rig = try StationRig([dune: .found("Dune")])
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let holder = try await rig.lock(row.id)
            await #expect(throws: LibraryError.self) { _ = try await rig.station.save([row.id], anotherCopy: false) }
            #expect(await rig.station.row(row.id)?.status == .found)
            try await holder.release()
            #expect(try await rig.station.save([row.id], anotherCopy: false).saved == 1)
        }
    }

    @Test func `keeps pending detections on the screen, and retries every second until they are on disk`() async throws
    {
        let rig = try StationRig()
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let holder = try await rig.lock(row.id)
            rig.station.enqueue(scannedLine: emma)
            await rig.clock.hasSleeper(for: .seconds(1))
            let snapshot = await rig.station.snapshot()
            #expect(snapshot.pending.map(\.isbn.digits) == [emma])
            #expect(snapshot.captureError.map { "\($0)" }?.contains("another process keeps it locked") == true)
            try await holder.release()
            rig.clock.advance(by: .seconds(1))
            _ = try await rig.next { news in news.captured?.candidate.item.isbn.digits == emma ? true : nil }
            let after = await rig.station.snapshot()
            #expect(after.pending.isEmpty && after.captureError == nil)
            #expect(rig.lines.all.count { $0.contains("cannot store captured books, trying again") } == 1)
        }
    }

    @Test func `keeps what a phone saw, until it is on disk with the phone's own preset`() async throws {
        let rig = try StationRig()
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let holder = try await rig.lock(row.id)
            var detection = Detection(isbn: try ISBN(emma), raw: emma, origin: .camera)
            (detection.device, detection.preset) = ("Safari, iPhone", Preset(shelf: "Attic", browser: "a"))
            #expect(try await rig.station.captureOrEnqueue([detection]).isEmpty)
            await rig.clock.hasSleeper(for: .seconds(1))
            #expect(await rig.station.snapshot().pending == [detection])
            try await holder.release()
            rig.clock.advance(by: .seconds(1))
            let item = try await rig.next { news in news.captured?.candidate.item }
            #expect(item.isbn.digits == emma && item.device == "Safari, iPhone")
            #expect(item.preset.shelf == "Attic" && item.preset.browser == "a")
        }
    }
}

@Suite struct `A batch that follows the queue` {
    @Test func `keeps captures that arrived while the queue was being read`() throws {
        var batch = Batch()
        let (old, new) = (try candidate(dune), try candidate(emma))
        batch.add([old])
        let before = batch
        batch.add([new])
        let difference = batch.reconcile(with: [old], before: before)
        #expect(difference.isEmpty && batch.rows.count == 2)
    }

    @Test func `keeps answers that arrived while the queue was being read`() throws {
        var batch = Batch()
        let old = try candidate(dune)
        batch.add([old])
        let before = batch
        var item = old.item
        (item.outcome, item.metadata) = (.found, Metadata())
        item.metadata?.title = "Dune"
        batch.update(with: Candidate(item: item))
        #expect(batch.reconcile(with: [old], before: before).isEmpty)
        #expect(batch[old.item.id]?.candidate.item.outcome == .found)
        // The batch accepts a queue that was read after that.
        #expect(batch.reconcile(with: [old], before: batch).changed == [old.item.id])
    }

    @Test func `forgets the oldest answered rows, and their acts, beyond a limit`() throws {
        var batch = Batch()
        let candidates = try [dune, emma, "9783161484100"].map(candidate)
        batch.add(candidates)
        for candidate in candidates.prefix(2) { batch.applySkip([candidate.item.id], change: ID()) }
        batch.forgetAnswered(beyond: 1)
        #expect(batch.rows.map(\.id) == candidates.dropFirst().map(\.item.id))
        #expect(batch.acts.map(\.items) == [[candidates[1].item.id]])
        #expect(batch[candidates[2].item.id]?.candidate == candidates[2])
    }

    private func candidate(_ isbn: String) throws -> Candidate {
        Candidate(item: QueueItem(isbn: try ISBN(isbn), raw: isbn, origin: .typed, device: "desk", captured: .now))
    }
}
