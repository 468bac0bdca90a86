import Bookplate
import Capture
import Foundation
import Processes
import Terminal

/// Judges whether this machine's clock is right. Certificates, dates of captures and the order of changes depend on it.
enum ClockCheck {
    /// The earliest date that can be right: the program was written later.
    static let earliest = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01

    /// - Parameter leads: the amounts by which the online sources' clocks are ahead of this machine's clock, as far
    ///   as they are known.
    static func check(now: Date, leads: [Duration]) -> Check {
        let advice =
            "To set the clock, run 'timedatectl set-ntp true'. A machine without a battery-backed clock needs the network when it starts."
        guard now >= earliest else {
            return Check(
                "clock", .attention,
                "it shows \(CalendarDay(now, in: .current)), before this program was written, so no certificate is valid",
                next: advice)
        }
        guard let lead = leads.min(by: { abs($0) < abs($1) }) else {
            return Check("clock", .ok, "\(now.formatted(.iso8601)); no online source to compare it with")
        }
        guard abs(lead) <= .seconds(300) else {
            let direction = lead > .zero ? "behind" : "ahead of"
            return Check(
                "clock", .attention,
                "\(now.formatted(.iso8601)) is \(abs(lead).components.seconds / 60) minutes \(direction) the online sources' clocks",
                next: advice)
        }
        return Check("clock", .ok, "\(now.formatted(.iso8601)), which agrees with the online sources' clocks")
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

/// Judges handheld scanners, sounds and the terminal. These checks are only for information, because scanning works
/// without such devices.
enum StationChecks {
    static func scanners(_ devices: [ScannerDevice]) -> Check {
        let likely = devices.filter(\.isLikely)
        guard !likely.isEmpty else {
            let count = devices.isEmpty ? "none" : "none recognised by name among \(counted(devices.count, "keyboard"))"
            return Check("scanners", .ok, "\(count); a scanner that types like a keyboard works with 'scan --stdin'")
        }
        let names = likely.map { device in
            "\(device.byID ?? device.path) \(device.name)"
                + (device.refusal.map { " (\($0.brief))" } ?? "")
        }
        return Check("scanners", .ok, names.joined(separator: ", "))
    }

    /// - Parameter player: the program that plays sounds; `nil` if there is none.
    static func sound(player: String?) -> Check {
        let players = Sounds.players.map(\.name).joined(separator: ", ")
        let bell = "the terminal's bell, because this is an SSH session or none of \(players) is installed"
        return Check("sound", .ok, player ?? bell)
    }

    /// Judges whether the kernel can confine the processes that read photos from browsers.
    static func confinement(_ support: Confinement.Support) -> Check {
        let mechanisms = [support.landlock.map { "Landlock \($0)" }, support.hasSeccomp ? "seccomp" : nil]
        let present = mechanisms.compactMap(\.self)
        guard !present.isEmpty else {
            return Check(
                "confinement", .attention,
                "this kernel has neither Landlock nor seccomp, so the kiosk reads photos with limits on memory and time alone",
                next: "Use a kernel with one of them, such as Debian's.")
        }
        let missing = mechanisms[0] == nil ? "; no Landlock" : mechanisms[1] == nil ? "; no seccomp" : ""
        return Check("confinement", .ok, "the kiosk reads photos under \(present.joined(separator: " and "))\(missing)")
    }

    /// - Parameters:
    ///   - size: the size of the terminal; `nil` if standard output is not a terminal.
    ///   - locale: the value of the first of LC_ALL, LC_CTYPE and LANG that is set.
    static func terminal(size: (columns: Int, rows: Int)?, hasColour: Bool, locale: String) -> Check {
        guard let size else { return Check("terminal", .ok, "none: the output goes to a file or program") }
        let fact =
            "\(size.columns)x\(size.rows), \(hasColour ? "colour" : "no colour"), \(locale.isEmpty ? "no locale" : locale)"
        guard locale.lowercased().replacing("-", with: "").contains("utf8") else {
            return Check(
                "terminal", .attention, "\(fact): titles may be displayed wrongly",
                next: "Set a UTF-8 locale, for example with 'export LANG=C.UTF-8'.")
        }
        return Check("terminal", .ok, fact)
    }

    /// Returns the locale by the rules of POSIX (XBD 8.2). The first of LC_ALL, LC_CTYPE and LANG that is not empty
    /// decides.
    static func locale(_ environment: [String: String]) -> String {
        ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }
}
