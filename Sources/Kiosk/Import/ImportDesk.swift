import Bookplate
import FoundationEssentials

/// The import of a file from a browser: its arrival, a dry run, and the import itself. There is one at a time, which
/// all tabs and devices of the household show, and which goes on when a page is closed.
actor ImportDesk {
    /// The state of the file that was sent last.
    struct Job: Sendable {
        enum Phase: String, Sendable {
            /// A dry run finds out what the import would do.
            case checking
            /// The person decides.
            case checked
            case importing, done
            /// The dry run or the import has failed with ``failure``.
            case failed
        }

        let id = ID<Job>()
        let size: Int
        var order: ImportOrder
        /// The reader for whom the file is imported.
        var reader: ID<Reader>?
        var phase = Phase.checking
        var format: ExchangeFormat?
        var bytesRead = 0
        /// The counts of the dry run or, from ``Phase/importing`` on, of the import.
        var summary = ImportSummary()
        /// The first flagged and refused rows.
        var problems: [ImportResult] = []
        var problemCount = 0
        /// The first books that are new.
        var added: [ImportResult] = []
        /// The change that the import is so far; `nil` before the import, and if it has changed nothing.
        var change: ID<Change>?
        var failure: (any Error)?
        /// True if the import itself has begun, so that a failure may leave a part of the books imported.
        var hasBegun: Bool { !order.isDryRun }

        /// The number of flagged and refused rows, and of new books, that are kept for the page. The others are
        /// counted.
        static let shownRows = 200

        fileprivate mutating func begin(isDryRun: Bool) {
            order.isDryRun = isDryRun
            phase = isDryRun ? .checking : .importing
            (bytesRead, summary, problems, problemCount, added, failure) = (0, ImportSummary(), [], 0, [], nil)
        }

        fileprivate mutating func note(_ news: ImportNews) {
            switch news {
            case .recognised(let format): self.format = format
            case .imported(let results, let bytesRead, let change):
                self.bytesRead = bytesRead
                if hasBegun { self.change = change }
                for result in results { note(result) }
            }
        }

        private mutating func note(_ result: ImportResult) {
            summary.count(result)
            if case .new = result.outcome, added.count < Self.shownRows { added.append(result) }
            guard result.isProblem else { return }
            problemCount += 1
            if problems.count < Self.shownRows { problems.append(result) }
        }
    }

    private let importer: (any FileImport)?
    private let events: EventHub
    private let now: @Sendable () -> Date
    private var file: (any ReceivedFile)?
    private var library: (any KioskLibrary)?
    private var task: Task<Void, Never>?
    private var lastUse = Date.distantPast
    private var lastEvent: ContinuousClock.Instant?
    private var arriving = 0
    private var current: Job?

    /// The number of files that may arrive at the same time.
    private static let mostArriving = 4
    /// The time after which a file that nobody imports is removed, in seconds.
    private static let patience: TimeInterval = 86_400
    /// The minimum time between two announcements of progress.
    private static let eventInterval: Duration = .milliseconds(250)

    init(_ importer: (any FileImport)?, events: EventHub, now: @escaping @Sendable () -> Date) {
        (self.importer, self.events, self.now) = (importer, events, now)
    }

    /// The file that was sent last; `nil` if there is none, or if nobody has imported it for a day.
    var job: Job? {
        removeOld()
        return current
    }

    /// Receives a file.
    ///
    /// - Parameter receive: writes the bytes to the file that it is given.
    /// - Throws: ``RequestRefusal`` if another file is being imported, or the error of `receive`.
    func receive<Result: Sendable>(
        _ receive: @Sendable (any ReceivedFile) async throws -> Result
    ) async throws -> (file: any ReceivedFile, result: Result) {
        guard let importer else { throw RequestRefusal.notFound("import") }
        guard current?.phase != .importing, arriving < Self.mostArriving else { throw RequestRefusal.importBusy }
        let file = try importer.makeFile()
        arriving += 1
        defer { arriving -= 1 }
        return (file, try await receive(file))
    }

    /// Takes a file that has arrived, instead of an earlier one, and finds out what an import would do.
    func take(
        _ file: any ReceivedFile, size: Int, name: String, for reader: ID<Reader>?, _ library: any KioskLibrary
    ) throws -> Job {
        guard current?.phase != .importing else { throw RequestRefusal.importBusy }
        drop()
        (self.file, self.library) = (file, library)
        run(Job(size: size, order: ImportOrder(name: name), reader: reader), isDryRun: true)
        return try job(current?.id)
    }

    /// Finds out again what an import would do, with other choices.
    func check(
        _ id: ID<Job>, as format: ExchangeFormat?, _ preset: ImportPreset, for reader: ID<Reader>?,
        _ library: any KioskLibrary
    ) throws -> Job {
        var job = try job(id)
        guard job.phase != .importing, job.phase != .done, file != nil else { throw RequestRefusal.importBusy }
        (job.order.format, job.order.preset, job.reader) = (format, preset, reader)
        self.library = library
        run(job, isDryRun: true)
        return try self.job(id)
    }

    /// Imports the file as its last dry run did, or goes on after a failure.
    func start(_ id: ID<Job>) throws -> Job {
        let job = try job(id)
        // A second press is answered like the first.
        if job.phase == .importing || job.phase == .done { return job }
        guard job.phase == .checked || job.phase == .failed && job.hasBegun else { throw RequestRefusal.importBusy }
        run(job, isDryRun: false)
        return try self.job(id)
    }

    /// Forgets a file that is not being imported.
    func discard(_ id: ID<Job>) throws {
        guard try job(id).phase != .importing else { throw RequestRefusal.importBusy }
        drop()
        announce(isProgress: false)
    }

    /// Runs until the service ends, and then stops an import after the rows that are being saved.
    func stopWithService() async {
        while !Task.isCancelled {
            removeOld()
            // Cancelled when the service ends.
            do { try await Task.sleep(for: .seconds(3600)) } catch { break }
        }
        task?.cancel()
        await task?.value
    }

    private func job(_ id: ID<Job>?) throws -> Job {
        removeOld()
        guard let current, current.id == id else { throw RequestRefusal.notFound("file to import") }
        lastUse = now()
        return current
    }

    private func removeOld() {
        if current?.phase != .importing, now().timeIntervalSince(lastUse) > Self.patience { drop() }
    }

    private func drop() {
        task?.cancel()
        (task, file, library, current) = (nil, nil, nil, nil)
    }

    private func run(_ job: Job, isDryRun: Bool) {
        guard let importer, let file, let library else { return }
        task?.cancel()
        var job = job
        job.begin(isDryRun: isDryRun)
        (current, lastUse) = (job, now())
        announce(isProgress: false)
        let (id, order) = (job.id, job.order)
        task = Task {
            do {
                try await importer.importRows(of: file, order, into: library) { await note($0, id) }
                finish(id, nil)
            } catch {
                finish(id, error)
            }
        }
    }

    private func note(_ news: ImportNews, _ id: ID<Job>) {
        // A dry run that was replaced by another may still deliver rows.
        guard !Task.isCancelled, current?.id == id else { return }
        current?.note(news)
        announce(isProgress: true)
    }

    private func finish(_ id: ID<Job>, _ error: (any Error)?) {
        guard !Task.isCancelled, let job = current, job.id == id else { return }
        current?.failure = error
        current?.phase = error != nil ? .failed : job.hasBegun ? .done : .checked
        lastUse = now()
        if current?.phase == .done { (file, library) = (nil, nil) }
        announce(isProgress: false)
    }

    /// Reports the progress of the import to the pages.
    private func announce(isProgress: Bool) {
        let time = ContinuousClock.now
        if isProgress, let lastEvent, time - lastEvent < Self.eventInterval { return }
        lastEvent = time
        events.send(
            KioskEvent(
                name: "import",
                data: [
                    "id": JSONValue(current?.id.rawValue), "phase": JSONValue(current?.phase.rawValue),
                    "read": .integer(current?.bytesRead ?? 0), "size": .integer(current?.size ?? 0),
                ]))
    }
}

extension ImportResult {
    /// True for a row that a person should look at.
    var isProblem: Bool {
        if case .refused = outcome { true } else { !doubts.isEmpty }
    }

    /// The id of the book; `nil` if the row is not a book, or was refused.
    var copy: ID<Copy>? {
        switch outcome {
        case .new(let id), .merged(let id, _), .unchanged(let id): id
        case .other, .refused: nil
        }
    }
}
