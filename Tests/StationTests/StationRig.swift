import Bookplate
import Foundation
import Library
import Synchronization
import Testing

@testable import Station

/// A station on a library in a temporary folder, which other processes can open too; its news are kept.
final class StationRig: Sendable {
    let path: String
    let library: LibraryFile
    let lookup: ScriptedLookup
    let clock = HandClock()
    let station: Station
    let lines: Lines

    /// - Parameters:
    ///   - path: of a library that is there, `nil` for a new one.
    ///   - patience: how long the library waits for another's lock.
    ///   - looksUpDue: false also keeps the station from reading the queue unless the test says that the library changed.
    init(
        _ known: [String: LookupOutcome] = [:], path: String? = nil, patience: Duration = .milliseconds(50),
        live: LiveScan? = nil, options: Station.Options = Station.Options(), looksUpDue: Bool = true
    ) throws {
        self.path = path ?? "/tmp/bookplate-desk-\(UUID().uuidString)/library.sqlite"
        library = try LibraryFile.open(at: self.path, device: "desk", lockTimeout: patience)
        lookup = ScriptedLookup(known)
        let lines = Lines()
        self.lines = lines
        var options = options
        (options.followsQueue, options.looksUpDue) = (true, looksUpDue)
        station = Station(
            flow: CaptureFlow(intake: library, shelf: library, lookup: lookup), history: library, options: options,
            live: live, clock: clock, log: { lines.add($0) })
    }

    /// What was reported.
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

    /// The next news that fits; those before are passed over.
    func next<Value>(_ fits: (Station.News) -> Value?) async throws -> Value {
        for await each in station.news { if let value = fits(each) { return value } }
        throw CancellationError()
    }

    /// Waits until the rows are as wanted: looked at after every change of the batch.
    func rows(_ areRight: ([Station.Row]) -> Bool) async throws -> [Station.Row] {
        while true {
            let rows = await station.snapshot().rows
            if areRight(rows) { return rows }
            _ = try await next { news -> Bool? in if case .batch = news { true } else { nil } }
        }
    }

    /// Saves what is ticked, as pages do.
    func saveTicked() async throws -> Station.Saved {
        try await station.save(station.snapshot().rows.filter(\.isTicked).map(\.id), anotherCopy: false)
    }

    /// The same library as another process has it.
    func another() throws -> LibraryFile { try LibraryFile.open(at: path, device: "terminal") }

    func capture(_ isbn: String) async throws -> Station.Row {
        try await station.capture(TypedNumber(text: isbn, origin: .typed))
    }

    /// What another process captured.
    func captureElsewhere(_ isbn: String) async throws -> ID<IntakeItem> {
        let detection = Detection(isbn: try ISBN(isbn), raw: isbn, origin: .photo)
        let items = try await another().capture([detection], preset: Preset(), lease: .zero, at: .now)
        return items[0].id
    }

    /// Holds the library's lock as another process would, from when this returns until ``Holder/letGo()``.
    func lock(_ id: ID<IntakeItem>) async throws -> Holder {
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

        func letGo() async throws {
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
}
