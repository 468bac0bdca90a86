import Capture
import Foundation

/// Handheld scanners, sounds and the terminal: for information, scanning goes without.
enum StationChecks {
    static func scanners(_ devices: [ScannerDevice]) -> Check {
        let likely = devices.filter(\.isLikely)
        guard !likely.isEmpty else {
            let count = devices.isEmpty ? "none" : "none known by its name among \(counted(devices.count, "keyboard"))"
            return Check("scanners", .ok, "\(count); one that types works with scan --stdin all the same")
        }
        let names = likely.map { device in
            "\(device.byID ?? device.path) \(device.name)"
                + (device.refusal.map { " (\($0.brief))" } ?? "")
        }
        return Check("scanners", .ok, names.joined(separator: ", "))
    }

    /// - Parameter player: what sounds are played with, `nil` for none.
    static func sound(player: String?) -> Check {
        let players = Sounds.players.map(\.name).joined(separator: ", ")
        return Check("sound", .ok, player ?? "the terminal's bell (over SSH, or none of \(players) is installed)")
    }

    /// - Parameters:
    ///   - size: `nil` when standard output is no terminal.
    ///   - locale: the first of LC_ALL, LC_CTYPE and LANG that is set.
    static func terminal(size: (columns: Int, rows: Int)?, hasColour: Bool, locale: String) -> Check {
        guard let size else { return Check("terminal", .ok, "none: the output goes to a file or a program") }
        let fact =
            "\(size.columns)x\(size.rows), \(hasColour ? "colour" : "no colour"), \(locale.isEmpty ? "no locale" : locale)"
        guard locale.lowercased().replacing("-", with: "").contains("utf8") else {
            return Check(
                "terminal", .attention, "\(fact): titles may show wrong",
                next: "Set a UTF-8 locale: export LANG=C.UTF-8.")
        }
        return Check("terminal", .ok, fact)
    }

    /// As POSIX looks for it (XBD 8.2): the first that is set and not empty.
    static func locale(_ environment: [String: String]) -> String {
        ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    }
}
