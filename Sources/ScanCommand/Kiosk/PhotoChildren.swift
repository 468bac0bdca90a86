import ArgumentParser
import Bookplate
import CProcess
import Capture
import Decoder
import Foundation
import Kiosk
import Processes
import Synchronization

/// Reads photos that came over the web, each in a process of its own: the libraries that decode pictures are where a stranger's bytes
/// do most harm. Two at a time; the next wait.
final class PhotoChildren: Sendable {
    private let command: ChildProcess.Command
    private let patience: Duration
    private let queue: OperationQueue
    private let waiting = Mutex(0)
    private let limit: Int

    /// This program again, whatever became of its file since it was started.
    static let thisProgram = ChildProcess.Command(path: "/proc/self/exe", arguments: ["scan", "read-photo"])

    /// - Parameters:
    ///   - patience: for one photo, from its start.
    ///   - limit: of photos under way and waiting.
    init(_ command: ChildProcess.Command = thisProgram, patience: Duration = PhotoChildLimits.patience, limit: Int = 6)
    {
        (self.command, self.patience, self.limit) = (command, patience, limit)
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
    }

    /// - Throws: ``KioskError``: refused when the photo is no sound picture, unavailable when too many wait.
    func read(_ photo: [UInt8]) async throws -> DecodedPhoto {
        let isFull = waiting.withLock { count in
            if count >= limit { return true }
            count += 1
            return false
        }
        if isFull { throw KioskError(.unavailable, "\(limit) photos are being read already") }
        defer { waiting.withLock { $0 -= 1 } }
        let ending = try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { [command, patience] in
                continuation.resume(
                    with: Result { try ChildProcess.run(command, input: photo, within: patience, limit: 1 << 20) })
            }
        }
        switch ending {
        // One whole line, however it ended then: without it, it crashed, was killed, or had nothing to say.
        case .answered(let line, _, _) where line.last == UInt8(ascii: "\n"):
            return try PhotoAnswer(line.dropLast()).reading()
        case .answered: throw PhotoAnswer.unreadable("reading it failed")
        case .tooLong: throw PhotoAnswer.unreadable("reading it took too long")
        case .tooMuch: throw PhotoAnswer.unreadable("reading it failed")
        }
    }
}

/// What a child says of its photo. It may have been taken over by the photo, so that nothing of it is believed unseen.
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

    static func unreadable(_ why: String) -> KioskError {
        KioskError(
            .refused, "The photo could not be read: \(why). Take it again, or save it as an ordinary JPEG.")
    }

    /// - Throws: ``KioskError`` when it is no answer.
    init(_ line: some Collection<UInt8>) throws {
        do {
            self = try JSONDecoder().decode(PhotoAnswer.self, from: Data(line))
        } catch {
            throw Self.unreadable("reading it failed")
        }
    }

    /// - Throws: ``KioskError`` with the child's reason where the photo was not read.
    func reading() throws -> DecodedPhoto {
        if let error { throw KioskError(.refused, String(error.cleanedLine.prefix(300))) }
        guard symbols.count <= 200 else { throw Self.unreadable("reading it failed") }
        return DecodedPhoto(symbols: try symbols.map(Self.symbol), thumbnail: try picture())
    }

    private func picture() throws -> [UInt8]? {
        guard let thumbnail else { return nil }
        guard thumbnail.utf8.count <= 400 << 10, let bytes = Data(base64Encoded: thumbnail),
            bytes.starts(with: [0xFF, 0xD8, 0xFF])
        else { throw Self.unreadable("reading it failed") }
        return [UInt8](bytes)
    }

    private static func symbol(_ code: Code) throws -> Symbol {
        func areDigits(_ text: String) -> Bool { text.utf8.allSatisfy { (48...57).contains($0) } }
        let points = code.corners.filter { $0.count == 2 && $0.allSatisfy { abs($0) <= 20_000 } }
        guard code.payload.utf8.count == 13, areDigits(code.payload), points.count == 4, code.corners.count == 4,
            code.addon.map({ ($0.utf8.count == 2 || $0.utf8.count == 5) && areDigits($0) }) ?? true
        else { throw unreadable("reading it failed") }
        let corner = points.map { Point(x: $0[0], y: $0[1]) }
        return Symbol(
            payload: code.payload, addon: code.addon, quality: code.quality,
            corners: Corners(
                topLeft: corner[0], topRight: corner[1], bottomRight: corner[2], bottomLeft: corner[3]))
    }
}

/// What a process that reads a stranger's photo may take. It sets them itself, before it looks at the first byte.
enum PhotoChildLimits {
    /// Bytes of memory: a picture of 50 megapixels in all its colours, twice.
    static let memory: rlim_t = 1 << 30
    /// Seconds of the processor.
    static let processor: rlim_t = 20
    /// Seconds from its start to its end.
    static let patience: Duration = .seconds(25)

    /// - Throws: ``CommandError`` when one cannot be set: then nothing is read.
    static func apply() throws {
        // No file grows, no core is written, few descriptors (libheif and its libraries take some to be loaded), and what could be
        // run has no more rights.
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
        CommandError(.inputOutput, "\(call): \(String(cString: strerror(errno))). No photo is read without limits.")
    }
}

/// The kiosk's own: reads one photo from standard input, within limits, and prints what came of it as one line of JSON.
struct ReadPhotoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-photo", abstract: "Read one photo from standard input, with limits, for the kiosk.",
        shouldDisplay: false)

    func run() throws {
        try PhotoChildLimits.apply()
        Output.shared.line(Self.answer())
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
