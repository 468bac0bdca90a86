import Bookplate
import Foundation
import GRDB
import Kiosk
import PrintedText
import Processes
import TestTools
import Testing

@testable import ScanCommand

@Suite struct `scan kiosk, when it serves other devices,` {
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "2001:db8::1"])
    func `asks for an access code first`(_ address: String) throws {
        try withScan { scan in
            let ending = try scan.run("kiosk", "--listen", address, "--port", "0")
            #expect(ending.status == 78)
            #expect(ending.err.contains("scan kiosk code") && ending.err.contains(address))
        }
    }

    @Test func `asks for an access code behind a proxy, too`() throws {
        try withScan { scan in
            let ending = try scan.run("kiosk", "--behind-proxy", "--port", "0")
            #expect(ending.status == 78 && ending.err.contains("scan kiosk code"))
        }
    }

    @Test(arguments: [
        ["--listen", "shelf.local"], ["--listen", ""], ["--listen", "127.0.0.1:80"], ["--name", "http://shelf"],
        ["--name", "shelf:80"], ["--name", ""], ["--name", "-shelf"],
    ])
    func `accepts addresses and host names, and nothing else`(_ options: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(["kiosk", "--port", "0"] + options)
            #expect(ending.status == 64 && ending.err.contains(options[0]))
        }
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("127.9.8.7", true), ("::1", true), ("0.0.0.0", false), ("::", false),
        ("::ffff:127.0.0.1", false), ("128.0.0.1", false),
    ])
    func `recognises the addresses of this machine alone`(_ address: String, _ isLoopback: Bool) {
        #expect(ListenCheck.isLoopback(address) == isLoopback)
    }

    @Test func `reads the code from standard input, and refuses a bad one`() throws {
        try withScan { scan in
            let set = try scan.run("kiosk", "code", input: Data("kumquat 7\nmore\n".utf8))
            #expect(
                set.status == 0 && set.out.contains("is set") && set.out.contains("scan hub revoke")
                    && !set.out.contains("kumquat"))
            for bad in ["", "12345\n", "\u{7}234567\n"] {
                let ending = try scan.run("kiosk", "code", input: Data(bad.utf8))
                #expect(ending.status == 64 && ending.err.contains("Nothing was changed"))
            }
            // The code is set, so the only error left is that this machine does not have the address.
            #expect(try scan.run("kiosk", "--listen", "192.0.2.1", "--port", "0").status != 78)
            #expect(try scan.run("kiosk", "code", "--clear").status == 0)
            #expect(try scan.run("kiosk", "--listen", "192.0.2.1", "--port", "0").status == 78)
        }
    }

    @Test func `lists the uses of the access code`() throws {
        try withScan { scan in
            #expect(try scan.run("kiosk", "attempts").err.contains("Nobody has used the access code yet."))
            #expect(try scan.run("kiosk", "attempts", "--json").out.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
            try scan.run("library", "add", "--title", "Dune")
            try DatabaseQueue(path: scan.library).write { db in
                try db.execute(
                    sql: """
                        INSERT INTO signInAttempt (at, address, device, isRight)
                        VALUES (0, '10.0.0.1', 'Firefox, Android', 1), (1000, '10.0.0.2', 'attic', 0)
                        """)
            }
            var abroad = scan
            abroad.environment["TZ"] = "Europe/Berlin"
            #expect(
                try abroad.run("kiosk", "attempts").out == """
                    1970-01-01 01:00  wrong code  10.0.0.2  attic
                    1970-01-01 01:00  accepted  10.0.0.1  Firefox, Android

                    """)
            let lines = try scan.run("kiosk", "attempts", "--json").objects()
            #expect(lines.map { $0["isRight"] as? Bool } == [false, true])
            #expect(lines[0]["device"] as? String == "attic" && lines[0]["address"] as? String == "10.0.0.2")
        }
    }

    // Control-D and Control-C
    @Test(arguments: [("\u{4}", 64), ("\u{3}", 130)] as [(String, Int32)])
    func `sets no code if none is typed, and restores the terminal`(_ key: String, _ status: Int32) throws {
        try withScan { scan in
            let terminal = try PseudoTerminal(scan, "kiosk code")
            try terminal.wait(for: "Access code: ")
            terminal.type(key)
            #expect(try terminal.finish() == status)
            #expect(terminal.isRestored && !terminal.screen.contains("is set"))
        }
    }

    @Test func `asks for the code twice, and never shows it`() throws {
        try withScan { scan in
            for (again, status, words) in [("kumquat 8", 64, "differ"), ("kumquat 7", 0, "is set")] {
                let terminal = try PseudoTerminal(scan, "kiosk code")
                try terminal.wait(for: "Access code: ")
                terminal.type("kumquat 7\n")
                try terminal.wait(for: "Repeat the code: ")
                terminal.type("\(again)\n")
                try terminal.wait(for: words)
                #expect(try terminal.finish() == status)
                #expect(terminal.isRestored && !terminal.screen.contains("kumquat"))
            }
        }
    }
}

@Suite struct `A photo's own process` {
    private static let program = ChildProcess.Command(
        path: ScanProcess.program.path, arguments: ["scan", "read-photo"])

    private func shell(_ script: String) -> ChildProcess.Command {
        ChildProcess.Command(path: "/bin/sh", arguments: ["sh", "-c", script])
    }

    private func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/\(name)")))
    }

    private func refusal(
        _ photo: [UInt8], _ command: ChildProcess.Command = Self.program, patience: Duration = .seconds(60)
    ) async throws -> String {
        let error = try await #require(throws: KioskError.self) {
            try await PhotoChildren(command, patience: patience).read(photo)
        }
        #expect(error.kind == .refused)
        return error.message
    }

    @Test func `returns its codes and a thumbnail`() async throws {
        let photo = try await PhotoChildren(Self.program).read(try sample("bent-cover.jpg"))
        let answers = try String(
            contentsOf: ScanProcess.samples.appendingPathComponent("photos/bent-cover.txt"), encoding: .utf8)
        let isbn = try #require(photo.symbols.first).payload
        #expect(answers.contains(isbn))
        let thumbnail = try #require(photo.thumbnail)
        #expect(thumbnail.starts(with: [0xFF, 0xD8, 0xFF]) && thumbnail.count < 64 << 10)
    }

    @Test func `refuses what is not a photo, or claims to be huge`() async throws {
        // A JPEG whose header claims 65500 x 65500 pixels.
        var giant = try sample("bent-cover.jpg")
        let frame = try #require(
            giant.indices.dropLast(9).first { giant[$0] == 0xFF && [0xC0, 0xC2].contains(giant[$0 + 1]) })
        giant.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        #expect(try await refusal(giant).contains("65500x65500"))
        #expect(try await refusal(Array("<svg/>".utf8)).contains("the photo"))
        #expect(try await refusal([]).contains("empty"))
        #expect(try await refusal([UInt8](repeating: 0xFF, count: 33 << 20)).contains("32 MiB"))
    }

    @Test func `that crashes, hangs or prints too much means a photo that could not be read`() async throws {
        for script in ["kill -SEGV $$", "kill -KILL $$", "exit 0", "echo '{}'", "cat", "yes"] {
            let message = try await refusal([UInt8](repeating: 1, count: 3 << 20), shell(script))
            #expect(message.contains("could not be read"), "\(script)")
        }
        let slow = try await refusal([1], shell("exec sleep 600"), patience: .milliseconds(300))
        #expect(slow.contains("took too long"))
    }

    @Test(arguments: [
        #"{"symbols":[{"payload":"97804414781x5","addon":null,"quality":1,"corners":[[0,0],[1,0],[1,1],[0,1]]}],"thumbnail":null,"error":null}"#,
        #"{"symbols":[{"payload":"9780441478125","addon":"1","quality":1,"corners":[[0,0],[1,0],[1,1],[0,1]]}],"thumbnail":null,"error":null}"#,
        #"{"symbols":[{"payload":"9780441478125","addon":null,"quality":1,"corners":[[0,0],[1,0],[1,1]]}],"thumbnail":null,"error":null}"#,
        #"{"symbols":[{"payload":"9780441478125","addon":null,"quality":1,"corners":[[0,0],[1e9,0],[1,1],[0,1]]}],"thumbnail":null,"error":null}"#,
        #"{"symbols":[],"thumbnail":"PHNjcmlwdD4=","error":null}"#, #"{"symbols":[],"thumbnail":"!","error":null}"#,
        #"{"symbols":[]"#, "[]",
    ])
    func `is not trusted if the photo has compromised it`(_ answer: String) {
        #expect(throws: KioskError.self) { try PhotoAnswer(Array(answer.utf8)).photo() }
    }

    @Test func `inherits no descriptors and no environment from the service`() throws {
        let seen = try ChildProcess.run(
            shell("ls /proc/self/fd | wc -l; env | cut -d= -f1"), input: [], within: .seconds(60), limit: 4096)
        guard case .answered(let bytes, _, _) = seen else {
            Issue.record("\(seen)")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        // Standard input, output and error, and the folder that ls reads.
        #expect(lines.first.map { $0.filter(\.isNumber) } == "4")
        #expect(Set(lines.dropFirst()).subtracting(["PWD", "SHLVL", "_"]) == ["LANG", "SWIFT_BACKTRACE"])
    }

    @Test func `has limits before it reads the first byte`() throws {
        let process = Process()
        process.executableURL = ScanProcess.program
        process.arguments = ["read-photo"]
        process.standardInput = Pipe()
        process.standardOutput = FileHandle.nullDevice
        try process.run(atMost: .seconds(900))
        defer {
            // A child inherits the blocked signals of the thread that starts it; SIGKILL cannot be blocked.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        func line(_ name: String, of file: String) throws -> [Substring] {
            let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/\(file)", encoding: .utf8)
            return text.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: " ") ?? []
        }
        // Waits for the last restriction that it sets.
        let (last, isSet) = Confinement.Support.ofThisKernel.hasSeccomp ? ("Seccomp:", "2") : ("NoNewPrivs:", "1")
        try waitBlocking(for: "the limits") { try line(last, of: "status").joined().hasSuffix(isSet) }
        let score = try String(
            contentsOfFile: "/proc/\(process.processIdentifier)/oom_score_adj", encoding: .utf8)
        #expect(score == "1000\n")
        for (name, value) in [
            ("Max data size", "167772160"), ("Max address space", "1073741824"), ("Max cpu time", "20"),
            ("Max open files", "24"),
            ("Max file size", "0"),
            ("Max core file size", "0"),
        ] {
            #expect(try line(name, of: "limits").contains(Substring(value)), "\(name)")
        }
    }

    /// Returns a JPEG of 8000 x 6250 pixels, progressive and in CMYK, in which nothing follows the header. A decoder
    /// needs two bytes for each of its 200 million samples.
    static func hostile() -> [UInt8] {
        func marker(_ code: UInt8, _ body: [UInt8]) -> [UInt8] { [0xFF, code, 0, UInt8(body.count + 2)] + body }
        let (width, height): ([UInt8], [UInt8]) = ([0x1F, 0x40], [0x18, 0x6A])
        let ids: [UInt8] = [1, 2, 3, 4]
        // A Huffman table with the single code 0.
        let code: [UInt8] = [1] + [UInt8](repeating: 0, count: 16)
        return [0xFF, 0xD8] + marker(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])
            + marker(0xDB, [0] + [UInt8](repeating: 1, count: 64))
            + marker(0xC2, [8] + height + width + [4] + ids.flatMap { [$0, 0x11, 0] }) + marker(0xC4, [0x00] + code)
            + marker(0xDA, [4] + ids.flatMap { [$0, 0] } + [0, 0, 0]) + [0xFF, 0xD9]
    }

    @Test func `of the largest kind has the memory that it needs`() async throws {
        let photo = try await PhotoChildren(Self.program).read(Self.hostile())
        #expect(photo.symbols.isEmpty && photo.thumbnail != nil)
    }

    /// Without ``--large``, which the header of this photo would require.
    @Test func `that needs more memory than it may have is refused with that reason`() throws {
        let outcome = try ChildProcess.run(Self.program, input: Self.hostile(), within: .seconds(60), limit: 4096)
        guard case .answered(let line, _, .exited(0)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let error = #expect(throws: KioskError.self) { try PhotoAnswer(line.dropLast()).photo() }
        #expect(error?.message.contains("needs more memory") == true)
    }

    @Test func `that is large is the only one, and small ones are read two at a time`() async throws {
        let scratch = try Scratch()
        // Each process notes its beginning and its end. Those of small photos wait for each other.
        let log = scratch.file("log")
        let children = PhotoChildren(
            shell(
                """
                cat > /dev/null; echo begin >> '\(log)'
                if [ "$0" != --large ]; then until [ "$(grep -c begin '\(log)')" -gt 1 ]; do :; done; fi
                echo end >> '\(log)'; echo '{"symbols":[],"thumbnail":null,"error":null}'
                """))
        func lines(_ photos: [[UInt8]]) async throws -> [String] {
            try Data().write(to: URL(fileURLWithPath: log))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for photo in photos { group.addTask { _ = try await children.read(photo) } }
                try await group.waitForAll()
            }
            return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        let small = try sample("frontal.jpg")
        #expect(try await lines([small, small]) == ["begin", "begin", "end", "end"])
        #expect(try await lines([Self.hostile(), Self.hostile()]) == ["begin", "end", "begin", "end"])
        // A photo whose size is not known counts as large.
        #expect(try await lines([Self.hostile(), [1]]) == ["begin", "end", "begin", "end"])
    }

    @Test(arguments: [
        "cmyk.jpg", "greyscale.jpg", "progressive.jpg", "lossless.png", "lossy.webp", "twelve-megapixel.jpg",
    ])
    func `reads a photo of every kind under the restrictions`(name: String) async throws {
        let photo = try await PhotoChildren(Self.program).read(try sample(name))
        #expect(!photo.symbols.isEmpty)
    }

    /// Stands in for tesseract: it checks that its input is a greymap, and answers with one word.
    private func withTesseract(_ word: String, _ body: (Tesseract) async throws -> Void) async throws {
        let folder = try Scratch()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("tesseract")
        let table = [
            "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
            "5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90\t\(word)",
        ].joined(separator: "\n")
        let script = "#!/bin/sh\n[ \"$(head -c 2)\" = P5 ] || exit 1\ncat > /dev/null\ncat <<'END'\n\(table)\nEND\n"
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o755) == 0)
        try await body(Tesseract(path: path))
    }

    @Test(arguments: ["no-code-front-cover.jpg", "no-code-table.jpg"])
    func `gives tesseract only the grey picture`(name: String) async throws {
        try await withTesseract("Solaris") { tesseract in
            let page = try await PhotoChildren(Self.program).readPrint(in: try sample(name), with: tesseract)
            #expect(page.title == "Solaris")
        }
    }

    @Test func `that sends anything but a greymap has its photo refused`() async throws {
        try await withTesseract("Solaris") { tesseract in
            let damaged = try await #require(throws: KioskError.self) {
                try await PhotoChildren(Self.program).readPrint(in: Array("<svg/>".utf8), with: tesseract)
            }
            #expect(damaged.kind == .refused && damaged.message.contains("the photo"))
            for answer in [
                "P5\\n2 2\\n255\\nabc", "P5\\n9999999 9999999\\n255\\n", "P5\\n2 -2\\n255\\nabcd",
                "P6\\n1 1\\n255\\na", "",
            ] {
                let children = PhotoChildren(
                    shell(
                        """
                        cat > /dev/null
                        case "$0 $*" in
                        *--print*) printf '\(answer)' ;;
                        *) echo '{"symbols":[],"thumbnail":null,"error":null}' ;;
                        esac
                        """))
                let error = try await #require(throws: KioskError.self) {
                    try await children.readPrint(in: [1], with: tesseract)
                }
                #expect(error.kind == .refused, "\(answer)")
            }
        }
    }

    @Test func `says that tesseract has failed`() async throws {
        let tesseract = Tesseract(path: "/nowhere/tesseract")
        let coded = try await PhotoChildren(Self.program).readPrint(in: try sample("frontal.jpg"), with: tesseract)
        #expect(coded.title.isEmpty && coded.isbns.count == 1, "a bar code is read without it")
        let photo = try sample("no-code-table.jpg")
        let error = try await #require(throws: KioskError.self) {
            try await PhotoChildren(Self.program).readPrint(in: photo, with: tesseract)
        }
        #expect(error.kind == .unavailable && error.message.contains("tesseract could not be started"))
    }

    @Test func `waits its turn, and beyond a limit the photo is refused`() async throws {
        let children = PhotoChildren(
            shell("cat > /dev/null; echo '{\"symbols\":[],\"thumbnail\":null,\"error\":null}'"), limit: 3)
        let outcomes = await withTaskGroup(of: RefusalKind?.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    do {
                        _ = try await children.read([1])
                        return nil
                    } catch {
                        return (error as? KioskError)?.kind
                    }
                }
            }
            return await group.reduce(into: [RefusalKind?]()) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0 == nil || $0 == .unavailable })
        #expect(outcomes.filter { $0 == nil }.count >= 3)
    }
}
