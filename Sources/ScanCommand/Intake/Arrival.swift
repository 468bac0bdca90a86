import Bookplate
import Foundation
import Station

/// What comes in from a photo or a line, before it is captured.
enum Arrival: Sendable {
    case detection(Detection)
    /// Something that is no book, or could not be read; it is told and forgotten.
    case event(CaptureEvent)

    var detection: Detection? { if case .detection(let detection) = self { detection } else { nil } }
    var event: CaptureEvent? { if case .event(let event) = self { event } else { nil } }
}

/// What arrived at once.
struct ArrivalBurst: Sendable {
    let arrivals: [Arrival]
    /// To be called when it is captured: a source that is faster than the disk waits for it.
    var taken: @Sendable () -> Void = {}
}

extension PhotoResult {
    /// The books in the photo, and what else is in it.
    var arrivals: [Arrival] {
        if isUnreadable {
            return [
                .event(
                    CaptureEvent(
                        refused: .unreadable, origin: .photo, image: name, reason: error ?? "it cannot be read"))
            ]
        }
        if symbols.isEmpty, printed.isEmpty {
            let nothing = isPrintRead ? "no bar code and no printed ISBN found in it" : "no bar code found in it"
            let reason = [error ?? nothing, printTrouble?.description].compactMap { $0 }
            return [
                .event(
                    CaptureEvent(
                        refused: .refused, origin: .photo, image: name, reason: reason.joined(separator: "; ")))
            ]
        }
        return codes
            + printed.map { number in
                // As if it were typed, and with the photo that it stands in: that is how what is read from print is told from what a
                // person typed, also by whoever goes through the queue later.
                .detection(
                    Detection(
                        isbn: number.isbn, raw: number.text, origin: .typed, image: name, thumbnail: printedThumbnail))
            } + [unreadPrint].compactMap { $0 }
    }

    private var unreadPrint: Arrival? {
        printTrouble.map {
            .event(CaptureEvent(refused: .refused, origin: .photo, image: name, reason: $0.description))
        }
    }

    private var codes: [Arrival] {
        symbols.enumerated().map { index, symbol in
            do throws(ISBNRefusal) {
                let thumbnail = thumbnails.indices.contains(index) ? thumbnails[index] : nil
                return .detection(
                    Detection(
                        isbn: try symbol.isbn(), raw: symbol.payload, addon: symbol.addon, origin: .photo, image: name,
                        thumbnail: thumbnail))
            } catch {
                return .event(
                    CaptureEvent(
                        refused: .refused, raw: symbol.payload, kind: symbol.kind, addon: symbol.addon, origin: .photo,
                        image: name, reason: error.description))
            }
        }
    }
}

extension TypedNumber {
    /// The book that it names, or why it is none.
    var arrival: Arrival {
        do throws(ISBNRefusal) {
            return .detection(try detection())
        } catch {
            let kind: CodeKind? = if case .notABook(let kind) = error { kind } else { nil }
            return .event(
                CaptureEvent(
                    refused: .refused, raw: String(text.prefix(200)), kind: kind, origin: origin,
                    reason: error.description))
        }
    }
}

/// Standard input, line by line, read on a thread of its own; what is there at once comes as one burst.
struct InputLines: Sendable {
    /// A longer line is no number; the rest of it is passed over.
    static let longestLine = 1024
    /// How many bursts may be read and not yet captured.
    private static let ahead = 16

    /// At most 64 lines, without their line ends.
    let bursts: AsyncStream<[String]>
    /// Counted up from 0: libdispatch traps a semaphore that goes below what it began with and is let go then.
    private let room = DispatchSemaphore(value: 0)

    init(from descriptor: Int32 = STDIN_FILENO) {
        let (stream, continuation) = AsyncStream.makeStream(of: [String].self)
        bursts = stream
        let room = room
        for _ in 0..<Self.ahead { room.signal() }
        Thread {
            var splitter = LineSplitter()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                var lines = (count > 0 ? splitter.take(buffer[0..<count]) : splitter.finish())[...]
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

    /// One burst is done with, and the next may be read.
    func take() { room.signal() }
}

/// Cuts bytes into lines at LF, CR or both.
struct LineSplitter {
    private var pending: [UInt8] = []
    private var lastByte: UInt8 = 0

    mutating func take(_ bytes: ArraySlice<UInt8>) -> [String] {
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

    /// What stands after the last line end.
    mutating func finish() -> [String] { pending.isEmpty ? [] : [takeLine()] }

    private mutating func takeLine() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }
}
