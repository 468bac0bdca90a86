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
        /// It closed its output: what it said, what it said on standard error (``ChildProcess/longestComplaint`` bytes at most), and how
        /// it ended.
        case answered([UInt8], complaint: [UInt8], Status)
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
    public static let longestComplaint = 4096
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
        let complaints: Int32
        let id: pid_t
        do {
            defer { close(far) }
            let (nearErrors, farErrors) = try pair()
            complaints = nearErrors
            defer { close(farErrors) }
            do {
                id = try Spawn.start(command, talkingTo: far, complainingTo: farErrors)
            } catch {
                close(complaints)
                throw error
            }
        }
        defer { close(complaints) }
        var conversation = Conversation(
            descriptor: near, complaints: complaints, input: input, deadline: deadline, limit: limit)
        do throws(ProcessError) {
            let end = try conversation.run()
            let status = end == .over ? wait(for: id, until: min(deadline, .now + leave)) : bury(id)
            switch end {
            case .over: return .answered(conversation.answer, complaint: conversation.complaint, status)
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
