import Foundation
import Testing

/// The reason why no machine can be booted here; `nil` if one can.
private let obstacle: String? = {
    if Package.path == nil { return Package.reason }
    guard ProcessInfo.processInfo.environment["BOOKPLATE_LONG_TESTS"] == "1" else {
        return "boots a machine, which takes minutes: script/test --long"
    }
    #if arch(x86_64)
        let missing = ["qemu-system-x86_64", "debootstrap", "mke2fs"].filter { !Built.has($0) }
        return missing.isEmpty ? nil : "needs \(missing.joined(separator: ", "))"
    #else
        return "boots an x86-64 machine"
    #endif
}()

/// Boots a machine, since only a kernel and a systemd that apply the unit's confinement can prove it.
@Suite(.enabled(if: obstacle == nil, "\(obstacle ?? "")")) struct `The service in a booted machine` {
    @Test(.timeLimit(.minutes(30)))
    func `sees its camera, shares its library, and recovers from a freeze and a kill`() async throws {
        let ran = try await Ran([
            "\(Built.root)/Tests/PackagingTests/machine/boot", Debian.cache + "/debian-12-machine",
            try #require(Package.path),
        ])
        let facts = Dictionary(
            ran.text.matches(of: /(?m)^FACT (\w+) ?(.*)$/).map { (String($0.1), String($0.2)) },
            uniquingKeysWith: { $1 })
        try #require(facts["end"] != nil, "\(ran.text.suffix(20_000))")
        let wanted = [
            "state": "active", "status": "At http://127.0.0.1:8278/", "page": "200", "file": "660 bookplate bookplate",
            "backup": "0 1", "folder": "2770 bookplate bookplate", "timer": "active", "frozen": "1 1",
            "killed": "2 active", "books": "1", "stopped": "success 0", "wrong": "78 0 failed", "refused": "0",
        ]
        for (name, value) in wanted {
            #expect(facts[name] == value, "\(name): \(ran.text.suffix(20_000))")
        }
        // vivid creates one capture node, which is usable only if it could be opened and asked for its formats.
        #expect(Int(facts["camera"] ?? "") ?? 0 >= 1, "\(ran.text.suffix(20_000))")
    }
}
