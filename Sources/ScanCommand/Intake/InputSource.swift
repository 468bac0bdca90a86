import Bookplate
import Capture
import Foundation
import Station

/// Detections that arrive together, and the inputs among them that were refused.
struct InputBatch: Sendable {
    var detections: [Detection] = []
    /// Codes and numbers that name no book, and inputs that could not be read.
    var refused: [CaptureEvent] = []
    /// Called once the batch is captured, for which a source that is faster than the disk waits.
    var onCaptured: @Sendable () -> Void = {}
}

/// The source of a run's detections: photos, numbers or lines.
struct InputSource: Sendable {
    let batches: AsyncStream<InputBatch>
    /// The number of books to expect; nil if unknown.
    var expected: Int?

    /// Reads photos: files, folders, and - for standard input.
    ///
    /// - Parameter print: whether to read printed ISBNs too.
    init(photos: [String], print: PrintOptions, report: ExitReport) {
        let (inputs, problems) = PhotoInput.expand(photos)
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.printError("there is no photo in \(photos.joined(separator: ", ").printable).")
        }
        let results = PhotoBatchReader(withThumbnails: true, print: print.reader()).read(inputs)
        let bar = ProgressBar("photos", total: inputs.count)
        batches = AsyncStream { continuation in
            let unreadable = problems.map {
                CaptureEvent(refused: .unreadable, origin: .photo, image: $0.photo, reason: "\($0)")
            }
            continuation.yield(InputBatch(refused: unreadable))
            let reading = Task {
                for await result in results {
                    bar.advance()
                    // Printed numbers may have been missed because of it.
                    if result.printTrouble != nil { report.record(.unavailable) }
                    continuation.yield(InputBatch(result))
                }
                bar.finish()
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    /// Reads the numbers of the command line.
    init(numbers: [String]) {
        let batch = InputBatch(numbers: numbers, origin: .typed)
        batches = AsyncStream { continuation in
            continuation.yield(batch)
            continuation.finish()
        }
        expected = numbers.count
    }

    /// Reads numbers from standard input, one per line.
    init(lines: InputLines) {
        let release: @Sendable () -> Void = { lines.release() }
        batches = AsyncStream { continuation in
            let reading = Task {
                for await texts in lines.batches {
                    var batch = InputBatch(numbers: texts.filter { !$0.isEmpty }, origin: .stdin)
                    batch.onCaptured = release
                    continuation.yield(batch)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}

extension InputBatch {
    init(numbers: [String], origin: Origin) {
        for text in numbers {
            let number = TypedNumber(text: text, origin: origin)
            do throws(ISBNRefusal) {
                detections.append(try number.detection())
            } catch {
                refused.append(CaptureEvent(refused: number, error))
            }
        }
    }

    /// Collects the books in a photo, and its other codes as refused.
    init(_ photo: PhotoResult) {
        func refuse(_ name: CaptureEvent.Name, _ reason: String) {
            refused.append(CaptureEvent(refused: name, origin: .photo, image: photo.name, reason: reason))
        }
        if photo.isUnreadable {
            refuse(.unreadable, photo.error ?? "it cannot be read")
            return
        }
        if photo.symbols.isEmpty, photo.printed.isEmpty {
            let nothing = photo.isPrintRead ? "no bar code and no printed ISBN found in it" : "no bar code found in it"
            let reasons = [photo.error ?? nothing, photo.printTrouble?.description].compactMap { $0 }
            refuse(.refused, reasons.joined(separator: "; "))
            return
        }
        for (index, symbol) in photo.symbols.enumerated() {
            do throws(ISBNRefusal) {
                let thumbnail = photo.thumbnails.indices.contains(index) ? photo.thumbnails[index] : nil
                detections.append(
                    Detection(
                        isbn: try symbol.isbn(), raw: symbol.payload, addon: symbol.addon, origin: .photo,
                        image: photo.name, thumbnail: thumbnail))
            } catch {
                refused.append(CaptureEvent(refused: symbol, error, origin: .photo, image: photo.name))
            }
        }
        // Stored as typed, with the photo: this marks a number read from print, also for the person who confirms it later.
        detections += photo.printed.map { number in
            Detection(
                isbn: number.isbn, raw: number.text, origin: .typed, image: photo.name,
                thumbnail: photo.printedThumbnail)
        }
        if let error = photo.printTrouble { refuse(.refused, error.description) }
    }
}

/// The lines of standard input, read on a separate thread. Lines that arrive together form a batch.
struct InputLines: Sendable {
    /// In bytes; the rest of a longer line, which is no number, is ignored.
    static let longestLine = 1024
    /// The number of batches that may be read ahead of capturing.
    private static let ahead = 16

    /// Batches of at most 64 lines, without their line breaks.
    let batches: AsyncStream<[String]>
    /// Counted up from 0, because libdispatch traps when a semaphore is destroyed below its initial value.
    private let room = DispatchSemaphore(value: 0)

    init(from descriptor: Int32 = STDIN_FILENO) {
        let (stream, continuation) = AsyncStream.makeStream(of: [String].self)
        batches = stream
        let room = room
        for _ in 0..<Self.ahead { room.signal() }
        Thread {
            var splitter = LineSplitter()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                var lines = (count > 0 ? splitter.append(buffer[0..<count]) : splitter.finish())[...]
                while !lines.isEmpty {
                    room.wait()
                    continuation.yield(Array(lines.prefix(64)))
                    lines = lines.dropFirst(64)
                }
                if count <= 0 { break }
            }
            continuation.finish()
        }.start()
    }

    /// Lets the next batch be read.
    func release() { room.signal() }
}

/// Cuts bytes into lines at LF, CR or both.
struct LineSplitter {
    private var pending: [UInt8] = []
    private var lastByte: UInt8 = 0

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            defer { lastByte = byte }
            if byte == 0x0A, lastByte == 0x0D { continue }
            if byte == 0x0A || byte == 0x0D {
                lines.append(takeLine())
            } else if pending.count < InputLines.longestLine {
                pending.append(byte)
            }
        }
        return lines
    }

    /// Returns the text after the last line break.
    mutating func finish() -> [String] { pending.isEmpty ? [] : [takeLine()] }

    private mutating func takeLine() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }
}
