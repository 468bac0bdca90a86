import Foundation
import TestTools
import Testing

/// The program's description of its own commands (`--experimental-dump-help` of swift-argument-parser).
private struct Dump: Decodable {
    struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var abstract: String?
            var discussion: String?
            var shouldDisplay: Bool
            var isRepeating: Bool
            var isOptional: Bool
            var valueName: String?
            var names: [Name]?
        }

        var commandName: String
        var shouldDisplay: Bool?
        var abstract: String?
        var discussion: String?
        var arguments: [Argument]?
        var subcommands: [Command]?
    }

    var command: Command

    /// Every command with its full name and its parent.
    var all: [(name: String, command: Command, parent: Command?)] { Self.below(command, "", nil) }

    private static func below(
        _ command: Command, _ path: String, _ parent: Command?
    ) -> [(name: String, command: Command, parent: Command?)] {
        let name = path.isEmpty ? command.commandName : "\(path) \(command.commandName)"
        let children = (command.subcommands ?? []).filter { $0.commandName != "help" && $0.shouldDisplay != false }
        return [(name, command, parent)] + children.flatMap { below($0, name, command) }
    }
}

@Suite struct `The manual` {
    private func dump() throws -> Dump {
        try withScan { scan in
            try JSONDecoder().decode(Dump.self, from: Data(scan.run("--experimental-dump-help").out.utf8))
        }
    }

    @Test func `leaves no command, option or argument undocumented`() throws {
        let commands = try dump().all
        #expect(commands.count > 20)
        for (name, command, parent) in commands {
            #expect(command.abstract?.isEmpty == false, "\(name) does not say what it does")
            let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
            for argument in arguments {
                let label = argument.names?.first?.name ?? argument.valueName ?? "?"
                #expect(argument.abstract?.isEmpty == false, "\(name): \(label) has no help")
            }
            guard command.subcommands?.isEmpty != false, arguments.contains(where: { $0.kind == "positional" }) else {
                continue
            }
            let text = (command.discussion ?? "") + (parent?.discussion ?? "")
            #expect(text.contains("  \(name)"), "\(name) has no example, nor has the command above it")
        }
    }

    @Test func `gives a short option the same meaning in all commands, and a query none`() throws {
        var meanings: [String: String] = ["h": "help"]
        for (name, command, _) in try dump().all {
            for argument in command.arguments ?? [] {
                let names = argument.names ?? []
                guard let short = names.first(where: { $0.kind == "short" })?.name else { continue }
                let long = names.first { $0.kind == "long" }?.name ?? ""
                #expect(meanings[short, default: long] == long, "\(name): -\(short)")
                meanings[short] = long
                let isQuery = ["scan library list", "scan library search"].contains(name)
                #expect(!isQuery || short == "h", "\(name): -\(short)")
            }
        }
        #expect(
            meanings == [
                "h": "help", "j": "json", "n": "limit", "q": "quiet", "s": "shelf", "t": "tag", "y": "yes",
            ])
    }

    @Test func `breaks its texts where the program would, so that none is broken twice`() throws {
        for (name, command, _) in try dump().all {
            for line in (command.discussion ?? "").split(separator: "\n") where line.count > 78 {
                Issue.record("\(name): \(line)")
            }
        }
    }

    @Test func `has one row for every command in docs/commands.md, as script/manual writes it`() throws {
        let text = try String(
            contentsOf: ScanProcess.root.appendingPathComponent("docs/commands.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `scan") }.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let commands = try dump().all.map { name, command, _ in ["`\(name)`", command.abstract ?? ""] }
        let written = rows.map { [$0[1], $0[3]] }
        #expect(written == commands, "run script/manual")
    }

    @Test func `has one row for every setting in docs/settings.md, as script/manual writes it`() throws {
        var scan = try ScanProcess()
        scan.environment["BOOKPLATE_SOURCES"] = nil
        defer { try? scan.remove() }
        let text = try String(
            contentsOf: ScanProcess.root.appendingPathComponent("docs/settings.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let settings = try scan.run("settings", "show", "--json").objects().map { setting in
            let value = setting["value"] as? String ?? ""
            // The default place of a file differs from one machine to the next.
            let standard = value.isEmpty || value.hasPrefix("/") ? "" : "`\(value)`"
            let environment = (setting["environment"] as? String).map { " `\($0)` |" } ?? ""
            return "| `\(setting["name"] as? String ?? "?")` |\(environment) \(standard) | "
                + "\(setting["explanation"] as? String ?? "?") |"
        }
        #expect(settings.count > 10)
        #expect(rows == settings, "run script/manual")
    }

    @Test func `has the commands and options that the table of features names`() throws {
        let text = try String(
            contentsOf: ScanProcess.root.appendingPathComponent("Tests/ArchitectureTests/features.md"),
            encoding: .utf8)
        let root = try dump().command
        let named = Set(text.matches(of: /`scan( [^`]+)?`/).map { String($0.1 ?? "") })
        #expect(named.count > 40)
        for words in named {
            var command = root
            for word in words.split(separator: " ").map(String.init) {
                if let sub = command.subcommands?.first(where: { $0.commandName == word }) {
                    command = sub
                } else {
                    let arguments = command.arguments ?? []
                    let isKnown =
                        word.hasPrefix("--")
                        ? arguments.contains { $0.names?.contains { "--" + $0.name == word } == true }
                        : arguments.contains { $0.kind == "positional" }
                    #expect(isKnown, "scan\(words): \(command.commandName) has no \(word)")
                }
            }
        }
    }

    @Test(.enabled(if: isThere("python3"), "needs python3"))
    func `is made as a man page with every command, exit code, setting and file`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("manual-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = folder.appendingPathComponent("scan.1").path
        let made = try run("script/manual", "--program", ScanProcess.program.path, "--man", page)
        try #require(made.status == 0, "\(made.out)")
        let text = try String(contentsOfFile: page, encoding: .utf8)
        for (name, _, _) in try dump().all.dropFirst() {
            // A hyphen that is typed is a minus to mdoc(7).
            #expect(text.contains(".Ss \(name.replacing("-", with: "\\-"))"), "\(name)")
        }
        for code in [0, 3, 4, 64, 65, 66, 69, 74, 75, 77, 78] { #expect(text.contains("\n.It \(code)\n"), "\(code)") }
        try withScan { scan in
            for setting in try scan.run("settings", "show", "--json").objects() {
                let name = (setting["environment"] ?? setting["name"]) as? String
                #expect(text.contains("\n.It \(name ?? setting["name"] as? String ?? "?")\n"))
            }
        }
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ENVIRONMENT", "FILES", "EXIT STATUS"] {
            #expect(text.contains(".Sh \(section)\n"))
        }
        if isThere("mandoc") {
            let lint = try run("mandoc", "-T", "lint", "-W", "warning", page)
            #expect(lint.status == 0 && lint.out.isEmpty, "\(lint.out)")
        }
        if isThere("groff") {
            let warnings = try run("groff", "-ww", "-mdoc", "-Tutf8", "-z", page)
            #expect(warnings.out.isEmpty, "\(warnings.out)")
        }
    }
}

/// Runs a program in the package's folder and returns its status and what it prints on both outputs.
private func run(_ arguments: String...) throws -> (status: Int32, out: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = ScanProcess.root
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run(atMost: .seconds(900))
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
}
