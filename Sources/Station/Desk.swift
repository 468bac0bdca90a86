import Bookplate
import FoundationEssentials

/// The station of a service: one batch for all pages, which holds what was captured since it began and whatever else waits in the
/// queue.
///
/// All state is here, so that two pages show the same, and a page that is reloaded shows it again. Capturing, the sources and acts
/// each go their own way; none waits for another. Acts go one by one.
public actor Desk {
    let flow: CaptureFlow
    let history: any History
    let live: LiveScan?
    let covers: CoverFlow?
    let clock: any Clock<Duration>
    /// Takes one line for the log.
    let report: @Sendable (String) -> Void
    public nonisolated let isOffline: Bool

    var batch: Batch
    var camera: CameraState?
    var glance = Glance()
    var captureTrouble: (any Error)?
    /// Items that a picture is kept with.
    var pictured: Set<ID<IntakeItem>> = []
    /// What was captured here since the service began: a change of the preset is about these.
    var capturedHere: Set<ID<IntakeItem>> = []
    var tell: @Sendable (News) -> Void = { _ in }
    var isTellingBatch = false
    /// Why the queue could not be read when it was last looked at.
    var lookTrouble: String?

    // Who waits for the act under way.
    var isActing = false
    var turns: [CheckedContinuation<Void, Never>] = []

    /// On the way to the disk.
    let seen = Seen()
    let lookups = Inlet<LookupRequest>()
    /// Signals: there is something new in the library, or a cover to fetch.
    let looks = Inlet<Void>(newest: 1)
    let saves = Inlet<Void>(newest: 1)
    /// Nothing ever comes out: who takes from it waits for the end of the task.
    let end = Inlet<Never>()
    /// The last try is over; what comes of it later is told to nobody.
    var hasEnded = false

    /// - Parameters:
    ///   - live: `nil` for a service without a camera.
    ///   - covers: fetches what saved books lack; `nil` leaves that to others.
    ///   - isOffline: whether the sources are left alone between captures.
    ///   - clock: for pauses.
    ///   - report: called from any thread, with a line for the log.
    public init(
        flow: CaptureFlow, history: any History, live: LiveScan? = nil, covers: CoverFlow? = nil,
        isOffline: Bool = false, preset: Preset = Preset(), clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.flow = flow
        self.history = history
        self.live = live
        self.covers = covers
        self.isOffline = isOffline
        self.clock = clock
        self.report = report
        batch = Batch(preset: preset)
        camera = live == nil ? nil : .starting
    }

    /// How everything stands.
    ///
    /// - Parameter limit: how many rows at the most.
    public func outlook(limit: Int = 200) -> Outlook {
        let counts = batch.counts
        let open = batch.open
        return Outlook(
            camera: camera, glance: glance, isOffline: isOffline, preset: batch.preset,
            counts: Counts(
                waiting: open.count + counts.left, lookingUp: counts.lookingUp, ticked: counts.ticked,
                open: open.count),
            rows: shown(limit).map(row), undo: batch.nextToUndo, pending: seen.all, captureTrouble: captureTrouble)
    }

    /// - Returns: `nil` when it is not in the batch, or not any more.
    public func row(_ id: ID<IntakeItem>) -> Row? { batch[id].map(row) }

    /// The small JPEG of where an item was seen, `nil` when none is kept.
    public nonisolated func thumbnail(of id: ID<IntakeItem>) async throws -> [UInt8]? {
        try await flow.intake.thumbnail(of: id)
    }

    private func shown(_ limit: Int) -> [Batch.Row] {
        guard batch.rows.count > limit else { return batch.rows.reversed() }
        var room = max(0, limit - batch.open.count)
        let newest = batch.rows.reversed().filter { row in
            if row.end == nil { return true }
            defer { room -= 1 }
            return room > 0
        }
        return Array(newest.prefix(limit))
    }

    func row(_ row: Batch.Row) -> Row {
        Row(
            candidate: row.candidate, standing: batch.standing(of: row), isTicked: batch.isTicked(row),
            hasThumbnail: pictured.contains(row.id), isClearable: batch.isClearable(row))
    }
}

// MARK: What comes in

extension Desk {
    /// Captures a number that was typed, or that a handheld scanner typed into a page.
    ///
    /// - Parameter request: made by the page: the same one again captures nothing more. The item gets it for its id.
    /// - Returns: its row; it is on the disk then.
    /// - Throws: ``ISBNRefusal`` when it is no book, ``Refusal/answered`` when the request was captured and answered before, or the
    ///   library's error: then it is nowhere.
    public func capture(_ number: TypedNumber, request: ID<IntakeItem>? = nil) async throws -> Row {
        var sighting = try number.sighting()
        sighting.item = request
        guard let row = try await capture([sighting]).first else { throw Refusal.answered }
        return row
    }

    /// Captures what was seen in a photo; all of it is on the disk then, or none.
    ///
    /// - Returns: the rows, without those of requests that were captured and answered before.
    public func capture(_ sightings: [Sighting]) async throws -> [Row] {
        guard !sightings.isEmpty else { return [] }
        // Not given up half way when the page goes: what was captured must come into the batch.
        return try await outcome(of: Task { try await captureNow(sightings) })
    }

    func captureNow(_ sightings: [Sighting]) async throws -> [Row] {
        let items = try await flow.capture(sightings, preset: batch.preset)
        return await takeCaptured(items, of: sightings)
    }

    /// Takes a line of a handheld scanner that the service has for itself; never waits.
    public nonisolated func scanned(_ line: String) {
        do throws(ISBNRefusal) {
            seen.put(try TypedNumber(text: line, origin: .scanner).sighting())
        } catch {
            let kind: CodeKind? = if case .notABook(let kind) = error { kind } else { nil }
            Task { await refused(line, kind, .noBook(error)) }
        }
    }

    /// The library was changed, perhaps by another process; never waits.
    public nonisolated func libraryChanged() { looks.put(()) }

    func refused(_ payload: String, _ kind: CodeKind?, _ reason: Miss) {
        tell(.refused(payload: String(payload.cleanedLine.prefix(200)), kind: kind, reason: reason))
    }

    /// What is on the disk comes into the batch, with what the library says of it. Of what was captured before by the same request
    /// nothing is told again.
    func takeCaptured(_ items: [IntakeItem], of sightings: [Sighting]) async -> [Row] {
        let pairs = zip(items, sightings).filter { item, sighting in
            item.isbn == sighting.isbn && item.state == .waiting && !capturedHere.contains(item.id)
        }
        let new = pairs.map(\.0)
        var candidates = new.map { Candidate(item: $0) }
        do {
            candidates = try await flow.recognise(new)
        } catch {
            // They are captured in any case; the next look at the library says what it holds.
            report("\(error)")
        }
        for (item, sighting) in pairs where sighting.thumbnail != nil { pictured.insert(item.id) }
        capturedHere.formUnion(new.map(\.id))
        batch.add(candidates)
        for row in new.compactMap({ row($0.id) }) { tell(.captured(row)) }
        if !new.isEmpty {
            lookups.put(.captured(new))
            batchChanged()
        }
        let outdated = new.filter { $0.preset != batch.preset }.map(\.id)
        if !outdated.isEmpty { Task { await catchUp(outdated) } }
        return zip(items, sightings).filter { $0.isbn == $1.isbn }.compactMap { item, _ in row(item.id) }
    }

    /// Tells once for all that changes within a moment: the pages ask for everything then.
    func batchChanged() {
        guard !isTellingBatch else { return }
        isTellingBatch = true
        Task {
            // A tenth of a second is seen at once, and ten answers of a source are one redrawing. A pause that fails tells sooner.
            _ = try? await Task.sleep(for: .milliseconds(100))
            isTellingBatch = false
            tell(.batch)
        }
    }
}

/// What the sources are asked for.
enum LookupRequest: Sendable {
    /// Captured here just now.
    case captured([IntakeItem])
    /// Came into the queue otherwise.
    case waiting([IntakeItem])
    /// Asked once more, by a person.
    case again([ID<IntakeItem>])
}
