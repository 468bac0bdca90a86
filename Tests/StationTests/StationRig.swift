import Bookplate
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import Station

/// A station on a library in a temporary folder, which other processes can open too.
final class StationRig: Sendable {
    let folder: Scratch
    let library: LibraryFile
    let lookup: ScriptedLookup
    let clock = HandClock()
    let station: Station
    let lines: Lines

    /// - Parameters:
    ///   - folder: the folder of another rig, to open its library again; nil for a new one.
    ///   - patience: the time for which the library waits for another's lock.
    ///   - looksUpDue: false also prevents the station from reading the queue unless the test reports a change.
    init(
        _ known: [String: LookupOutcome] = [:], folder: Scratch? = nil, patience: Duration = .milliseconds(50),
        live: LiveScan? = nil, scanner: AsyncStream<ScannerEvent>? = nil, options: Station.Options = Station.Options(),
        looksUpDue: Bool = true
    ) throws {
        let folder = try folder ?? Scratch()
        self.folder = folder
        library = try LibraryFile.open(at: folder.file("library.sqlite"), device: "desk", lockTimeout: patience)
        lookup = ScriptedLookup(known)
        let lines = Lines()
        self.lines = lines
        var options = options
        (options.followsQueue, options.looksUpDue) = (true, looksUpDue)
        station = Station(
            flow: CaptureFlow(queue: library, shelf: library, lookup: lookup), history: library, options: options,
            live: live, scanner: scanner, clock: clock, log: { lines.add($0) })
    }

    /// The lines of the log.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Runs the station while the body does.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { [station] in await station.run() }
        do {
            try await body()
        } catch {
            task.cancel()
            await task.value
            throw error
        }
        task.cancel()
        await task.value
    }

    /// Returns the first value that `match` finds in the news; earlier news are skipped.
    func next<Value>(_ match: (Station.News) -> Value?) async throws -> Value {
        for await news in station.news { if let value = match(news) { return value } }
        throw CancellationError()
    }

    /// Waits until the rows are as expected; they are checked after every change of the batch.
    func rows(_ areRight: ([Station.Row]) -> Bool) async throws -> [Station.Row] {
        while true {
            let rows = await station.snapshot().rows
            if areRight(rows) { return rows }
            _ = try await next { news -> Bool? in if case .batch = news { true } else { nil } }
        }
    }

    /// Saves the ticked rows, as pages do.
    func saveTicked() async throws -> Station.Saved {
        try await station.save(station.snapshot().rows.filter(\.isTicked).map(\.id), anotherCopy: false)
    }

    /// Opens the library again, as another process does.
    func another() throws -> LibraryFile { try LibraryFile.open(at: folder.file("library.sqlite"), device: "terminal") }

    func capture(_ isbn: String) async throws -> Station.Row {
        try await station.capture(TypedNumber(text: isbn, origin: .typed))
    }

    /// Captures a number as another process does.
    func captureElsewhere(_ isbn: String) async throws -> ID<QueueItem> {
        let detection = Detection(isbn: try ISBN(isbn), raw: isbn, origin: .photo)
        let items = try await another().enqueue([detection], preset: Preset(), lease: .zero, at: .now)
        return items[0].id
    }

    /// Locks the library as another process does, until ``Holder/release()``.
    func lock(_ id: ID<QueueItem>) async throws -> Holder {
        let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let other = try another()
        let task = Task {
            try await other.edit(id) { _, _ in
                isHeld.yield()
                gate.wait()
            }
        }
        for await _ in held { break }
        return Holder(gate: gate, task: task)
    }

    struct Holder {
        let gate: DispatchSemaphore
        let task: Task<Void, any Error>

        func release() async throws {
            gate.signal()
            try await task.value
        }
    }
}

extension Station.News {
    var captured: Station.Row? { if case .captured(let row) = self { row } else { nil } }
    var known: Station.Row? { if case .known(let row, _) = self { row } else { nil } }
    var refusal: String? { if case .refused(let event, _) = self { event.reason } else { nil } }
    var cameraState: CameraState? { if case .camera(let state) = self { state } else { nil } }
    var view: Station.CameraView? { if case .view(let view) = self { view } else { nil } }
    var readyScanner: String? { if case .scannerReady(let name) = self { name } else { nil } }
    var scannerFailed: String? { if case .scannerFailed(let message) = self { message } else { nil } }
}
