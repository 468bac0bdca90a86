import ArgumentParser
import Bookplate
import CProcess
import Capture
import Decoder
import Foundation
import Kiosk
import Processes
import Synchronization
import SystemCalls
import SystemPackage
import Terminal

/// Reads uploaded photos. Each photo is read in a child process, because a malicious photo could attack the libraries
/// that decode pictures. Two photos are read at a time, and other photos wait.
final class PhotoChildren: Sendable {
    private let command: ChildProcess.Command
    private let patience: Duration
    private let queue: OperationQueue
    /// The number of photos that are being read or are waiting.
    private let pending = Mutex(0)
    private let limit: Int

    /// The command that starts another process of this program, even if the program's file has been replaced since this
    /// process started.
    static let thisProgram = ChildProcess.Command(path: "/proc/self/exe", arguments: ["scan", "read-photo"])

    /// - Parameters:
    ///   - patience: the time limit for one photo, from the start of its process.
    ///   - limit: the maximum number of photos that are being read or are waiting.
    init(_ command: ChildProcess.Command = thisProgram, patience: Duration = PhotoChildLimits.patience, limit: Int = 6)
    {
        (self.command, self.patience, self.limit) = (command, patience, limit)
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
    }

    /// Reads one photo.
    ///
    /// - Throws: ``KioskError``: refused if the photo is not a valid picture, unavailable if too many photos wait.
    func read(_ photo: [UInt8]) async throws -> DecodedPhoto {
        let isFull = pending.withLock { count in
            if count >= limit { return true }
            count += 1
            return false
        }
        if isFull { throw KioskError(.unavailable, "\(limit) photos are already waiting or being read") }
        defer { pending.withLock { $0 -= 1 } }
        let ending = try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { [command, patience] in
                continuation.resume(
                    with: Result { try ChildProcess.run(command, input: photo, within: patience, limit: 1 << 20) })
            }
        }
        switch ending {
        // A whole line is an answer, even if the process failed after writing it. Without a whole line, the process
        // crashed or was killed.
        case .answered(let line, _, _) where line.last == UInt8(ascii: "\n"):
            return try PhotoAnswer(line.dropLast()).photo()
        case .answered: throw PhotoAnswer.unreadable("an internal error occurred")
        case .tooLong: throw PhotoAnswer.unreadable("reading it took too long")
        case .tooMuch: throw PhotoAnswer.unreadable("an internal error occurred")
        }
    }
}

/// The answer of a child process. The photo may have compromised the process, so every value is checked.
struct PhotoAnswer: Decodable {
    private struct Code: Decodable {
        var payload: String
        var addon: String?
        var quality: Int
        var corners: [[Double]]
    }

    private var symbols: [Code]
    private var thumbnail: String?
    private var error: String?

    static func unreadable(_ reason: String) -> KioskError {
        KioskError(
            .refused, "The photo could not be read: \(reason). Take it again, or save it as an ordinary JPEG.")
    }

    /// - Throws: ``KioskError`` if the line is not an answer of the expected form.
    init(_ line: some Collection<UInt8>) throws {
        do {
            self = try JSONDecoder().decode(PhotoAnswer.self, from: Data(line))
        } catch {
            throw Self.unreadable("an internal error occurred")
        }
    }

    /// Returns the decoded photo.
    ///
    /// - Throws: ``KioskError`` with the child's reason if it could not read the photo.
    func photo() throws -> DecodedPhoto {
        if let error { throw KioskError(.refused, String(error.cleanedLine.prefix(300))) }
        guard symbols.count <= 200 else { throw Self.unreadable("an internal error occurred") }
        return DecodedPhoto(symbols: try symbols.map(Self.symbol), thumbnail: try picture())
    }

    private func picture() throws -> [UInt8]? {
        guard let thumbnail else { return nil }
        guard thumbnail.utf8.count <= 400 << 10, let bytes = Data(base64Encoded: thumbnail),
            bytes.starts(with: [0xFF, 0xD8, 0xFF])
        else { throw Self.unreadable("an internal error occurred") }
        return [UInt8](bytes)
    }

    private static func symbol(_ code: Code) throws -> Symbol {
        func areDigits(_ text: String) -> Bool { text.utf8.allSatisfy { (48...57).contains($0) } }
        let points = code.corners.filter { $0.count == 2 && $0.allSatisfy { abs($0) <= 20_000 } }
        guard code.payload.utf8.count == 13, areDigits(code.payload), points.count == 4, code.corners.count == 4,
            code.addon.map({ ($0.utf8.count == 2 || $0.utf8.count == 5) && areDigits($0) }) ?? true
        else { throw unreadable("an internal error occurred") }
        let corner = points.map { Point(x: $0[0], y: $0[1]) }
        return Symbol(
            payload: code.payload, addon: code.addon, quality: code.quality,
            corners: Corners(
                topLeft: corner[0], topRight: corner[1], bottomRight: corner[2], bottomLeft: corner[3]))
    }
}

/// The resource limits of a process that reads an untrusted photo. The process sets them before it reads the first
/// byte.
enum PhotoChildLimits {
    /// The memory limit in bytes. It is enough for two pictures of 50 megapixels in colour.
    static let memory: rlim_t = 1 << 30
    /// The limit for CPU time, in seconds.
    static let processor: rlim_t = 20
    /// The longest time from the start of the process to its end.
    static let patience: Duration = .seconds(25)

    /// Sets the limits for this process.
    ///
    /// - Throws: ``CommandError`` if a limit cannot be set. In that case nothing is read.
    static func apply() throws {
        // The process may not write files or dump core. It may open only a few descriptors, which it needs to load
        // libheif and its libraries. A program that it executed would get no new privileges.
        let limits: [(__rlimit_resource, rlim_t)] = [
            (RLIMIT_AS, memory), (RLIMIT_CPU, processor), (RLIMIT_NOFILE, 24), (RLIMIT_FSIZE, 0), (RLIMIT_CORE, 0),
        ]
        for (resource, value) in limits {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { throw failed("setrlimit") }
        }
        guard cprocess_allow_no_new_privileges() == 0, cprocess_end_with_parent() == 0 else { throw failed("prctl") }
    }

    private static func failed(_ call: String) -> CommandError {
        CommandError(
            .inputOutput,
            "the process that reads a photo could not be restricted (\(call): \(Errno.current)). The photo was not read."
        )
    }
}

/// Reads one photo from standard input within resource limits, and prints the result as one line of JSON. Only the
/// kiosk starts this command.
struct ReadPhotoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-photo",
        abstract: "Read one photo from standard input, within resource limits (for the kiosk).",
        shouldDisplay: false)

    func run() throws {
        try PhotoChildLimits.apply()
        Output.shared.printLine(Self.answer())
    }

    private static func answer() -> JSONValue {
        do {
            let photo = try PhotoFile(descriptor: STDIN_FILENO, name: "the photo")
            var decoder = try PhotoReader()
            let symbols = try decoder.decode(photo)
            let thumbnail = Data(try photo.thumbnail()).base64EncodedString()
            return [
                "symbols": .array(symbols.map(DecodeCommand.json)), "thumbnail": .string(thumbnail), "error": .null,
            ]
        } catch {
            return ["symbols": [], "thumbnail": .null, "error": .string("\(error)")]
        }
    }
}
