import Foundation
import Testing

/// A minimal Debian in a folder: created once by debootstrap, kept, and copied for each test. systemd does not run in
/// it; a stand-in for systemctl records the commands of the package.
struct Debian {
    /// A release, for this machine's architecture or for another that is emulated.
    enum System: String, CaseIterable, CustomTestStringConvertible {
        case debian12 = "debian-12"
        case debian12OnArm64 = "debian-12 for arm64"
        case debian13OnArm64 = "debian-13 for arm64"

        var testDescription: String { rawValue }

        /// Returns the folder of the unmodified system, which is created at the first call.
        func kept() async throws -> String {
            guard self != .debian12 else { return try await Debian.kept() }
            let name = String(rawValue.prefix { $0 != " " })
            let made = try await Ran(
                ["\(Built.root)/script/arm64", "root", name], environment: ProcessInfo.processInfo.environment)
            try #require(made.status == 0, "\(made.text)")
            return String(made.text.split(separator: "\n").last ?? "")
        }
    }

    let folder: String

    /// The folder in which unmodified systems are kept between runs.
    static var cache: String {
        let environment = ProcessInfo.processInfo.environment
        return (environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "/root") + "/.cache") + "/bookplate"
    }

    private static func kept() async throws -> String {
        let (files, kept) = (FileManager.default, cache + "/debian-12")
        if !files.fileExists(atPath: kept) {
            let partial = kept + ".partial"
            if files.fileExists(atPath: partial) { try files.removeItem(atPath: partial) }
            try files.createDirectory(atPath: partial, withIntermediateDirectories: true)
            let made = try await Ran(["debootstrap", "--variant=minbase", "bookworm", partial])
            try #require(made.status == 0, "\(made.text)")
            try files.moveItem(atPath: partial, toPath: kept)
        }
        return kept
    }

    /// Calls the body with a copy of the system.
    static func fresh(_ system: System = .debian12, _ body: (Debian) async throws -> Void) async throws {
        let (files, kept) = (FileManager.default, try await system.kept())
        let folder = NSTemporaryDirectory() + "debian-\(UUID().uuidString)"
        let copied = try await Ran(["cp", "-a", "--reflink=auto", kept, folder])
        try #require(copied.status == 0, "\(copied.text)")
        defer { try? files.removeItem(atPath: folder) }
        // Use the host's file, so that the name of the mirror can be resolved.
        try? files.removeItem(atPath: folder + "/etc/resolv.conf")
        try? files.copyItem(atPath: "/etc/resolv.conf", toPath: folder + "/etc/resolv.conf")
        try await body(Debian(folder: folder))
    }

    /// Returns the command line that runs a command inside. Its mounts are private, and end with it.
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
    func run(_ command: String..., as user: String? = nil, variables: [String: String] = [:]) async throws -> Ran {
        try await Ran(inside(command, as: user, variables: variables))
    }

    func text(_ path: String) throws -> String { try String(contentsOfFile: folder + path, encoding: .utf8) }
    func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: folder + path) }

    /// Makes the system look as if systemd ran, and records the calls of systemctl for ``systemctlCalls()``.
    func pretendSystemd() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/run/systemd/system", withIntermediateDirectories: true)
        // The stand-in replaces systemctl, because apt restricts the scripts of a package to the system's folders
        // (DPkg::Path). Commands that enable a unit only change files and are passed on to the real systemctl.
        let recorder = folder + "/usr/bin/systemctl"
        try files.moveItem(atPath: recorder, toPath: recorder + ".real")
        try """
        #!/bin/sh
        echo "$*" >>/var/log/systemctl-calls
        case " $* " in *" preset "*) exec "$0.real" "$@" ;; esac

        """.write(toFile: recorder, atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: recorder)
    }

    /// Returns the calls of systemctl since the last time.
    func systemctlCalls() throws -> [String] {
        guard has("/var/log/systemctl-calls") else { return [] }
        let lines = try text("/var/log/systemctl-calls").split(separator: "\n").map(String.init)
        try FileManager.default.removeItem(atPath: folder + "/var/log/systemctl-calls")
        return lines
    }
}

/// The packages that are tested, made by `script/test`.
enum Package {
    private static let environment = ProcessInfo.processInfo.environment
    /// The reason why there is no package.
    static let reason =
        environment["BOOKPLATE_PACKAGE"]
        ?? "installs a package in a folder with a Debian: script/test --package as root"
    static let path: String? = reason.hasPrefix("/") ? reason : nil
    /// The reason why there is no package for arm64.
    static let arm64Reason =
        environment["BOOKPLATE_ARM64_PACKAGE"]
        ?? "installs a package in a folder with a Debian for arm64: script/test --arm64 as root"
    static let arm64Path: String? = arm64Reason.hasPrefix("/") ? arm64Reason : nil

    /// Builds a package with the same content and a higher version, and returns its path.
    static func upgraded(_ path: String, to version: String, in folder: String) async throws -> String {
        let (root, upgraded) = (folder + "/upgrade", folder + "/upgrade.deb")
        let control = root + "/DEBIAN/control"
        let unpacked = try await Ran(["dpkg-deb", "-R", path, root])
        try #require(unpacked.status == 0, "\(unpacked.text)")
        let text = try String(contentsOfFile: control, encoding: .utf8)
        try text.replacing(/(?m)^Version: .*$/, with: "Version: \(version)")
            .write(toFile: control, atomically: true, encoding: .utf8)
        let packed = try await Ran(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", root, upgraded])
        try #require(packed.status == 0, "\(packed.text)")
        return upgraded
    }
}
