import Foundation
import FoundationNetworking
import TestTools
import Testing

@Suite(.enabled(if: Package.path != nil, "\(Package.reason)")) struct `The package` {
    /// A package that loses data would be the worst failure: this test must never be skipped before a release.
    @Test(.timeLimit(.minutes(20)))
    func `keeps every book when installed, upgraded, removed, purged and installed again`() async throws {
        try await Installation(package: #require(Package.path)).keepsEveryBook(on: .debian12)
    }

    @Test(.enabled(if: Built.has("lintian"), "lintian is missing: apt-get install lintian"), .timeLimit(.minutes(5)))
    func `passes lintian without errors`() async throws { try await passLintian(#require(Package.path)) }
}

@Suite(.serialized, .enabled(if: Package.arm64Path != nil, "\(Package.arm64Reason)")) struct `The package for arm64` {
    @Test(.timeLimit(.minutes(60)), arguments: [Debian.System.debian12OnArm64, .debian13OnArm64])
    func `keeps every book when installed, upgraded, removed, purged and installed again`(_ system: Debian.System)
        async throws
    {
        try await Installation(package: #require(Package.arm64Path)).keepsEveryBook(on: system)
    }

    @Test(.enabled(if: Built.has("lintian"), "lintian is missing: apt-get install lintian"), .timeLimit(.minutes(5)))
    func `passes lintian without errors`() async throws { try await passLintian(#require(Package.arm64Path)) }
}

private func passLintian(_ package: String) async throws {
    let ran = try await Ran(["lintian", "--no-cfg", "--allow-root", "--fail-on", "error", package])
    print(ran.text)
    #expect(ran.status == 0, "\(ran.text)")
}

/// The life of a package on a machine.
private struct Installation {
    let package: String
    private let library = "/var/lib/bookplate/library.sqlite"

    init(package: String) { self.package = package }

    func keepsEveryBook(on system: Debian.System) async throws {
        try await Debian.fresh(system) { debian in
            try await debian.run("apt-get", "update")
            try await install(package, as: "first.deb", in: debian)
            let version = try await debian.run("scan", "--version")
            #expect(version.status == 0 && package.contains("_\(version.text.trimmingCharacters(in: .newlines))_"))
            try await useAsGroup(debian)
            try await serve(debian)
            let books = try await titles(debian)
            #expect(books == ["By the reader", "By the service"])

            try await configure(debian)
            try debian.pretendSystemd()
            try await checkUnchanged(debian) { try await upgrade(package, debian) }
            #expect(try await titles(debian) == books)
            try await checkUnchanged(debian) { try await remove(debian) }
            try await checkUnchanged(debian) { try await purge(debian) }

            try await install(package, as: "again.deb", in: debian)
            #expect(try await titles(debian) == books)
        }
    }

    private func install(_ package: String, as name: String, in debian: Debian) async throws {
        let target = debian.folder + "/root/" + name
        try FileManager.default.copyItem(atPath: package, toPath: target)
        // This runs in the Debian that the test has unpacked, not on this machine. apt must find the dependencies.
        let ran = try await debian.run("apt-get", "install", "-y", "--no-install-recommends", "/root/" + name)
        try #require(ran.status == 0, "\(ran.text)")
        // The Swift runtime is linked in, and the libraries that are opened at run time are installed.
        let linked = try await debian.run("ldd", "/usr/lib/bookplate/scan")
        #expect(!linked.text.contains("not found") && !linked.text.contains("libswift"), "\(linked.text)")
        let opened = try await debian.run(
            "sh", "-c", "ldconfig -p | grep -c -e libcurl.so.4 -e libv4l2.so.0 -e libssl.so.3")
        #expect(opened.text == "3\n")
        #expect(
            try await debian.run("stat", "-c", "%a %U %G", "/var/lib/bookplate").text == "2770 bookplate bookplate\n")
        for unit in ["multi-user.target.wants/bookplate.service", "timers.target.wants/bookplate-backup.timer"] {
            #expect(try await debian.run("test", "-L", "/etc/systemd/system/\(unit)").status == 0, "\(unit)")
        }
        #expect(!debian.has("/etc/systemd/system/multi-user.target.wants/bookplate-kiosk.service"))
        for file in ["man/man1/scan.1.gz", "bash-completion/completions/scan", "doc/bookplate/copyright"] {
            #expect(debian.has("/usr/share/" + file), "\(file)")
        }
        let (versions, copyright) = ("/usr/share/doc/bookplate/versions", "/usr/share/doc/bookplate/copyright")
        try VersionList(debian.text(versions)).check(copyright: debian.text(copyright))
    }

    /// Checks that an action changes no byte in the library's folder.
    private func checkUnchanged(_ debian: Debian, _ act: () async throws -> Void) async throws {
        func sums() async throws -> String {
            try await debian.run("sh", "-c", "cd /var/lib/bookplate && find . -type f -exec sha256sum {} + | sort").text
        }
        let before = try await sums()
        #expect(before.contains("./library.sqlite\n") && before.contains("./backups/"))
        try await act()
        #expect(try await sums() == before)
    }

    /// Creates the library as the service's user, and uses it as another user of the group, whatever their umask.
    private func useAsGroup(_ debian: Debian) async throws {
        let first = try await debian.run(
            "sh", "-c", "umask 0007; scan library add --title 'By the service'", as: "bookplate",
            variables: ["BOOKPLATE_LIBRARY": library])
        #expect(first.status == 0, "\(first.text)")
        try await debian.run("useradd", "--create-home", "--groups", "bookplate", "reader")
        let second = try await debian.run(
            "sh", "-c", "umask 0077; scan library add --title 'By the reader'", as: "reader")
        #expect(second.status == 0, "\(second.text)")
        try await debian.run("useradd", "--create-home", "stranger")
        #expect(try await debian.run("ls", "/var/lib/bookplate", as: "stranger").status != 0)
        let backup = try await debian.run("scan", "backup", as: "bookplate")
        #expect(backup.status == 0 && debian.has("/var/lib/bookplate/backups"), "\(backup.text)")
    }

    /// Runs the service as the unit does: from its installed path, as its user, without the build folder.
    private func serve(_ debian: Debian) async throws {
        let socket = try NoticeSocket(.abstract)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Built.tool("unshare")))
        process.arguments = Array(
            debian.inside(
                ["/usr/bin/scan", "kiosk", "--listen", "127.0.0.1", "--port", "0"], as: "bookplate",
                variables: ["NOTIFY_SOCKET": socket.name, "BOOKPLATE_LIBRARY": library]
            ).dropFirst())
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        try process.run(atMost: .seconds(1200))
        let ready = try #require(await socket.receive { $0.hasPrefix("READY=1") }.last)
        let address = try #require(ready.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+\//), "\(ready)").0
        for path in ["home", "assets/app.js", "assets/base.css"] {
            let url = try #require(URL(string: address + path))
            let (body, response) = try await URLSession.shared.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200 && !body.isEmpty, "\(url)")
        }
        // systemd also continues a stopped process when it ends it.
        for signal in [SIGCONT, SIGTERM, SIGCONT] { kill(process.processIdentifier, signal) }
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    private func titles(_ debian: Debian) async throws -> [String] {
        let ran = try await debian.run("scan", "library", "list", "--json", "--sort", "title", as: "bookplate")
        #expect(ran.status == 0, "\(ran.text)")
        return ran.text.matches(of: /"title":"([^"]*)"/).map { String($0.1) }
    }

    /// Changes a setting, which an upgrade must keep.
    private func configure(_ debian: Debian) async throws {
        let changed = try await debian.run("sh", "-c", "echo BOOKPLATE_PORT=9850 >>/etc/bookplate/bookplate.env")
        #expect(changed.status == 0)
    }

    private func upgrade(_ package: String, _ debian: Debian) async throws {
        try await withFolder { folder in
            let upgraded = try await Package.upgraded(package, to: "99.0", in: folder)
            try FileManager.default.copyItem(atPath: upgraded, toPath: debian.folder + "/root/second.deb")
        }
        // As a person upgrades it; this too runs in the unpacked Debian.
        let ran = try await debian.run("apt-get", "install", "-y", "/root/second.deb")
        try #require(ran.status == 0, "\(ran.text)")
        let state = try await debian.run("dpkg-query", "-W", "-f", "${Version} ${Status}", "bookplate").text
        #expect(state.hasPrefix("99.0 install ok"))
        #expect(try debian.text("/etc/bookplate/bookplate.env").contains("BOOKPLATE_PORT=9850"))
        let calls = try debian.systemctlCalls()
        #expect(calls.contains { $0.contains("daemon-reload") }, "\(calls)")
        #expect(calls.contains { $0.contains("restart") && $0.contains("bookplate.service") }, "\(calls)")
        // The service is not stopped while files are unpacked, only restarted afterwards.
        #expect(!calls.contains { $0.hasPrefix("stop") }, "\(calls)")
    }

    private func remove(_ debian: Debian) async throws {
        let ran = try await debian.run("apt-get", "remove", "-y", "bookplate")
        #expect(ran.status == 0, "\(ran.text)")
        #expect(!debian.has("/usr/lib/bookplate/scan") && debian.has("/etc/bookplate/bookplate.env"))
        #expect(try debian.systemctlCalls().contains { $0.contains("stop") && $0.contains("bookplate.service") })
    }

    private func purge(_ debian: Debian) async throws {
        let ran = try await debian.run("apt-get", "purge", "-y", "bookplate")
        #expect(ran.status == 0 && ran.text.contains("Your library was kept: /var/lib/bookplate"), "\(ran.text)")
        #expect(!debian.has("/etc/bookplate") && debian.has("/var/lib/bookplate/backups"))
        let left = try await debian.run(
            "find", "/etc", "/usr", "/lib", "-name", "*bookplate*", "!", "-path", "*/share/doc/*")
        #expect(left.text.isEmpty, "\(left.text)")
    }
}
