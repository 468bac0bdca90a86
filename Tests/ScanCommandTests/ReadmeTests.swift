import Foundation
import TestTools
import Testing

/// Runs the `console` blocks of a page in order, in a home of its own, and compares what they print with the page.
@Suite struct `The README and the pages of docs` {
    struct Step {
        let command: String
        var output: [String] = []
    }

    /// The pages with a `console` block.
    static let pages: [String] = {
        let folder = ScanProcess.root.appendingPathComponent("docs").path
        let pages = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return (["README.md"] + pages.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }).filter {
            (try? steps(in: $0).isEmpty) == false
        }
    }()

    @Test(arguments: pages) func `show commands with the output that they really have`(page: String) throws {
        try withScan { scan in
            for step in try Self.steps(in: page) {
                let ending = try shell(step.command, scan)
                // The ids of books differ from one library to the next.
                let id = /(?m)^[0-9a-f]{6,}(?=  )/
                #expect(
                    ending.replacing(id, with: "ID")
                        == step.output.joined(separator: "\n").replacing(id, with: "ID"),
                    "\(page): $ \(step.command)")
            }
        }
    }

    @Test func `have commands to try`() throws {
        #expect(
            Set(Self.pages).isSuperset(of: ["README.md", "docs/terminal.md", "docs/tracker.md", "docs/exchange.md"]))
        #expect(try Self.steps(in: "README.md").count >= 5)
    }

    @Test func `name the packages that script/packages installs`() throws {
        let readme = try text("README.md")
        let build = try text("script/packages").split(separator: "\n").first { $0.hasPrefix("build: ") }
        let packages = try #require(build).dropFirst("build: ".count)
        #expect(readme.contains(packages))
        for package in try text("Package.swift").matches(of: /apt\(\["([^"]+)"\]\)/).map(\.1) {
            #expect(packages.split(separator: " ").contains(package), "\(package) of Package.swift is not installed")
        }
    }

    @Test func `have a changelog with this version and its date`() throws {
        try withScan { scan in
            let version = try scan.run("--version").out.trimmingCharacters(in: .whitespacesAndNewlines)
            let releases = try text("CHANGELOG.md").matches(of: /(?m)^## (\S+) \(\d{4}-\d\d-\d\d\)$/).map {
                String($0.1)
            }
            #expect(releases.first == version)
        }
    }

    static func steps(in page: String) throws -> [Step] {
        var steps: [Step] = []
        var isInside = false
        for line in try text(page).split(separator: "\n", omittingEmptySubsequences: false) {
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

    /// Runs a command line and returns its output and errors, as a terminal would show them.
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
        try process.run(atMost: .seconds(900))
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

private func text(_ path: String) throws -> String {
    try String(contentsOf: ScanProcess.root.appendingPathComponent(path), encoding: .utf8)
}
