import Foundation
import Testing

private let units = [
    "bookplate.service", "bookplate-backup.service", "bookplate-backup.timer", "bookplate-kiosk.service",
]

@Suite struct `The unit files` {
    /// Limits the exposure of the services, which is 10 without any restrictions, so that no change increases it
    /// unnoticed.
    @Test(
        .enabled(if: Built.has("systemd-analyze"), "systemd-analyze is missing: apt-get install systemd"),
        arguments: [("bookplate.service", 2.0), ("bookplate-backup.service", 2.0), ("bookplate-kiosk.service", 2.7)])
    func `keep the exposure of the services within limits`(unit: String, limit: Double) async throws {
        let ran = try await Ran(["systemd-analyze", "security", "--offline=true", "\(Built.root)/packaging/\(unit)"])
        let exposure = try #require(
            ran.text.firstMatch(of: /Overall exposure level for .*: ([0-9.]+)/).flatMap { Double($0.1) }, "\(ran.text)")
        print("\(unit): exposure \(exposure), limit \(limit)")
        #expect(exposure <= limit)
    }

    @Test(
        .enabled(if: Built.has("systemd-analyze"), "systemd-analyze is missing: apt-get install systemd"),
        arguments: units)
    func `are accepted by systemd without an error`(unit: String) async throws {
        try await withFolder { folder in
            try stage(in: folder)
            let ran = try await Ran(
                ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", "--root=\(folder)", unit])
            #expect(ran.status == 0 && !ran.text.contains("bookplate"), "\(ran.text)")
        }
    }

    @Test func `start commands with existing options`() async throws {
        for unit in units where unit.hasSuffix(".service") && unit != "bookplate-kiosk.service" {
            let line = try #require(
                Built.text("packaging/\(unit)").firstMatch(of: /(?m)^ExecStart=\/usr\/lib\/bookplate\/scan (.*)$/))
            try await check(line.1.split(separator: " ").map(String.init))
        }
        // The example for a camera module.
        let module = try #require(
            Built.text("packaging/rpicam.conf").firstMatch(of: /exec \/usr\/lib\/bookplate\/scan ([^<]*)</))
        try await check(module.1.split(separator: " ").map(String.init))
    }

    private func check(_ words: [String]) async throws {
        let command = words.prefix { $0.wholeMatch(of: /[a-z]+/) != nil }
        let help = try await Ran([Built.program] + command + ["--help"])
        try #require(help.status == 0, "scan \(command.joined(separator: " ")): \(help.text)")
        for option in words.filter({ $0.hasPrefix("--") }) {
            #expect(help.text.contains(option), "scan \(command.joined(separator: " ")) has no \(option)")
        }
    }

    @Test func `name only existing settings`() async throws {
        let known = try await Ran([Built.program, "settings", "show", "--json"], environment: ["HOME": "/nowhere"]).text
        let units = try units.map { try Built.text("packaging/\($0)") }.joined()
        for name in try Built.text("packaging/bookplate.env").matches(of: /(?m)^#?(BOOKPLATE_[A-Z_]+)=/).map(\.1) {
            #expect(known.contains("\"\(name)\"") || units.contains("${\(name)}") || units.contains("$\(name)\n"))
        }
        for name in units.matches(of: /Environment=(BOOKPLATE_[A-Z_]+)=/).map(\.1) {
            #expect(known.contains("\"\(name)\"") || units.contains("${\(name)}"), "\(name)")
        }
    }

    /// A restriction without an explanation would be the first line to be deleted when something does not work.
    @Test(arguments: ["bookplate.service", "bookplate-kiosk.service"])
    func `explain every line of the service`(unit: String) throws {
        var isExplained = false
        let text = try Built.text("packaging/\(unit)")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.first {
            case nil: isExplained = false
            case "#": isExplained = true
            case "[": isExplained = false
            default:
                let isPlain = ["Description=", "Documentation=", "WantedBy="].contains { line.hasPrefix($0) }
                #expect(isExplained || isPlain, "\(line)")
            }
        }
    }

    @Test func `keep the browser on this machine, and the service alive when memory runs out`() throws {
        let screen = try Built.text("packaging/bookplate-kiosk.service")
        #expect(screen.contains("\nIPAddressDeny=any\nIPAddressAllow=localhost\n"))
        #expect(try Built.text("packaging/bookplate.service").contains("\nOOMPolicy=continue\n"))
    }

    @Test(
        .enabled(
            if: Built.has("systemd-sysusers") && Built.has("systemd-tmpfiles") && getuid() == 0,
            "needs systemd's sysusers and tmpfiles, and root"))
    func `create the users, and a folder for the library that only the group can use`() async throws {
        try await withFolder { folder in
            try stage(in: folder)
            try FileManager.default.createDirectory(atPath: folder + "/etc", withIntermediateDirectories: true)
            for command in [
                ["systemd-sysusers", "--root=\(folder)", "bookplate.conf"],
                ["systemd-tmpfiles", "--root=\(folder)", "--create", "bookplate.conf"],
            ] {
                let ran = try await Ran(command)
                #expect(ran.status == 0, "\(ran.text)")
            }
            let users = try String(contentsOfFile: folder + "/etc/passwd", encoding: .utf8)
            let owner = try #require(users.firstMatch(of: /(?m)^bookplate:x:(\d+):(\d+):.*:\/usr\/sbin\/nologin$/))
            #expect(users.contains("\nbookplate-kiosk:x:"))
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/var/lib/bookplate")
            #expect((facts[.posixPermissions] as? NSNumber)?.int16Value == 0o2770)
            #expect((facts[.ownerAccountID] as? NSNumber)?.stringValue == String(owner.1))
            #expect((facts[.groupOwnerAccountID] as? NSNumber)?.stringValue == String(owner.2))
        }
    }

    /// Installs the files of the package into a folder that stands for the system.
    private func stage(in folder: String) throws {
        let files = FileManager.default
        func put(_ name: String, at path: String, mode: Int = 0o644) throws {
            let target = folder + "/" + path
            try files.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try files.copyItem(atPath: "\(Built.root)/packaging/\(name)", toPath: target)
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: target)
        }
        for unit in units { try put(unit, at: "usr/lib/systemd/system/\(unit)") }
        try put("bookplate.sysusers", at: "usr/lib/sysusers.d/bookplate.conf")
        try put("bookplate.tmpfiles", at: "usr/lib/tmpfiles.d/bookplate.conf")
        try put("kiosk-browser", at: "usr/lib/bookplate/kiosk-browser", mode: 0o755)
        // Programs that only need to exist.
        for program in ["usr/lib/bookplate/scan", "usr/bin/cage"] {
            try put("kiosk-browser", at: program, mode: 0o755)
        }
    }
}
