import ArgumentParser
import Foundation
import TestTools
import Testing

@testable import ScanCommand

/// The examples in the helps of all commands: lines that begin with two spaces and `scan`.
@Suite struct `The examples in the helps` {
    /// The beginnings of the examples that are only parsed, because they need a camera, another machine, an online
    /// source, a terminal, a second disk or a certain time of day, or run until they are ended.
    static let onlyParsed = [
        "scan --device", "scan --frames", "scan --hub", "scan --image imprint.jpg", "scan decode --ocr", "scan devices",
        "scan doctor", "scan events", "scan find", "scan hub leave", "scan hub pair", "scan hub revoke",
        "scan hub send",
        "scan index update", "scan kiosk", "scan backup /media", "scan restore", "scan reader pin",
        "scan reader unlock",
        // Only Google Books would know this publisher.
        "scan library sources 9780441478125 --take",
        // The words fit both books.
        "scan library merge 9780441478125 \"left hand\"",
        "scan session start dune --page 145 --start 14:30", "scan session start dune --watch",
        "scan session stop 180 --end 15:10", "scan session add",
        // Without options, this opens an editor.
        "scan library edit dune",
        // A pipe into a command of the shell.
        "scan completion fish |",
    ]

    /// The exit codes of examples that end with another one than 0, because nobody is there to answer, or because they
    /// show a wrong number.
    static let statuses: [String: Int32] = [
        "scan --image cover.jpg": 4, "scan --isbn 9780441478125": 4, "scan --image photos/ --shelf Attic": 4,
        "scan isbn --json 9791032305690 9780441478126": 3, "scan library purge 9780441478125": 64,
        "scan reading start": 3, "scan library search plague author:camus -lang:fr": 3,
        "scan library edit --query \"author:camus rating:none\" --set rating=4 --tag sf": 3,
        "scan library delete --query \"shelf:attic status:dnf\" --dry-run": 3,
        "scan reading finish --query \"tag:school status:reading\" --on 2019": 3,
    ]

    /// The commands that prepare the folder in which each example is run.
    static let preparation = """
        set -e
        samples=\(ScanProcess.samples.path)
        cp $samples/photos/frontal.jpg cover.jpg
        mkdir photos
        cp cover.jpg photos/
        cp $samples/isbns.txt $samples/editions.txt $samples/index.sqlite .
        cp $samples/exports/goodreads.csv goodreads.csv
        cp goodreads.csv goodreads_library_export.csv
        gzip -c editions.txt > editions.txt.gz
        gzip < /dev/null > authors.txt.gz
        echo "Half the fun." > thoughts.txt
        printf '#!/bin/sh\\n' > print-label
        chmod +x print-label
        scan --isbn 9780441478125 9780441013593 --yes --shelf Attic --tag sf
        scan library add --title Beowulf --author "JRR Tolkien"
        scan library add --title "The Casual Vacancy" --author "J.K. Rowling" --author "Penguin Classics"
        scan session add dune --start "$(date -u -d '2 hours ago' +%Y-%m-%dT%H:%M:%SZ)" --minutes 30 --to-page 60
        scan reading page dune 61
        scan note add dune "The spice must flow."
        scan quote add dune "Fear is the mind-killer." --page 8
        scan tag add unused
        """

    /// Gives the rows that the examples name the ids by which they name them.
    static let ids = """
        UPDATE session SET uuid = substr(uuid, 1, 28) || '1f2e3d4c';
        UPDATE progressEntry SET uuid = substr(uuid, 1, 28) || '1f2e3d4c'
        WHERE id = (SELECT max(id) FROM progressEntry);
        UPDATE note SET uuid = substr(uuid, 1, 30) || '3fa2c1';
        UPDATE quote SET uuid = substr(uuid, 1, 30) || '3fa2c1';
        UPDATE change SET uuid = substr(uuid, 1, 28) || '5f0c9a1e' WHERE id = (SELECT max(id) FROM change);
        """

    private static let running =
        "scan session start dune --start \"$(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%SZ)\""
    private static let anna = "scan reader add Anna --first Ben"

    /// The shell commands that must be run before the examples that contain a text.
    static let before: [(text: String, command: String)] = [
        ("intake confirm --yes", "scan library delete 9780441478125; scan --isbn 9780441478125 || true"),
        ("intake edit", "scan --isbn 9783161484100 || true"), ("intake skip", "scan --isbn 9783161484100 || true"),
        ("library restore", "scan library delete 9780441478125"),
        ("library purge 9", "scan library delete 9780441478125"),
        (
            "library duplicates",
            "scan library add --title Dune --author 'Frank Herbert'; scan --isbn 9780441478125 --yes --another-copy"
        ),
        ("library merge 9780441478125 5f0c7a31", "scan library add --title Twin --author 'Ursula K. Le Guin'"),
        ("reading finish dune --on", "scan reading dates dune --started 2019"), ("session stop", running),
        ("reading hold dune --page", running), ("reading dates dune --", "scan reading finish dune"),
        ("reading delete", "scan reading add dune --finished 1999"),
        ("tag merge", "scan tag add 'science fiction'; scan tag add sci-fi; scan tag add scifi"),
        ("shelf merge", "scan shelf add 'Living room'; scan shelf add Hall; scan shelf add Lounge"),
        ("author merge", "scan library add --title 'Troubled Blood' --author 'J. K. Rowling'"),
        ("author sort", "scan library add --title 'Cien años de soledad' --author 'Gabriel García Márquez'"),
        ("filter:\"to lend\"", "scan filter add 'to lend' is:owned"),
        ("filter rename", "scan filter add short tag:sf"), ("filter delete", "scan filter add brief tag:sf"),
        ("reader anna", anna), ("reader rename", anna), ("reader colour", anna), ("reader delete", anna),
        ("reader lock", anna), ("reader restore", anna + "; scan reader delete Anna"), ("scan redo", "scan undo"),
    ]

    /// The examples are divided into parts, which run at the same time.
    static let parts = 4
    static let all = examples(below: Scan.self)

    @Test func `are in every help`() {
        for (name, command) in Self.commands(below: Scan.self, "scan") {
            #expect(!Self.examples(of: command).isEmpty, "\(name) --help has no example")
        }
        #expect(Self.all.count > 150)
    }

    @Test func `are all understood`() throws {
        for example in Self.all {
            let words = example.matches(of: /"([^"]*)"|'([^']*)'|(\S+)/).map { match in
                String(match.1 ?? match.2 ?? match.3 ?? "")
            }
            let arguments = Array(words.prefix { !["|", "<", ">"].contains($0) }.dropFirst())
            #expect(throws: Never.self, "\(example)") { _ = try Scan.parseAsRoot(arguments) }
        }
        for text in Self.onlyParsed + Self.statuses.keys + Self.before.map(\.text) {
            #expect(Self.all.contains { $0.contains(text) }, "no example contains \"\(text)\"")
        }
    }

    @Test(arguments: 0..<parts) func `do what they say, in a library with the books that they name`(part: Int) throws {
        try withScan { prepared in
            try shell(Self.preparation, prepared)
            _ = try sqlite(prepared.library, Self.ids)
            for (number, example) in Self.all.enumerated() where number % Self.parts == part {
                if example == "scan" || Self.onlyParsed.contains(where: example.hasPrefix) { continue }
                try withScan { scan in
                    try FileManager.default.removeItem(at: scan.home)
                    try FileManager.default.copyItem(at: prepared.home, to: scan.home)
                    for (text, command) in Self.before where example.contains(text) { try shell(command, scan) }
                    if example.contains("5f0c7a31") {
                        _ = try sqlite(
                            scan.library,
                            """
                            UPDATE copy SET uuid = substr(uuid, 1, 28) || '5f0c7a31'
                            WHERE id = (SELECT max(id) FROM copy)
                            """)
                    }
                    try shell(example, scan, expecting: Self.statuses[example] ?? 0)
                }
            }
        }
    }

    private func shell(_ command: String, _ scan: ScanProcess, expecting status: Int32 = 0) throws {
        var shell = scan
        shell.executable = URL(fileURLWithPath: "/bin/bash")
        shell.environment["PATH"] = ScanProcess.program.deletingLastPathComponent().path + ":/usr/bin:/bin"
        let ending = try shell.run("-c", command)
        #expect(ending.status == status, "\(command)\n\(ending.err)")
    }

    private static func commands(
        below command: any ParsableCommand.Type, _ name: String
    ) -> [(name: String, command: any ParsableCommand.Type)] {
        let shown = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        return [(name, command)] + shown.flatMap { commands(below: $0, "\(name) \($0._commandName)") }
    }

    private static func examples(below command: any ParsableCommand.Type) -> [String] {
        var seen: Set<String> = []
        return commands(below: command, "").flatMap { examples(of: $0.command) }.filter { seen.insert($0).inserted }
    }

    /// Returns the examples in a help, each on one line, without the remarks beside them.
    private static func examples(of command: any ParsableCommand.Type) -> [String] {
        let text = command.configuration.discussion.replacing(/\s*\\\n\s*/, with: " ")
        return text.split(separator: "\n").filter { $0.hasPrefix("  scan ") || $0 == "  scan" }.map { line in
            let example = line.dropFirst(2)
            let end = example.prefixMatch(of: /(?:"[^"]*"|'[^']*'|(?!  ).)*/)?.range.upperBound ?? example.endIndex
            return example[..<end].trimmingCharacters(in: .whitespaces)
        }
    }
}
