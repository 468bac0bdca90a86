import Bookplate
import FoundationEssentials
import Synchronization

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
    public func outlook(limit: Int = 200) -> Snapshot {
        let counts = batch.counts
        let open = batch.open
        return Snapshot(
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
            candidate: row.candidate, status: batch.status(of: row), isTicked: batch.isTicked(row),
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
        var detection = try number.detection()
        detection.item = request
        guard let row = try await capture([detection]).first else { throw Refusal.answered }
        return row
    }

    /// Captures what was seen in a photo; all of it is on the disk then, or none.
    ///
    /// - Returns: the rows, without those of requests that were captured and answered before.
    public func capture(_ detections: [Detection]) async throws -> [Row] {
        guard !detections.isEmpty else { return [] }
        // Not given up half way when the page goes: what was captured must come into the batch.
        return try await outcome(of: Task { try await captureNow(detections) })
    }

    func captureNow(_ detections: [Detection]) async throws -> [Row] {
        let items = try await flow.capture(detections, preset: batch.preset)
        return await takeCaptured(items, of: detections)
    }

    /// Takes a line of a handheld scanner that the service has for itself; never waits.
    public nonisolated func scanned(_ line: String) {
        do throws(ISBNRefusal) {
            seen.put(try TypedNumber(text: line, origin: .scanner).detection())
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
    func takeCaptured(_ items: [IntakeItem], of detections: [Detection]) async -> [Row] {
        let pairs = zip(items, detections).filter { item, detection in
            item.isbn == detection.isbn && item.state == .waiting && !capturedHere.contains(item.id)
        }
        let new = pairs.map(\.0)
        var candidates = new.map { Candidate(item: $0) }
        do {
            candidates = try await flow.recognise(new)
        } catch {
            // They are captured in any case; the next look at the library says what it holds.
            report("\(error)")
        }
        for (item, detection) in pairs where detection.thumbnail != nil { pictured.insert(item.id) }
        capturedHere.formUnion(new.map(\.id))
        batch.add(candidates)
        for row in new.compactMap({ row($0.id) }) { tell(.captured(row)) }
        if !new.isEmpty {
            lookups.put(.captured(new))
            batchChanged()
        }
        let outdated = new.filter { $0.preset != batch.preset }.map(\.id)
        if !outdated.isEmpty { Task { await catchUp(outdated) } }
        return zip(items, detections).filter { $0.isbn == $1.isbn }.compactMap { item, _ in row(item.id) }
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

// What people do at the pages. Each act is on the disk when it returns, and done or not done whatever becomes of the page that
// asked for it.
extension Desk {
    /// What is captured from now on is saved with it, and what is open: of what others captured, only what had the same preset.
    public func give(_ preset: Preset) async throws {
        let preset = try preset.checked()
        try await inTurn { desk in
            let (old, here) = (desk.batch.preset, desk.capturedHere)
            let ids = desk.batch.open.filter { here.contains($0.id) || $0.candidate.item.preset == old }.map(\.id)
            let candidates = ids.isEmpty ? [] : try await desk.flow.give(preset, to: ids)
            desk.batch.preset = preset
            desk.batch.renew(candidates)
            // Captured while this went on.
            let known = Set(ids)
            let late = desk.batch.open.filter { row in
                desk.capturedHere.contains(row.id) && row.candidate.item.preset == old && !known.contains(row.id)
            }.map(\.id)
            if !late.isEmpty, old != preset { Task { await desk.catchUp(late) } }
        }
    }

    /// What was captured with the preset before, while that was being changed, gets the new one.
    func catchUp(_ ids: [ID<IntakeItem>]) async {
        do {
            try await inTurn { desk in
                let late = ids.filter { id in
                    desk.batch[id].map { $0.end == nil && $0.candidate.item.preset != desk.batch.preset } ?? false
                }
                guard !late.isEmpty else { return }
                desk.batch.renew(try await desk.flow.give(desk.batch.preset, to: late))
            }
        } catch {
            report("captured while the preset was changed, and kept with the one before: \(error)")
        }
    }

    /// - Throws: ``Refusal``, or ``Batch/TickRefusal`` when it has no title.
    public func tick(_ id: ID<IntakeItem>, _ isTicked: Bool) throws -> Row {
        guard batch[id] != nil else { throw Refusal.gone }
        // Said by a person it stays, whatever the sources say later.
        try batch.tick(id, isTicked)
        batchChanged()
        guard let now = self.row(id) else { throw Refusal.gone }
        return now
    }

    /// Saves these, ticked or not, in one change; those of several that have no title are passed over.
    ///
    /// - Parameter anotherCopy: a further copy of what the library holds already.
    /// - Throws: ``Refusal`` when none of them waits, ``ConfirmRefusal`` when none has a title.
    public func save(_ ids: [ID<IntakeItem>], anotherCopy: Bool) async throws -> Saved {
        try await inTurn { desk in
            let open = try desk.open(ids)
            let complete = open.filter(\.candidate.isComplete)
            guard !complete.isEmpty else { throw ConfirmRefusal.needsTitle(open[0].candidate.item.isbn) }
            return try await desk.save(
                complete.map { ($0, anotherCopy || ($0.choice == true && desk.batch.isAnotherCopy($0))) })
        }
    }

    /// Takes these out of the queue, unsaved.
    ///
    /// - Returns: how many, and the change that undo takes back.
    public func skip(_ ids: [ID<IntakeItem>]) async throws -> (count: Int, change: ID<Change>) {
        try await inTurn { desk in
            let open = try desk.open(ids)
            let change = try await desk.flow.dismiss(open.map(\.candidate))
            desk.batch.noteSkipped(open.map(\.id), change: change)
            return (open.count, change)
        }
    }

    /// Asks the sources once more.
    public func lookUpAgain(_ ids: [ID<IntakeItem>]) throws {
        let open = try open(ids).map(\.id)
        batch.lookUpAgain(open)
        lookups.put(.again(open))
        batchChanged()
    }

    /// Keeps what a person said of a book.
    ///
    /// - Throws: ``TextRefusal``, ``InputRefusal``.
    public func edit(_ id: ID<IntakeItem>, _ edit: Edit) async throws -> Row {
        try await inTurn { desk in
            guard var candidate = try desk.open([id]).first?.candidate else { throw Refusal.gone }
            let fields = try edit.apply(to: &candidate.metadata)
            if !fields.isEmpty { desk.batch.renew([try await desk.flow.keepEdits(of: candidate, fields: fields)]) }
            guard let now = desk.row(id) else { throw Refusal.gone }
            return now
        }
    }

    /// Takes the batch's newest act back.
    ///
    /// - Parameter change: of the act that the person means; `nil` for whichever is the newest.
    /// - Returns: the act that was.
    /// - Throws: ``Refusal/nothingToUndo``, ``Refusal/notNewest`` when the newest is another one, or ``UndoRefusal`` when it cannot
    ///   be; then the one before it is next.
    public func undo(_ change: ID<Change>? = nil) async throws -> Batch.Act {
        try await inTurn { desk in
            guard let act = desk.batch.nextToUndo else { throw Refusal.nothingToUndo }
            guard change == nil || change == act.change else { throw Refusal.notNewest }
            let undoing = await desk.flow.undo([act], in: desk.history)
            desk.batch.note(undoing)
            if let failure = undoing.failure, undoing.undone.isEmpty { throw failure }
            return act
        }
    }

    // MARK: -

    /// Rows that are to be answered; those that are not open any more are passed over as long as others are.
    private func open(_ ids: [ID<IntakeItem>]) throws(Refusal) -> [Batch.Row] {
        let rows = ids.uniqued().compactMap { batch[$0] }
        let open = rows.filter { $0.end == nil }
        if open.isEmpty { throw rows.isEmpty ? .gone : .answered }
        return open
    }

    private func save(_ wanted: [(row: Batch.Row, isAnotherCopy: Bool)]) async throws -> Saved {
        let confirmed = try wanted.map { try $0.row.candidate.confirm(by: .person, anotherCopy: $0.isAnotherCopy) }
        let results = try await flow.save(confirmed)
        batch.note(zip(wanted, results).map { ($0.row.id, $1) })
        saves.put(())
        var saved = Saved()
        for result in results {
            if case .owned = result { saved.owned += 1 } else { saved.saved += 1 }
            saved.change = saved.change ?? result.change
        }
        return saved
    }

    /// Does one act after the other, in the order of asking, each whole: it goes on when the page that asked goes.
    ///
    /// - Parameter isNews: whether pages are told that something may be other now.
    func inTurn<Result: Sendable>(
        isNews: Bool = true, _ act: @escaping @Sendable (isolated Desk) async throws -> Result
    ) async throws -> Result {
        try await outcome(of: Task { try await takeTurn(isNews, act) })
    }

    private func takeTurn<Result: Sendable>(
        _ isNews: Bool, _ act: @Sendable (isolated Desk) async throws -> Result
    ) async throws -> Result {
        if isActing { await withCheckedContinuation { turns.append($0) } }
        isActing = true
        defer {
            if turns.isEmpty { isActing = false } else { turns.removeFirst().resume() }
            if isNews { batchChanged() }
        }
        return try await act(self)
    }
}

// What the camera shows, and what comes of it until it is on the disk.
extension Desk {
    func watchCamera() async {
        guard let live else { return }
        do {
            for try await event in live.events() {
                switch event {
                case .camera(let state): show(state)
                case .captured(let detection): seen.put(detection)
                case .refused(let symbol, let refusal): refused(symbol.payload, symbol.kind, .noBook(refusal))
                }
            }
            if !Task.isCancelled { show(.ended) }
        } catch {
            show(.trouble(CameraError(.failing, "frames cannot be read here: \(error). Restart the service.")))
        }
    }

    private func show(_ state: CameraState) {
        // A trouble says more than that nothing comes any more.
        if case .trouble = camera, state == .ended { return }
        guard state != camera else { return }
        camera = state
        report("camera: \(state.line)")
        tell(.camera(state))
    }

    func takeGlances() async {
        guard let live else { return }
        while await pause(Self.glances) {
            let now = live.glance
            // The thread may hang in the driver, and then tells nothing.
            if case .trouble(let trouble) = now.camera, trouble.kind == .stuck { show(now.camera) }
            let glance = Glance(now)
            if glance != self.glance {
                self.glance = glance
                tell(.glance(glance))
            }
        }
    }

    /// Brings what was seen to the disk, however long it takes.
    func captureSeen() async {
        for await _ in seen.news.stream {
            while !Task.isCancelled, let detection = seen.oldest { await capture(detection) }
        }
    }

    private func capture(_ detection: Detection) async {
        do {
            let items = try await flow.captureUntilPossible(
                [detection], clock: clock, preset: { await self.batch.preset }, mayWait: { !Task.isCancelled },
                waits: { await self.captureWaits($0) })
            hasArrived()
            _ = await takeCaptured(items, of: [detection])
        } catch {
            // It is tried once more with all that is left.
            if Task.isCancelled { return }
            hasArrived()
            report("not captured: \(detection.isbn.digits): \(error)")
            refused(detection.raw, .isbn, .notCaptured(error))
        }
    }

    /// What is on the way when the service ends is tried once more; then whoever held it up must hold it up again.
    func captureLast() async {
        let last = seen.all
        guard !last.isEmpty, !hasEnded else { return }
        do {
            _ = try await captureNow(last)
        } catch {
            // It was told as not captured in time.
            guard !hasEnded else { return }
            for detection in last { report("not captured: \(detection.isbn.digits): \(error)") }
        }
        seen.remove(oldest: last.count)
    }

    private func captureWaits(_ error: any Error) {
        guard captureTrouble.map({ "\($0)" }) != "\(error)" else { return }
        captureTrouble = error
        report("capturing waits, tried again every second: \(error)")
        batchChanged()
    }

    private func hasArrived() {
        seen.remove(oldest: 1)
        if captureTrouble != nil { report("capturing goes on") }
        captureTrouble = nil
    }
}

extension Desk.Glance {
    init(_ glance: LiveScan.Glance) {
        guard case .streaming(_, let format) = glance.camera else { return }
        (width, height) = (format.width, format.height)
        symbols = glance.symbols.map { symbol in
            symbol.corners.all.map { Spot(x: Int($0.x.rounded()), y: Int($0.y.rounded())) }
        }
        hint = glance.hint
        framesPerSecond = Int(glance.framesPerSecond.rounded())
    }
}

extension CameraState {
    /// For the log.
    fileprivate var line: String {
        switch self {
        case .starting: "looking for one"
        case .streaming(let name, let format): "\(name.cleanedLine), \(format)"
        case .trouble(let trouble): "\(trouble)"
        case .ended: "the stream is over"
        }
    }
}

extension Desk.Edit {
    /// Writes what is said and differs, and marks it as a person's.
    ///
    /// - Returns: the fields that were changed.
    func apply(to metadata: inout Metadata) throws -> Set<Metadata.Field> {
        var new = metadata
        if let title { new.title = try title.checked(as: "title", limit: TextLimit.title) }
        if let subtitle { new.subtitle = try Self.optional(subtitle, "subtitle", TextLimit.title) }
        if let authors {
            let names = try authors.compactMap { try Self.optional($0, "author", TextLimit.name) }
            new.authors = names.map { Contributor(name: $0) } + metadata.authors.filter { $0.role != .author }
        }
        if let publisher { new.publisher = try Self.optional(publisher, "publisher", TextLimit.name) }
        if let publishedDate {
            let published = publishedDate.cleanedLine.isEmpty ? nil : try Metadata.published(publishedDate)
            (new.publishedDateText, new.publishedDate) = (published?.text, published?.day)
        }
        if let pageCount {
            try NumberLimit.check(pageCount, as: "page count", in: NumberLimit.pages)
            new.pageCount = pageCount
        }
        let fields = new.fields(differingFrom: metadata)
        for field in fields { new.sources[field] = .person }
        metadata = new
        return fields
    }

    private static func optional(_ text: String, _ what: String, _ limit: Int) throws(TextRefusal) -> String? {
        text.cleanedLine.isEmpty ? nil : try text.checked(as: what, limit: limit)
    }
}

extension Preset {
    /// Its names as they are stored.
    public func checked() throws(TextRefusal) -> Preset {
        var preset = self
        preset.shelf = try shelf.map { text throws(TextRefusal) in try text.checked(as: "shelf", limit: TextLimit.name)
        }
        preset.tags = []
        for tag in tags { preset.tags.append(try tag.checked(as: "tag", limit: TextLimit.name)) }
        return preset
    }
}

extension Desk {
    /// One row of the batch as pages show it.
    public struct Row: Sendable, Equatable {
        public let candidate: Candidate
        public let status: Batch.Status
        public let isTicked: Bool
        /// Whether a picture of where it was seen is kept with the item.
        public let hasThumbnail: Bool
        /// As ``Batch/isClearable(_:)`` says.
        public let isClearable: Bool

        public var id: ID<IntakeItem> { candidate.item.id }
    }

    /// How everything stands at one moment.
    public struct Snapshot: Sendable {
        /// `nil` for a service that has none.
        public var camera: CameraState?
        public var glance: Glance
        public var isOffline: Bool
        /// For what is captured from now on.
        public var preset: Preset
        public var counts: Counts
        /// Newest first. Where there are more than were asked for, open ones go before answered ones.
        public var rows: [Row]
        /// What undo takes back next.
        public var undo: Batch.Act?
        /// What was seen and is not on the disk yet, oldest first, and what stands in the way.
        public var pending: [Detection]
        public var captureTrouble: (any Error)?
    }

    public struct Counts: Sendable, Equatable {
        /// In the whole queue, whoever captured it.
        public var waiting = 0
        public var lookingUp = 0
        public var ticked = 0
        /// Rows that nobody has answered.
        public var open = 0
    }

    /// What the camera sees, as far as a page draws it.
    public struct Glance: Sendable, Equatable {
        public struct Spot: Sendable, Equatable {
            public var x: Int
            public var y: Int
        }

        /// Of the frames, in pixels; 0 without frames.
        public var width = 0
        public var height = 0
        /// The four corners of every code in the last frame, clockwise from its own top left, in pixels of the frame.
        public var symbols: [[Spot]] = []
        public var hint: Hint?
        public var framesPerSecond = 0
    }

    /// Why a code that was held up or scanned is not captured.
    public enum Miss: Sendable, CustomStringConvertible {
        case noBook(ISBNRefusal)
        /// The library did not take it.
        case notCaptured(any Error)

        public var description: String {
            switch self {
            case .noBook(let refusal): refusal.description
            case .notCaptured(let error): "not captured: \(error)"
            }
        }
    }

    /// What happens, in the order in which it does.
    public enum News: Sendable {
        /// On the disk, before any source was asked.
        case captured(Row)
        /// A lookup, or the library, said something of it.
        case known(Row)
        /// A code that is no book was held up or scanned.
        case refused(payload: String, kind: CodeKind?, reason: Miss)
        /// Rows, ticks, preset or counts are others now.
        case batch
        /// `nil` for a service without one.
        case camera(CameraState?)
        case glance(Glance)
    }

    /// What saving came to.
    public struct Saved: Sendable, Equatable {
        /// How many are in the library now.
        public var saved = 0
        /// How many were not saved, because the library holds the book.
        public var owned = 0
        /// What undo takes back; `nil` when nothing was changed.
        public var change: ID<Change>?
    }

    /// What a person said of a book that is not saved yet; what is `nil` is left as it is, and what is empty is emptied.
    public struct Edit: Sendable, Equatable {
        public var title: String?
        public var subtitle: String?
        /// Names, in the order of the title page; other contributors stay.
        public var authors: [String]?
        public var publisher: String?
        /// As a person writes it: "March 2009".
        public var publishedDate: String?
        public var pageCount: Int??

        public init(title: String? = nil) { self.title = title }
    }

    /// Why an act is not done.
    public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// No such row, or none any more: somebody answered it elsewhere.
        case gone
        case answered
        case nothingToUndo
        /// Somebody did something since, or took it back already.
        case notNewest

        public var description: String {
            switch self {
            case .gone: "it is not in the queue any more"
            case .answered: "it is answered already"
            case .nothingToUndo: "there is nothing to take back here"
            case .notNewest: "something else was done since, or it is taken back already; see what undo takes back now"
            }
        }
    }
}

// What is asked of the sources: metadata for what came in, covers for what was saved.
extension Desk {
    /// Asks them for what came in. What goes wrong is told, and does not end the asking: the items wait in the queue.
    nonisolated func answer() async {
        do {
            try await forEachBurst(of: lookups.stream) { burst in
                var (captured, waiting, again): ([IntakeItem], [IntakeItem], [ID<IntakeItem>]) = ([], [], [])
                for request in burst {
                    switch request {
                    case .captured(let items): captured += items
                    case .waiting(let items): waiting += items
                    case .again(let ids): again += ids
                    }
                }
                if !captured.isEmpty { await follow(flow.candidates(captured), captured.map(\.id)) }
                if !waiting.isEmpty {
                    await follow(flow.candidates(waiting, areCaptured: false), waiting.map(\.id))
                }
                if !again.isEmpty { await follow(flow.refresh(again), again) }
            }
        } catch {
            if !Task.isCancelled { report("the sources are not asked any more: \(error)") }
        }
    }

    /// What waits in the queue for a source is asked for when it is due, from the start on.
    func goRound() async {
        repeat {
            if !isOffline { await follow(flow.refreshQueue(), []) }
            looks.put(())
        } while await pause(Self.roundsOfQueue)
    }

    private func follow(
        _ candidates: AsyncThrowingStream<Candidate, any Error>, _ asked: [ID<IntakeItem>]
    ) async {
        var asked = Set(asked)
        do {
            for try await candidate in candidates {
                // Another process is just asking for it: what it finds out is seen in the library, and what it leaves open is taken
                // up by the next round.
                if candidate.item.outcome == nil, !isOffline, asked.remove(candidate.item.id) != nil { continue }
                if batch.take(candidate), let row = row(candidate.item.id) { tell(.known(row)) }
                batchChanged()
            }
        } catch {
            if !Task.isCancelled { report("asking the sources failed, the books wait in the queue: \(error)") }
        }
        guard !asked.isEmpty else { return }
        batch.stopLookingUp(Array(asked))
        batchChanged()
    }

    /// Covers of what was saved, and with every round those that could not be had before.
    func fetchCovers() async {
        guard let covers, !isOffline else { return }
        saves.put(())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { while await self.pause(Self.roundsOfQueue) { self.saves.put(()) } }
            group.addTask { [saves] in
                for await _ in saves.stream {
                    do {
                        _ = try await covers.fetchMissing(limit: Self.mostCovers, patience: Self.roundsOfQueue)
                    } catch {
                        if !Task.isCancelled { self.report("covers are fetched later: \(error)") }
                    }
                }
            }
        }
    }
}

// What goes on beside the pages, until the service ends.
extension Desk {
    /// Between two rounds of the queue.
    static let roundsOfQueue: Duration = .seconds(60)
    /// Between two glances at the camera.
    static let glances: Duration = .milliseconds(100)
    /// Between two looks at the library, however often it changes.
    static let looksApart: Duration = .milliseconds(300)
    /// Covers a round.
    static let mostCovers = 50
    /// So many answered rows stay in the batch.
    static let mostAnswered = 1000

    /// What is on the way to the disk when the service ends has so long to get there, however long the library is locked.
    static let lastTry: Duration = .seconds(1)

    /// Until the task is cancelled: captures with the camera, asks the sources, follows the library.
    ///
    /// It ends soon then: what does not come to its end within ``lastTry`` is left behind.
    ///
    /// - Parameter tell: called in the order of what happens; it must not wait.
    public func run(_ tell: @escaping @Sendable (News) -> Void) async {
        self.tell = tell
        // Who is told holds the desk, and would be held by it for ever.
        defer { self.tell = { _ in } }
        await beginAgain()
        let watching = Task { await watchCamera() }
        let capturing = Task { await captureSeen() }
        let others = Task { await goOn() }
        for await _ in end.stream {}
        watching.cancel()
        capturing.cancel()
        others.cancel()
        let last = Task {
            await watching.value
            await capturing.value
            await captureLast()
            await others.value
        }
        guard await !isOver(last, within: Self.lastTry) else { return }
        hasEnded = true
        for detection in seen.all {
            report(
                "not captured in time: \(detection.isbn.digits); see whether it is in the queue, else hold it up again")
        }
    }

    private nonisolated func goOn() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.takeGlances() }
            group.addTask { await self.answer() }
            group.addTask { await self.followLibrary() }
            group.addTask { await self.goRound() }
            group.addTask { await self.fetchCovers() }
            await group.waitForAll()
        }
    }

    /// Whether it ends within the time, which counts in a task that is cancelled, too; if not, it goes on all the same.
    private nonisolated func isOver(_ work: Task<Void, Never>, within limit: Duration) async -> Bool {
        await Task { [clock] in
            let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
            let timer = Task {
                // Cancelled it has nothing to say any more.
                _ = try? await clock.sleep(for: limit)
                continuation.yield(false)
            }
            Task {
                await work.value
                continuation.yield(true)
            }
            defer { timer.cancel() }
            return await answers.first { _ in true } ?? false
        }.value
    }

    // MARK: The library

    /// The preset of what was captured last goes on: whoever was at a shelf when the service was restarted still is.
    private func beginAgain() async {
        await look()
        if let last = batch.rows.last(where: { $0.candidate.item.origin != .hub }), batch.preset == Preset() {
            batch.preset = last.candidate.item.preset
        }
        batchChanged()
    }

    private func followLibrary() async {
        for await _ in looks.stream {
            await look()
            guard await pause(Self.looksApart) else { return }
        }
    }

    /// Takes in what others did to the queue and the library, and asks the sources for what is new there.
    func look() async {
        do {
            try await inTurn(isNews: false) { desk in
                let before = desk.batch.open
                let waiting = try await desk.flow.recognise(desk.flow.intake.items(in: [.waiting]))
                desk.pictured.formUnion(try await desk.flow.intake.pictured(in: [.waiting]))
                let difference = desk.batch.follow(waiting, openBefore: before)
                desk.forgetAnswered(beyond: Self.mostAnswered)
                desk.takeIn(difference)
            }
            lookTrouble = nil
        } catch {
            let words = "\(error)"
            if words != lookTrouble, !Task.isCancelled {
                report("the queue cannot be read, and is looked at again: \(words)")
            }
            lookTrouble = words
        }
    }

    /// So that a service that runs for months stays small.
    func forgetAnswered(beyond limit: Int = 0) {
        batch.forgetAnswered(beyond: limit)
        pictured = pictured.filter { batch[$0] != nil }
        capturedHere = capturedHere.filter { batch[$0] != nil }
    }

    private func takeIn(_ difference: Batch.Difference) {
        let unknown = difference.new.compactMap { batch[$0]?.candidate.item }.filter { $0.outcome == nil }
        if !unknown.isEmpty { lookups.put(.waiting(unknown)) }
        for row in difference.changed.compactMap({ self.row($0) }) { tell(.known(row)) }
        if !difference.isNothing { batchChanged() }
    }

    /// - Returns: `false` when the task was cancelled.
    func pause(_ time: Duration) async -> Bool {
        do {
            try await clock.sleep(for: time)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}

/// What was seen and is not on the disk yet, oldest first: from the moment it is put in until it is captured, or given up with a word.
final class Seen: Sendable {
    private let detections = Mutex<[Detection]>([])
    /// Signals that there is something new, to the one that captures.
    let news = Inlet<Void>(newest: 1)

    var all: [Detection] { detections.withLock { $0 } }
    var oldest: Detection? { detections.withLock(\.first) }

    /// From any thread; never waits.
    func put(_ detection: Detection) {
        detections.withLock { $0.append(detection) }
        news.put(())
    }

    /// The oldest so many need nothing more. Only the one that captures calls it.
    func remove(oldest count: Int) { detections.withLock { $0.removeFirst(min(count, $0.count)) } }
}

/// A stream that one task takes from, and anybody puts into.
struct Inlet<Element: Sendable>: Sendable {
    let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    /// - Parameter newest: how many are kept at the most; `nil` keeps all.
    init(newest: Int? = nil) {
        (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: newest.map { .bufferingNewest($0) } ?? .unbounded)
    }

    func put(_ element: Element) { continuation.yield(element) }
}

/// What a work comes to that is never given up half way. Who waits is let go when its own task is cancelled: the work goes on, and
/// holds up nobody who wants to end.
func outcome<Value: Sendable>(of work: Task<Value, any Error>) async throws -> Value {
    let (values, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    Task {
        do {
            continuation.yield(try await work.value)
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
    for try await value in values { return value }
    throw CancellationError()
}
