import Bookplate
import Capture
import Decoder
import Foundation
import PrintedText
import Synchronization

/// A photo that was asked for by name.
enum PhotoInput: Sendable {
    case file(String)
    case standardInput

    /// As given; standard input is `-`.
    var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "-"
        }
    }

    /// Turns the arguments into photos: folders become the photos in and below them, in order of their names.
    ///
    /// What cannot be opened stays in the list; reading it tells why. Folders below that cannot be opened come as problems.
    static func expand(_ arguments: [String]) -> (photos: [PhotoInput], problems: [PhotoError]) {
        var photos: [PhotoInput] = []
        var problems: [PhotoError] = []
        for argument in arguments {
            if argument == "-" {
                photos.append(.standardInput)
            } else if PhotoFolder.isFolder(argument) {
                do throws(PhotoError) {
                    let folder = try PhotoFolder(below: argument)
                    photos += folder.photos.map { .file($0) }
                    problems += folder.problems
                } catch {
                    problems.append(error)
                }
            } else {
                photos.append(.file(argument))
            }
        }
        return (photos, problems)
    }

    func open() throws -> PhotoFile {
        switch self {
        case .file(let path): try PhotoFile(path: path)
        case .standardInput: try PhotoFile(descriptor: STDIN_FILENO, name: "-")
        }
    }
}

/// What one photo came to.
struct PhotoResult: Sendable {
    let name: String
    /// In reading order.
    var symbols: [Symbol] = []
    /// A small JPEG around each symbol, in the same order; empty when none was asked for.
    var thumbnails: [[UInt8]?] = []
    /// ISBNs that are printed as text, where no bar code names a book and print was asked for. Never among the symbols: a bar code
    /// is sure, these want a person's look.
    var printed: [PrintedISBN] = []
    /// A small JPEG of the whole photo beside them.
    var printedThumbnail: [UInt8]?
    /// Whether print was looked at.
    var isPrintRead = false
    /// Why print was not read although it was asked for.
    var printTrouble: TesseractError?
    /// What the decoder did, where that was asked for.
    var explanation: Explanation?
    /// A grey JPEG of the whole photo, for what the decoder did to be drawn on; where that was asked for.
    var picture: [UInt8]?
    /// Why nothing, or not all, could be read, for a person; `nil` when the photo was read whole.
    var error: String?
    /// Whether the photo could not be read at all.
    var isUnreadable = false

    /// Whether a bar code in it names a book.
    var hasISBN: Bool { symbols.contains { $0.kind == .isbn } }
}

/// Reads photos on threads of its own, as many as there are processors: zbar and the image libraries block.
struct PhotoBatchReader {
    let withThumbnails: Bool
    /// Whether to tell what the decoder did.
    var isExplaining = false
    /// Whether to give the picture that this can be drawn on.
    var withPicture = false
    /// Reads the print of photos without an ISBN among their bar codes; `nil` when nobody asked for it.
    var print: (@Sendable (PhotoFile) throws -> [PrintedISBN])?

    /// - Returns: a reading for each input, in the order of the inputs.
    func read(_ inputs: [PhotoInput]) -> AsyncStream<PhotoResult> {
        let (stream, continuation) = AsyncStream.makeStream(of: PhotoResult.self)
        let queue = InOrder(total: inputs.count) {
            continuation.yield($0)
        } finish: {
            continuation.finish()
        }
        continuation.onTermination = { _ in queue.stop() }
        let workers = min(inputs.count, max(1, ProcessInfo.processInfo.activeProcessorCount))
        if inputs.isEmpty { continuation.finish() }
        for _ in 0..<workers {
            let thread = Thread { work(through: inputs, queue) }
            thread.stackSize = 8 << 20
            thread.start()
        }
        return stream
    }

    private func work(through inputs: [PhotoInput], _ queue: InOrder) {
        var decoder: PhotoReader?
        while let index = queue.next() {
            queue.finish(index, read(inputs[index], with: &decoder))
        }
    }

    private func read(_ input: PhotoInput, with decoder: inout PhotoReader?) -> PhotoResult {
        var reading = PhotoResult(name: input.name)
        do {
            if decoder == nil { decoder = try PhotoReader() }
            let photo = try input.open()
            if isExplaining { reading.explanation = Explanation() }
            reading.symbols = try decoder?.decode(photo, explaining: &reading.explanation) ?? []
            if withThumbnails {
                reading.thumbnails = try reading.symbols.map { try photo.thumbnail(around: $0.corners) }
            }
            if withPicture { reading.picture = try photo.thumbnail(longSide: AnnotatedPicture.longSide) }
            try readPrint(of: photo, into: &reading)
            if photo.isDamaged { reading.error = "the photo is damaged; only a part of it could be read" }
        } catch {
            reading.error = "\(error)"
            reading.isUnreadable = reading.symbols.isEmpty && reading.printed.isEmpty
        }
        return reading
    }

    /// What goes wrong here takes nothing away from what the bar codes said.
    private func readPrint(of photo: PhotoFile, into reading: inout PhotoResult) throws {
        guard let print, !reading.hasISBN else { return }
        do {
            reading.printed = try print(photo)
            reading.isPrintRead = true
        } catch let trouble as TesseractError {
            reading.printTrouble = trouble
        }
        if withThumbnails, !reading.printed.isEmpty { reading.printedThumbnail = try photo.thumbnail() }
    }
}

/// Hands out indices, and hands on results in their order whatever order they come in.
private final class InOrder: Sendable {
    private struct State {
        var next = 0
        var handedOn = 0
        var waiting: [Int: PhotoResult] = [:]
        var isStopped = false
    }

    private let state = Mutex(State())
    private let total: Int
    private let yield: @Sendable (PhotoResult) -> Void
    private let finished: @Sendable () -> Void

    init(total: Int, yield: @escaping @Sendable (PhotoResult) -> Void, finish: @escaping @Sendable () -> Void) {
        self.total = total
        self.yield = yield
        finished = finish
    }

    func next() -> Int? {
        state.withLock { state in
            guard state.next < total, !state.isStopped else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func finish(_ index: Int, _ reading: PhotoResult) {
        let isLast = state.withLock { state in
            state.waiting[index] = reading
            while let reading = state.waiting.removeValue(forKey: state.handedOn) {
                yield(reading)
                state.handedOn += 1
            }
            return state.handedOn == total
        }
        if isLast { finished() }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}
