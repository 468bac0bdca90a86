import Bookplate
import Synchronization

/// When sign-ins and stations were used last is written for people who look at the lists. Nobody is kept out because the disk is full
/// or the library locked: then it is not written, said once, and tried again a minute later.
final class UseNotes: Sendable {
    private struct State {
        var report: (@Sendable (any Error) -> Void)?
        var isReported = false
        /// Nothing is tried before, nor beside another try.
        var next: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private static let pause: Duration = .seconds(60)

    func report(_ report: @escaping @Sendable (any Error) -> Void) { state.withLock { $0.report = report } }

    /// - Throws: what does not pass by itself.
    func write(_ note: () async throws -> Void) async throws {
        let isDue = state.withLock { state in
            if let next = state.next, next > .now { return false }
            state.next = .now + Self.pause
            return true
        }
        guard isDue else { return }
        do {
            try await note()
            state.withLock { ($0.isReported, $0.next) = (false, nil) }
        } catch  where mayPass(error) {
            let report = state.withLock { state in
                defer { state.isReported = true }
                return state.isReported ? nil : state.report
            }
            report?(error)
        } catch {
            state.withLock { $0.next = nil }
            throw error
        }
    }
}

extension LibraryFile {
    /// - Parameter report: told when the last use of sign-ins and stations cannot be written, once until it can.
    public func onUnwrittenUse(_ report: @escaping @Sendable (any Error) -> Void) { useNotes.report(report) }
}
