import Foundation
import TestTools

/// The content of a folder, by paths relative to it.
struct Tree: Hashable, Sendable {
    var folders: Set<String> = []
    var files: [String: [UInt8]] = [:]

    init() {}

    /// Reads a folder. SQLite's shared memory is left out; see recorder.c.
    init(of folder: String) throws {
        guard let names = FileManager.default.enumerator(atPath: folder) else { return }
        for case let name as String in names where !name.hasSuffix("-shm") {
            if names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory {
                folders.insert(name)
            } else {
                files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
            }
        }
    }

    /// Creates the content in a folder.
    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in folders.sorted() {
            try FileManager.default.createDirectory(
                atPath: folder + "/" + name, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        for (name, bytes) in files {
            let isCreated = FileManager.default.createFile(
                atPath: folder + "/" + name, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            if !isCreated { throw Problem("cannot write \(name)") }
        }
    }
}

/// A disk with changes of which a power cut may leave any part that the model allows. See docs/durability.md.
struct Disk {
    enum Model: String, CaseIterable, Sendable {
        /// The promises of POSIX: a file's content is on the disk after a sync of the file, and a name after a sync of
        /// its folder. Every other change may be there or not, whatever came after it.
        case strict
        /// A file system with a journal, such as ext4 with data=ordered: names change in their order; a file grows in
        /// order, and where it has grown it has its content; content that is overwritten is in any order.
        case journalling
    }

    private enum Entry: Equatable { case folder, file(Int) }

    private enum Change {
        /// Names that get an entry or lose it, at once.
        case names([(path: String, entry: Entry?)])
        case write(file: Int, offset: Int, [UInt8])
        case resize(file: Int, Int)
    }

    /// A change that is not yet on the disk.
    private struct Pending {
        var number: Int
        var change: Change
        /// True if the change makes the file longer or shorter.
        var resizes: Bool

        var file: Int? {
            switch change {
            case .names: nil
            case .write(let file, _, _), .resize(let file, _): file
            }
        }
        var isName: Bool { file == nil }
    }

    /// The part of a pending change that a power cut leaves.
    enum Part: Hashable, Sendable {
        case nothing, whole
        /// The beginning of a write.
        case bytes(Int)
    }

    /// A choice of what a power cut leaves of the pending changes.
    struct Choice: Hashable, Sendable {
        var parts: [Part]
    }

    let model: Model
    private var names: [String: Entry] = [:]
    private var durableNames: [String: Entry] = [:]
    private var sizes: [Int: Int] = [:]
    private var durable: [Int: [UInt8]] = [:]
    private var pending: [Pending] = []
    private var inodes: [UInt64: Int] = [:]
    private var folders: [UInt64: String] = [:]
    private var count = 0
    private var files = 0
    /// The number of the last change of a file, and of the last one that changed its size.
    private var lastChange: [Int: (any: Int, size: Int)] = [:]
    /// The number of the last change of a name in a folder.
    private var lastName: [String: Int] = [:]
    /// Identifies the durable content of each file by the changes that made it.
    private var versions: [Int: Int] = [:]
    private var namesVersion = 0

    /// - Parameter tree: what is on the disk.
    init(_ model: Model, _ tree: Tree) {
        self.model = model
        for name in tree.folders { names[name] = .folder }
        for (name, bytes) in tree.files {
            files += 1
            names[name] = .file(files)
            sizes[files] = bytes.count
            durable[files] = bytes
        }
        durableNames = names
    }

    // MARK: Calls

    mutating func apply(_ call: Call) throws {
        switch call {
        case .opened(let path, let inode):
            if path == "." || names[path] == .folder {
                folders[inode] = path
            } else if case .file(let file)? = names[path] {
                inodes[inode] = file
            } else {
                throw Problem("\(path) was opened, but never created")
            }
        case .created(let path, let inode):
            files += 1
            inodes[inode] = files
            sizes[files] = 0
            durable[files] = []
            change([(path, .file(files))])
            lastChange[files] = (count, count)
        case .written(let inode, let offset, let bytes):
            let file = try file(inode)
            let grows = offset + bytes.count > sizes[file, default: 0]
            add(.write(file: file, offset: offset, bytes), of: file, resizes: grows)
            sizes[file] = max(sizes[file, default: 0], offset + bytes.count)
        case .resized(let inode, let size):
            let file = try file(inode)
            guard size != sizes[file] else { return }
            add(.resize(file: file, size), of: file, resizes: true)
            sizes[file] = size
        case .synced(let inode):
            let file = try file(inode)
            syncData(of: file)
            if model == .journalling { syncNames(until: lastChange[file]?.any ?? 0) }
        case .dataSynced(let inode):
            let file = try file(inode)
            syncData(of: file)
            if model == .journalling { syncNames(until: lastChange[file]?.size ?? 0) }
        case .folderSynced(let inode):
            guard let folder = folders[inode] else { throw Problem("a folder was synced that was never opened") }
            switch model {
            case .strict:
                syncNames { pending in
                    guard case .names(let names) = pending.change else { return false }
                    return names.contains { Self.folder(of: $0.path) == folder }
                }
            case .journalling: syncNames(until: lastName[folder, default: 0])
            }
        case .syncFailed(let inode):
            // The kernel marks the pages as clean, so no later sync writes them (Rebello et al., USENIX ATC 2020).
            // Names stay pending: a file system whose journal fails is mounted read-only.
            if let file = inodes[inode] { pending.removeAll { $0.file == file } }
        case .renamed(let old, let new):
            guard let entry = names[old], entry != .folder else { throw Problem("\(old) was renamed; it is no file") }
            change([(old, nil), (new, entry)])
        case .linked(let old, let new): change([(new, names[old])])
        case .unlinked(let path), .folderRemoved(let path): change([(path, nil)])
        case .folderCreated(let path): change([(path, .folder)])
        case .printed: break
        }
    }

    private func file(_ inode: UInt64) throws -> Int {
        guard let file = inodes[inode] else { throw Problem("a file was changed that was never opened") }
        return file
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private mutating func change(_ changes: [(path: String, entry: Entry?)]) {
        count += 1
        for (path, entry) in changes {
            names[path] = entry
            lastName[Self.folder(of: path)] = count
        }
        pending.append(Pending(number: count, change: .names(changes), resizes: false))
    }

    private mutating func add(_ change: Change, of file: Int, resizes: Bool) {
        count += 1
        lastChange[file] = (count, resizes ? count : lastChange[file]?.size ?? 0)
        pending.append(Pending(number: count, change: change, resizes: resizes))
    }

    private mutating func syncData(of file: Int) {
        for change in pending where change.file == file {
            Self.apply(change.change, .whole, to: &durable[file, default: []])
            versions[file] = change.number
        }
        pending.removeAll { $0.file == file }
    }

    private mutating func syncNames(until number: Int) { syncNames { $0.number <= number } }

    private mutating func syncNames(_ isSynced: (Pending) -> Bool) {
        for pending in pending where isSynced(pending) {
            guard case .names(let names) = pending.change else { continue }
            for (path, entry) in names { durableNames[path] = entry }
            var hasher = Hasher()
            hasher.combine(namesVersion)
            hasher.combine(pending.number)
            namesVersion = hasher.finalize()
        }
        pending.removeAll { $0.isName && isSynced($0) }
    }

    private static func apply(_ change: Change, _ part: Part, to content: inout [UInt8]) {
        switch (change, part) {
        case (_, .nothing), (.names, _): return
        case (.resize(_, let size), _):
            if size <= content.count {
                content.removeLast(content.count - size)
            } else {
                content.append(contentsOf: repeatElement(0, count: size - content.count))
            }
        case (.write(_, let offset, let bytes), _):
            var count = bytes.count
            if case .bytes(let some) = part { count = min(some, count) }
            if count == 0 { return }
            if content.count < offset + count {
                content.append(contentsOf: repeatElement(0, count: offset + count - content.count))
            }
            content.withUnsafeMutableBytes { content in
                bytes.withUnsafeBytes { content[offset..<offset + count].copyBytes(from: $0.prefix(count)) }
            }
        }
    }

    // MARK: States

    /// The state that would be left if nothing pending reached the disk.
    var leastState: Tree { state(Choice(parts: pending.map { _ in .nothing })) }
    /// The state that would be left if everything reached the disk.
    var wholeState: Tree { state(Choice(parts: pending.map { _ in .whole })) }

    /// Returns what is left if of the pending changes only those that are chosen reached the disk.
    ///
    /// - Parameter choice: a choice that is allowed by ``allowed(_:)``.
    func state(_ choice: Choice) -> Tree {
        var (names, contents) = (durableNames, durable)
        for (change, part) in zip(pending, choice.parts) where part != .nothing {
            if case .names(let changes) = change.change {
                for (path, entry) in changes { names[path] = entry }
            } else if let file = change.file {
                Self.apply(change.change, part, to: &contents[file, default: []])
            }
        }
        var tree = Tree()
        // A folder comes before what it holds. What is in a folder that is not there is lost.
        for (path, entry) in names.sorted(by: { $0.key < $1.key }) {
            let parent = Self.folder(of: path)
            guard parent == "." || tree.folders.contains(parent) else { continue }
            switch entry {
            case .folder: tree.folders.insert(path)
            case .file(let file): tree.files[path] = contents[file] ?? []
            }
        }
        return tree
    }

    /// Identifies the state of a choice by the changes in it; cheaper than the state.
    func key(_ choice: Choice) -> Int {
        var hasher = Hasher()
        hasher.combine(namesVersion)
        hasher.combine(versions)
        for (change, part) in zip(pending, choice.parts) where part != .nothing {
            hasher.combine(change.number)
            hasher.combine(part)
        }
        return hasher.finalize()
    }

    /// Returns the nearest choice that the model allows.
    func allowed(_ choice: Choice) -> Choice {
        guard model == .journalling else { return choice }
        var choice = choice
        var namesEnded = false
        var ended: Set<Int> = []
        for (index, change) in pending.enumerated() {
            let part = choice.parts[index]
            guard let file = change.file else {
                if part == .nothing { namesEnded = true }
                if namesEnded { choice.parts[index] = .nothing }
                continue
            }
            if change.resizes {
                if ended.contains(file) { choice.parts[index] = .nothing }
                if part != .whole { ended.insert(file) }
            } else if ended.contains(file), case .write(_, let offset, let bytes) = change.change,
                !fits(offset + bytes.count, in: file, before: index, choice)
            {
                // It overwrites what the file does not have.
                choice.parts[index] = .nothing
            }
        }
        return choice
    }

    private func fits(_ end: Int, in file: Int, before index: Int, _ choice: Choice) -> Bool {
        var size = durable[file]?.count ?? 0
        for (change, part) in zip(pending, choice.parts).prefix(index) where change.file == file && change.resizes {
            switch (change.change, part) {
            case (.resize(_, let new), .whole): size = new
            case (.write(_, let offset, let bytes), .whole): size = max(size, offset + bytes.count)
            case (.write(_, let offset, _), .bytes(let count)): size = max(size, offset + count)
            default: break
            }
        }
        return end <= size
    }

    /// Returns choices of what a power cut leaves now: nothing, everything, only the names, only the content; and of
    /// each of these kinds, `few` at random places: one change is missing, one is there alone, all up to a change, all
    /// from a change on, everything but the end of one write, and half of all changes.
    func choices(few: Int, _ random: inout SplitMix) -> [Choice] {
        func choice(_ part: (Int) -> Part) -> Choice { allowed(Choice(parts: pending.indices.map(part))) }
        var choices = [choice { _ in .nothing }]
        guard !pending.isEmpty else { return choices }
        choices.append(choice { _ in .whole })
        choices.append(choice { pending[$0].isName ? .whole : .nothing })
        choices.append(choice { pending[$0].isName ? .nothing : .whole })
        // The last write is torn, then others.
        let writes = pending.indices.filter {
            if case .write(_, _, let bytes) = pending[$0].change { bytes.count > 512 } else { false }
        }
        func torn(_ index: Int) -> Choice {
            guard case .write(_, _, let bytes) = pending[index].change else { return choice { _ in .whole } }
            // A disk writes whole sectors; a file that grows gets whole pages.
            let unit = model == .journalling && pending[index].resizes ? 4096 : 512
            let units = (bytes.count - 1) / unit
            let count = units == 0 ? 0 : unit * (1 + random.below(units))
            return choice { $0 == index ? .bytes(count) : .whole }
        }
        if let last = writes.last { choices.append(torn(last)) }
        for _ in 0..<few {
            let index = random.below(pending.count)
            choices.append(choice { $0 == index ? .nothing : .whole })
            choices.append(choice { $0 == index ? .whole : .nothing })
            choices.append(choice { $0 <= index ? .whole : .nothing })
            choices.append(choice { $0 >= index ? .whole : .nothing })
            if !writes.isEmpty { choices.append(torn(writes[random.below(writes.count)])) }
            var bits = random
            choices.append(choice { _ in bits.below(2) == 0 ? .whole : .nothing })
            random = bits
        }
        return choices
    }
}
