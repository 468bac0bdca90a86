import ArgumentParser
import Bookplate
import CProcess
import Capture
import Decoder
import Foundation
import Kiosk
import PrintedText
import Processes
import Synchronization
import SystemCalls
import SystemPackage
import Terminal

/// Reads uploaded photos. Each photo is read in a child process, because a malicious photo could attack the libraries
/// that decode pictures. Two photos are read at a time, but a large one alone, and other photos wait. Print is then
/// read by tesseract, from the grey picture that the child has made.
final class PhotoChildren: Sendable {
    private let command: ChildProcess.Command
    private let patience: Duration
    private let queue: OperationQueue
    /// Runs tesseract for one photo at a time, beside the reading of other photos.
    private let printQueue: OperationQueue
    /// The number of photos that are being read or are waiting.
    private let pending = Mutex(0)
    private let limit: Int
    /// The number of these whose print is to be read. Each of their grey pictures takes 6 MiB while it waits.
    private let pendingPrints = Mutex(0)
    private static let printLimit = 3

    /// The command that starts another process of this program, even if the program's file has been replaced since this
    /// process started.
    static let thisProgram = ChildProcess.Command(path: "/proc/self/exe", arguments: ["scan", "read-photo"])

    /// - Parameters:
    ///   - patience: the time limit for one photo, from the start of its process.
    ///   - limit: the maximum number of photos that are being read or are waiting.
    init(_ command: ChildProcess.Command = thisProgram, patience: Duration = PhotoChildLimits.patience, limit: Int = 16)
    {
        (self.command, self.patience, self.limit) = (command, patience, limit)
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        // Waiting for a child process blocks a thread. At the default quality of service, that would be one of the few
        // threads that run the service's tasks.
        queue.qualityOfService = .utility
        printQueue = OperationQueue()
        printQueue.maxConcurrentOperationCount = 1
        printQueue.qualityOfService = .utility
    }

    /// Reads the codes in one photo.
    ///
    /// - Throws: ``KioskError``: refused if the photo is not a valid picture, unavailable if too many photos wait.
    func read(_ photo: [UInt8]) async throws -> DecodedPhoto {
        try await withPlace(among: pending, limit) { try await decodedPhoto(answer(for: photo, limit: 1 << 20)) }
    }

    /// Reads the print in one photo, unless a bar code in it is an ISBN. The child process decodes the photo, and
    /// tesseract reads only its grey picture.
    ///
    /// - Throws: ``KioskError``: refused if the photo is not a valid picture, unavailable if too many photos wait or if
    ///   tesseract fails.
    func readPrint(in photo: [UInt8], with tesseract: Tesseract) async throws -> PrintedPage {
        try await withPlace(among: pendingPrints, Self.printLimit) {
            if let page = try PrintedPage(barcodes: await read(photo).symbols) { return page }
            let image = try await withPlace(among: pending, limit) { try await greyPicture(of: photo) }
            return try await withCheckedThrowingContinuation { continuation in
                printQueue.addOperation { continuation.resume(with: Result { try Self.read(image, with: tesseract) }) }
            }
        }
    }

    private func greyPicture(of photo: [UInt8]) async throws -> OCRImage {
        let answer = try await answer(for: photo, ["--print"], limit: OCRImage.maxBytes)
        if let image = OCRImage(pgm: answer) { return image }
        // Instead of the picture, the process has sent the reason why there is none.
        _ = try decodedPhoto(answer)
        throw PhotoAnswer.unreadable("an internal error occurred")
    }

    private static func read(_ image: OCRImage, with tesseract: Tesseract) throws(KioskError) -> PrintedPage {
        do {
            return try tesseract.read(image)
        } catch {
            throw KioskError(.unavailable, "The title could not be read: \(error). Type it instead.")
        }
    }

    /// Runs `body` while one of a number of places is taken.
    ///
    /// - Throws: ``KioskError`` if all are taken.
    private func withPlace<Result>(
        among taken: borrowing Mutex<Int>, _ limit: Int, _ body: () async throws -> Result
    ) async throws -> Result {
        let isFull = taken.withLock { count in
            if count >= limit { return true }
            count += 1
            return false
        }
        if isFull { throw KioskError(.unavailable, "\(limit) photos are already waiting or being read") }
        defer { taken.withLock { $0 -= 1 } }
        return try await body()
    }

    /// Returns what the child process writes about a photo.
    ///
    /// - Parameter limit: the maximum size of the answer, in bytes.
    private func answer(for photo: [UInt8], _ options: [String] = [], limit: Int) async throws -> [UInt8] {
        var command = command
        let isLarge = PhotoChildLimits.isLarge(photo)
        command.arguments += (isLarge ? ["--large"] : []) + options
        let ending = try await withCheckedThrowingContinuation { [command, patience] continuation in
            let read: @Sendable () -> Void = {
                continuation.resume(
                    with: Result { try ChildProcess.run(command, input: photo, within: patience, limit: limit) })
            }
            if isLarge { queue.addBarrierBlock(read) } else { queue.addOperation(read) }
        }
        switch ending {
        // An answer counts even if the process failed after writing it. If it is not whole, it is refused later.
        case .answered(let answer, _, _): return answer
        case .tooLong: throw PhotoAnswer.unreadable("reading it took too long")
        case .tooMuch: throw PhotoAnswer.unreadable("an internal error occurred")
        }
    }

    /// - Parameter answer: one line. Without its end, the process crashed or was killed.
    private func decodedPhoto(_ answer: [UInt8]) throws -> DecodedPhoto {
        guard answer.last == UInt8(ascii: "\n") else { throw PhotoAnswer.unreadable("an internal error occurred") }
        return try PhotoAnswer(answer.dropLast()).photo()
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

/// The restrictions of a process that reads an untrusted photo. The process sets them before it reads the first byte.
///
/// The memory adds up to less than the service's MemoryMax (packaging/bookplate.service): 60 MiB for the service at
/// rest, 64 MiB for photos that have arrived (``PhotoUploads``), and either two small photos or a large one, each with
/// 30 MiB for the program itself. With a large photo, that makes 60 + 64 + 480 + 30 = 634 of 768 MiB. Beside it, there
/// is room for one tesseract, which takes about 100 MiB, and for three grey pictures. The worst photo known, a
/// progressive JPEG of 50 megapixels in CMYK, takes 430 MiB, of which 381 are its coefficients.
enum PhotoChildLimits {
    /// The limit for the data of the process, in bytes. Memory that cannot be allocated makes a photo unreadable, so a
    /// photo cannot take the service's memory.
    static func memory(isLarge: Bool) -> rlim_t { isLarge ? 480 << 20 : 160 << 20 }
    /// The limit for all addresses of the process, including the program and its libraries, in bytes.
    private static let addresses: rlim_t = 1 << 30
    /// The limit for CPU time, in seconds.
    private static let processor: rlim_t = 20
    /// The longest time from the start of the process to its end.
    static let patience: Duration = .seconds(25)

    /// Returns true if a photo may need more memory than a small one gets. The limit leaves a small photo 60 MiB for
    /// its bytes and for what is done with the decoded picture.
    static func isLarge(_ photo: [UInt8]) -> Bool { PhotoMemory.estimate(photo).map { $0 > 100 << 20 } ?? true }

    /// Restricts this process.
    ///
    /// - Throws: ``CommandError`` if a restriction that the kernel offers is not applied. In that case nothing is read.
    static func apply(isLarge: Bool) throws {
        // If memory runs out nevertheless, the kernel ends this process and not the service. Source:
        // proc_pid_oom_score_adj(5).
        do {
            let score = try FileDescriptor.open("/proc/self/oom_score_adj", .writeOnly)
            try score.closeAfter { _ = try score.writeAll("1000".utf8) }
        } catch {
            throw failed("oom_score_adj: \(error)")
        }
        // The process may not write files or dump core. It may open only a few descriptors, which it needs to load
        // libheif and its libraries. A program that it executed would get no new privileges.
        let limits: [(__rlimit_resource, rlim_t)] = [
            (RLIMIT_DATA, memory(isLarge: isLarge)), (RLIMIT_AS, addresses), (RLIMIT_CPU, processor),
            (RLIMIT_NOFILE, 24), (RLIMIT_FSIZE, 0), (RLIMIT_CORE, 0),
        ]
        for (resource, value) in limits {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else {
                throw failed("setrlimit: \(Errno.current)")
            }
        }
        guard cprocess_end_with_parent() == 0 else { throw failed("prctl: \(Errno.current)") }
        do throws(ProcessError) { try Confinement.confineThisProcess() } catch { throw failed("\(error)") }
    }

    private static func failed(_ reason: String) -> CommandError {
        CommandError(
            .inputOutput,
            "the process that reads a photo could not be restricted (\(reason)). The photo was not read."
        )
    }
}

/// Reads one photo from standard input within restrictions, and prints the result as one line of JSON. Only the kiosk
/// starts this command.
struct ReadPhotoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-photo",
        abstract: "Read one photo from standard input, within restrictions (for the kiosk).",
        shouldDisplay: false)

    @Flag(help: "Allow the memory that a large photo needs, and HEIC.")
    var large = false

    @Flag(help: "Write the grey picture in which printed text is read, instead of the codes.")
    var print = false

    func run() throws {
        // A HEIC photo counts as large. Libraries can be loaded only now.
        if large { PhotoFile.loadLibheif() }
        try PhotoChildLimits.apply(isLarge: large)
        do {
            let photo = try PhotoFile(descriptor: STDIN_FILENO, name: "the photo")
            if print {
                try FileDescriptor.standardOutput.writeAll(OCRImage(photo).pgm)
            } else {
                Output.shared.printLine(try Self.codes(in: photo))
            }
        } catch PhotoError.outOfMemory {
            // Closing other programs, as the error suggests, would not help.
            Self.refuse("The photo needs more memory than one photo may use here. Save it again with fewer pixels.")
        } catch {
            Self.refuse("\(error)")
        }
        // Ends here, because the program's usual end starts asynchronous work, which the restrictions do not allow.
        Foundation.exit(EXIT_SUCCESS)
    }

    private static func codes(in photo: PhotoFile) throws -> JSONValue {
        var decoder = try PhotoReader()
        let symbols = try decoder.decode(photo)
        let thumbnail = Data(try photo.thumbnail()).base64EncodedString()
        return ["symbols": .array(symbols.map(DecodeCommand.json)), "thumbnail": .string(thumbnail), "error": .null]
    }

    private static func refuse(_ reason: String) {
        Output.shared.printLine(["symbols": [], "thumbnail": .null, "error": .string(reason)])
    }
}
