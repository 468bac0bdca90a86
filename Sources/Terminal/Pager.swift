import Foundation
import SystemCalls
import SystemPackage

/// The program with which a person reads long output screen by screen.
struct Pager: Equatable {
    /// The command line, which a shell runs.
    let command: String
    /// The variables for the pager, in addition to those of this process.
    var variables: [String: String] = [:]

    /// Returns the pager that the environment names: BOOKPLATE_PAGER, otherwise PAGER, otherwise less, if it is
    /// installed. Without an own LESS, less gets the options F (quit if the text fits on one screen), R (show colours)
    /// and X (leave the text on the screen).
    ///
    /// - Returns: `nil` if there is none, if the variable is empty or names `cat`, or if the terminal cannot move its
    ///   cursor.
    static func chosen(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Pager? {
        guard !["", "dumb"].contains(environment["TERM"] ?? "") else { return nil }
        let named = environment["BOOKPLATE_PAGER"] ?? environment["PAGER"]
        guard let command = named ?? installedLess(environment["PATH"] ?? "") else { return nil }
        guard !["", "cat"].contains(command.trimmingCharacters(in: .whitespaces)) else { return nil }
        return Pager(command: command, variables: environment["LESS"] == nil ? ["LESS": "FRX"] : [:])
    }

    private static func installedLess(_ path: String) -> String? {
        path.split(separator: ":").contains { access("\($0)/less", X_OK) == 0 } ? "less" : nil
    }

    /// Shows the text, and returns when the person has quit the pager.
    ///
    /// - Returns: false if the pager cannot be started, so that nothing was shown.
    func show(_ text: String) -> Bool {
        // Control-C is meant for the pager. A write to a pager that was quit must not end this process.
        let actions = [SIGINT, SIGQUIT, SIGPIPE].map { (number: $0, action: Self.ignore($0)) }
        defer { for (number, action) in actions { Self.restore(action, of: number) } }
        do {
            let ends = try FileDescriptor.pipe(options: .closeOnExec)
            let id: pid_t
            do {
                // Whoever reads the pipe must see its end, so this process closes its own copies.
                defer { try? ends.readEnd.close() }
                id = try start(readingFrom: ends.readEnd)
            } catch {
                try ends.writeEnd.close()
                throw error
            }
            do {
                try ends.writeEnd.writeAll(text.utf8)
            } catch Errno.brokenPipe {
                // The person has quit before the end of the text.
            }
            try ends.writeEnd.close()
            return try ![Self.notExecutable, Self.notFound].contains(Self.exitStatus(of: id))
        } catch {
            // The text is printed without a pager instead.
            return false
        }
    }

    /// The exit statuses of a shell that cannot run a command (POSIX, XCU 2.8.2).
    private static let (notExecutable, notFound): (Int32, Int32) = (126, 127)

    /// Starts the pager in this process's group, so that it is in the terminal's foreground.
    private func start(readingFrom input: FileDescriptor) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input.rawValue, STDIN_FILENO)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGINT, SIGQUIT, SIGPIPE] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }.map { "\($0)=\($1)" }
        var id: pid_t = 0
        let status = Self.withCStrings(["sh", "-c", command]) { arguments in
            Self.withCStrings(environment) { posix_spawn(&id, "/bin/sh", &actions, &attributes, arguments, $0) }
        }
        guard status == 0 else { throw Errno(rawValue: status) }
        return id
    }

    /// Waits for the process.
    ///
    /// - Returns: its exit status; 0 if a signal has ended it.
    private static func exitStatus(of id: pid_t) throws(Errno) -> Int32 {
        var status: Int32 = 0
        _ = try retryOnInterrupt { waitpid(id, &status, 0) }
        // WIFEXITED and WEXITSTATUS of wait(2), which Swift does not import.
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 0
    }

    /// Ignores a signal from now on.
    ///
    /// - Returns: what was done at the signal before.
    private static func ignore(_ number: Int32) -> sigaction {
        var (action, earlier) = (sigaction(), sigaction())
        action.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(number, &action, &earlier)
        return earlier
    }

    private static func restore(_ action: sigaction, of number: Int32) {
        var action = action
        sigaction(number, &action, nil)
    }

    /// Calls `body` with the texts as a NULL-terminated C array.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { (array + index).initialize(to: strdup(text)) }
        (array + texts.count).initialize(to: nil)
        defer {
            for index in texts.indices { free(array[index]) }
            array.deallocate()
        }
        return body(array)
    }
}

extension String {
    /// Returns true if a terminal of this size shows all lines of the text, which may contain escape sequences for
    /// colours.
    func fits(columns: Int, rows: Int) -> Bool {
        var used = 0
        for line in split(separator: "\n", omittingEmptySubsequences: false).dropLast(hasSuffix("\n") ? 1 : 0) {
            used += max(1, (String(line).columns + columns - 1) / max(1, columns))
            if used > rows { return false }
        }
        return true
    }
}
