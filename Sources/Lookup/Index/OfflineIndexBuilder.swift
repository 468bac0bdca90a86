import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import SystemCalls
import SystemPackage

/// Builds the offline index from Open Library's dump of editions. The dumps of works and authors add the names of the
/// authors. Any number of files can be given in any order, plain or compressed.
///
/// The first stage reads the dumps and stages what the index needs in files beside it (``Staging``). The second stage
/// takes the staged rows in the order of their keys, and writes the blocks and the words of the index
/// (``BlockAssembly``). The finished index is synced and renamed into place. If the build does not finish, an existing
/// index stays unchanged. The same dumps always give the same bytes.
///
/// A build that was interrupted, even by a power cut, resumes when it is called again with the same dumps and options:
/// the first stage at its last checkpoint, the second after its last commit. After an error, it starts over.
///
/// Memory is bounded whatever the number of rows is, but for the parts that ``Staging`` and ``BlockAssembly`` name: two
/// cores use less than 300 MB for 55 million editions.
public enum OfflineIndexBuilder {
    /// The progress of the build, reported every few thousand rows.
    public struct Progress: Sendable {
        public enum Stage: Sendable { case reading, writing }

        public var stage: Stage
        /// The number of bytes read from the plain or compressed dump files on disk; in the second stage, the number of
        /// groups of blocks written.
        public var done: Int64
        public var total: Int64
    }

    /// The result of a build.
    public struct Report: Sendable, Equatable {
        public var editions = 0
        public var isbns = 0
        public var authors = 0
        public var rowsRead = 0
        /// The number of rows that do not have five columns.
        public var wrongColumns = 0
        /// The number of rows whose key, revision or JSON cannot be parsed.
        public var junk = 0
        /// The number of lines longer than 1 MiB.
        public var tooLong = 0
        /// The number of editions that were left out because they have no title or, in an index of numbers only, no
        /// valid ISBN.
        public var withoutISBN = 0
        /// The number of editions of other languages or countries than those that were asked for.
        public var notInSubset = 0
        /// True if an interrupted build was resumed.
        public var isResumed = false
    }

    /// The sizes with which a build works. Only tests use others.
    struct Sizes: Sendable {
        /// The size of a run of staged rows, in bytes.
        var run = 32 << 20
        /// The number of records that may occur several times in the dumps.
        var repeated = 1_000_000
        /// The least time between two checkpoints.
        var betweenCheckpoints = Duration.seconds(15)
        /// The size of the staged rows of a group of blocks.
        var group = 4 << 20
        /// The number of groups of blocks that are committed together.
        var groupsInCommit = 32
    }

    /// Builds the index.
    ///
    /// - Parameters:
    ///   - dumpFiles: the paths of `.txt` or `.txt.gz` files.
    ///   - path: the path of the index. An existing file is replaced only if it is empty or an index of Bookplate.
    /// - Throws: ``OfflineIndexError``; ``OfflineIndexError/cancelled`` if the current task is cancelled.
    public static func build(
        dumpFiles: [String], to path: String, options: OfflineIndexOptions = .everything,
        progress: (Progress) -> Void = { _ in }
    ) throws -> Report {
        try build(dumpFiles, to: path, options, Sizes(), progress)
    }

    /// Builds the index again from newer dumps, with the options with which it was built.
    ///
    /// Until the new index is complete, the old one stays in place and answers.
    ///
    /// - Throws: ``OfflineIndexError``, also if the dumps are not newer than those from which the index was built, or
    ///   lack a kind of records that those had.
    public static func update(
        _ path: String, from dumpFiles: [String], progress: (Progress) -> Void = { _ in }
    ) throws -> Report {
        let old = try OfflineIndex(path: path).info()
        return try build(dumpFiles, to: path, old.options, Sizes(), progress) { counts throws(OfflineIndexError) in
            let missing = old.kinds.subtracting(counts.kinds)
            guard missing.isEmpty else { throw .kindsMissing(path: path, kinds: missing.names) }
            guard counts.newest > old.newest ?? "" else { throw .notNewer(path: path, newest: counts.newest) }
        }
    }

    static func build(
        _ dumpFiles: [String], to path: String, _ options: OfflineIndexOptions, _ sizes: Sizes,
        _ progress: (Progress) -> Void,
        checking check: (BuildCounts) throws(OfflineIndexError) -> Void = { _ in }
    ) throws -> Report {
        let target = try BuildTarget(path, dumpFiles: dumpFiles)
        let lock = try BuildLock(target.unfinished, for: path)
        defer { lock.release() }
        var isKept = false
        defer { if !isKept { target.removeOwnFiles() } }
        do {
            var run = try IndexBuild(dumpFiles, target, options, sizes)
            let report = try run.run(check, progress)
            try target.commit()
            return report
        } catch OfflineIndexError.cancelled {
            isKept = true
            throw OfflineIndexError.cancelled
        } catch let error as DatabaseError {
            throw OfflineIndexError.cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        } catch let error as DamagedBytes {
            // Somebody else has changed the files of the build.
            throw OfflineIndexError.cannotWrite(path: path, cause: "\(error)")
        }
    }
}

/// One run of a build.
private struct IndexBuild {
    let dumpFiles: [String]
    let target: BuildTarget
    let options: OfflineIndexOptions
    let sizes: OfflineIndexBuilder.Sizes
    let identity: String
    var checkpoint: Checkpoint
    var staging: Staging
    let isResumed: Bool

    init(
        _ dumpFiles: [String], _ target: BuildTarget, _ options: OfflineIndexOptions, _ sizes: OfflineIndexBuilder.Sizes
    ) throws(OfflineIndexError) {
        (self.dumpFiles, self.target, self.options, self.sizes) = (dumpFiles, target, options, sizes)
        identity = Checkpoint.identity(dumpFiles, options)
        if let (checkpoint, staging) = try Checkpoint.load(target, identity, sizes) {
            (self.checkpoint, self.staging, isResumed) = (checkpoint, staging, true)
        } else {
            target.removeOwnFiles(exceptLock: true)
            (checkpoint, isResumed) = (Checkpoint(), false)
            staging = try Staging(target, sizes, isNew: true)
        }
    }

    mutating func run(
        _ check: (BuildCounts) throws(OfflineIndexError) -> Void, _ progress: (OfflineIndexBuilder.Progress) -> Void
    ) throws -> OfflineIndexBuilder.Report {
        if !checkpoint.isRead {
            try readDumps(progress)
        }
        // The build that is resumed may have been started without this check.
        try check(checkpoint.counts)
        if !checkpoint.isRead {
            guard !staging.runs.isEmpty else { throw OfflineIndexError.noEditions(paths: dumpFiles) }
            checkpoint.isRead = true
            try checkpoint.store(target.checkpoint, identity, staging)
            try target.emptyUnfinished()
        }
        try staging.compareRepeated()
        staging.finish()
        var report = OfflineIndexBuilder.Report()
        let counts = checkpoint.counts
        (report.rowsRead, report.isResumed) = (counts.rows, isResumed)
        (report.wrongColumns, report.junk, report.tooLong) = (counts.wrongColumns, counts.junk, counts.tooLong)
        (report.withoutISBN, report.notInSubset) = (counts.withoutISBN, counts.notInSubset)
        try writeIndex(&report, progress)
        return report
    }

    // First stage

    /// Reads the dumps on this thread, and parses their rows on two others.
    private mutating func readDumps(_ progress: (OfflineIndexBuilder.Progress) -> Void) throws {
        let sizes = dumpFiles.map { size(of: $0) }
        let total = sizes.reduce(0, +)
        var last = ContinuousClock.now
        while checkpoint.file < dumpFiles.count {
            let before = sizes[..<checkpoint.file].reduce(0, +)
            let reader = try DumpReader(path: dumpFiles[checkpoint.file], from: checkpoint.position)
            var parsing: [(batch: DumpBatch, job: Job<ParsedBatch>)] = []
            var isAtEnd = false
            while true {
                while !isAtEnd, parsing.count < 4 {
                    guard var batch = try reader.next() else {
                        isAtEnd = true
                        break
                    }
                    let (lines, options) = (batch.lines, options)
                    batch.lines = []
                    parsing.append((batch, Job { ParsedBatch(lines, options) }))
                }
                guard !parsing.isEmpty else { break }
                let (batch, job) = parsing.removeFirst()
                let parsed = try job.value()
                try staging.add(parsed)
                checkpoint.counts.add(parsed.counts)
                checkpoint.counts.tooLong += batch.tooLong
                checkpoint.position = batch.end
                progress(.init(stage: .reading, done: before + batch.offset, total: total))
                let isCancelled = Task.isCancelled
                if isCancelled || .now - last >= self.sizes.betweenCheckpoints {
                    try staging.flush()
                    try checkpoint.store(target.checkpoint, identity, staging)
                    last = .now
                }
                if isCancelled { throw OfflineIndexError.cancelled }
            }
            checkpoint.file += 1
            checkpoint.position = DumpPosition()
        }
        try staging.flush()
        progress(.init(stage: .reading, done: total, total: total))
    }

    private func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    // Second stage

    /// Packs blocks on other threads, and writes them on this one. Every commit is at the same row in every build of
    /// the same dumps, so that an interruption does not change the bytes.
    private func writeIndex(
        _ report: inout OfflineIndexBuilder.Report, _ progress: (OfflineIndexBuilder.Progress) -> Void
    ) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // A commit is on the disk before the next one, so that the build can go on after a power cut.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE")
        }
        let database = try DatabaseQueue(path: target.unfinished, configuration: configuration)
        let marks = try BuildFile(target.marks, isNew: false)
        try database.writeWithoutTransaction { db in
            if try !db.tableExists("about") {
                try db.inTransaction {
                    try db.execute(sql: IndexSchema.index(hasWords: !options.isNumbersOnly))
                    try describe(in: db)
                    return .commit
                }
                try marks.resize(to: 0)
            }
            try writeBlocks(&report, db, marks, progress)
        }
        try database.close()
    }

    private func writeBlocks(
        _ report: inout OfflineIndexBuilder.Report, _ db: Database, _ marks: BuildFile,
        _ progress: (OfflineIndexBuilder.Progress) -> Void
    ) throws {
        let assembly = BlockAssembly(staging, hasWords: !options.isNumbersOnly, groupSize: sizes.group)
        let groups = assembly.groups()
        let start = try Int.fetchOne(db, sql: "SELECT groups FROM about") ?? 0
        var editions = try NumberSet(storedIn: marks, place: 0)
        var authors = try NumberSet(storedIn: marks, place: 1)
        let block = try db.makeStatement(sql: "INSERT INTO block VALUES (?, ?)")
        let words = try assembly.hasWords ? db.makeStatement(sql: "INSERT INTO words(rowid, text) VALUES (?, ?)") : nil
        let state = try db.makeStatement(
            sql: "UPDATE about SET groups = ?, isbns = isbns + ?, blocks = blocks + ?, blockPages = blockPages + ?")
        var packing: [Job<BlockAssembly.Group>] = []
        var next = start
        for first in stride(from: start, to: groups.count, by: sizes.groupsInCommit) {
            let last = min(first + sizes.groupsInCommit, groups.count)
            try db.inTransaction {
                var (isbns, blocks, pages) = (0, 0, 0)
                for number in first..<last {
                    while next < groups.count, packing.count < 3 {
                        let range = groups[next]
                        packing.append(Job { try assembly.group(range) })
                        next += 1
                    }
                    let group = try packing.removeFirst().value()
                    for (first, bytes) in group.blocks {
                        try block.execute(arguments: [first, Data(bytes)])
                        pages += 1 + max(0, bytes.count - EditionBlock.size + 4091) / 4092
                    }
                    blocks += group.blocks.count
                    if let words {
                        for (key, text) in group.words { try words.execute(arguments: [key, text]) }
                    }
                    for id in group.ids { editions.insert(id) }
                    for number in group.authors { authors.insert(number) }
                    isbns += group.isbns
                    progress(.init(stage: .writing, done: Int64(number + 1), total: Int64(groups.count)))
                    guard !Task.isCancelled else { throw OfflineIndexError.cancelled }
                }
                try state.execute(arguments: [last, isbns, blocks, pages])
                // Marks may be ahead of the index, because marking again changes nothing.
                try editions.store(in: marks, place: 0)
                try authors.store(in: marks, place: 1)
                try marks.sync()
                return .commit
            }
        }
        (report.editions, report.authors) = (editions.count, authors.count)
        report.isbns = try Int.fetchOne(db, sql: "SELECT isbns FROM about") ?? 0
        guard report.editions > 0 else { throw OfflineIndexError.noEditions(paths: dumpFiles) }
        try db.execute(
            sql: "UPDATE about SET editions = ?, authors = ?", arguments: [report.editions, report.authors])
        try db.execute(sql: "PRAGMA application_id = \(IndexSchema.applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(IndexSchema.version)")
    }

    private func describe(in db: Database) throws {
        for (position, file) in dumpFiles.enumerated() {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            try db.execute(sql: "INSERT INTO dump VALUES (?, ?)", arguments: [position, name])
        }
        let counts = checkpoint.counts
        try db.execute(
            sql: "INSERT INTO about VALUES (0, 0, 0, ?, ?, ?, ?, ?, 0, 0, 0)",
            arguments: [
                counts.newest.isEmpty ? nil : counts.newest, counts.kinds.rawValue,
                options.languages.joined(separator: ","), options.countries.joined(separator: ","),
                options.isNumbersOnly,
            ])
    }
}

/// Ensures that only one build runs at a time, with a lock (flock) on the unfinished file. A build that was killed
/// leaves its file behind, but not its lock.
struct BuildLock {
    private let file: FileDescriptor

    init(_ unfinished: String, for path: String) throws(OfflineIndexError) {
        do {
            file = try FileDescriptor.open(
                unfinished, .readWrite, options: [.create, .closeOnExec, .noFollow],
                permissions: FilePermissions(rawValue: 0o644))
        } catch {
            throw .cannotWrite(path: path, cause: OfflineIndexError.cause(error))
        }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            release()
            throw .alreadyBuilding(path: path)
        }
    }

    /// Closes the file. This releases the lock, even if closing reports an error.
    func release() { try? file.close() }
}

/// The files of a build. The index is built in a file beside its final path, and this file is renamed when it is
/// complete.
struct BuildTarget {
    let path: String
    /// The path of the unfinished index.
    var unfinished: String { path + ".building" }
    /// The path of the file with the staged rows.
    var rows: String { path + ".rows" }
    /// The paths of the files with the names of authors and the authors of works.
    var authors: String { path + ".authors" }
    var works: String { path + ".works" }
    /// The path of the file that counts editions and authors in the second stage.
    var marks: String { path + ".marks" }
    /// The path of the state from which a build goes on.
    var checkpoint: String { path + ".checkpoint" }
    private var journal: String { unfinished + "-journal" }
    private var ownFiles: [String] { [unfinished, journal, rows, authors, works, marks, checkpoint] }

    /// Refuses the path if the file there is not an index of Bookplate, or if the build would overwrite a dump.
    ///
    /// An empty file may be replaced. An index is recognised by its first bytes, so it may be replaced even if it is
    /// damaged or of another version.
    init(_ path: String, dumpFiles: [String]) throws(OfflineIndexError) {
        self.path = path
        for file in [path] + ownFiles {
            guard let existing = Self.status(of: file) else { continue }
            for dump in dumpFiles {
                guard let status = Self.status(of: dump) else { continue }
                guard status.st_dev != existing.st_dev || status.st_ino != existing.st_ino else {
                    throw .dumpInTheWay(path: path, dump: dump)
                }
            }
        }
        guard let existing = Self.status(of: path) else { return }
        guard existing.st_mode & S_IFMT == S_IFREG else { throw .occupied(path: path) }
        guard existing.st_size > 0 else { return }
        guard try Self.isIndex(path) else { throw .occupied(path: path) }
    }

    /// - Returns: `nil` if there is no file or it cannot be examined; any such error is reported when the file is
    ///   opened.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Returns true if the file has the header of an SQLite database with Bookplate's application ID. Source:
    /// sqlite.org/fileformat2.html, "The Database Header".
    private static func isIndex(_ path: String) throws(OfflineIndexError) -> Bool {
        var header = [UInt8](repeating: 0, count: 72)
        let count: Int
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
            count = try file.closeAfter { try header.withUnsafeMutableBytes { try file.read(into: $0) } }
        } catch {
            throw .unreadable(path: path, cause: OfflineIndexError.cause(error))
        }
        let applicationID = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
        return count == header.count && header.starts(with: "SQLite format 3\0".utf8)
            && applicationID == IndexSchema.applicationID
    }

    /// Moves the finished index into place.
    func commit() throws(OfflineIndexError) {
        do throws(FileError) { try commitFile(unfinished, to: path) } catch {
            throw .cannotWrite(path: path, cause: "\(error.errno)")
        }
    }

    /// Removes the files that a build needs.
    ///
    /// - Parameter exceptLock: true to keep the unfinished index, whose lock this process holds, as an empty file.
    func removeOwnFiles(exceptLock: Bool = false) {
        // The checkpoint goes first, so that none is left without its files.
        for file in ownFiles.reversed() where !exceptLock || file != unfinished { unlink(file) }
        if exceptLock { truncate(unfinished, 0) }
    }

    /// Empties the unfinished index, and removes a journal that belongs to its old content.
    func emptyUnfinished() throws(OfflineIndexError) {
        unlink(journal)
        do throws(Errno) { try retryOnInterrupt { truncate(unfinished, 0) } } catch {
            throw .cannotWrite(path: path, cause: "\(error)")
        }
    }
}
