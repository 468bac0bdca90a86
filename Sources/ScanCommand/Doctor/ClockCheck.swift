import Foundation

/// Whether this machine knows what time it is: certificates, dates of captures and the order of changes hang on it.
enum ClockCheck {
    /// The program is younger than this.
    static let earliest = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01

    /// - Parameter leads: how far others' clocks are ahead of this one, where somebody told.
    static func check(now: Date, leads: [Duration]) -> Check {
        let set = "Set it: timedatectl set-ntp true; a machine without a battery clock needs the network at its start."
        guard now >= earliest else {
            return Check(
                "clock", .attention,
                "it says \(now.utcDay), before this program was written: no certificate can be right",
                next: set)
        }
        guard let lead = leads.min(by: { abs($0) < abs($1) }) else {
            return Check("clock", .ok, "\(now.formatted(.iso8601)); nobody to compare it with")
        }
        guard abs(lead) <= .seconds(300) else {
            let direction = lead > .zero ? "behind" : "ahead of"
            return Check(
                "clock", .attention,
                "\(now.formatted(.iso8601)) is \(abs(lead).components.seconds / 60) minutes \(direction) the sources' clocks",
                next: set)
        }
        return Check("clock", .ok, "\(now.formatted(.iso8601)), as the sources' clocks")
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
