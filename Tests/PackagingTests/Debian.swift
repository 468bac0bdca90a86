import Foundation
import Testing

/// A Debian 12 with nothing but the essentials, in a folder: made once by debootstrap and kept, copied for each test. No systemd runs
/// in it; what the package says to systemd is written down by a program in its place.
struct Debian {
    let folder: String

    /// Where untouched systems are kept between runs.
    static var cache: String {
        let environment = ProcessInfo.processInfo.environment
        return (environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "/root") + "/.cache") + "/bookplate"
    }
    private static var kept: String { cache + "/debian-12" }

    static func fresh(_ body: (Debian) async throws -> Void) async throws {
        let files = FileManager.default
        if !files.fileExists(atPath: kept) {
            let partial = kept + ".partial"
            if files.fileExists(atPath: partial) { try files.removeItem(atPath: partial) }
            try files.createDirectory(atPath: partial, withIntermediateDirectories: true)
            let made = try Ran(["debootstrap", "--variant=minbase", "bookworm", partial])
            try #require(made.status == 0, "\(made.text)")
            try files.moveItem(atPath: partial, toPath: kept)
        }
        let folder = NSTemporaryDirectory() + "debian-\(UUID().uuidString)"
        let copied = try Ran(["cp", "-a", "--reflink=auto", kept, folder])
        try #require(copied.status == 0, "\(copied.text)")
        defer { try? files.removeItem(atPath: folder) }
        // The host's own, for the mirror's name.
        try? files.removeItem(atPath: folder + "/etc/resolv.conf")
        try? files.copyItem(atPath: "/etc/resolv.conf", toPath: folder + "/etc/resolv.conf")
        try await body(Debian(folder: folder))
    }

    /// The command line that runs something inside. What it mounts is seen by it alone, and gone with it.
    func inside(_ command: [String], as user: String? = nil, variables: [String: String] = [:]) -> [String] {
        let mounts = #"mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@""#
        let person = user.map { ["setpriv", "--reuid", $0, "--regid", $0, "--init-groups"] } ?? []
        let environment = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive", "BOOKPLATE_OFFLINE": "1",
            "HOME": homes[user ?? "root"] ?? "/home/\(user ?? "")",
        ].merging(variables) { $1 }.map { "\($0)=\($1)" }.sorted()
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounts, folder, "env", "-i"] + environment
            + person + command
    }

    private var homes: [String: String] { ["root": "/root", "bookplate": "/var/lib/bookplate"] }

    @discardableResult
    func run(_ command: String..., as user: String? = nil, variables: [String: String] = [:]) throws -> Ran {
        try Ran(inside(command, as: user, variables: variables))
    }

    func text(_ path: String) throws -> String { try String(contentsOfFile: folder + path, encoding: .utf8) }
    func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: folder + path) }

    /// From now on it looks as if systemd ran, and ``told()`` lists what it is told.
    func pretendSystemd() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/run/systemd/system", withIntermediateDirectories: true)
        // In its place, because apt lets a package's scripts look nowhere but in the system's folders (DPkg::Path).
        // What enables a unit works on files alone and goes on to the real one.
        let recorder = folder + "/usr/bin/systemctl"
        try files.moveItem(atPath: recorder, toPath: recorder + ".real")
        try """
        #!/bin/sh
        echo "$*" >>/var/log/told
        case " $* " in *" preset "*) exec "$0.real" "$@" ;; esac

        """.write(toFile: recorder, atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: recorder)
    }

    /// What systemctl was told since the last time.
    func told() throws -> [String] {
        guard has("/var/log/told") else { return [] }
        let lines = try text("/var/log/told").split(separator: "\n").map(String.init)
        try FileManager.default.removeItem(atPath: folder + "/var/log/told")
        return lines
    }
}

/// The package that is tested, made by `script/test --long`.
enum Package {
    private static let said =
        ProcessInfo.processInfo.environment["BOOKPLATE_PACKAGE"]
        ?? "installs a package in a folder with a Debian: script/test --long as root"
    static let path: String? = said.hasPrefix("/") ? said : nil
    /// Why there is none.
    static let reason = said

    /// The same content as a higher version.
    static func upgraded(_ path: String, to version: String, in folder: String) throws -> String {
        let (root, upgraded) = (folder + "/upgrade", folder + "/upgrade.deb")
        let control = root + "/DEBIAN/control"
        let unpacked = try Ran(["dpkg-deb", "-R", path, root])
        try #require(unpacked.status == 0, "\(unpacked.text)")
        let text = try String(contentsOfFile: control, encoding: .utf8)
        try text.replacing(/(?m)^Version: .*$/, with: "Version: \(version)")
            .write(toFile: control, atomically: true, encoding: .utf8)
        let packed = try Ran(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", root, upgraded])
        try #require(packed.status == 0, "\(packed.text)")
        return upgraded
    }
}
