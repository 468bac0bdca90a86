import Foundation
import TestTools
import Testing

@testable import ScanCommand

/// The commands of Bookplate in the tables of docs/comparison.md.
@Suite struct `The comparison with beets, papis and taskwarrior` {
    /// The commands that are only parsed, because they open an editor, or run until they are ended.
    static let onlyParsed: Set = ["scan library edit dune", "scan events --json"]

    /// The commands that must be run before some of the commands.
    static let before = [
        "scan library list filter:short -dune": "scan filter add short pages:..600",
        "scan library duplicates": "scan library add --title Dune --author 'Frank Herbert'",
        "scan redo": "scan undo",
    ]

    static let commands: [String] = {
        let page = ScanProcess.root.appendingPathComponent("docs/comparison.md")
        let rows = (try? String(contentsOf: page, encoding: .utf8))?.split(separator: "\n") ?? []
        return rows.filter { $0.hasPrefix("|") }.flatMap { row in
            row.matches(of: /`(scan [^`]+)`/).map { String($0.1) }
        }
    }()

    @Test func `has commands to try`() throws {
        #expect(Self.commands.count > 30)
        for command in Self.onlyParsed.union(Self.before.keys) {
            #expect(Self.commands.contains(command), "docs/comparison.md has no command \"\(command)\"")
        }
        for command in Self.onlyParsed {
            let arguments = command.split(separator: " ").dropFirst().map(String.init)
            #expect(throws: Never.self, "\(command)") { _ = try Scan.parseAsRoot(arguments) }
        }
    }

    @Test func `shows commands that do what it says, in the library of the examples`() throws {
        try withScan { prepared in
            try shell(`The examples in the helps`.preparation, prepared)
            _ = try sqlite(prepared.library, `The examples in the helps`.ids)
            for command in Self.commands where !Self.onlyParsed.contains(command) {
                try withScan { scan in
                    try FileManager.default.removeItem(at: scan.home)
                    try FileManager.default.copyItem(at: prepared.home, to: scan.home)
                    if let first = Self.before[command] { try shell(first, scan) }
                    let output = try shell(command, scan)
                    if command.hasPrefix("scan library list") {
                        #expect(!output.isEmpty, "\(command) lists nothing")
                    }
                }
            }
        }
    }

    @discardableResult private func shell(_ command: String, _ scan: ScanProcess) throws -> String {
        var shell = scan
        shell.executable = URL(fileURLWithPath: "/bin/bash")
        shell.environment["PATH"] = ScanProcess.program.deletingLastPathComponent().path + ":/usr/bin:/bin"
        let ending = try shell.run("-c", command)
        #expect(ending.status == 0, "\(command)\n\(ending.err)")
        return ending.out
    }
}
