import Foundation
import Synchronization

/// The person's keys, read from the terminal one by one and without echo, while standard input may carry data.
///
/// The terminal is put back when it is closed, and by ``Interrupts`` when a signal ends the program.
final class Keyboard: Sendable {
    enum Key: Equatable, Sendable {
        case character(Character)
        case enter, escape, backspace
        /// Control-D, or the terminal is gone.
        case end
        /// The program was stopped and goes on: the screen has to be drawn again.
        case resumed
    }

    private let descriptor: Int32
    private let saved: termios
    private let keysStream: AsyncStream<Key>
    private let wakePipe: (read: Int32, write: Int32)

    /// - Returns: `nil` when there is no terminal to ask.
    static func open() -> Keyboard? {
        let descriptor = Foundation.open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var settings = termios()
        // A background job must not touch the terminal: it would be stopped (SIGTTOU).
        guard tcgetattr(descriptor, &settings) == 0, tcgetpgrp(descriptor) == getpgrp() else {
            Foundation.close(descriptor)
            return nil
        }
        return Keyboard(descriptor: descriptor, saved: settings)
    }

    private init(descriptor: Int32, saved: termios) {
        self.descriptor = descriptor
        self.saved = saved
        var raw = saved
        // Signals stay on: Control-C ends the program as everywhere.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &raw)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakePipe = (ends[0], ends[1])
        let (stream, continuation) = AsyncStream.makeStream(of: Key.self)
        keysStream = stream
        Interrupts.restoreOnSignal(terminal: descriptor, to: saved)
        Interrupts.onResume { [raw] in
            // The shell had the terminal meanwhile; what was typed there was not meant for a card.
            var raw = raw
            tcsetattr(descriptor, TCSAFLUSH, &raw)
            continuation.yield(.resumed)
        }
        let wake = ends[0]
        Thread { Self.readKeys(from: descriptor, until: wake, into: continuation) }.start()
    }

    /// The keys as they are pressed. One consumer.
    var keys: AsyncStream<Key> { keysStream }

    /// Gives the terminal back as it was.
    func close() {
        var saved = saved
        tcsetattr(descriptor, TCSANOW, &saved)
        Interrupts.restoreOnSignal(terminal: nil, to: saved)
        Interrupts.onResume {}
        Foundation.close(wakePipe.write)
    }

    private static func readKeys(from descriptor: Int32, until wake: Int32, into keys: AsyncStream<Key>.Continuation) {
        defer { keys.finish() }
        var pending: [UInt8] = []
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: 0, revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0 { if errno == EINTR { continue } else { return } }
            if waiting[1].revents != 0 { return }
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 {
                if count < 0, errno == EINTR { continue }
                keys.yield(.end)
                return
            }
            pending += buffer.prefix(count)
            for key in Self.parse(&pending) { keys.yield(key) }
        }
    }

    /// Takes whole keys off the front; an unfinished UTF-8 sequence stays. Cursor and function keys are passed over.
    static func parse(_ bytes: inout [UInt8]) -> [Key] {
        var keys: [Key] = []
        while let first = bytes.first {
            switch first {
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x7F, 0x08: keys.append(.backspace)
            case 0x04: keys.append(.end)
            case 0x15: keys.append(.character("\u{15}"))
            case 0x1B where bytes.count > 1 && (bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O")):
                let end = bytes.dropFirst(2).firstIndex { (0x40...0x7E).contains($0) } ?? bytes.count - 1
                bytes.removeFirst(end + 1)
                continue
            case 0x1B: keys.append(.escape)
            case 0x80...:
                let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
                guard bytes.count >= length else { return keys }
                if let character = String(validating: bytes.prefix(length), as: UTF8.self)?.first {
                    keys.append(.character(character))
                }
                bytes.removeFirst(length)
                continue
            case 0x20...: keys.append(.character(Character(UnicodeScalar(first))))
            default: break
            }
            bytes.removeFirst()
        }
        return keys
    }
}
