import Bookplate
import Foundation
import Library
import Testing

@testable import Station

private let dune = "9780441013593"
private let emma = "9780141439587"
private let nobody = "9783161484100"

@Suite(.timeLimit(.minutes(5))) struct `The end of the station` {
    @Test func `stores everything that was scanned, also detections that were still pending`() async throws {
        let rig = try StationRig()
        let item = try await rig.captureElsewhere(dune)
        let holder = try await rig.lock(item)
        try await rig.run {
            for isbn in [emma, nobody, emma] { rig.station.enqueue(scannedLine: isbn) }
            #expect(await rig.station.snapshot().pending.map(\.isbn.digits) == [emma, nobody, emma])
            await rig.clock.hasSleeper(for: .seconds(1))
            try await holder.release()
        }
        let waiting = try await rig.library.items(in: [.waiting]).map(\.isbn.digits)
        #expect(waiting == [dune, emma, nobody, emma])
        #expect(await rig.station.snapshot().pending.isEmpty)
        #expect(!rig.lines.all.contains { $0.contains("not captured") })
    }

    @Test func `captures the lines that its handheld scanner sent before the end`() async throws {
        let (events, scanner) = AsyncStream.makeStream(of: ScannerEvent.self)
        let rig = try StationRig(scanner: events)
        try await rig.run {
            scanner.yield(.ready(name: "Scanner"))
            let ready = try await rig.next(\.readyScanner)
            scanner.yield(.failed("it was unplugged"))
            let trouble = try await rig.next(\.scannerFailed)
            #expect(ready == "Scanner" && trouble == "it was unplugged")
            for line in [dune, "4006381333931", emma] { scanner.yield(.line(line)) }
        }
        #expect(try await rig.library.items(in: [.waiting]).map(\.isbn.digits) == [dune, emma])
        #expect(rig.lines.all == ["scanner: Scanner is ready", "scanner: it was unplugged"])
    }

    @Test func `names the numbers that it could not capture`() async throws {
        let rig = try StationRig()
        let holder = try await rig.lock(try await rig.captureElsewhere(dune))
        try await rig.run {
            for isbn in [emma, nobody] { rig.station.enqueue(scannedLine: isbn) }
            await rig.clock.hasSleeper(for: .seconds(1))
        }
        for isbn in [emma, nobody] {
            #expect(rig.lines.all.count { $0.hasPrefix("not captured: \(isbn)") } == 1)
        }
        try await holder.release()
    }

    @Test func `does not wait for a library that stays locked`() async throws {
        let rig = try StationRig(patience: .seconds(120))
        let holder = try await rig.lock(try await rig.captureElsewhere(dune))
        rig.station.enqueue(scannedLine: emma)
        let running = Task { await rig.station.run() }
        running.cancel()
        await rig.clock.hasSleeper(for: Station.lastAttempt)
        rig.clock.advance(by: Station.lastAttempt)
        await running.value
        #expect(rig.lines.all.contains { $0.hasPrefix("not captured in time: \(emma)") })
        try await holder.release()
    }

    @Test func `releases callers that wait for an act, and completes the act`() async throws {
        let rig = try StationRig([dune: .found("Dune")], patience: .seconds(120))
        try await rig.run {
            let row = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let holder = try await rig.lock(row.id)
            let saving = Task { try await rig.station.save([row.id], anotherCopy: false) }
            while await !rig.station.acts.isExhausted { await Task.yield() }
            saving.cancel()
            await #expect(throws: CancellationError.self) { _ = try await saving.value }
            try await holder.release()
            _ = try await rig.rows { if case .saved = $0.first?.status { true } else { false } }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A station's act` {
    @Test func `is undone only if it is the one that is meant`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        try await rig.run {
            let first = try await rig.capture(dune)
            let second = try await rig.capture(emma)
            let mine = try await rig.station.skip([first.id]).change
            let theirs = try await rig.station.skip([second.id]).change
            await #expect(throws: Station.Refusal.notNewest) { _ = try await rig.station.undo(.act(mine)) }
            #expect(await rig.station.snapshot().counts.open == 0)
            #expect(try await rig.station.undo(.act(theirs)).acts[0].items == [second.id])
            // If undo is pressed twice, it does not undo the previous act as well.
            await #expect(throws: Station.Refusal.notNewest) { _ = try await rig.station.undo(.act(theirs)) }
            #expect(try await rig.station.undo(.act(mine)).acts[0].items == [first.id])
            await #expect(throws: Station.Refusal.nothingToUndo) { _ = try await rig.station.undo(.act(mine)) }
        }
    }

    @Test func `closes its rows again when it is redone, and can then be undone again`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        try await rig.run {
            let first = try await rig.capture(dune)
            _ = try await rig.next(\.known)
            let second = try await rig.capture(emma)
            let saved = try await rig.station.save([first.id])
            let skipped = try await rig.station.skip([second.id])
            for _ in 0..<2 {
                let before = await rig.station.snapshot()
                for _ in 0..<2 { try await rig.station.undo() }
                #expect(await rig.station.snapshot().counts.open == 2)
                #expect(try await rig.station.redo().events.map(\.name) == [.saved])
                #expect(try await rig.station.redo().change.id == skipped.change)
                #expect(await rig.station.snapshot().rows.map(\.status) == before.rows.map(\.status))
                #expect(await rig.station.snapshot().nextUndo?.change == skipped.change)
            }
            await #expect(throws: RedoRefusal.noSuchChange) { try await rig.station.redo() }
            // A redo by the id of the change closes the same rows.
            try await rig.station.undo(.change(try #require(saved.change)))
            #expect(try await rig.station.redo(saved.change).act?.items == [first.id])
        }
    }

    @Test func `reopens its rows when another screen undoes it by the id of its change`() async throws {
        let rig = try StationRig([dune: .found("Dune"), emma: .found("Emma")])
        try await rig.run {
            let first = try await rig.capture(dune)
            let second = try await rig.capture(emma)
            let mine = try await rig.station.skip([first.id]).change
            _ = try await rig.station.skip([second.id])
            // This undoes the given act, not the newest one.
            #expect(try await rig.station.undo(.change(mine)).changes.map(\.id) == [mine])
            let now = await rig.station.snapshot()
            #expect(now.rows.first { $0.id == first.id }?.status != .skipped)
            #expect(now.counts.open == 1 && now.nextUndo?.items == [second.id])
            await #expect(throws: UndoRefusal.self) { _ = try await rig.station.undo(.change(mine)) }
        }
    }

    @Test func `captures once for the same request, even after a restart`() async throws {
        let request = ID<QueueItem>()
        let number = TypedNumber(text: dune, origin: .scanner)
        let first = try StationRig([dune: .found("Dune")])
        try await first.run {
            let row = try await first.station.capture(number, request: request)
            #expect(row.id == request)
            #expect(try await first.station.capture(number, request: request).id == request)
            let other = TypedNumber(text: emma, origin: .scanner)
            await #expect(throws: Station.Refusal.answered) {
                _ = try await first.station.capture(other, request: request)
            }
            #expect(try await first.library.count(in: [.waiting]) == 1)
        }
        let second = try StationRig(folder: first.folder)
        try await second.run {
            #expect(try await second.station.capture(number, request: request).id == request)
            #expect(try await second.library.count(in: [.waiting]) == 1)
            _ = try await second.station.skip([request])
            #expect(try await second.station.capture(number, request: request).status == .skipped)
        }
        let third = try StationRig(folder: first.folder)
        await #expect(throws: Station.Refusal.answered) {
            _ = try await third.station.capture(number, request: request)
        }
        #expect(await third.station.snapshot().rows.isEmpty)
    }

    @Test func `keeps a tick that a person set, even if the station had chosen the same`() async throws {
        let rig = try StationRig()
        try await rig.run {
            let row = try await rig.capture(nobody)
            _ = try await rig.next(\.known)
            #expect(try await rig.station.tick(row.id, false).isTicked == false)
            rig.lookup.learn(nobody, .found("Logic"))
            try await rig.station.lookUpAgain([row.id])
            let rows = try await rig.rows { $0.first?.status == .found }
            #expect(!rows[0].isTicked)
        }
    }

    @Test func `that changes the preset also applies to books captured meanwhile`() async throws {
        // The station does not read the queue, which would apply the preset, too.
        let rig = try StationRig(patience: .seconds(50), looksUpDue: false)
        let attic = Preset(shelf: "Attic")
        try await rig.run {
            let holder = try await rig.lock(try await rig.capture(dune).id)
            let capturing = Task { try await rig.capture(emma) }
            let giving = Task { try await rig.station.setPreset(attic) }
            while await !rig.station.acts.isExhausted { await Task.yield() }
            try await holder.release()
            try await giving.value
            let row = try await capturing.value
            _ = try await rig.rows { rows in rows.first { $0.id == row.id }?.candidate.item.preset == attic }
            let stored = try await rig.library.item(row.id)
            #expect(stored?.preset == attic)
        }
    }

    @Test func `that captures a book recognises it even if the page has gone away`() async throws {
        let rig = try StationRig()
        var metadata = Metadata()
        metadata.title = "Dune"
        let owned = try Confirmed(enteredBy: .form, isbn: ISBN(dune), metadata: metadata)
        _ = try await rig.library.add([owned], continuing: nil, at: .now)
        try await rig.run {
            let capturing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await rig.capture(dune)
            }
            _ = await capturing.result
            let row = try await rig.next(\.captured)
            #expect(row.candidate.owned?.displayTitle == "Dune")
            #expect(rig.lines.all.isEmpty)
        }
    }

    @Test func `on three hundred rows is one act and one change`() async throws {
        let isbns = (0..<300).map { number in
            let digits = "978000\(String(100_000 + number))"
            let sum = digits.enumerated().reduce(0) { $0 + $1.element.wholeNumberValue! * ($1.offset % 2 == 0 ? 1 : 3) }
            return digits + String((10 - sum % 10) % 10)
        }
        let rig = try StationRig(Dictionary(uniqueKeysWithValues: isbns.map { ($0, .found("Book \($0)")) }))
        try await rig.run {
            let detections = try isbns.map { Detection(isbn: try ISBN($0), raw: $0, origin: .photo) }
            let ids = try await rig.station.capture(detections).map(\.id)
            _ = try await rig.rows { $0.allSatisfy { $0.status == .found } && $0.count == 200 }
            let saved = try await rig.station.save(ids, anotherCopy: false)
            #expect(saved.saved == 300)
            #expect(await rig.station.snapshot().nextUndo?.items.count == 300)
            #expect(await rig.station.snapshot().nextUndo?.change == saved.change)
        }
    }
}
