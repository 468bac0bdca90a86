import Bookplate
import Foundation
import Kiosk
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
        // Waits for the last limit that it sets.
        try waitBlocking(for: "the limits") { try line("NoNewPrivs", of: "status").joined().hasSuffix("1") }
        for (name, value) in [
            ("Max address space", "1073741824"), ("Max cpu time", "20"), ("Max open files", "24"),
            ("Max file size", "0"),
            ("Max core file size", "0"),
        ] {
            #expect(try line(name, of: "limits").contains(Substring(value)), "\(name)")
        }
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
