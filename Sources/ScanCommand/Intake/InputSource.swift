import Bookplate
import Capture
import Foundation
import Station

/// Detections that arrive together, and what was refused among them.
struct InputBatch: Sendable {
    var detections: [Detection] = []
    /// Codes and numbers that name no book, and inputs that could not be read.
    var refused: [CaptureEvent] = []
    /// Called once it is captured: a source that is faster than the disk waits for it.
    var onCaptured: @Sendable () -> Void = {}
}

/// Where a run's detections come from: photos, numbers or lines.
struct InputSource: Sendable {
    let batches: AsyncStream<InputBatch>
    /// The number of books to come, where it is known.
    var expected: Int?

    /// Photos, folders, and - for standard input.
    ///
    /// - Parameter print: how printed ISBNs are read as well.
    init(photos: [String], print: PrintOptions, report: ExitReport) {
        let (inputs, problems) = PhotoInput.expand(photos)
        if inputs.isEmpty, problems.isEmpty {
            Output.shared.complain("there is no photo in \(photos.joined(separator: ", ").printable).")
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
                    // Printed numbers may have been left because of it.
                    if result.printTrouble != nil { report.note(.unavailable) }
                    continuation.yield(InputBatch(result))
                }
                bar.finish()
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    /// Numbers of the command line.
    init(numbers: [String]) {
        let batch = InputBatch(numbers: numbers, origin: .typed)
        batches = AsyncStream { continuation in
            continuation.yield(batch)
            continuation.finish()
        }
        expected = numbers.count
    }

    /// Numbers on standard input, one a line.
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

    /// The books in a photo, and what else is in it.
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
        // Stored as typed, with the photo: that marks a number that was read from print, also for whoever goes through the queue later.
        detections += photo.printed.map { number in
            Detection(
                isbn: number.isbn, raw: number.text, origin: .typed, image: photo.name,
                thumbnail: photo.printedThumbnail)
        }
        if let error = photo.printTrouble { refuse(.refused, error.description) }
    }
}

/// The lines of standard input, read on a thread of its own; lines that are there at once come as one batch.
struct InputLines: Sendable {
    /// A longer line is no number; the rest of it is ignored.
    static let longestLine = 1024
    /// The batches that may be read ahead of capturing.
    private static let ahead = 16

    /// At most 64 lines, without their line ends.
    let batches: AsyncStream<[String]>
    /// Counted up from 0: libdispatch traps when a semaphore is released below its initial value.
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

    /// Returns the text after the last line end.
    mutating func finish() -> [String] { pending.isEmpty ? [] : [takeLine()] }

    private mutating func takeLine() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }
}
