import Foundation
import Testing

@Suite(.serialized) struct `A text in the person's editor` {
    /// Runs the body with a library of one book, and with an editor that runs these commands with the file as `$1`.
    private func withEditor(
        _ commands: String, variable: String = "EDITOR", _ body: (ScanProcess, URL) throws -> Void
    ) throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        try #require(
            scan.run(
                "library", "add", "--title", "Dune", "--author", "Frank Herbert", "--pages", "412", "--tag", "sf",
                "--description", "One.\n\n# Two.", "--identifier", "oclc:1", "--isbn", "9780441013593"
            ).status == 0)
        let script = scan.home.appendingPathComponent("an editor")
        try "#!/bin/sh\ncd '\(scan.home.path)'\n\(commands)\n".write(to: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        let place = scan.home.appendingPathComponent("runtime")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        scan.environment["XDG_RUNTIME_DIR"] = place.path
        scan.environment[variable] = "'\(script.path)'"
        try body(scan, place)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [], "the text is gone")
    }

    /// Runs the program at a terminal to its end.
    private func run(_ scan: ScanProcess, _ arguments: String, status: Int32 = 0) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(scan, arguments)
        #expect(try terminal.finish() == status, "\(terminal.screen)")
        return terminal
    }

    private func book(_ scan: ScanProcess) throws -> [String: Any] {
        try #require(try scan.run("library", "show", "--json", "9780441013593").objects().first)
    }

    private func file(_ name: String, of scan: ScanProcess) throws -> String {
        try String(contentsOf: scan.home.appendingPathComponent(name), encoding: .utf8)
    }

    @Test func `changes the fields that were changed in it, in one change`() throws {
        let commands = """
            cp "$1" text
            stat -c %a "$1" > mode
            stat -c %a "$(dirname "$1")" >> mode
            sed -i -e 's/^title: .*/title: Dune Messiah/' -e 's/^pages: .*/pages:/' -e 's/^rating:/rating: 4.5/' \\
                -e 's/^tags:/tags:\\n  - classic/' -e 's/^  - Frank Herbert/&\\n  - Ann Goldstein:translator/' \\
                -e 's/^owned: .*/owned: no/' -e 's/^would-recommend:/would-recommend: yes/' \\
                -e 's/^  - oclc:1/  - lccn:2/' -e 's/^  # Two\\./  Three./' -e 's/^shelf:/shelf: Attic/' "$1"
            """
        try withEditor(commands) { scan, _ in
            #expect(try run(scan, "library edit dune").screen.contains("Changed: Dune Messiah"))
            #expect(try file("mode", of: scan) == "600\n700\n")
            let text = try file("text", of: scan)
            for part in [
                "title: Dune\n", "authors:\n  - Frank Herbert\n", "\npages: 412\n", "\nsubtitle:\n", "tags:\n  - sf\n",
                "description:\n  One.\n\n  # Two.\n", "isbn: 978-0-441-01359-3\n", "identifiers:\n  - oclc:1\n",
                "status: To Read\n", "owned: yes\n", "wishlist: no\n", "would-recommend:\n", "cultural-goal:\n",
            ] { #expect(text.contains(part), "\(part)") }
            let book = try book(scan)
            #expect(book["title"] as? String == "Dune Messiah" && book["pageCount"] is NSNull)
            #expect(book["description"] as? String == "One.\n\nThree." && book["shelf"] as? String == "Attic")
            #expect(book["rating"] as? Double == 4.5 && book["owned"] as? Bool == false)
            #expect(Set(book["tags"] as? [String] ?? []) == ["sf", "classic"])
            #expect((book["identifiers"] as? [String: [String]]) == ["lccn": ["2"]])
            let people = book["authors"] as? [[String: String]]
            #expect(people?.map { $0["role"] } == ["author", "translator"])
            try scan.run("undo")
            #expect(try self.book(scan)["title"] as? String == "Dune")
        }
    }

    @Test func `is opened by VISUAL rather than EDITOR, with arguments`() throws {
        try withEditor("echo \"$1\" > option; sed -i 's/^title:.*/title: Other/' \"$2\"", variable: "VISUAL") {
            scan, _ in
            var scan = scan
            scan.environment["EDITOR"] = "false"
            scan.environment["VISUAL"]? += " --wait"
            _ = try run(scan, "library edit dune")
            #expect(try file("option", of: scan) == "--wait\n")
            #expect(try book(scan)["title"] as? String == "Other")
        }
    }

    @Test(arguments: [
        ":", ": > \"$1\"", "rm \"$1\"", "sed -i '/^#/!d' \"$1\"", "sed -i '/^title/d' \"$1\"", "echo '# x' >> \"$1\"",
    ])
    func `changes nothing if it is left as it was, or empty`(commands: String) throws {
        try withEditor(commands) { scan, _ in
            let before = try book(scan) as NSDictionary
            #expect(try run(scan, "library edit dune").screen.contains("Nothing changed"))
            #expect(try book(scan) as NSDictionary == before)
            #expect(try scan.run("undo", "--list", "--json").lines.count == 1)
        }
    }

    @Test func `is shown again with the reasons above the lines that are refused`() throws {
        // The first time everything is wrong, the second time one line is left wrong.
        let commands = """
            if [ -e second ]; then cp "$1" third; sed -i 's/^pages: .*/pages: 500/' "$1"
            elif [ -e first ]; then cp "$1" second; sed -i -e '/^wrong/d' -e 's/^rating.*/rating: 4.5/' "$1"
            else touch first; sed -i -e 's/^pages: .*/pages: many/' -e 's/^rating:/rating: 7/' "$1"; echo wrong >> "$1"
            fi
            """
        try withEditor(commands) { scan, _ in
            _ = try run(scan, "library edit dune")
            let (second, third) = (try file("second", of: scan), try file("third", of: scan))
            #expect(second.contains("# Refused: \"many\" is no value of pages\npages: many\n"))
            #expect(second.contains("# Refused: rating must be from 0.25 to 5"))
            #expect(second.contains("# Refused: this line begins with no field"))
            #expect(third.components(separatedBy: "# Refused").count == 2, "the reasons of before are gone")
            #expect(try book(scan)["pageCount"] as? Int == 500 && book(scan)["rating"] as? Double == 4.5)
        }
    }

    @Test func `can be given up after it was refused`() throws {
        try withEditor("[ -e once ] || sed -i 's/^title:.*/title:/' \"$1\"; touch once") { scan, _ in
            let terminal = try run(scan, "library edit dune")
            #expect(terminal.screen.contains("Nothing changed."))
            #expect(try book(scan)["title"] as? String == "Dune")
        }
    }

    @Test func `leaves what another program has changed meanwhile`() throws {
        let commands = """
            '\(ScanProcess.program.path)' library edit dune --publisher Ace --tag other > /dev/null 2>&1
            sed -i -e 's/^series:/series: Dune/' -e 's/^tags:/tags:\\n  - new/' "$1"
            """
        try withEditor(commands) { scan, _ in
            _ = try run(scan, "library edit dune")
            let book = try book(scan)
            #expect(book["publisher"] as? String == "Ace" && book["series"] as? String == "Dune")
            #expect(Set(book["tags"] as? [String] ?? []) == ["sf", "other", "new"])
        }
    }

    @Test(arguments: [("kill -INT $$", 130), ("exit 1", 66), ("kill -TERM $$", 66)] as [(String, Int32)])
    func `is dropped if the editor fails`(ending: String, status: Int32) throws {
        try withEditor("sed -i 's/^title:.*/title: Other/' \"$1\"; \(ending)") { scan, _ in
            _ = try run(scan, "library edit dune", status: status)
            #expect(try book(scan)["title"] as? String == "Dune")
        }
    }

    @Test(arguments: [(SIGINT, "\u{03}"), (SIGTERM, nil)] as [(Int32, String?)])
    func `is removed when the program is interrupted`(signal: Int32, key: String?) throws {
        // The shell waits for the person at the terminal. Removing so many files takes longer than ending the editor.
        try withEditor("cd \"${1%/*}\" && touch $(seq 20000); echo ready; read line") { scan, place in
            let terminal = try PseudoTerminal(scan, "library edit dune")
            try terminal.wait(for: "ready")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).count == 1)
            if let key { terminal.type(key) } else { try terminal.send(signal) }
            #expect(try terminal.finish() == 128 + signal)
            #expect(terminal.isRestored)
        }
    }

    @Test(arguments: ["note", "quote"]) func `becomes a note or a quote`(what: String) throws {
        let commands =
            "if [ -e first ]; then sed -i s/Fear/Hope/ \"$1\"; else printf '#tag\\nFear.\\n' >> \"$1\"; fi; touch first"
        try withEditor(commands) { scan, _ in
            #expect(try run(scan, "\(what) add dune").screen.contains("Added a \(what)"))
            let added = try #require(scan.run(what, "list", "dune", "--json").objects().first)
            #expect(added["text"] as? String == "#tag\nFear.")
            _ = try run(scan, "\(what) edit \(added["id"] as? String ?? "")")
            #expect(try scan.run(what, "list", "dune", "--json").objects().first?["text"] as? String == "#tag\nHope.")
        }
    }

    @Test func `of a note keeps a heading with which the text begins`() throws {
        try withEditor("printf '# Hope\\n\\nIt goes on.\\n' > \"$1\"") { scan, _ in
            _ = try run(scan, "note add dune")
            let note = try scan.run("note", "list", "dune", "--json").objects().first?["text"] as? String
            #expect(note == "# Hope\n\nIt goes on.")
        }
    }

    @Test func `of a note saves nothing if it is empty`() throws {
        try withEditor("echo >> \"$1\"") { scan, _ in
            let terminal = try run(scan, "note add dune")
            #expect(terminal.screen.contains("no note was added"))
            #expect(try scan.run("note", "list", "dune", "--json").out.isEmpty)
        }
    }

    @Test func `needs a terminal`() throws {
        try withEditor("touch opened") { scan, _ in
            for arguments in [
                ["library", "edit", "dune"], ["library", "edit", "dune", "--form"], ["note", "add", "dune"],
            ] {
                let ending = try scan.run(arguments)
                #expect(ending.status == 64)
            }
            #expect(!FileManager.default.fileExists(atPath: scan.home.appendingPathComponent("opened").path))
        }
    }

    @Test func `is not needed for the form, which edits the same book`() throws {
        try withEditor("touch opened") { scan, _ in
            try scan.run("library", "edit", "dune", "--shelf", "Living room")
            let terminal = try PseudoTerminal(scan, "library edit dune --form")
            try terminal.wait(for: "Title: Dune")
            terminal.type(" Messiah\r")
            try terminal.wait(for: "Subtitle:")
            for label in ["Authors", "Publisher", "Published", "Pages", "Shelf"] {
                terminal.type("\u{1B}[B")
                try terminal.wait(for: "\(label)")
            }
            terminal.type("\u{15}liv")
            try terminal.wait(for: "Shelf: liv")
            terminal.clear()
            terminal.type("\t")
            try terminal.wait(for: "Shelf: Living room")
            terminal.clear()
            terminal.type("\u{1B}[A")
            try terminal.wait(for: "Pages: 412")
            terminal.type("\u{13}")
            #expect(try terminal.finish() == 0)
            #expect(terminal.screen.contains("Changed: Dune Messiah") && terminal.isRestored)
            let book = try book(scan)
            #expect(book["title"] as? String == "Dune Messiah" && book["shelf"] as? String == "Living room")
            #expect(book["pageCount"] as? Int == 412 && book["tags"] as? [String] == ["sf"])
        }
    }
}
