import Bookplate
import Capture
import Decoder
import Foundation
import PrintedText
import Synchronization
import SystemPackage

/// A photo named on the command line.
enum PhotoInput: Sendable {
    /// - Parameter name: the path as text, in which U+FFFD stands for bytes that are not UTF-8.
    case file(FilePath, name: String)
    case standardInput

    /// The name as it was given; `-` for standard input.
    var name: String {
        switch self {
        case .file(_, let name): name
        case .standardInput: "-"
        }
    }

    /// Turns arguments into photos. A folder becomes the photos in it and in its subfolders, sorted by name.
    ///
    /// A file that cannot be opened stays in the list of photos, and the error is reported when the file is read. A
    /// folder that cannot be opened is listed as a problem.
    static func expand(_ arguments: [String]) -> (photos: [PhotoInput], problems: [PhotoError]) {
        var photos: [PhotoInput] = []
        var problems: [PhotoError] = []
        for (argument, path) in zip(arguments, FilePath.paths(of: arguments)) {
            if argument == "-" {
                photos.append(.standardInput)
            } else if PhotoFolder.isFolder(path) {
                do throws(PhotoError) {
                    let folder = try PhotoFolder(below: path)
                    photos += folder.photos.map { .file($0, name: $0.string) }
                    problems += folder.problems
                } catch {
                    problems.append(error)
                }
            } else {
                photos.append(.file(path, name: argument))
            }
        }
        return (photos, problems)
    }

    func open() throws -> PhotoFile {
        switch self {
        case .file(let path, let name): try PhotoFile(path: path, name: name)
        case .standardInput: try PhotoFile(descriptor: STDIN_FILENO, name: "-")
        }
    }
}

/// The result of reading one photo.
struct PhotoResult: Sendable {
    let name: String
    /// The bar codes that were read, in reading order.
    var symbols: [Symbol] = []
    /// A small JPEG around each symbol, in the same order; empty if thumbnails were not requested.
    var thumbnails: [[UInt8]?] = []
    /// The ISBNs that are printed as text. They are read only on request, and only if no bar code is an ISBN. They are
    /// kept apart from ``symbols``, because they are less certain than bar codes, and a person has to check them.
    var printed: [PrintedISBN] = []
    /// The words in the largest print of a photo in which no number was found; nil if there are none, or if the print
    /// was not read.
    var printedTitle: String?
    /// A small JPEG of the whole photo, which is stored with the printed ISBNs.
    var printedThumbnail: [UInt8]?
    /// True if the photo was searched for printed ISBNs.
    var isPrintRead = false
    /// The reason why printed ISBNs could not be read although they were requested.
    var printError: TesseractError?
    /// The decoder's steps; nil if they were not requested.
    var explanation: Explanation?
    /// A grey JPEG of the whole photo, on which the decoder's steps can be drawn; nil if it was not requested.
    var picture: [UInt8]?
    /// The message that says why the photo, or a part of it, could not be read; nil if the whole photo was read.
    var error: String?
    /// True if the photo could not be read at all.
    var isUnreadable = false

    /// True if a bar code in the photo is an ISBN.
    var hasISBN: Bool { symbols.contains { $0.kind == .isbn } }
}

/// Reads photos on separate threads, one per processor, because zbar and the image libraries block.
struct PhotoBatchReader {
    let withThumbnails: Bool
    /// True to record the decoder's steps in ``PhotoResult/explanation``.
    var isExplaining = false
    /// True to make the picture on which the steps can be drawn.
    var withPicture = false
    /// The function that reads the print in a photo. It is called for each photo in which no bar code is an ISBN. If it
    /// is nil, the print is not read.
    var print: (@Sendable (PhotoFile) throws -> PrintedPage)?

    /// - Returns: a result for each input, in the order of the inputs.
    func read(_ inputs: [PhotoInput]) -> AsyncStream<PhotoResult> {
        let (stream, continuation) = AsyncStream.makeStream(of: PhotoResult.self)
        let queue = WorkQueue(total: inputs.count) {
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

    private func work(through inputs: [PhotoInput], _ queue: WorkQueue) {
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
            if photo.isDamaged { reading.error = "the photo is damaged, so only a part of it could be read" }
        } catch {
            reading.error = "\(error)"
            reading.isUnreadable = reading.symbols.isEmpty && reading.printed.isEmpty
        }
        return reading
    }

    /// Searches a photo for printed ISBNs. An error here does not affect the bar codes that were read.
    private func readPrint(of photo: PhotoFile, into reading: inout PhotoResult) throws {
        guard let print, !reading.hasISBN else { return }
        do {
            let page = try print(photo)
            reading.printed = page.isbns
            reading.isPrintRead = true
            if page.isbns.isEmpty, !page.title.isEmpty { reading.printedTitle = page.title }
        } catch let error as TesseractError {
            reading.printError = error
        }
        if withThumbnails, !reading.printed.isEmpty { reading.printedThumbnail = try photo.thumbnail() }
    }
}

/// Distributes the indices of photos among threads, and yields the results in the order of the indices.
private final class WorkQueue: Sendable {
    private struct State {
        var next = 0
        var yielded = 0
        var finished: [Int: PhotoResult] = [:]
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

    func finish(_ index: Int, _ result: PhotoResult) {
        let isLast = state.withLock { state in
            state.finished[index] = result
            while let result = state.finished.removeValue(forKey: state.yielded) {
                yield(result)
                state.yielded += 1
            }
            return state.yielded == total
        }
        if isLast { finished() }
    }

    func stop() { state.withLock { $0.isStopped = true } }
}
