import Foundation

/// Gives a child its input and takes what it says, whichever can go on, so that neither waits for the other.
struct Conversation {
    enum End { case over, tooLong, tooMuch }

    private let descriptor: Int32
    private let complaints: Int32
    private let input: [UInt8]
    private let deadline: ContinuousClock.Instant
    private let limit: Int
    private var sent = 0
    private var isGiven = false
    private var isComplaining = true
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// What it has said by now.
    private(set) var answer: [UInt8] = []
    /// The same of its standard error; the first of it.
    private(set) var complaint: [UInt8] = []

    init(
        descriptor: Int32, complaints: Int32, input: [UInt8], deadline: ContinuousClock.Instant, limit: Int
    ) {
        (self.descriptor, self.complaints, self.input) = (descriptor, complaints, input)
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
                pollfd(fd: isComplaining ? complaints : -1, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&ready, 2, Int32(min(left, 60_000))) >= 0 || errno == EINTR else {
                throw ProcessError("poll", errno)
            }
            let readable = Int16(POLLIN | POLLHUP | POLLERR)
            if ready[1].revents & readable != 0 { isComplaining = hear() }
            if ready[0].revents & Int16(POLLOUT) != 0, !isGiven { give() }
            guard ready[0].revents & readable != 0 else { continue }
            guard let more = take(from: descriptor) else {
                // What it complained of before it closed its output is there by now.
                while isComplaining, complaint.count < ChildProcess.longestComplaint, isReadable(complaints) {
                    isComplaining = hear()
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
        guard let more = take(from: complaints) else { return false }
        complaint += more.prefix(ChildProcess.longestComplaint - complaint.count)
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
