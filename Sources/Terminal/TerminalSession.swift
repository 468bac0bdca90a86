import Glibc
import SystemCalls

/// The terminal session in which this program runs: usually one window or one login.
package enum TerminalSession {
    /// A name for the session. Another session never gets it, not even one whose leader has the same process id later
    /// (proc(5): /proc/PID/stat and /proc/sys/kernel/random/boot_id).
    ///
    /// - Returns: `nil` if the files of the kernel cannot be read, for example because they are not mounted.
    package static var current: String? {
        let leader = getsid(0)
        guard leader > 0, let stat = text(of: "/proc/\(leader)/stat"),
            let boot = text(of: "/proc/sys/kernel/random/boot_id"), let end = stat.lastIndex(of: ")")
        else { return nil }
        // The name of the program, in parentheses, can contain spaces. The start time is field 22; after the name
        // comes field 3.
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19 else { return nil }
        return "terminal \(boot.prefix { !$0.isWhitespace }) \(leader) \(fields[19])"
    }

    private static func text(of path: String) -> String? {
        do throws(FileError) { return String(decoding: try readFile(path, limit: 4096), as: UTF8.self) } catch {
            return nil
        }
    }
}
