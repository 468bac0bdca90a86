import Foundation
import TestTools
import Testing

/// The README's `console` blocks, run in order in one home; what they print is what the README shows.
@Suite struct `The README` {
    struct Step {
        let command: String
        var output: [String] = []
    }

    @Test func `shows commands with the output that they really have`() throws {
        try withScan { scan in
            let steps = try Self.steps()
            #expect(steps.count >= 6)
            for step in steps {
                let ending = try shell(step.command, scan)
                #expect(ending == step.output.joined(separator: "\n"), "$ \(step.command)")
            }
        }
    }

    @Test func `names the packages that script/packages installs`() throws {
        let readme = try text("README.md")
        let build = try text("script/packages").split(separator: "\n").first { $0.hasPrefix("build: ") }
        let packages = try #require(build).dropFirst("build: ".count)
        #expect(readme.contains(packages))
        for package in try text("Package.swift").matches(of: /apt\(\["([^"]+)"\]\)/).map(\.1) {
            #expect(packages.split(separator: " ").contains(package), "\(package) of Package.swift is not installed")
        }
    }

    @Test func `lists every setting with its environment variable`() throws {
        let readme = try text("README.md")
        try withScan { scan in
            for line in try scan.run("settings", "show", "--json").objects() {
                #expect(readme.contains("`\(line["name"] as? String ?? "?")`"))
                // What belongs to the library has none.
                guard let environment = line["environment"] as? String else { continue }
                #expect(readme.contains("`\(environment)`"))
            }
        }
    }

    @Test func `has a changelog that knows this version or is still unreleased`() throws {
        try withScan { scan in
            let version = try scan.run("--version").out.trimmingCharacters(in: .whitespacesAndNewlines)
            let log = try text("CHANGELOG.md")
            #expect(log.contains("## \(version)") || log.contains("## Unreleased"))
        }
    }

    static func steps() throws -> [Step] {
        var steps: [Step] = []
        var isInside = false
        for line in try text("README.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if isInside, !steps.isEmpty {
                steps[steps.count - 1].output.append(String(line))
            }
        }
        return steps
    }

    /// Output and errors of a command line, as a terminal would show them.
    private func shell(_ command: String, _ scan: ScanProcess) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--wait", "/bin/bash", "-c", command]
        process.environment = scan.environment.merging(
            ["PATH": ScanProcess.program.deletingLastPathComponent().path + ":/usr/bin:/bin"], uniquingKeysWith: { $1 })
        process.currentDirectoryURL = ScanProcess.root
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run(atMost: .seconds(300))
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

private func text(_ path: String) throws -> String {
    try String(contentsOf: ScanProcess.root.appendingPathComponent(path), encoding: .utf8)
}
