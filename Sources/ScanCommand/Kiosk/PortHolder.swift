import Foundation

/// Who listens at a TCP port of this machine, as far as this account may see.
enum PortHolder {
    /// - Returns: such as "scan (process 1234)"; `nil` when it cannot be seen.
    static func name(of port: Int) -> String? {
        let sockets = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listening(at: port, in: $0) })
        guard !sockets.isEmpty else { return nil }
        for process in entries(of: "/proc") where Int(process) != nil {
            let holds = entries(of: "/proc/\(process)/fd").contains { descriptor in
                destination(of: "/proc/\(process)/fd/\(descriptor)").map(sockets.contains) ?? false
            }
            guard holds, let name = text(of: "/proc/\(process)/comm") else { continue }
            return "\(name.filter { !$0.isNewline }) (process \(process))"
        }
        return nil
    }

    /// The sockets, as the links in /proc/…/fd name them. Source: proc_pid_net(5); state 0A is TCP_LISTEN, the tenth field the inode.
    static func listening(at port: Int, in table: String) -> [String] {
        guard let lines = text(of: table)?.split(separator: "\n").dropFirst() else { return [] }
        return lines.compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let colon = fields[1].lastIndex(of: ":"),
                Int(fields[1][fields[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return "socket:[\(fields[9])]"
        }
    }

    // What cannot be looked at belongs to another account, or is gone: then the message names nobody.
    private static func entries(of folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static func destination(of link: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }

    private static func text(of file: String) -> String? { try? String(contentsOfFile: file, encoding: .utf8) }
}
