import Async
import Bookplate

/// The station captures books, looks them up and carries out what people decide, for every screen alike. The terminal,
/// the prompts, the JSON modes and the kiosk listen to ``news`` and call the acts.
///
/// The station keeps all state, so that two pages show the same, and nothing is lost when a page is loaded again.
/// Capturing, lookups and acts run at the same time and never wait for each other. Acts run one at a time, in the order
/// of their calls. Each act is durable when it returns, and is completed even if the caller is cancelled.
public actor Station {
    public struct Options: Sendable {
        /// The shelf, tags and status with which captured books are saved.
        public var preset = Preset()
        /// True if online lookup is off, so that no online source is queried.
        public var isOffline = false
        /// True if the batch holds the whole queue, including books from other devices, and is updated when the library
        /// changes; false if it holds only the books that this station captures.
        public var followsQueue = false
        /// True to look up, every ``Station/roundInterval``, the waiting items whose lookup is due.
        public var looksUpDue = false
        /// The consent to save every book that was identified, without asking (`--yes`); nil if a person has to
        /// save the books.
        public var saving: AutomaticSaving?
        /// The longest time that a stopping station spends on storing detections that are not on disk yet; nil to wait
        /// as long as the library takes.
        public var lastAttempt: Duration? = Station.lastAttempt

        public init(preset: Preset = Preset()) { self.preset = preset }
    }

    /// A person's consent, given in advance (`--yes`), to save books.
    public struct AutomaticSaving: Sendable {
        /// True if further copies of owned books are saved too.
        public var anotherCopy: Bool
        /// True if nobody is watching the screen: owned books then leave the queue immediately, and all saves are one
        /// change, so that one undo reverts the whole run.
        public var isUnattended: Bool

        public init(anotherCopy: Bool, isUnattended: Bool) {
            (self.anotherCopy, self.isUnattended) = (anotherCopy, isUnattended)
        }
    }

    public nonisolated let options: Options
    private nonisolated let queuedNews: AsyncStream<News>
    private let newsContinuation: AsyncStream<News>.Continuation
    private nonisolated let isBatchNewsQueued = SharedValue(false)

    let flow: CaptureFlow
    let history: any History
    let live: LiveScan?
    private nonisolated let scanner: AsyncStream<ScannerEvent>?
    let covers: CoverFetcher?
    /// Finds books by their title; nil if the station cannot.
    public nonisolated let titles: TitleFinder?
    /// The library whose names complete what a person types; nil if no names are completed.
    public nonisolated let names: (any Search)?
    let clock: any Clock<Duration>
    /// Writes a line to the log; may be called from any thread.
    let log: @Sendable (String) -> Void

    var batch: Batch
    /// The presets of the browsers that have set one, by their sign-ins. ``Batch/preset`` is the station's own.
    var browserPresets: [String: Preset] = [:]
    var camera: CameraState?
    var view = CameraView()
    /// The transient error that currently prevents detections from being stored; nil if there is none.
    var captureError: (any Error)?
    /// The texts of the detections that the station could not capture and has given up, and the last error that
    /// prevented it; nil if it is not known.
    public private(set) var lost: (texts: [String], error: (any Error)?) = ([], nil)
    /// The number of waiting items that are not in the batch.
    var waitingElsewhere = 0
    /// The items that have a thumbnail.
    var pictured: Set<ID<QueueItem>> = []
    /// The items that this station has captured since it started. A change of the preset applies to these.
    var capturedHere: Set<ID<QueueItem>> = []
    /// The items that ``applyPresetToStale()`` does not change, because they have already received the batch's preset,
    /// or because they were taken from the queue with a preset of their own.
    var givenPreset: Set<ID<QueueItem>> = []
    /// The items to which a person gave a shelf, tags or a status of their own, which the batch's preset does not
    /// replace.
    var ownPreset: Set<ID<QueueItem>> = []
    /// The error of the last attempt to read the queue. The same error is not logged twice in a row.
    var queueError: String?

    let acts = AsyncSemaphore()
    /// Detections that are not on disk yet, oldest first. Each detection stays here until it is captured or reported as
    /// not captured.
    private nonisolated let pending = SharedValue<[Detection]>([])
    private var captureTask: Task<Void, Never>?
    private var lookups: [LookupRequest] = []
    private var lookupTask: Task<Void, Never>?
    /// The change to which all saves of an unattended run are added.
    private var unattendedChange: ID<Change>?
    private var retryTask: Task<Void, Never>?
    private nonisolated let libraryChanges = Signal()
    nonisolated let saves = Signal()
    /// Sent when an answer has arrived whose gaps other sources may fill.
    private nonisolated let answers = Signal()
    private nonisolated let stop = Signal()
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private var isRunning = false
    private var isStopped = false
    /// True once the queue has been read.
    private var isRestored = false

    /// The time between two rounds of lookups. Each round looks up the items that are due.
    public static let roundInterval: Duration = .seconds(60)
    /// The time between two checks whether the camera's thread is stuck.
    static let checkInterval: Duration = .seconds(5)
    /// Returns the minimum time between two readings of the queue, even if the library changes more often: 300 ms for
    /// each hundred items that wait, because more items take longer to read, but at most 2 s.
    static func queueInterval(for waiting: Int) -> Duration {
        min(.milliseconds(300) * max(1, (waiting + 99) / 100), .seconds(2))
    }
    /// The time after which a failed automatic save is tried again.
    static let retryInterval: Duration = .seconds(5)
    /// The default of ``Options/lastAttempt``.
    public static let lastAttempt: Duration = .seconds(1)
    static let coversPerRound = 50
    /// The number of answered rows that stay in the batch.
    static let mostAnswered = 1000

    /// - Parameters:
    ///   - live: the reader of the camera's frames; nil for a station without a camera.
    ///   - scanner: the events of a handheld scanner to which only this program has access; nil if there is none.
    ///   - covers: fetches the covers of saved books; nil if none are fetched.
    ///   - titles: finds books by their title; nil if the station cannot.
    ///   - names: the library whose names complete what a person types; nil if no names are completed.
    ///   - clock: measures the pauses and time limits.
    public init(
        flow: CaptureFlow, history: any History, options: Options = Options(), live: LiveScan? = nil,
        scanner: AsyncStream<ScannerEvent>? = nil, covers: CoverFetcher? = nil,
        titles: TitleFinder? = nil, names: (any Search)? = nil, clock: any Clock<Duration> = ContinuousClock(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.flow, self.history, self.options, self.live, self.covers) = (flow, history, options, live, covers)
        (self.scanner, self.titles, self.names, self.clock, self.log) = (scanner, titles, names, clock, log)
        batch = Batch(preset: options.preset)
        camera = live == nil ? nil : .starting
        (queuedNews, newsContinuation) = AsyncStream.makeStream(of: News.self)
    }

    /// The station's events in order, for one listener. The sequence ends after ``endNews()``.
    public nonisolated var news: AsyncMapSequence<AsyncStream<News>, News> {
        queuedNews.map { [isBatchNewsQueued] news in
            if case .batch = news { _ = isBatchNewsQueued.exchange(false) }
            return news
        }
    }

    /// Posts an event saying that the batch has changed, unless an earlier such event is still waiting for the
    /// listener.
    nonisolated func batchChanged() { if !isBatchNewsQueued.exchange(true) { post(.batch) } }

    nonisolated func post(_ item: News) { newsContinuation.yield(item) }

    /// Posts ``News/inputEnded`` once everything that was captured so far is looked up.
    public func endInput() async {
        await settled()
        post(.inputEnded)
    }

    /// Ends ``news`` after the events that have been posted so far.
    public nonisolated func endNews() { newsContinuation.finish() }
}

// MARK: - Reading

extension Station {
    /// Returns the current state.
    ///
    /// - Parameter limit: the maximum number of rows. Open rows take precedence over answered ones.
    public func snapshot(limit: Int = 200) -> Snapshot {
        let counts = batch.counts
        return Snapshot(
            camera: camera, view: view, isOffline: options.isOffline, preset: batch.preset,
            counts: Counts(
                waiting: batch.waitingCount, lookingUp: counts.lookingUp, ticked: counts.ticked, open: batch.openCount,
                untitled: counts.untitled),
            rows: newestRows(limit).map { row(batch.rows[$0]) }, nextUndo: batch.nextToUndo, pending: pending.value,
            captureError: captureError)
    }

    /// The whole state that a full screen draws.
    public struct Contents: Sendable {
        public var batch: Batch
        /// The detections that are not on disk yet.
        public var pending: [Detection]
        /// True while there are pending detections, and until the last of them is in the batch.
        public var isCapturing: Bool
        /// The error that prevents the pending detections from being stored.
        public var captureError: (any Error)?
        /// The number of waiting items outside the batch.
        public var waitingElsewhere: Int
    }

    /// The whole state at this moment, with all rows of the batch.
    public var contents: Contents {
        Contents(
            batch: batch, pending: pending.value, isCapturing: !pending.value.isEmpty || captureTask != nil,
            captureError: captureError, waitingElsewhere: waitingElsewhere)
    }

    /// Returns a row; nil if it is not in the batch.
    public func row(_ id: ID<QueueItem>) -> Row? { batch[id].map(row) }

    /// Reads an open row from the library again, together with the books that have its ISBN.
    ///
    /// - Returns: the row; nil if it is not in the batch.
    public func reload(_ id: ID<QueueItem>) async throws -> Row? {
        if let candidate = try await flow.candidate(id) { batch.replace([candidate]) }
        return row(id)
    }

    /// Returns a small JPEG of the place where an item's code was seen; nil if there is none.
    public nonisolated func thumbnail(of id: ID<QueueItem>) async throws -> [UInt8]? {
        try await flow.queue.thumbnail(of: id)
    }

    /// The current state of the camera, available even while its driver hangs; nil if there is no camera.
    public nonisolated var liveSnapshot: LiveScan.Snapshot? { live?.snapshot }

    /// True if the program reads a handheld scanner, to which no other program then has access.
    public nonisolated var hasScanner: Bool { scanner != nil }

    /// Detections that are not on disk yet, oldest first.
    public nonisolated var pendingDetections: [Detection] { pending.value }

    /// Returns the positions of the rows to show, newest first.
    private func newestRows(_ limit: Int) -> [Int] {
        guard batch.rows.count > limit else { return batch.rows.indices.reversed() }
        var room = max(0, limit - batch.openCount)
        let newest = batch.rows.indices.reversed().filter { position in
            if batch.rows[position].end == nil { return true }
            defer { room -= 1 }
            return room > 0
        }
        return Array(newest.prefix(limit))
    }

    func row(_ row: Batch.Row) -> Row {
        Row(
            candidate: row.candidate, status: batch.status(of: row), isTicked: batch.isTicked(row),
            isAnotherCopy: batch.isAnotherCopy(row), hasThumbnail: pictured.contains(row.id),
            isClearable: batch.isClearable(row), isCleared: row.isCleared)
    }
}

// MARK: - Capturing

extension Station {
    /// Captures a number typed by a person or sent by a handheld scanner.
    ///
    /// - Parameters:
    ///   - request: an identifier that the kiosk's page has made. It becomes the item's id, so that a repeated request
    ///     captures nothing more.
    ///   - preset: the preset of the browser that captures; nil for the station's own.
    /// - Returns: the row of the item, which is then on disk.
    /// - Throws: ``ISBNRefusal`` if the number is not an ISBN, ``Refusal/answered`` if the request was captured and
    ///   answered before, or the library's error if nothing was captured.
    public func capture(
        _ number: TypedNumber, request: ID<QueueItem>? = nil, with preset: Preset? = nil
    ) async throws -> Row {
        var detection = try number.detection()
        detection.item = request
        guard let row = try await capture([detection], with: preset).first else { throw Refusal.answered }
        return row
    }

    /// Captures either all of the detections or none of them.
    ///
    /// - Parameter preset: the preset of the browser that captures; nil for the station's own.
    /// - Returns: the rows of the detections. A detection that repeats an earlier request, whose row has already been
    ///   answered, has no row.
    public func capture(_ detections: [Detection], with preset: Preset? = nil) async throws -> [Row] {
        guard !detections.isEmpty else { return [] }
        // The capture is completed even if the page goes away, because everything on disk must be in the batch.
        return try await resultOrCancellation(of: Task { try await captureNow(detections, with: preset) })
    }

    /// Captures detections with their own presets. If the library cannot store them now, they become pending.
    ///
    /// - Returns: the rows of the detections; none if they are pending.
    public func captureOrEnqueue(_ detections: [Detection]) async throws -> [Row] {
        guard !detections.isEmpty else { return [] }
        return try await resultOrCancellation(
            of: Task {
                do {
                    return try await captureNow(detections)
                } catch  where isTransient(error) {
                    setCaptureError(error)
                    for detection in detections { enqueue(detection) }
                    return []
                }
            })
    }

    /// Captures detections, and tries again every second after a transient error.
    ///
    /// - Parameter patience: the time after which a failed attempt is not repeated.
    public func capture(_ detections: [Detection], patience: Duration) async throws {
        guard !detections.isEmpty else { return }
        let isLate = deadline(on: clock, after: patience)
        let items = try await flow.enqueueRetrying(
            detections, clock: clock, preset: { await self.batch.preset },
            mayRetry: { !Task.isCancelled && !isLate() },
            onRetry: { await self.setCaptureError($0) })
        captureError = nil
        _ = await insert(items, of: detections)
    }

    /// Queues a detection for capturing, without waiting. The detection is pending until the library has stored it.
    public nonisolated func enqueue(_ detection: Detection) {
        pending.withLock { $0.append(detection) }
        Task { await startCapturing() }
    }

    /// Queues a line from a handheld scanner for capturing, without waiting. If the line is not an ISBN, a refusal is
    /// posted to ``news``.
    public nonisolated func enqueue(scannedLine line: String) { enqueue(TypedNumber(text: line, origin: .scanner)) }

    /// Queues a typed number for capturing, without waiting. If the text is not an ISBN, a refusal is posted to
    /// ``news``.
    public nonisolated func enqueue(_ number: TypedNumber) {
        do throws(ISBNRefusal) {
            enqueue(try number.detection())
        } catch {
            post(.refused(CaptureEvent(refused: number, error), error))
        }
    }

    /// Reports that the library has changed, so that the station soon reads the queue again. Does not wait.
    public nonisolated func libraryChanged() { libraryChanges.send() }

    private func captureNow(_ detections: [Detection], with preset: Preset? = nil) async throws -> [Row] {
        let items = try await flow.enqueue(detections, preset: preset ?? batch.preset)
        return await insert(items, of: detections)
    }

    /// Puts captured items into the batch, together with the books of the same ISBN that the library holds, and looks
    /// the items up. Items that were captured by an earlier request are not reported again.
    private func insert(_ items: [QueueItem], of detections: [Detection]) async -> [Row] {
        let pairs = zip(items, detections).filter { item, detection in
            item.isbn == detection.isbn && item.state == .waiting && !capturedHere.contains(item.id)
        }
        let new = pairs.map(\.0)
        var candidates = new.map { Candidate(item: $0) }
        do {
            candidates = try await flow.recognise(new)
        } catch {
            // The items are captured nevertheless, and the lookup will read the library again.
            log("\(error)")
        }
        for (item, detection) in pairs where detection.thumbnail != nil { pictured.insert(item.id) }
        capturedHere.formUnion(new.map(\.id))
        batch.add(candidates)
        for row in new.compactMap({ row($0.id) }) { post(.captured(row)) }
        if !new.isEmpty {
            lookUp(.captured(new))
            batchChanged()
            applyPresetToStale()
        }
        return zip(items, detections).filter { $0.isbn == $1.isbn }.compactMap { item, _ in row(item.id) }
    }

    /// Puts items of the queue into the batch, and looks up the items that have not been found yet.
    public func adopt(_ items: [QueueItem]) async throws {
        batch.add(try await flow.recognise(items))
        capturedHere.formUnion(items.map(\.id))
        givenPreset.formUnion(items.map(\.id))
        lookUp(.waiting(items))
        batchChanged()
    }

    private func startCapturing() {
        if isRunning, captureTask == nil { captureTask = Task { await capturePending() } }
    }

    /// Stores the pending detections on disk one after another, without a time limit.
    private func capturePending() async {
        while !Task.isCancelled, let detection = pending.value.first {
            do {
                let items = try await flow.enqueueRetrying(
                    [detection], clock: clock, preset: { await self.batch.preset }, mayRetry: { !Task.isCancelled },
                    onRetry: { await self.setCaptureError($0) })
                removePending()
                _ = await insert(items, of: [detection])
            } catch {
                // Pending detections are tried once more when the station stops.
                if Task.isCancelled { break }
                removePending()
                log("not captured: \(detection.isbn.digits): \(error)")
                lose([detection], error)
                post(.notCaptured([detection], error))
            }
        }
        captureTask = nil
        notifyIfIdle()
    }

    /// Makes a last attempt to capture the pending detections when the station stops.
    private func captureLast() async {
        let last = pending.value
        guard !last.isEmpty, !isStopped else { return }
        do {
            _ = try await captureNow(last)
        } catch {
            // `run()` has already reported these detections as not captured in time.
            guard !isStopped else { return }
            for detection in last { log("not captured: \(detection.isbn.digits): \(error)") }
            lose(last, error)
            post(.notCaptured(last, error))
        }
        pending.withLock { $0.removeFirst(last.count) }
    }

    private func lose(_ detections: [Detection], _ error: (any Error)?) {
        lost = (lost.texts + detections.map(\.raw), error ?? lost.error)
    }

    private func setCaptureError(_ error: any Error) {
        guard captureError.map({ "\($0)" }) != "\(error)" else { return }
        captureError = error
        log("cannot store captured books, trying again every second: \(error)")
        post(.captureWaits(error))
        batchChanged()
    }

    private func removePending() {
        pending.withLock { $0.removeFirst() }
        if captureError != nil { log("captured books can be stored again") }
        captureError = nil
    }
}

// MARK: - Lookups and automatic saving

extension Station {
    enum LookupRequest {
        /// Items that this station has just captured.
        case captured([QueueItem])
        /// Items of the queue that are not leased to this process.
        case waiting([QueueItem])
        /// Items that a person wants to be looked up again.
        case again([ID<QueueItem>])
    }

    func lookUp(_ request: LookupRequest) {
        lookups.append(request)
        if lookupTask == nil { lookupTask = Task { await lookUpRequested() } }
    }

    /// Looks up requested items until no request is left. Requests that arrive during a lookup are handled together.
    private func lookUpRequested() async {
        while !lookups.isEmpty, !Task.isCancelled {
            let requests = lookups
            lookups = []
            let captured = requests.flatMap { if case .captured(let items) = $0 { items } else { [] as [QueueItem] } }
            let waiting = requests.flatMap { if case .waiting(let items) = $0 { items } else { [] as [QueueItem] } }
            let again = requests.flatMap { if case .again(let ids) = $0 { ids } else { [] as [ID<QueueItem>] } }
            if !captured.isEmpty {
                await deliver(to: captured.map(\.id)) { [flow] in
                    try await flow.lookUp(captured, areCaptured: true, deliver: $0)
                }
            }
            if !waiting.isEmpty {
                await deliver(to: waiting.map(\.id)) { [flow] in
                    try await flow.lookUp(waiting, areCaptured: false, deliver: $0)
                }
            }
            if !again.isEmpty {
                await deliver(to: again) { [flow] in try await flow.lookUpAgain(again, deliver: $0) }
            }
        }
        lookupTask = nil
        notifyIfIdle()
    }

    /// Runs a lookup and applies its results. An error is reported but does not end the lookups, because the items stay
    /// in the queue.
    private func deliver(
        to ids: [ID<QueueItem>], _ lookup: @Sendable (@escaping CaptureFlow.Delivery) async throws -> Void
    ) async {
        do {
            try await lookup { candidates in try await self.apply(candidates) }
        } catch {
            if !Task.isCancelled {
                log("the lookup failed; the books stay in the queue: \(error)")
                post(.failed(error))
            }
        }
        let unanswered = ids.filter { batch[$0]?.isLookingUp == true }
        guard !unanswered.isEmpty else { return }
        batch.clearLookingUp(unanswered)
        batchChanged()
    }

    private func apply(_ candidates: [Candidate]) async throws {
        var known: [ID<QueueItem>] = []
        for candidate in candidates {
            // Another process is looking up this item, and the library will report the result. If it does not, the next
            // round looks up the item.
            if candidate.item.outcome == nil, options.followsQueue, !options.isOffline { continue }
            let wasLookingUp = batch[candidate.item.id]?.isLookingUp == true
            guard batch.update(with: candidate), let row = row(candidate.item.id) else { continue }
            known.append(row.id)
            post(.known(row, isFirst: wasLookingUp))
        }
        if !candidates.isEmpty { batchChanged() }
        try await saveInAdvance(known)
        answers.send()
    }

    /// Asks the sources that a lookup has left out, for books on the screen, in the queue and in the library: after
    /// every answer, when the station starts, and then once every ``roundInterval``.
    private nonisolated func fillGaps() async {
        guard !options.isOffline else { return }
        answers.send()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { while await self.pause(Self.roundInterval) { self.answers.send() } }
            group.addTask { [flow, answers] in
                for await _ in answers.values {
                    do { try await flow.fillGaps(deliver: { await self.show($0) }) } catch {
                        if !Task.isCancelled { self.log("cannot fill gaps of records, trying again later: \(error)") }
                    }
                }
            }
        }
    }

    /// Shows the present state of items that were found before.
    private func show(_ candidates: [Candidate]) {
        for candidate in candidates where batch.update(with: candidate) {
            if let row = row(candidate.item.id) { post(.known(row, isFirst: false)) }
        }
        if !candidates.isEmpty { batchChanged() }
    }

    /// Saves the rows that `--yes` may save.
    private func saveInAdvance(_ known: [ID<QueueItem>]) async throws {
        guard let saving = options.saving, !known.isEmpty else { return }
        if saving.isUnattended { return try await settleUnattended(known, saving) }
        guard retryTask == nil else { return }
        do {
            let saved = try await act { station -> Saved? in
                let rows = station.batch.savableInAdvance(anotherCopy: saving.anotherCopy)
                guard !rows.isEmpty else { return nil }
                return try await station.save(rows, by: .advance, continuing: nil) { station.batch.isAnotherCopy($0) }
            }
            if let saved { post(.saved(saved)) }
        } catch {
            if Task.isCancelled { return }
            post(.failed(error))
            retryTask = Task {
                guard await pause(Self.retryInterval) else { return }
                retryTask = nil
                do { try await saveInAdvance(known) } catch { post(.failed(error)) }
            }
        }
    }

    /// Saves the books that were found, removes owned books from the queue, and leaves all other books in the queue.
    private func settleUnattended(_ known: [ID<QueueItem>], _ saving: AutomaticSaving) async throws {
        let events = try await act { station -> [CaptureEvent] in
            let rows = known.compactMap { station.batch[$0] }.filter { $0.end == nil }
            let sure = rows.filter(\.candidate.isSureEnough)
            var events: [ID<QueueItem>: CaptureEvent] = [:]
            if !sure.isEmpty {
                let saved = try await station.save(sure, by: .advance, continuing: station.unattendedChange) { _ in
                    saving.anotherCopy
                }
                station.unattendedChange = station.unattendedChange ?? saved.change
                var owned: [(item: ID<QueueItem>, book: Book)] = []
                for (candidate, result) in saved.results {
                    events[candidate.item.id] = .saved(candidate, result)
                    if case .owned(let book) = result { owned.append((candidate.item.id, book)) }
                }
                try await station.flow.close(owned.map(\.item))
                station.batch.close(owned)
            }
            return rows.map { events[$0.id] ?? .queued($0.candidate) }
        }
        post(.settled(events))
    }

    /// Waits until no detection is pending and no lookup is running.
    public func settled() async {
        if isIdle { return }
        await withCheckedContinuation { idleWaiters.append($0) }
    }

    private var isIdle: Bool { pending.value.isEmpty && captureTask == nil && lookupTask == nil }

    private func notifyIfIdle() {
        guard isIdle else { return }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    /// Looks up the items that are due, when the station starts and then once every ``roundInterval``.
    private func lookUpDue() async {
        repeat {
            if !options.isOffline { await deliver(to: []) { [flow] in try await flow.lookUpDue(deliver: $0) } }
            libraryChanges.send()
            if !options.followsQueue { await countWaiting() }
            applyPresetToStale()
        } while await pause(Self.roundInterval)
    }

    private func countWaiting() async {
        do {
            waitingElsewhere = max(0, try await flow.queue.count(in: [.waiting]) - batch.waitingCount)
            batchChanged()
        } catch {
            if !Task.isCancelled { post(.failed(error)) }
        }
    }

    /// Fetches covers after every save. Covers that could not be fetched are tried again once every ``roundInterval``.
    private func fetchCovers() async {
        guard let covers, !options.isOffline else { return }
        saves.send()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { while await self.pause(Self.roundInterval) { self.saves.send() } }
            group.addTask { [saves] in
                for await _ in saves.values {
                    do {
                        let (_, failures) = try await covers.fetchMissing(
                            limit: Self.coversPerRound, patience: Self.roundInterval)
                        if let first = failures.first {
                            self.log("cannot fetch \(failures.count) of the covers, trying again later: \(first)")
                        }
                    } catch {
                        if !Task.isCancelled { self.log("cannot fetch covers, trying again later: \(error)") }
                    }
                }
            }
        }
    }
}

// MARK: - Running

extension Station {
    /// Runs until the task is cancelled: captures with the camera, looks up items that are due, and follows the
    /// library. It then takes at most ``Options/lastAttempt`` to store pending detections.
    public func run() async {
        if options.followsQueue { await readQueue() }
        isRunning = true
        startCapturing()
        let watching = Task { await watchCamera() }
        let scanning = Task { await readScanner() }
        let others = Task { await runInBackground() }
        for await _ in stop.values {}
        isRunning = false
        watching.cancel()
        scanning.cancel()
        captureTask?.cancel()
        others.cancel()
        lookupTask?.cancel()
        retryTask?.cancel()
        let last: @Sendable () async -> Void = { [captureTask] in
            await watching.value
            await scanning.value
            await captureTask?.value
            await self.captureLast()
            await others.value
        }
        guard let limit = options.lastAttempt else { return await Task { await last() }.value }
        if await Task(operation: { await withTimeLimit(limit, clock: self.clock, last) }).value != nil { return }
        isStopped = true
        lose(pending.value, captureError)
        for detection in pending.value {
            log("not captured in time: \(detection.isbn.digits); if it is not in the queue, scan it again")
        }
    }

    private nonisolated func runInBackground() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.noticeStuckCamera() }
            if self.options.followsQueue { group.addTask { await self.followQueue() } }
            if self.options.looksUpDue { group.addTask { await self.lookUpDue() } }
            group.addTask { await self.fetchCovers() }
            group.addTask { await self.fillGaps() }
            await group.waitForAll()
        }
    }

    // MARK: The camera

    private func watchCamera() async {
        guard let live else { return }
        do {
            for try await event in live.events() {
                switch event {
                case .camera(let state): show(state)
                case .captured(let detection): enqueue(detection)
                case .refused(let symbol, let refusal): post(.refused(CaptureEvent(refused: symbol, refusal), refusal))
                case .view(let view): show(view)
                }
            }
            if Task.isCancelled { return }
            show(.ended)
            post(.sourceEnded(nil))
        } catch {
            show(.failed(CameraError(.failing, "the frames cannot be read: \(error). Restart the service.")))
            post(.sourceEnded(error))
        }
    }

    /// Captures the lines from the handheld scanner. When the station stops, it still captures the lines that have
    /// already arrived.
    private nonisolated func readScanner() async {
        guard let scanner else { return }
        for await event in scanner {
            switch event {
            case .line(let line): enqueue(scannedLine: line)
            case .ready(let name):
                log("scanner: \(name) is ready")
                post(.scannerReady(name: name))
            case .failed(let message):
                log("scanner: \(message)")
                post(.scannerFailed(message))
            }
        }
    }

    private func show(_ state: CameraState) {
        // The error stays, because it says more than the end of the frames.
        if case .failed = camera, state == .ended { return }
        guard state != camera else { return }
        camera = state
        log("camera: \(state.logLine)")
        post(.camera(state))
    }

    private func show(_ view: CameraView) {
        self.view = view
        post(.view(view))
    }

    /// Shows a camera as failed while its thread hangs in the driver, because such a thread cannot report that it
    /// hangs.
    private func noticeStuckCamera() async {
        guard let live else { return }
        while await pause(Self.checkInterval) {
            let now = live.snapshot
            guard now.camera.isStuck != (camera?.isStuck ?? false) else { continue }
            show(now.camera)
            show(CameraView(now))
        }
    }

    // MARK: The queue

    private func followQueue() async {
        for await _ in libraryChanges.values {
            await readQueue()
            guard await pause(Self.queueInterval(for: batch.waitingCount)) else { return }
        }
    }

    /// Updates the batch from the queue, and looks up the items that are new.
    private func readQueue() async {
        do {
            try await act(isNews: false) { station in
                let before = station.batch
                let waiting = try await station.flow.recognise(station.flow.queue.items(in: [.waiting]))
                station.pictured.formUnion(try await station.flow.queue.itemsWithThumbnail(in: [.waiting]))
                let difference = station.batch.reconcile(with: waiting, before: before)
                station.forgetAnswered()
                if !station.isRestored {
                    station.isRestored = true
                    station.restorePresets()
                }
                station.report(difference)
            }
            queueError = nil
        } catch {
            let message = "\(error)"
            if message != queueError, !Task.isCancelled {
                log("cannot read the queue, trying again later: \(message)")
            }
            queueError = message
        }
    }

    /// Removes old answered rows, so that the memory of a service that runs for months stays bounded.
    private func forgetAnswered() {
        batch.forgetAnswered(beyond: Self.mostAnswered)
        pictured = pictured.filter { batch[$0] != nil }
        capturedHere = capturedHere.filter { batch[$0] != nil }
        givenPreset = givenPreset.filter { batch[$0] != nil }
        ownPreset = ownPreset.filter { batch[$0] != nil }
    }

    private func report(_ difference: Batch.Difference) {
        let unknown = difference.new.compactMap { batch[$0]?.candidate.item }.filter { $0.outcome == nil }
        if !unknown.isEmpty { lookUp(.waiting(unknown)) }
        for row in difference.changed.compactMap({ self.row($0) }) { post(.known(row, isFirst: false)) }
        if !difference.isEmpty { batchChanged() }
    }

    /// Waits for the given time.
    ///
    /// - Returns: false if the task was cancelled.
    private func pause(_ time: Duration) async -> Bool {
        do {
            try await clock.sleep(for: time)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}

extension CameraState {
    fileprivate var isStuck: Bool { if case .failed(let error) = self { error.kind == .stuck } else { false } }
}

/// Returns a closure that returns true once `time` has passed on the clock since this call.
private func deadline<C: Clock<Duration>>(on clock: C, after time: Duration) -> @Sendable () -> Bool {
    let end = clock.now.advanced(by: time)
    return { clock.now >= end }
}
