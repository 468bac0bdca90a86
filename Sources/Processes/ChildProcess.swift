import CProcess
import Foundation

/// A program that is given bytes and answers with bytes, and is not trusted: nothing of this process is handed on to it but its input,
/// its output and where it complains, and it is gone when this returns.
public enum ChildProcess {
    /// What is run, and with what.
    public struct Command: Sendable {
        public var path: String
        /// With the name that it is called by first.
        public var arguments: [String]
        /// All of it, each as `NAME=value`.
        public var environment: [String]

        /// - Parameter environment: a crash is an answer, too: nobody waits for its stack to be written down.
        public init(
            path: String, arguments: [String], environment: [String] = ["LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
        ) {
            (self.path, self.arguments, self.environment) = (path, arguments, environment)
        }
    }

    /// How it was over.
    public enum Ending: Sendable, Equatable {
        /// It closed its output: what it said, what it said on standard error (``ChildProcess/longestErrorText`` bytes at most), and how
        /// it ended.
        case answered([UInt8], standardError: [UInt8], Status)
        /// It was killed, for it took longer than it may.
        case tooLong
        /// It was killed, for it said more than it may.
        case tooMuch
    }

    /// How the process itself ended.
    public enum Status: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// Bytes of standard error that are kept; the rest is read and dropped.
    public static let longestErrorText = 4096
    /// How long a child that has closed its output may take to end by itself.
    private static let leave: Duration = .seconds(2)

    /// Blocks until it is over.
    ///
    /// - Parameters:
    ///   - time: from its start; then it is killed.
    ///   - limit: bytes of its answer.
    /// - Throws: ``ProcessError`` when it cannot be started.
    public static func run(
        _ command: Command, input: [UInt8], within time: Duration, limit: Int
    ) throws(ProcessError) -> Ending {
        let deadline = ContinuousClock.now + time
        // Sockets in place of pipes: a write to a pipe whose reader is gone raises a signal, MSG_NOSIGNAL asks for none.
        let (near, far) = try pair()
        defer { close(near) }
        let errors: Int32
        let id: pid_t
        do {
            defer { close(far) }
            let (nearErrors, farErrors) = try pair()
            errors = nearErrors
            defer { close(farErrors) }
            do {
                id = try Spawn.start(command, talkingTo: far, complainingTo: farErrors)
            } catch {
                close(errors)
                throw error
            }
        }
        defer { close(errors) }
        var conversation = Conversation(
            descriptor: near, errors: errors, input: input, deadline: deadline, limit: limit)
        do throws(ProcessError) {
            let end = try conversation.run()
            let status = end == .over ? wait(for: id, until: min(deadline, .now + leave)) : bury(id)
            switch end {
            case .over: return .answered(conversation.answer, standardError: conversation.standardError, status)
            case .tooLong: return .tooLong
            case .tooMuch: return .tooMuch
            }
        } catch {
            bury(id)
            throw error
        }
    }

    /// Both ends close when something else is run; the near one never blocks.
    private static func pair() throws(ProcessError) -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ProcessError("socketpair", errno) }
        // Only this end: how the child reads is its own affair.
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
            let code = errno
            for end in ends { close(end) }
            throw ProcessError("fcntl", code)
        }
        return (ends[0], ends[1])
    }

    /// Waits until the child has ended by itself, and kills it where it does not in time.
    private static func wait(for id: pid_t, until limit: ContinuousClock.Instant) -> Status {
        // Readable when the process has ended.
        let handle = cprocess_handle(id)
        defer { if handle >= 0 { close(handle) } }
        while handle >= 0 {
            let left = Int((limit - .now) / .milliseconds(1))
            guard left > 0 else { break }
            var ended = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            let count = poll(&ended, 1, Int32(min(left, 60_000)))
            if count > 0 { return reap(id) }
            if count < 0, errno != EINTR { break }
        }
        return bury(id)
    }

    /// Kills the child, where it has not ended yet.
    @discardableResult
    private static func bury(_ id: pid_t) -> Status {
        kill(id, SIGKILL)
        return reap(id)
    }

    private static func reap(_ id: pid_t) -> Status {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        // WIFEXITED, WEXITSTATUS and WTERMSIG of wait(2), which Swift does not import.
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

/// What the system says when no other program can be run.
public struct ProcessError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call that failed, and on what.
    public let call: String
    public let code: Int32

    init(_ call: String, _ code: Int32) { (self.call, self.code) = (call, code) }

    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// Gives a child its input and takes what it says, whichever can go on, so that neither waits for the other.
struct Conversation {
    enum End { case over, tooLong, tooMuch }

    private let descriptor: Int32
    private let errors: Int32
    private let input: [UInt8]
    private let deadline: ContinuousClock.Instant
    private let limit: Int
    private var sent = 0
    private var isGiven = false
    private var hasErrors = true
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// What it has said by now.
    private(set) var answer: [UInt8] = []
    /// The same of its standard error; the first of it.
    private(set) var standardError: [UInt8] = []

    init(
        descriptor: Int32, errors: Int32, input: [UInt8], deadline: ContinuousClock.Instant, limit: Int
    ) {
        (self.descriptor, self.errors, self.input) = (descriptor, errors, input)
        (self.deadline, self.limit) = (deadline, limit)
    }

    /// Goes on until the child closes its output, or is over its limits.
    mutating func run() throws(ProcessError) -> End {
        while true {
            if sent == input.count, !isGiven { endInput() }
            let left = Int((deadline - .now) / .milliseconds(1))
            guard left > 0 else { return .tooLong }
            var ready = [
                pollfd(fd: descriptor, events: Int16(POLLIN) | (isGiven ? 0 : Int16(POLLOUT)), revents: 0),
                // A negative descriptor is passed over.
                pollfd(fd: hasErrors ? errors : -1, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&ready, 2, Int32(min(left, 60_000))) >= 0 || errno == EINTR else {
                throw ProcessError("poll", errno)
            }
            let readable = Int16(POLLIN | POLLHUP | POLLERR)
            if ready[1].revents & readable != 0 { hasErrors = hear() }
            if ready[0].revents & Int16(POLLOUT) != 0, !isGiven { give() }
            guard ready[0].revents & readable != 0 else { continue }
            guard let more = take(from: descriptor) else {
                // What it complained of before it closed its output is there by now.
                while hasErrors, standardError.count < ChildProcess.longestErrorText, isReadable(errors) {
                    hasErrors = hear()
                }
                return .over
            }
            answer += more
            if answer.count > limit { return .tooMuch }
        }
    }

    private mutating func endInput() {
        shutdown(descriptor, Int32(SHUT_WR))
        isGiven = true
    }

    private mutating func give() {
        let count = input.withUnsafeBytes {
            send(descriptor, $0.baseAddress! + sent, min($0.count - sent, 256 << 10), Int32(MSG_NOSIGNAL))
        }
        // A child that ended before it read all may have answered all the same.
        if count >= 0 { sent += count } else if errno != EAGAIN, errno != EINTR { isGiven = true }
    }

    /// - Returns: whether more may come.
    private mutating func hear() -> Bool {
        guard let more = take(from: errors) else { return false }
        standardError += more.prefix(ChildProcess.longestErrorText - standardError.count)
        return true
    }

    /// - Returns: nothing where there is nothing yet, `nil` when no more will come.
    private mutating func take(from descriptor: Int32) -> ArraySlice<UInt8>? {
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { return buffer[..<count] }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }

    private func isReadable(_ descriptor: Int32) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 0) > 0
    }
}

/// Starts a program with three descriptors and no other, no signal blocked or ignored, and the environment that it is given.
enum Spawn {
    static func start(
        _ command: ChildProcess.Command, talkingTo descriptor: Int32, complainingTo errors: Int32
    ) throws(ProcessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
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
        guard status == 0 else { throw ProcessError("posix_spawn \(command.path)", status) }
        return id
    }
}

/// The texts as a list that C takes, ended by NULL.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
}
