import ArgumentParser

/// Prints checks as they come, and remembers whether a book could be scanned.
struct DoctorReport {
    let json: Bool
    private(set) var broken = 0
    private(set) var attention = 0

    init(json: Bool) { self.json = json }

    /// - Parameter section: a heading for people; scripts get none.
    mutating func add(_ checks: [Check], under section: String? = nil) {
        broken += checks.count { $0.state == .broken }
        attention += checks.count { $0.state == .attention }
        let style = Output.shared.style
        if let section, !json { Output.shared.line(style.strong(section)) }
        let columns = Output.shared.isTerminal ? terminalSize().columns : nil
        for check in checks {
            if json { Output.shared.line(check.json) } else { Output.shared.line(check.text(style, columns: columns)) }
        }
    }

    /// Sums up, and ends the command with 69 when no book can be scanned now.
    func end() throws {
        if !json { Output.shared.line(summary) }
        if broken > 0 { throw ExitCode(ExitStatus.unavailable.rawValue) }
    }

    private var summary: String {
        switch (broken, attention) {
        case (0, 0): "Books can be scanned."
        case (0, _): "Books can be scanned; \(counted(attention, "thing")) could be better (▲)."
        default: "No book can be scanned with the camera until what is marked ✕ is mended."
        }
    }
}
