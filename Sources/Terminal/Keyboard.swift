import Bookplate
import Foundation
import Synchronization
import SystemCalls
import SystemPackage

/// Reads keys from the terminal one by one, without echo. Standard input is not used, so it can carry data.
///
/// The terminal is restored when the keyboard is closed, and by ``Interrupts`` when a signal ends the program.
package final class Keyboard: Sendable {
    enum Key: Equatable, Sendable {
        case character(Character)
        case enter, tab, backTab, escape, backspace, delete
        /// A letter that was pressed together with Control.
        case control(Character)
        /// A letter, or ``Character/delete`` for Backspace, that was pressed together with Alt.
        case alt(Character)
        case up, down, left, right, wordLeft, wordRight, pageUp, pageDown, top, bottom
        /// Pasted text, which is never handled as keys. It is recognised on terminals that mark it (bracketed paste,
        /// xterm's private mode 2004).
        case paste(String)
        /// Keys that arrived faster than a person presses them, such as the code that a handheld scanner types.
        case burst(KeyBurst)
        /// The terminal was closed.
        case end
        /// The program continues after Control-Z stopped it, so the screen has to be drawn again.
        case resumed
    }

    /// A key and the time when it was read, on the monotonic clock. A key may be handled much later.
    struct Press: Sendable {
        let key: Key
        let time: Duration
    }

    private let terminal: FileDescriptor
    private let saved: termios
    /// The keys with the times when they were read. Only one task may iterate over this stream.
    let presses: AsyncStream<Press>
    /// The pipe whose write end is closed to end the thread that reads the keys.
    private let wakePipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)

    /// Opens the terminal of this process.
    ///
    /// - Parameter inList: true for a list that typed words narrow, in which letters cannot move, so that Ctrl-J is not
    ///   Enter there. What was typed before the list appeared is no answer to it, and is dropped.
    /// - Returns: nil if there is no terminal, if the program runs in the background, or if no descriptors are left.
    package static func open(inList: Bool = false) -> Keyboard? {
        guard let terminal = try? FileDescriptor.open("/dev/tty", .readWrite, options: .closeOnExec) else { return nil }
        var settings = termios()
        // A background job must not touch the terminal, because the system would stop it (SIGTTOU).
        guard tcgetattr(terminal.rawValue, &settings) == 0, tcgetpgrp(terminal.rawValue) == getpgrp(),
            let wakePipe = try? FileDescriptor.pipe(options: .closeOnExec)
        else {
            try? terminal.close()
            return nil
        }
        return Keyboard(terminal, saved: settings, wakePipe: wakePipe, inList: inList)
    }

    private init(
        _ terminal: FileDescriptor, saved: termios, wakePipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor),
        inList: Bool
    ) {
        (self.terminal, self.wakePipe) = (terminal, wakePipe)
        self.saved = saved
        var raw = saved
        // Signals stay on, so that Control-C ends the program as usual.
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Control-S is off, because it would block drawing, and everything that waits for drawing.
        raw.c_iflag &= ~tcflag_t(IXON)
        // Enter sends CR, and Ctrl-J sends LF. Otherwise both would be read as LF.
        if inList { raw.c_iflag &= ~tcflag_t(ICRNL) }
        tcsetattr(terminal.rawValue, inList ? TCSAFLUSH : TCSANOW, &raw)
        let (stream, continuation) = AsyncStream.makeStream(of: Press.self)
        presses = stream
        Interrupts.restoreOnSignal(terminal: terminal, to: saved)
        Interrupts.onResume { [raw] in
            // Meanwhile the shell used the terminal. Keys that were typed then were not meant for this program, so they
            // are dropped.
            var raw = raw
            tcsetattr(terminal.rawValue, TCSAFLUSH, &raw)
            continuation.yield(Press(key: .resumed, time: .monotonicNow))
        }
        Thread { Self.readKeys(from: terminal, until: wakePipe.readEnd, into: continuation, inList: inList) }.start()
    }

    /// Restores the terminal.
    package func close() {
        var saved = saved
        tcsetattr(terminal.rawValue, TCSANOW, &saved)
        Interrupts.restoreOnSignal(terminal: nil, to: saved)
        Interrupts.onResume(nil)
        try? wakePipe.writeEnd.close()
    }

    private static func readKeys(
        from terminal: FileDescriptor, until wake: FileDescriptor, into presses: AsyncStream<Press>.Continuation,
        inList: Bool
    ) {
        defer { presses.finish() }
        var recogniser = KeyBurst.Recogniser()
        func yield(_ keys: [Key]) {
            let time = Duration.monotonicNow
            for key in keys {
                for press in recogniser.append(Press(key: key, time: time)) { presses.yield(press) }
            }
        }
        var pending: [UInt8] = []
        while true {
            var waiting = [
                pollfd(fd: terminal.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.rawValue, events: 0, revents: 0),
            ]
            // The rest of a cursor key's escape sequence may be late on a slow connection.
            let isSequence = pending.first == 0x1B && !pending.starts(with: pasteBegins)
            let isWaiting = isSequence || recogniser.isHolding
            var buffer = [UInt8](repeating: 0, count: 256)
            let count: Int
            do {
                guard try poll(&waiting, until: isWaiting ? .now + KeyBurst.Recogniser.gap : nil) else {
                    // The pause is measured by waiting, so that a busy machine does not tear a burst apart.
                    yield(parse(&pending, isWhole: true, inList: inList))
                    for press in recogniser.settle() { presses.yield(press) }
                    continue
                }
                if waiting[1].revents != 0 { return }
                count = try buffer.withUnsafeMutableBytes { try terminal.read(into: $0) }
            } catch {
                // The terminal has gone, and with it the place for a message. The books stay in the queue.
                return yield([.end])
            }
            guard count > 0 else { return yield([.end]) }
            pending += buffer.prefix(count)
            yield(parse(&pending, isWhole: false, inList: inList))
        }
    }

    private static let pasteBegins = Array("\u{1B}[200~".utf8)
    private static let pasteEnds = Array("\u{1B}[201~".utf8)
    /// The maximum size of a pasted text, in bytes. A longer text is dropped, because it is certainly not a list of
    /// numbers.
    private static let longestPaste = 64 << 10

    /// Removes complete keys from the front of the bytes and returns the keys. An incomplete UTF-8 or escape sequence
    /// stays. Function keys are ignored.
    ///
    /// - Parameters:
    ///   - isWhole: true if no more bytes will arrive soon, so that a single Esc byte is the key Esc.
    ///   - inList: true if LF is Ctrl-J, false if it is Enter (see ``open(inList:)``).
    static func parse(_ bytes: inout [UInt8], isWhole: Bool, inList: Bool = false) -> [Key] {
        var keys: [Key] = []
        while let first = bytes.first {
            switch first {
            case 0x0A where inList: keys.append(.control("j"))
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x09: keys.append(.tab)
            case 0x7F, 0x08: keys.append(.backspace)
            case 0x01...0x1A: keys.append(.control(Character(UnicodeScalar(first | 0x60))))
            case 0x1B where bytes.starts(with: pasteBegins):
                let text = bytes.dropFirst(pasteBegins.count)
                guard let end = text.indices.first(where: { text[$0...].starts(with: pasteEnds) }) else {
                    if bytes.count > longestPaste { bytes.removeAll() }
                    return keys
                }
                keys.append(.paste(String(decoding: text[..<end], as: UTF8.self)))
                bytes.removeFirst(end + pasteEnds.count)
                continue
            case 0x1B where bytes.count > 1 && (bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O")):
                guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                    // No key has a sequence as long as this, so the bytes are dropped.
                    if isWhole || bytes.count > 16 { bytes.removeAll() }
                    return keys
                }
                if let key = cursorKey(bytes[2...end]) { keys.append(key) }
                bytes.removeFirst(end + 1)
                continue
            case 0x1B where bytes.count == 1 && !isWhole: return keys
            case 0x1B where bytes.count > 1 && altKey(bytes[1]) != nil:
                if let key = altKey(bytes[1]) { keys.append(key) }
                bytes.removeFirst(2)
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

    /// Returns the key for a byte after ESC, which a terminal sends for Alt. Only keys of ``LineEditor`` are
    /// recognised, because a person may also press Esc and then another key.
    private static func altKey(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "b"): .wordLeft
        case UInt8(ascii: "f"): .wordRight
        case UInt8(ascii: "d"): .alt("d")
        case 0x7F, 0x08: .alt(.delete)
        default: nil
        }
    }

    /// Parses the bytes after `ESC [` or `ESC O`. Sources: ECMA-48, and xterm's control sequences for keys that ECMA-48
    /// does not define.
    private static func cursorKey(_ sequence: ArraySlice<UInt8>) -> Key? {
        switch String(decoding: sequence, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "C": .right
        case "D": .left
        // With Control (5) or Alt (3) in xterm; the small letters are rxvt's.
        case "1;5C", "1;3C", "c": .wordRight
        case "1;5D", "1;3D", "d": .wordLeft
        case "3~": .delete
        case "Z": .backTab
        case "H", "1~", "7~": .top
        case "F", "4~", "8~": .bottom
        case "5~": .pageUp
        case "6~": .pageDown
        default: nil
        }
    }
}

extension Character {
    /// The character DEL, which terminals send for Backspace.
    static let delete: Character = "\u{7F}"
}
