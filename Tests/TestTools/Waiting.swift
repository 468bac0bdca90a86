import Foundation

/// Waits for what no event reports: what another process does, or how far a task has come.
///
/// - Parameters:
///   - limit: wide enough for a machine with other work; only what never happens takes that long.
///   - pause: the time between two looks; longer if a look costs the tested program work.
public func wait(
    for what: String, within limit: Duration = .seconds(120), every pause: Duration = .milliseconds(2),
    until isTrue: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + (isEmulated ? limit * 30 : limit)
    while try await !isTrue() {
        guard ContinuousClock.now < end else { throw NeverHappened(what: what, limit: limit) }
        try await Task.sleep(for: pause)
    }
}

/// Waits in the same way and blocks its thread. Looks again every other millisecond.
public func waitBlocking(
    for what: String, within limit: Duration = .seconds(120), until isTrue: () throws -> Bool
) throws {
    let end = ContinuousClock.now + (isEmulated ? limit * 30 : limit)
    while try !isTrue() {
        guard ContinuousClock.now < end else { throw NeverHappened(what: what, limit: limit) }
        usleep(2000)
    }
}

/// Runs work that blocks on a thread of its own, so that it takes none from the tasks of other tests.
public func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: work)) }
    }
}

public struct NeverHappened: Error, CustomStringConvertible {
    let what: String
    let limit: Duration

    public var description: String { "\(what): did not happen within \(limit)" }
}

extension Process {
    /// Starts the program and kills it with its descendants after the limit: a test that waits for its output or its
    /// end then fails instead of waiting forever.
    public func run(atMost limit: Duration) throws {
        try run()
        let id = processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { [weak self] in
            if self?.isRunning == true { killTree(id) }
        }
    }
}

private func killTree(_ id: Int32) {
    // Afterwards, they are the children of another process.
    let started = children(of: id)
    kill(id, SIGKILL)
    for child in started { killTree(child) }
}

/// Returns the processes that a process has started and that have not ended.
public func children(of process: Int32) -> [Int32] {
    // Each thread has a list of its own. The files are missing once the process or the thread has ended.
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return threads.flatMap { thread in
        let list = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? ""
        return list.split(separator: " ").compactMap { Int32($0) }
    }
}

/// True if the tests that take minutes or hours are run (BOOKPLATE_LONG_TESTS=1, which `script/test --long` sets).
public let isLong = ProcessInfo.processInfo.environment["BOOKPLATE_LONG_TESTS"] == "1"

/// True if QEMU emulates the processor, as script/test --arm64 does. Some calls of the system do not reach the kernel
/// then.
public let isEmulated = ProcessInfo.processInfo.environment["BOOKPLATE_EMULATED"] == "1"

/// Returns the minutes after which a test counts as hanging. With an emulated processor, they are an hour each.
public func minutes(_ count: Int) -> Int { isEmulated ? count * 60 : count }
