import Foundation
import TestTools
import Testing

/// A pseudo-terminal with a program in its foreground.
final class PseudoTerminal {
    private let master: Int32
    private let process = Process()
    private var seen: [UInt8] = []

    /// Runs `scan`.
    ///
    /// - Parameter redirection: shell words after the command, such as `< file`.
    convenience init(
        _ scan: ScanProcess, _ arguments: String, redirection: String = "", columns: UInt16 = 80, rows: UInt16 = 24
    ) throws {
        try self.init(
            running: "'\(ScanProcess.program.path)' \(arguments) \(redirection)", environment: scan.environment,
            columns: columns, rows: rows)
    }

    /// - Parameter command: a command of the shell.
    init(running command: String, environment: [String: String], columns: UInt16 = 80, rows: UInt16 = 24) throws {
        // posix_openpt() and ptsname() are not imported; these are the ioctls behind them (ioctl_tty(2)).
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (unlocked, number): (Int32, Int32) = (0, 0)
        try #require(
            master >= 0 && ioctl(master, 0x4004_5431, &unlocked) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(slave >= 0)
        let end = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = [
            "--ctty", "--wait", "/bin/bash", "-c", "trap : INT TERM HUP; \(command)",
        ]
        process.environment = environment
        process.currentDirectoryURL = ScanProcess.root
        process.standardInput = end
        process.standardOutput = end
        process.standardError = end
        try process.run(atMost: .seconds(900))
        try end.close()
    }

    deinit {
        if process.isRunning { process.terminate() }
        close(master)
    }

    func type(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(master, $0.baseAddress, $0.count) } }

    /// The output so far, without escapes.
    var screen: String {
        String(decoding: seen, as: UTF8.self).replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "")
    }

    /// The output so far, with its escapes.
    var raw: String { String(decoding: seen, as: UTF8.self) }

    /// Sends a signal to the program, one of setsid's descendants, which may run another program itself.
    func send(_ signal: Int32) throws {
        var target = process.processIdentifier
        let name = ScanProcess.program.lastPathComponent.prefix(15) + "\n"
        while try String(contentsOfFile: "/proc/\(target)/comm", encoding: .utf8) != name,
            let child = try String(contentsOfFile: "/proc/\(target)/task/\(target)/children", encoding: .utf8)
                .split(separator: " ").first.flatMap({ Int32($0) })
        {
            target = child
        }
        kill(target, signal)
    }

    /// Resizes the window.
    func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Clears the recorded output.
    func clear() { seen.removeAll() }

    /// Reads until the output contains the text; fails after two minutes.
    func wait(for text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let limit = ContinuousClock.now + .seconds(120)
        while !screen.contains(text) {
            try #require(
                try readMore(until: limit), "\"\(text)\" did not appear; the screen was:\n\(screen)",
                sourceLocation: sourceLocation)
        }
    }

    /// Reads to the end of the program.
    ///
    /// - Returns: its exit status as the shell reports it: 128 + the signal if one ended it.
    func finish() throws -> Int32 {
        let limit = ContinuousClock.now + .seconds(120)
        while try readMore(until: limit) {}
        if ContinuousClock.now >= limit {
            Issue.record("the program did not end; the screen was:\n\(screen)")
            try send(SIGKILL)
        }
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal
            ? 128 + process.terminationStatus : process.terminationStatus
    }

    /// True if the terminal echoes and edits lines, as it did before the program ran.
    var isRestored: Bool {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
    }

    /// - Returns: false if the program has ended, or nothing arrived in time.
    private func readMore(until limit: ContinuousClock.Instant) throws -> Bool {
        var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        let left = (limit - .now).components
        guard poll(&waiting, 1, max(0, Int32(left.seconds) * 1000)) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        seen += buffer[0..<count]
        return true
    }
}
