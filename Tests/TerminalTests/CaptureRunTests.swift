import Async
import Bookplate
import Foundation
import Library
import SystemPackage
import TestTools
import Testing

@testable import Station
@testable import Terminal

@Suite(.timeLimit(.minutes(5))) struct `A capture run` {
    @Test func `fails and keeps the numbers that it did not capture, even if the person quits meanwhile`() async throws
    {
        let folder = try Scratch()
        let path = folder.file("library.sqlite")
        let library = try LibraryFile.open(at: path, device: "desk", lockTimeout: .milliseconds(10))
        let other = try LibraryFile.open(at: path, device: "attic")
        let isbns = try ["9780441013593", "9780141439587"].map { try ISBN($0) }
        let held = try await library.enqueue(
            [Detection(isbn: isbns[0], raw: "", origin: .typed)], preset: Preset(), lease: .zero, at: .now)
        let station = Station(flow: CaptureFlow(queue: library, shelf: library, lookup: NoSource()), history: library)
        let terminal = try FileDescriptor.pipe()
        let isClosed = SharedValue(false)
        let events = EventPrinter(
            json: true, undoHint: "",
            describe: { error in
                // The person quits once the run has reported that the library is locked.
                if !isClosed.exchange(true) { #expect(throws: Never.self) { try terminal.writeEnd.close() } }
                return "\(error)"
            }, report: { _ in })
        let run = CaptureRun(
            station: station, answer: .prompt(.lines(InputLines(from: terminal.readEnd))), events: events)
        let (batches, source) = AsyncStream.makeStream(of: InputBatch.self)
        for isbn in isbns {
            source.yield(InputBatch(detections: [Detection(isbn: isbn, raw: isbn.digits, origin: .stdin)]))
        }
        let gate = DispatchSemaphore(value: 0)
        let (locked, isLocked) = AsyncStream.makeStream(of: Void.self)
        let holding = Task {
            try await other.edit(held[0].id) { _, _ in
                isLocked.yield()
                gate.wait()
            }
        }
        for await _ in locked { break }
        let error = await #expect(throws: LibraryError.self) {
            try await run.run(InputSource(batches: batches))
        }
        gate.signal()
        try await holding.value
        #expect(error == .locked(path: path))
        #expect(run.notCaptured.map(\.isbn) == isbns)
    }
}

private struct NoSource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { $0.finish() }
    }
}
