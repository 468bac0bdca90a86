import Foundation
import Glibc
import TestTools

/// The library recorder.c, which records what the program does to its files, and makes calls fail.
struct Recorder: Sendable {
    /// The compiled library, for all tests of this run.
    static let shared = Result { try Recorder() }

    private let library: String
    private let scratch: Scratch

    private init() throws {
        scratch = try Scratch()
        library = scratch.file("recorder.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("recorder.c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The toolchain of Swift has a clang, if the machine has no other compiler.
        compiler.arguments = [
            "-c", #"exec "$(command -v cc || command -v clang)" -O2 -Wall -Werror -shared -fPIC -o "$1" "$2""#, "sh",
            library, source.path,
        ]
        try compiler.run(atMost: .seconds(300))
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw Problem("recorder.c does not compile") }
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - disk: the folder to record, without symbolic links.
    ///   - isPatient: false to end the program as Control-C does when it says that it tries again every second.
    func run(
        _ scan: ScanProcess, _ arguments: [String], input: String = "", disk: String, fault: Fault? = nil,
        isPatient: Bool = true
    ) throws -> Recording {
        let (trace, counts) = (scan.home.path + "/trace", scan.home.path + "/counts")
        try Data().write(to: URL(fileURLWithPath: trace))
        try Data(count: 24).write(to: URL(fileURLWithPath: counts))
        let running = try start(scan, arguments, input: input, disk: disk, trace: trace, counts: counts, fault: fault)
        if !isPatient {
            try waitBlocking(for: "the end of \(arguments)") {
                try !running.process.isRunning || running.error().contains(Recording.waiting)
            }
            if running.process.isRunning { killProgram(below: running.process.processIdentifier, by: SIGINT) }
        }
        let ending = try running.wait()
        let numbers = try Data(contentsOf: URL(fileURLWithPath: counts))
        func number(_ index: Int) -> Int {
            numbers.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
        }
        return Recording(
            calls: try Call.parse(Data(contentsOf: URL(fileURLWithPath: trace))), ending: ending, matching: number(0),
            failed: number(1), ranExitHandlers: number(2) > 0)
    }

    /// Starts the program; its record is appended to `trace`.
    func start(
        _ scan: ScanProcess, _ arguments: [String], input: String = "", disk: String, trace: String,
        counts: String? = nil, fault: Fault? = nil
    ) throws -> ScanProcess.Running {
        var scan = scan
        scan.prefix = [
            "/usr/bin/env", "LD_PRELOAD=\(library)", "DURABILITY_ROOT=\(disk)", "DURABILITY_TRACE=\(trace)",
        ]
        if let counts { scan.prefix.append("DURABILITY_COUNTS=\(counts)") }
        if let fault { scan.prefix.append("DURABILITY_FAULT=\(fault.text)") }
        return try scan.start(arguments, input: Data(input.utf8))
    }
}

/// The calls and the result of a run of the program.
struct Recording: Sendable {
    var calls: [Call]
    var ending: ScanProcess.Ending
    /// The number of calls that a fault could have hit.
    var matching: Int
    /// The number of calls that failed.
    var failed: Int
    /// True if the program called the exit handlers of its libraries.
    var ranExitHandlers: Bool

    /// The words with which the program waits for room on a full disk.
    static let waiting = "Trying again every second"
}

/// A call that fails.
struct Fault: Sendable {
    /// Kinds of calls, as recorder.c names them.
    struct Kinds: OptionSet, Sendable {
        let rawValue: Int
        static let opening = Kinds(rawValue: 1), creating = Kinds(rawValue: 2), reading = Kinds(rawValue: 4)
        static let writing = Kinds(rawValue: 8), resizing = Kinds(rawValue: 16), syncing = Kinds(rawValue: 32)
        static let naming = Kinds(rawValue: 64), removing = Kinds(rawValue: 128)
    }

    /// - once: only the n-th call fails.
    /// - on: the n-th and all later calls fail.
    /// - short: the n-th call writes half, and succeeds.
    /// - full: the n-th call writes half, and all later calls fail.
    enum Mode: String { case once, on, short, full }

    var kinds: Kinds
    /// The number of the call, from 1; 0 only counts.
    var number: Int
    var errno: Int32
    var mode: Mode

    var text: String { "\(kinds.rawValue) \(number) \(errno) \(mode.rawValue)" }
}

/// One call of a recorded program that changed something in the folder, or that printed something. Paths are relative
/// to the folder, which itself is ".".
enum Call: Sendable, Equatable {
    case opened(String, inode: UInt64)
    case created(String, inode: UInt64)
    case written(inode: UInt64, offset: Int, [UInt8])
    case resized(inode: UInt64, Int)
    case synced(inode: UInt64)
    /// fdatasync(2), which need not write the times of a file.
    case dataSynced(inode: UInt64)
    case folderSynced(inode: UInt64)
    case syncFailed(inode: UInt64)
    case renamed(String, to: String)
    case linked(String, to: String)
    case unlinked(String)
    case folderCreated(String)
    case folderRemoved(String)
    /// Text on standard output or standard error.
    case printed(String)

    /// Parses the record that recorder.c has written.
    static func parse(_ data: Data) throws -> [Call] {
        var calls: [Call] = []
        var rest = [UInt8](data)[...]
        func take(_ count: Int) throws -> [UInt8] {
            guard rest.count >= count else { throw Problem("the record ends in the middle of a call") }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        while !rest.isEmpty {
            let head = try take(32)
            func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
                head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
            }
            func part(_ offset: Int) throws -> [UInt8] { try take(Int(number(offset, UInt32.self))) }
            let first = String(decoding: try part(4), as: UTF8.self)
            let second = String(decoding: try part(8), as: UTF8.self)
            let bytes = try part(12)
            let (inode, value) = (number(16, UInt64.self), Int(number(24, UInt64.self)))
            switch UnicodeScalar(number(0, UInt32.self)) {
            case "o": calls.append(.opened(first, inode: inode))
            case "c": calls.append(.created(first, inode: inode))
            case "w": calls.append(.written(inode: inode, offset: value, bytes))
            case "t": calls.append(.resized(inode: inode, value))
            case "s": calls.append(.synced(inode: inode))
            case "d": calls.append(.dataSynced(inode: inode))
            case "f": calls.append(.folderSynced(inode: inode))
            case "x": calls.append(.syncFailed(inode: inode))
            case "r": calls.append(.renamed(first, to: second))
            case "l": calls.append(.linked(first, to: second))
            case "u": calls.append(.unlinked(first))
            case "m": calls.append(.folderCreated(first))
            case "k": calls.append(.folderRemoved(first))
            case "p": calls.append(.printed(String(decoding: bytes, as: UTF8.self)))
            default: throw Problem("a call that the recorder does not know: \(first)")
            }
        }
        return calls
    }
}

/// A reason why a test cannot go on, or what is wrong with a state.
struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
