import Bookplate
import Capture
import Foundation
import Lookup

/// Whether the metadata sources answer. A station scans without them: none of this is more than attention.
enum SourceChecks {
    /// A book that every catalogue knows: The Left Hand of Darkness.
    static let book = try! ISBN("9780441478125")  // its check digit is right

    /// - Parameter finding: what the source did when it was asked for ``book``.
    static func check(_ finding: SourceProbe.Finding) -> Check {
        let name = finding.source.rawValue
        let later = "Scanning goes on; what waits is looked up when it answers."
        switch finding.answer {
        case .found(let metadata): return Check(name, .ok, "answers: \(metadata.title ?? "a book without a title")")
        case .notFound: return Check(name, .ok, "answers; it does not know \(book.hyphenated)")
        case .notAsked(let reason):
            let parts = reason.split(separator: ": ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return Check(name, .unknown, "not asked: \(reason)") }
            return Check(name, .attention, "not asked: \(parts[0])", next: parts[1].sentence)
        case .temporary(let failure): return Check(name, .attention, failure.reason, next: later)
        case .blocked(let failure):
            return Check(
                name, .attention, failure.reason,
                next:
                    "Open a web page and sign in to the network if it asks; else check contact and key with scan settings. \(later)"
            )
        case .badData(let failure):
            return Check(
                name, .attention, failure.reason,
                next: "Check its address with scan settings, and what answers there. \(later)")
        }
    }

    /// - Parameter info: what the index holds, or why it cannot be read; `nil` when there is none.
    static func index(_ info: Result<OfflineIndex.Info, OfflineIndexError>?, isOffline: Bool) -> Check {
        switch info {
        case .success(let info):
            return Check("offlineIndex", .ok, "\(counted(info.editions, "edition")), \(byteText(info.bytes))")
        case .failure(let error):
            return Check(
                "offlineIndex", .attention, error.description,
                next: "Build it anew with scan index build, or scan settings unset index.")
        case nil where isOffline:
            return Check(
                "offlineIndex", .attention, "none, and no online source is asked: what is scanned gets no title",
                next: "Build one with scan index build, or scan settings unset offline.")
        case nil: return Check("offlineIndex", .ok, "none; the sources are asked online")
        }
    }
}

extension String {
    /// With a capital and a full stop.
    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + (hasSuffix(".") ? "" : ".") }
}

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
