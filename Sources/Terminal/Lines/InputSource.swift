import Bookplate
import Foundation
import Station
import SystemPackage

/// The source of a run's detections: photos, numbers or lines.
package struct InputSource: Sendable {
    let batches: AsyncStream<InputBatch>
    /// The number of books that are expected; nil if it is unknown.
    let expected: Int?

    package init(batches: AsyncStream<InputBatch>, expected: Int? = nil) {
        (self.batches, self.expected) = (batches, expected)
    }

    /// Reads numbers that were given on the command line.
    package init(numbers: [String]) {
        let batch = InputBatch(numbers: numbers, origin: .typed)
        batches = AsyncStream { continuation in
            continuation.yield(batch)
            continuation.finish()
        }
        expected = numbers.count
    }

    /// Reads numbers from standard input, one per line.
    package init(lines: InputLines) {
        expected = nil
        let release: @Sendable () -> Void = { lines.release() }
        batches = AsyncStream { continuation in
            let reading = Task {
                do {
                    for try await texts in lines.batches {
                        var batch = InputBatch(numbers: texts.filter { !$0.isEmpty }, origin: .stdin)
                        batch.onCaptured = release
                        continuation.yield(batch)
                    }
                } catch {
                    continuation.yield(InputBatch(refused: [.unreadableInput(error)]))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}

/// Detections that arrive together, with the events for the inputs that were refused.
package struct InputBatch: Sendable {
    package var detections: [Detection]
    /// The events for codes and numbers that are not ISBNs, and for inputs that could not be read.
    package var refused: [CaptureEvent]
    /// Called when the batch has been captured. An input that is faster than the disk waits for this call before it
    /// delivers more.
    var onCaptured: @Sendable () -> Void

    package init(
        detections: [Detection] = [], refused: [CaptureEvent] = [], onCaptured: @escaping @Sendable () -> Void = {}
    ) {
        (self.detections, self.refused, self.onCaptured) = (detections, refused, onCaptured)
    }

    /// Parses numbers. A number that is not an ISBN is refused.
    init(numbers: [String], origin: Origin) {
        self.init()
        for text in numbers {
            let number = TypedNumber(text: text, origin: origin)
            do throws(ISBNRefusal) {
                detections.append(try number.detection())
            } catch {
                refused.append(CaptureEvent(refused: number, error))
            }
        }
    }
}

extension CaptureEvent {
    /// Returns the event which reports that standard input could not be read to its end.
    static func unreadableInput(_ error: any Error) -> CaptureEvent {
        CaptureEvent(refused: .unreadable, origin: .stdin, reason: "cannot read standard input: \(error)")
    }
}

/// The lines of standard input, read on a separate thread. Lines that arrive together form a batch.
package struct InputLines: Sendable {
    /// The maximum length of a line, in bytes. The rest of a longer line is ignored, because no number is that long.
    static let longestLine = 1024
    /// The maximum number of batches that have been read but not captured yet.
    private static let ahead = 16

    /// Batches of at most 64 lines, without their line breaks. The stream throws `Errno` if a read fails. Text after
    /// the last line break is then dropped, because it may be only a part of a number.
    let batches: AsyncThrowingStream<[String], any Error>
    /// Counts how many more batches may be read now. It is created with 0 and then counted up, because libdispatch
    /// traps if a semaphore's value is below its initial value when it is destroyed.
    private let room = DispatchSemaphore(value: 0)

    package init(from descriptor: FileDescriptor = .standardInput) {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: [String].self)
        batches = stream
        let room = room
        for _ in 0..<Self.ahead { room.signal() }
        Thread {
            func yield(_ lines: [String]) {
                var lines = lines[...]
                while !lines.isEmpty {
                    room.wait()
                    continuation.yield(Array(lines.prefix(64)))
                    lines = lines.dropFirst(64)
                }
            }
            var splitter = LineSplitter()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            do {
                while true {
                    let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
                    if count == 0 { break }
                    yield(splitter.append(buffer[..<count]))
                }
                yield(splitter.finish())
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }.start()
    }

    /// Returns the lines that a person types on the terminal.
    ///
    /// - Returns: nil if standard input is no terminal, or if the program runs in the background, where the system
    ///   would stop it when it reads (SIGTTIN).
    package static func ofTerminal() -> InputLines? {
        isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() ? InputLines() : nil
    }

    /// Allows one more batch to be read. Called when a batch has been captured.
    func release() { room.signal() }
}

/// Splits bytes into lines at LF, CR or CR LF.
struct LineSplitter {
    private var pending: [UInt8] = []
    private var lastByte: UInt8 = 0

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            defer { lastByte = byte }
            if byte == 0x0A, lastByte == 0x0D { continue }
            if byte == 0x0A || byte == 0x0D {
                lines.append(cutLine())
            } else if pending.count < InputLines.longestLine {
                pending.append(byte)
            }
        }
        return lines
    }

    /// Returns the text after the last line break as one more line, or no line if there is no such text.
    mutating func finish() -> [String] { pending.isEmpty ? [] : [cutLine()] }

    private mutating func cutLine() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }
}
