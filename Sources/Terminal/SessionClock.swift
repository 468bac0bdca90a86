import Bookplate

/// A clock on the status line, redrawn every second, with keys that stop it.
package enum SessionClock {
    /// The reason why the clock was closed.
    package enum End: Sendable {
        /// The person wants to end what is being timed.
        case stop
        /// The person wants the terminal back; the time goes on.
        case leave
        /// The session has ended elsewhere.
        case ended
    }

    /// True if a status line can be shown on this terminal.
    package static var isPossible: Bool { Output.shared.showsStatus }

    /// Shows the clock until a key closes it: Enter or `s` to stop, `q` to leave.
    ///
    /// - Parameter text: called every second; returns the text to show, or `nil` if what is timed has ended.
    /// - Throws: the error of `text`.
    package static func run(
        _ keyboard: Keyboard, text: @escaping @Sendable () async throws -> String?
    ) async throws -> End {
        defer { Output.shared.showStatus("") }
        return try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                while let text = try await text() {
                    Output.shared.showStatus(text)
                    try await Task.sleep(for: .seconds(1))
                }
                return .ended
            }
            group.addTask {
                for await press in keyboard.presses {
                    switch press.key {
                    case .enter, .character("s"), .character("S"): return .stop
                    case .character("q"), .character("Q"), .end, .control("d"): return .leave
                    default: continue
                    }
                }
                return .leave
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .leave
        }
    }
}
