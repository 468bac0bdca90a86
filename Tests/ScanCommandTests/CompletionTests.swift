import Bookplate
import Foundation
import Library
import TestTools
import Testing

@testable import ScanCommand

@Suite struct Completion {
    /// Runs the body with a library of some books, names of all kinds, and files in the home folder.
    private func withNames(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            for (title, author, isbn) in [
                ("Dune", "Frank Herbert", "9780441172719"), ("The Left Hand of Darkness", "Ursula Le Guin", ""),
                ("Twin", "One Twin", ""), ("Twin", "Two Twin", ""),
            ] {
                let number = isbn.isEmpty ? [] : ["--isbn", isbn]
                try #require(scan.run(["library", "add", "--title", title, "--author", author] + number).status == 0)
            }
            for tag in ["sf", "it's \"so\" \\ & so", "Wow! yes", "goodreads:1", Self.hostile(scan), "--force"] {
                try #require(scan.run("tag", "add", "--", tag).status == 0)
            }
            try #require(scan.run("shelf", "add", "Living room", "dune").status == 0)
            try #require(scan.run("note", "add", "dune", "Worms.").status == 0)
            for name in ["photo one.JPG", "rows.csv", "rows.txt", "folder/inner.png"] {
                let file = scan.home.appendingPathComponent(name)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data().write(to: file)
            }
            try body(scan)
        }
    }

    /// A tag that would create a file if a shell ran it.
    private static func hostile(_ scan: ScanProcess) -> String { "$(touch \(trap(scan)))`touch \(trap(scan))`" }
    private static func trap(_ scan: ScanProcess) -> String { scan.home.appendingPathComponent("trap").path }

    /// Returns the answer as zsh gets it: the directives, and the candidates without their explanations.
    private func answer(
        _ scan: ScanProcess, _ words: [String]
    ) throws -> (directives: String, candidates: [String], explanations: [String]) {
        let ending = try scan.run(["complete", "zsh", "--", "scan"] + words)
        try #require(ending.status == 0 && ending.err.isEmpty, "\(ending.err)")
        let lines = ending.out.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let rows = lines.dropFirst().dropLast().map { $0.split(separator: "\t", maxSplits: 1).map(String.init) }
        return (lines[0], rows.map { $0[0] }, rows.map { $0.count > 1 ? $0[1] : "" })
    }

    // MARK: Without a shell

    private static let answers: [(words: [String], candidates: [String])] = [
        (["lib"], ["library"]),
        (["library", "sea"], ["search"]),
        (["read-"], []),
        (["comp"], ["completion"]),
        (["help", "library", "sho"], ["show"]),
        // Options, those of default commands too.
        (["--ima"], ["--image"]),
        (["--vers"], ["--version"]),
        (["--yes", "--ta"], ["--tag"]),
        (["--tag", "sf", "--ta"], ["--tag"]),
        (["--yes", "--ye"], []),
        (["library", "--st"], ["--status", "--started"]),
        (["library", "list", "--sor"], ["--sort"]),
        (["kiosk", "--lis"], ["--listen"]),
        (["tag", "delete", "--fo"], []),
        (["tag", "delete", "--", "--fo"], ["--force"]),
        // Values of options.
        (["library", "list", "--status", "re"], ["reading", "read"]),
        (["library", "list", "--status=re"], ["--status=reading", "--status=read"]),
        (["library", "list", "--sort", "ti"], ["title"]),
        (["library", "missing", "pub"], ["publisher"]),
        (["export", "js"], ["json"]),
        (["settings", "set", "yearly"], ["yearlyGoal"]),
        (["settings", "set", "offline", ""], ["0", "1"]),
        (["reading", "start", "dune", "--on", "y"], ["yesterday"]),
        (["library", "add", "--language", "de"], ["de"]),
        (["completion", "z"], ["zsh"]),
        // Names of the library.
        (["--tag", "S"], ["sf"]),
        (["tag", "delete", "w"], ["Wow! yes"]),
        (["tag", "add", "sf", "du"], ["Dune"]),
        (["tag", "merge", "sf", "--into", "good"], ["goodreads:1"]),
        (["library", "list", "--shelf", "liv"], ["Living room"]),
        (["author", "rename", "fran"], ["Frank Herbert"]),
        (["shelf", "delete", "x"], []),
        // Books: by their titles, by other words, by the words before, and by ISBN.
        (["library", "show", "dun"], ["Dune"]),
        (["library", "show", "herb"], ["Dune"]),
        (["library", "show", "twi"], ["Twin"]),
        (["library", "show", "the", "le"], ["Left Hand of Darkness"]),
        (["library", "show", "978044117"], ["9780441172719"]),
        (["library", "delete", "the", "le"], ["The Left Hand of Darkness"]),
        (["library", "restore", "dun"], []),
        // Searches.
        (["library", "search", "fi"], ["finished:", "filter:"]),
        (["library", "search", "-ta"], ["-tag:"]),
        (["library", "search", "tag:s"], ["tag:sf"]),
        (["library", "search", "author:fr"], ["author:Frank Herbert"]),
        (["library", "search", "shelf:\"liv"], ["shelf:\"Living room\""]),
        (["library", "search", "status:readi"], ["status:reading"]),
        (["library", "search", "nothing:x"], []),
        (["library", "search", "dun"], ["Dune"]),
    ]

    @Test func `offers what can stand at each place`() throws {
        try withNames { scan in
            for (words, candidates) in Self.answers {
                let answer = try answer(scan, words)
                #expect(answer.candidates == candidates, "scan \(words.joined(separator: " "))")
            }
        }
    }

    @Test func `offers no name that would be taken for an option`() throws {
        try withNames { scan in
            let tags = try answer(scan, ["tag", "delete", ""]).candidates
            #expect(tags.count == 5 && !tags.contains("--force"))
        }
    }

    private static let files: [(words: [String], directives: String)] = [
        (["decode", ""], "files jpg jpeg png webp heic heif"),
        (["--image", "one.jpg", "tw"], "files jpg jpeg png webp heic heif"),
        (["capture", "--image="], "files jpg jpeg png webp heic heif"),
        (["find", "--image", ""], "files jpg jpeg png webp heic heif"),
        (["import", ""], "files csv tsv json jsonl"),
        (["export", "json", "--to", ""], "files"),
        (["index", "build", ""], "files txt gz"),
        (["index", "build", "dump.txt", "--out", ""], "files"),
        (["index", "info", ""], "files sqlite"),
        (["backup", ""], "files"),
        (["restore", ""], "files sqlite"),
        (["library", "list", "--library", ""], "files sqlite"),
        (["--device", "/dev/vi"], "files"),
        (["settings", "set", "backupFolder", ""], "folders"),
        (["settings", "set", "library", ""], "files"),
        (["settings", "set", "contact", ""], ""),
        (["tag", "add", "sf", "x"], ""),
        (["library", "search", "au"], "nospace"),
        (["library", "show", ""], ""),
    ]

    @Test func `offers files where files go`() throws {
        try withNames { scan in
            for (words, directives) in Self.files {
                let answer = try answer(scan, words)
                #expect(answer.directives == directives, "scan \(words.joined(separator: " "))")
            }
        }
    }

    @Test func `offers ids and backups, with a line about each`() throws {
        try withNames { scan in
            let note = try answer(scan, ["note", "edit", ""])
            #expect(
                note.candidates.count == 1 && note.candidates[0].count == 6 && note.explanations == ["Dune: Worms."])
            let changes = try answer(scan, ["undo", ""])
            let listed = try scan.run("undo", "--list").lines.map { String($0.prefix(8)) }
            #expect(changes.candidates == listed && changes.explanations.allSatisfy { !$0.isEmpty })
            #expect(try answer(scan, ["redo", ""]).candidates.isEmpty)
            try #require(scan.run("undo", "--yes").status == 0)
            #expect(try answer(scan, ["redo", ""]).candidates.count == 1)
            try #require(scan.run("backup").status == 0)
            let backups = try answer(scan, ["restore", "library-"]).candidates
            #expect(!backups.isEmpty && backups.allSatisfy { $0.hasSuffix(".sqlite") })
            try scan.run("--isbn", "9780306406157", "--json")
            #expect(try answer(scan, ["intake", "confirm", "978"]).candidates == ["9780306406157"])
            #expect(try answer(scan, ["library", "show", "dune"]).explanations == ["Frank Herbert"])
        }
    }

    @Test func `offers the readers, also those in the trash where they are restored`() throws {
        try withNames { scan in
            try #require(scan.run("reader", "add", "Ben", "--first", "Ann").status == 0)
            try #require(scan.run("reader", "delete", "Ben").status == 0)
            #expect(try answer(scan, ["reader", "rename", ""]).candidates == ["Ann"])
            #expect(try answer(scan, ["reader", "restore", ""]).candidates == ["Ben"])
            #expect(try answer(scan, ["library", "list", "--reader", "a"]).candidates == ["Ann"])
        }
    }

    @Test func `reads the library that the command line names`() throws {
        try withNames { scan in
            let other = scan.home.appendingPathComponent("other.sqlite").path
            try #require(scan.run("tag", "add", "elsewhere", "--library", other).status == 0)
            #expect(try answer(scan, ["tag", "delete", "--library", other, ""]).candidates == ["elsewhere"])
            #expect(try answer(scan, ["tag", "delete", "--library=\(other)", ""]).candidates == ["elsewhere"])
            #expect(try answer(scan, ["tag", "delete", "--library", "~/other.sqlite", ""]).candidates == ["elsewhere"])
            #expect(try answer(scan, ["tag", "delete", "else"]).candidates.isEmpty)
        }
    }

    @Test func `says nothing about a library that it cannot read, and creates none`() throws {
        try withScan { scan in
            #expect(try answer(scan, ["tag", "delete", ""]).candidates.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
            try Data("no library".utf8).write(to: URL(fileURLWithPath: scan.library))
            #expect(try answer(scan, ["library", "show", "x"]).candidates.isEmpty)
            #expect(try answer(scan, ["library", "sho"]).candidates == ["show"])
        }
    }

    @Test func `prints the same script for the option that other programs have`() throws {
        try withScan { scan in
            for shell in Shell.allCases {
                let script = try scan.run("completion", shell.rawValue)
                #expect(script.status == 0 && script.out == shell.script)
                #expect(try scan.run("--generate-completion-script", shell.rawValue).out == shell.script)
                #expect(try scan.run("--generate-completion-script=\(shell.rawValue)").out == shell.script)
            }
        }
    }

    // MARK: Lines of bash

    private static let breaks = " \t\n\"'><=;|&(:"
    private static let lines: [(line: String, words: [String], word: String)] = [
        ("scan library sho", ["scan", "library"], "sho"),
        ("scan tag add ", ["scan", "tag", "add"], ""),
        ("scan --tag 'a b' c\\ d", ["scan", "--tag", "a b"], "c d"),
        ("scan --tag \"a \\\"b\\\" \\$c\" x", ["scan", "--tag", "a \"b\" $c"], "x"),
        ("scan --tag \"Living ro", ["scan", "--tag"], "Living ro"),
        ("scan --tag=x --shelf=Li", ["scan", "--tag=x"], "--shelf=Li"),
        ("scan export > file --to", ["scan", "export"], "--to"),
        ("scan export 2>errors j", ["scan", "export"], "j"),
        ("scan --tag '' x", ["scan", "--tag", ""], "x"),
    ]

    @Test(arguments: lines) func `splits a line as bash does`(line: String, words: [String], word: String) {
        let typed = TypedLine(line, breaks: Self.breaks)
        #expect(typed.words == words)
        #expect(typed.word == word)
        #expect(!typed.isRedirection)
    }

    @Test func `knows the file of a redirection`() {
        #expect(TypedLine("scan export >", breaks: Self.breaks).isRedirection)
        #expect(TypedLine("scan export > fi", breaks: Self.breaks).isRedirection)
        #expect(!TypedLine("scan export > file ", breaks: Self.breaks).isRedirection)
    }

    private static let replacements: [(line: String, candidate: String, replacement: String?)] = [
        ("scan x Li", "Living room", "Living\\ room"),
        ("scan x 'Li", "Liszt's", "Liszt'\\''s"),
        ("scan x \"Li", "Liszt \"$x\" `y` \\", "Liszt \\\"\\$x\\\" \\`y\\` \\\\"),
        ("scan x \"W", "Wow! yes", "Wow\"\\!\" yes"),
        ("scan x author:le", "author:Le Guin", "Le\\ Guin"),
        ("scan x author:\"le", "author:Le Guin", "Le Guin"),
        ("scan x --status=re", "--status=read", "read"),
        ("scan x \\", "$(touch x)", "\\$\\(touch\\ x\\)"),
        ("scan x $(", "$(touch x)", nil),
        ("scan x \"$(", "$(touch x)", nil),
        ("scan x `", "`touch x`", nil),
        ("scan x a:b", "c:d", nil),
        ("scan x Ä", "Äpfel und Öl", "Äpfel\\ und\\ Öl"),
    ]

    @Test(arguments: replacements)
    func `quotes a candidate as its place needs it`(line: String, candidate: String, replacement: String?) {
        #expect(TypedLine(line, breaks: Self.breaks).replacement(for: candidate) == replacement)
    }

    // MARK: In the shells

    /// The typed text, and the beginning of the arguments with which the program then runs, each in brackets.
    private static let typed: [(keys: String, arguments: String)] = [
        ("scan lib\t", "[library]"),
        ("scan --ima\t", "[--image]"),
        ("scan library --sort ti\t", "[library][--sort][title]"),
        ("scan library list --status=toR\t", "[library][list][--status=toRead]"),
        ("scan decode pho\t", "[decode][photo one.JPG]"),
        ("scan --image fold\t", "[--image][folder"),
        ("scan settings set backupFolder fold\t", "[settings][set][backupFolder][folder"),
        ("scan export --to rows.t\t", "[export][--to][rows.txt]"),
        ("scan library show dun\t", "[library][show][Dune]"),
        ("scan library show the le\t", "[library][show][the][Left Hand of Darkness]"),
        ("scan shelf delete Liv\t", "[shelf][delete][Living room]"),
        ("scan shelf delete \"Liv\t", "[shelf][delete][Living room]"),
        ("scan shelf delete 'Liv\t", "[shelf][delete][Living room]"),
        ("scan tag delete it\t", "[tag][delete][it's \"so\" \\ & so]"),
        ("scan tag delete 'it\t", "[tag][delete][it's \"so\" \\ & so]"),
        ("scan tag delete \"it\t", "[tag][delete][it's \"so\" \\ & so]"),
        ("scan tag delete Wow\t", "[tag][delete][Wow! yes]"),
        ("scan tag delete goodreads:\t", "[tag][delete][goodreads:1]"),
        ("scan library search author:Fr\t", "[library][search][author:Frank Herbert]"),
        ("scan library search shelf:'Liv\t", "[library][search][shelf:Living room]"),
    ]

    /// The keys with which the hostile tag is completed.
    private static let hostileKeys = ["scan tag delete \\$\t", "scan tag delete '$\t", "scan tag delete \"\\$\t"]

    /// The commands that print the script.
    private static let commands = ["scan completion", "scan --generate-completion-script"]

    @Test(arguments: commands) func `works in bash, and runs nothing that a name says`(command: String) throws {
        try check(.bash, command)
    }

    @Test(.enabled(if: isThere("zsh"), "zsh is not installed"), arguments: commands)
    func `works in zsh, and runs nothing that a name says`(command: String) throws { try check(.zsh, command) }

    @Test(.enabled(if: isThere("fish"), "fish is not installed"), arguments: commands)
    func `works in fish, and runs nothing that a name says`(command: String) throws { try check(.fish, command) }

    private func check(_ shell: Shell, _ command: String) throws {
        try withNames { scan in
            let terminal = try terminal(shell, scan, command)
            func check(_ keys: String, _ arguments: String) throws {
                terminal.clear()
                // The shell reads the key Enter when it has completed the word.
                terminal.type(keys + "\n")
                try terminal.wait(for: "ran " + arguments)
                try terminal.wait(for: "READY> ")
            }
            for (keys, arguments) in Self.typed { try check(keys, arguments) }
            let hostile = Self.hostile(scan)
            for keys in Self.hostileKeys { try check(keys, "[tag][delete][\(hostile)]") }
            #expect(!FileManager.default.fileExists(atPath: Self.trap(scan)))
            terminal.type("exit\n")
            #expect(try terminal.finish() == 0)
        }
    }

    /// Starts an interactive shell in the home folder that has loaded the script. There, `scan` prints its arguments,
    /// while the script runs the program.
    private func terminal(_ shell: Shell, _ scan: ScanProcess, _ command: String) throws -> PseudoTerminal {
        let programs = scan.home.appendingPathComponent("programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: programs.appendingPathComponent("scan"), withDestinationURL: ScanProcess.program)
        var environment = scan.environment
        environment["PATH"] = programs.path + ":/usr/bin:/bin"
        environment["TERM"] = shell == .fish ? "dumb" : "xterm"
        environment["ZDOTDIR"] = scan.home.path
        let printer = #"scan() { printf 'ran '; printf '[%s]' "$@"; echo; }"#
        let (name, start, setup) =
            switch shell {
            case .bash:
                (
                    ".bashrc", "bash --noprofile --rcfile .bashrc -i",
                    "source <(\(command) bash)\nPS1='READY> '\n\(printer)"
                )
            case .zsh:
                (
                    ".zshrc", "zsh -d -i",
                    "autoload -U compinit; compinit -D -u\nsource <(\(command) zsh)\nPS1='READY> '\n\(printer)"
                )
            case .fish:
                (
                    "setup.fish", "fish --no-config -i -C 'source setup.fish'",
                    """
                    \(command) fish | source
                    function fish_prompt; echo -n 'READY> '; end
                    function scan; printf 'ran '; printf '[%s]' $argv; echo; end
                    """
                )
            }
        try Data((setup + "\n").utf8).write(to: scan.home.appendingPathComponent(name))
        let terminal = try PseudoTerminal(
            running: "cd '\(scan.home.path)' && \(start)", environment: environment, columns: 200)
        try terminal.wait(for: "READY> ")
        return terminal
    }
}
