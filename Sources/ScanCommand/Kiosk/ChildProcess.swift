import CProcess
import Foundation

/// A program that is given bytes and answers with one line, and is not trusted: nothing of this process is handed on to it but two
/// descriptors, and it is gone when this returns.
enum ChildProcess {
    struct Command: Sendable {
        var path: String
        /// With the name that it is called by first.
        var arguments: [String]
    }

    enum Ending: Sendable, Equatable {
        /// Its line, without the line's end.
        case answered([UInt8])
        /// Without an answer: it crashed, was killed, or had nothing to say.
        case ended
        case tooLong
        /// More than one may say.
        case tooMuch
    }

    /// Blocks until it is over.
    ///
    /// - Parameters:
    ///   - time: from its start; then it is killed.
    ///   - limit: bytes of its answer.
    /// - Throws: ``Complaint`` when it cannot be started.
    static func run(_ command: Command, input: [UInt8], within time: Duration, limit: Int) throws -> Ending {
        let deadline = ContinuousClock.now + time
        // A socket in place of a pipe: a write to a pipe whose reader is gone raises a signal, MSG_NOSIGNAL asks for none.
        let (near, far) = try pair()
        defer { close(near) }
        let id: pid_t
        do {
            defer { close(far) }
            id = try start(command, on: far)
        }
        defer {
            kill(id, SIGKILL)
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
        }
        return try talk(over: near, input, until: deadline, limit: limit)
    }

    private static func pair() throws -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw failed("socketpair", errno) }
        // Only this end: how the child reads is its own affair.
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else { throw failed("fcntl", errno) }
        return (ends[0], ends[1])
    }

    private static func start(_ command: Command, on descriptor: Int32) throws -> pid_t {
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
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        cprocess_close_from(&actions, 3)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // A crash is an answer, too: nobody waits for its stack to be written down.
        let environment = ["LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
        var id: pid_t = 0
        let status = withCStrings(command.arguments) { arguments in
            withCStrings(environment) { posix_spawn(&id, command.path, &actions, &attributes, arguments, $0) }
        }
        guard status == 0 else { throw failed("posix_spawn \(command.path)", status) }
        return id
    }

    /// Gives the input and takes the answer, whichever can go on.
    private static func talk(
        over descriptor: Int32, _ input: [UInt8], until deadline: ContinuousClock.Instant, limit: Int
    ) throws -> Ending {
        var (sent, answer) = (0, [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var isGiven = false
        while true {
            if sent == input.count, !isGiven {
                shutdown(descriptor, Int32(SHUT_WR))
                isGiven = true
            }
            let left = Int((deadline - .now) / .milliseconds(1))
            guard left > 0 else { return .tooLong }
            let events = Int16(POLLIN) | (isGiven ? 0 : Int16(POLLOUT))
            var ready = pollfd(fd: descriptor, events: events, revents: 0)
            guard poll(&ready, 1, Int32(min(left, 60_000))) >= 0 || errno == EINTR else { throw failed("poll", errno) }
            if ready.revents & Int16(POLLOUT) != 0, !isGiven {
                let count = input.withUnsafeBytes {
                    send(descriptor, $0.baseAddress! + sent, min($0.count - sent, 256 << 10), Int32(MSG_NOSIGNAL))
                }
                // A child that ended before it read all may have answered all the same.
                if count >= 0 { sent += count } else if errno != EAGAIN, errno != EINTR { isGiven = true }
            }
            guard ready.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                answer += buffer[..<count]
                guard answer.count <= limit else { return .tooMuch }
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                return answer.last == UInt8(ascii: "\n") ? .answered(answer.dropLast()) : .ended
            }
        }
    }

    private static func failed(_ call: String, _ code: Int32) -> Complaint {
        Complaint(.inputOutput, "\(call): \(String(cString: strerror(code)))")
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
