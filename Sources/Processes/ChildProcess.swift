import CProcess
import Foundation
import SystemCalls
import SystemPackage

/// Runs another program: an untrusted one that reads bytes and answers with bytes, or one with which a person works at
/// the terminal. The program inherits only its standard input, output and error, and it has ended when the call
/// returns.
public enum ChildProcess {
    /// The program to run, its arguments and its environment.
    public struct Command: Sendable {
        public var path: String
        /// The arguments, starting with the program's name.
        public var arguments: [String]
        /// The whole environment, each variable as `NAME=value`.
        public var environment: [String]

        /// - Parameter environment: the environment. The default turns off Swift's backtraces, because a crash is
        ///   reported as an outcome of the run and its backtrace is not needed.
        public init(
            path: String, arguments: [String], environment: [String] = ["LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
        ) {
            (self.path, self.arguments, self.environment) = (path, arguments, environment)
        }
    }

    /// The outcome of a run.
    public enum Outcome: Sendable, Equatable {
        /// The program closed its output. Carries its answer, the first ``ChildProcess/maxErrorBytes`` bytes of its
        /// standard error, and the way in which it ended.
        case answered([UInt8], standardError: [UInt8], Status)
        /// The program took too long and was killed.
        case tooLong
        /// The program answered with too many bytes and was killed.
        case tooMuch
    }

    /// The way in which the process ended.
    public enum Status: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// The number of bytes of standard error that are kept; the rest is read and dropped.
    public static let maxErrorBytes = 4096
    /// The longest time that a child may take to end after it has closed its output.
    private static let exitTimeout: Duration = .seconds(2)

    /// Runs a program. Blocks until it has ended.
    ///
    /// - Parameters:
    ///   - time: the time after which the program is killed, counted from its start.
    ///   - limit: the maximum size of the program's answer, in bytes.
    /// - Throws: ``ProcessError`` if the program cannot be started.
    public static func run(
        _ command: Command, input: [UInt8], within time: Duration, limit: Int
    ) throws(ProcessError) -> Outcome {
        let deadline = ContinuousClock.now + time
        // Use sockets instead of pipes. Writing to a pipe whose reader is gone raises a signal; for sockets,
        // MSG_NOSIGNAL prevents this.
        let (near, far) = try makeSocketPair()
        defer { try? near.close() }
        let errors: FileDescriptor
        let id: pid_t
        do {
            defer { try? far.close() }
            let (nearErrors, farErrors) = try makeSocketPair()
            errors = nearErrors
            defer { try? farErrors.close() }
            do {
                id = try Spawn.start(command, Streams(input: far, output: far, error: farErrors))
            } catch {
                try? errors.close()
                throw error
            }
        }
        defer { try? errors.close() }
        var exchange = Exchange(
            descriptor: near, errors: errors, input: input, deadline: deadline, limit: limit)
        do throws(ProcessError) {
            let end = try exchange.run()
            let status = end == .closed ? wait(for: id, until: min(deadline, .now + exitTimeout)) : killAndReap(id)
            switch end {
            case .closed: return .answered(exchange.answer, standardError: exchange.standardError, status)
            case .tooLong: return .tooLong
            case .tooMuch: return .tooMuch
            }
        } catch {
            killAndReap(id)
            throw error
        }
    }

    /// The standard streams of a program.
    public struct Streams: Sendable {
        let input: FileDescriptor
        let output: FileDescriptor
        let error: FileDescriptor

        public init(input: FileDescriptor, output: FileDescriptor, error: FileDescriptor) {
            (self.input, self.output, self.error) = (input, output, error)
        }
    }

    /// Runs a program with which a person works at the terminal, such as an editor or a pager. Blocks until it has
    /// ended.
    ///
    /// The program belongs to the process group of this process, so it may use the terminal, and Control-Z stops both.
    /// While it runs, this process ignores Control-C and Control-\, which are meant for the program (see system(3)).
    /// Writing to a pipe that the program has closed then fails with EPIPE, without a signal.
    ///
    /// - Parameter started: called with the id of the process while it runs.
    /// - Throws: ``ProcessError`` if the program cannot be started.
    public static func runAtTerminal(
        _ command: Command, _ streams: Streams, started: (pid_t) -> Void
    ) throws(ProcessError) -> Status {
        let signals = [SIGINT, SIGQUIT, SIGPIPE]
        let actions = signals.map { number in
            var (ignore, earlier) = (sigaction(), sigaction())
            ignore.__sigaction_handler.sa_handler = SIG_IGN
            sigaction(number, &ignore, &earlier)
            return earlier
        }
        defer {
            for (number, action) in zip(signals, actions) {
                var action = action
                sigaction(number, &action, nil)
            }
        }
        let id = try Spawn.start(command, streams)
        started(id)
        return reap(id)
    }

    /// Creates two connected sockets that no other child inherits. The near socket never blocks. The far socket blocks,
    /// unless the child changes that.
    private static func makeSocketPair() throws(ProcessError) -> (near: FileDescriptor, far: FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ProcessError("socketpair", .current) }
        let (near, far) = (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
        guard fcntl(near.rawValue, F_SETFL, O_NONBLOCK) == 0 else {
            let error = Errno.current
            try? near.close()
            try? far.close()
            throw ProcessError("fcntl", error)
        }
        return (near, far)
    }

    /// Waits until the child has ended, and kills it if it does not end in time.
    private static func wait(for id: pid_t, until limit: ContinuousClock.Instant) -> Status {
        let handle = FileDescriptor(rawValue: cprocess_handle(id))
        guard handle.rawValue >= 0 else { return killAndReap(id) }
        defer { try? handle.close() }
        var ended = [pollfd(fd: handle.rawValue, events: Int16(POLLIN), revents: 0)]
        let hasEnded = (try? poll(&ended, until: limit)) ?? false
        return hasEnded ? reap(id) : killAndReap(id)
    }

    /// Kills the child if it has not ended yet, and returns the way in which it ended.
    @discardableResult
    private static func killAndReap(_ id: pid_t) -> Status {
        kill(id, SIGKILL)
        return reap(id)
    }

    private static func reap(_ id: pid_t) -> Status {
        var status: Int32 = 0
        // waitpid() cannot fail for a child that has not been waited for.
        _ = try? retryOnInterrupt { waitpid(id, &status, 0) }
        // WIFEXITED, WEXITSTATUS and WTERMSIG of wait(2), which Swift does not import.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

/// A system error that occurred while running another program.
public struct ProcessError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The C call that failed.
    public let call: String
    public let errno: Errno

    init(_ call: String, _ errno: Errno) { (self.call, self.errno) = (call, errno) }

    public var description: String { "\(call): \(errno)" }
}

/// Sends a child its input and receives its answer. Sends and receives as soon as either is possible, so that this
/// process and the child never wait for each other.
private struct Exchange {
    enum End { case closed, tooLong, tooMuch }

    private let descriptor: FileDescriptor
    private let errors: FileDescriptor
    private let input: [UInt8]
    private let deadline: ContinuousClock.Instant
    private let limit: Int
    private var sent = 0
    private var isInputEnded = false
    private var hasErrors = true
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// The bytes with which the child has answered so far.
    private(set) var answer: [UInt8] = []
    /// The beginning of the child's standard error.
    private(set) var standardError: [UInt8] = []

    init(
        descriptor: FileDescriptor, errors: FileDescriptor, input: [UInt8], deadline: ContinuousClock.Instant,
        limit: Int
    ) {
        (self.descriptor, self.errors, self.input) = (descriptor, errors, input)
        (self.deadline, self.limit) = (deadline, limit)
    }

    /// Runs until the child closes its output or exceeds its limits.
    mutating func run() throws(ProcessError) -> End {
        while true {
            if sent == input.count, !isInputEnded { endInput() }
            var ready = [
                pollfd(
                    fd: descriptor.rawValue, events: Int16(POLLIN) | (isInputEnded ? 0 : Int16(POLLOUT)), revents: 0),
                // poll() ignores negative descriptors.
                pollfd(fd: hasErrors ? errors.rawValue : -1, events: Int16(POLLIN), revents: 0),
            ]
            do throws(Errno) {
                guard try poll(&ready, until: deadline), ContinuousClock.now < deadline else { return .tooLong }
            } catch {
                throw ProcessError("poll", error)
            }
            let readable = Int16(POLLIN | POLLHUP | POLLERR)
            if ready[1].revents & readable != 0 { hasErrors = readErrors() }
            if ready[0].revents & Int16(POLLOUT) != 0, !isInputEnded { sendInput() }
            guard ready[0].revents & readable != 0 else { continue }
            guard let more = read(from: descriptor) else {
                // Errors that the child wrote before it closed its output have arrived by now.
                while hasErrors, standardError.count < ChildProcess.maxErrorBytes, isReadable(errors) {
                    hasErrors = readErrors()
                }
                return .closed
            }
            answer += more
            if answer.count > limit { return .tooMuch }
        }
    }

    private mutating func endInput() {
        shutdown(descriptor.rawValue, Int32(SHUT_WR))
        isInputEnded = true
    }

    private mutating func sendInput() {
        do throws(Errno) {
            let count = try retryOnInterrupt {
                input[sent...].prefix(256 << 10).withUnsafeBytes {
                    send(descriptor.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            sent += count
        } catch {
            // A child that ended before it read all its input may have answered nevertheless.
            isInputEnded = error != .resourceTemporarilyUnavailable
        }
    }

    /// - Returns: true if more bytes of standard error may follow.
    private mutating func readErrors() -> Bool {
        guard let more = read(from: errors) else { return false }
        standardError += more.prefix(ChildProcess.maxErrorBytes - standardError.count)
        return true
    }

    /// - Returns: the bytes that have arrived, empty if there are none yet; `nil` if no more will come.
    private mutating func read(from descriptor: FileDescriptor) -> ArraySlice<UInt8>? {
        do {
            let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            return count > 0 ? buffer[..<count] : nil
        } catch Errno.resourceTemporarilyUnavailable {
            return []
        } catch {
            return nil
        }
    }

    private func isReadable(_ descriptor: FileDescriptor) -> Bool {
        var ready = [pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
        return (try? poll(&ready, until: .now)) ?? false
    }
}

/// Starts a program with no descriptors other than the three standard ones, with default signal handling, and with the
/// given environment.
private enum Spawn {
    static func start(
        _ command: ChildProcess.Command, _ streams: ChildProcess.Streams
    ) throws(ProcessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, streams.input.rawValue, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, streams.output.rawValue, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, streams.error.rawValue, STDERR_FILENO)
        cprocess_close_from(&actions, 3)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var id: pid_t = 0
        let status = withCStrings(command.arguments) { arguments in
            withCStrings(command.environment) {
                posix_spawn(&id, command.path, &actions, &attributes, arguments, $0)
            }
        }
        guard status == 0 else { throw ProcessError("posix_spawn \(command.path)", Errno(rawValue: status)) }
        return id
    }
}

/// Calls `body` with the texts as a NULL-terminated C array.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
