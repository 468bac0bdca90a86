import Foundation
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Differences between x86-64 and arm64 that no compiler reports. `script/test --arm64` runs the code itself.
@Suite struct `On x86-64 and arm64 alike, the code` {
    struct Line: CustomTestStringConvertible {
        let file: String
        let text: Substring
        var testDescription: String { "\(file): \(text.trimmingCharacters(in: .whitespaces))" }
    }

    /// Returns the lines of code below Sources that match, without comments.
    private static func lines(matching pattern: Regex<Substring>, extension: String = ".swift") throws -> [Line] {
        let sources = root.appendingPathComponent("Sources")
        let names = try #require(FileManager.default.enumerator(atPath: sources.path))
        return try names.compactMap { $0 as? String }.filter { $0.hasSuffix(`extension`) }.sorted().flatMap { name in
            try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8).split(separator: "\n")
                .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") && $0.contains(pattern) }
                .map { Line(file: name, text: $0) }
        }
    }

    /// `char` is signed on x86-64 and unsigned on arm64 (AAPCS64, 10.1.2).
    @Test func `computes with no C characters, but only passes them on`() throws {
        let pointers = /Unsafe(?:Mutable)?Pointer<CChar>|\[CChar\]|assumingMemoryBound\(to: CChar\.self\)/
        for line in try Self.lines(matching: /CChar|\bInt8\b/) {
            let rest = line.text.replacing(pointers, with: "")
            #expect(!rest.contains(/CChar|\bInt8\b/), "\(line.testDescription)")
        }
        for line in try Self.lines(matching: /\bchar\b/, extension: ".h") {
            #expect(line.text.contains(/\bchar \*/), "\(line.testDescription)")
        }
    }

    /// Variadic arguments are passed in different ways on different architectures, and Swift calls a function as its
    /// type says.
    @Test func `calls variadic functions in C only`() throws {
        let hidden = try Self.lines(matching: /@_silgen_name|withVaList|unsafeBitCast/)
        // Functions of libheif, none of which is variadic.
        #expect(hidden.map(\.file) == ["Capture/Photos/HEICImage.swift"], "\(hidden.map(\.testDescription))")
    }

    /// Frames lie anywhere in the driver's memory, and rows of a picture begin at any byte.
    @Test func `loads numbers from foreign memory without assuming their alignment`() throws {
        let bytes = /as: UInt8\.self|to: UInt8\.self|to: CChar\.self/
        let aligned = [
            // These were allocated as what they are.
            "bytes.bindMemory(to: pollfd.self)", "name.assumingMemoryBound(to: sockaddr.self)",
            "isEncrypted?.assumingMemoryBound(to: Bool.self)", "$0.assumingMemoryBound(to: NAME_CONSTRAINTS.self)",
        ]
        for line in try Self.lines(matching: /\.load\((?:fromByteOffset|as)|bindMemory\(|assumingMemoryBound\(/) {
            let isKnown = aligned.contains { line.text.contains($0) }
            #expect(line.text.contains(bytes) || isKnown, "\(line.testDescription)")
        }
    }

    /// The kernel of the Raspberry Pi 5 has pages of 16 KiB.
    @Test func `maps only what a camera's driver offers, and assumes no size of a page`() throws {
        let lines = try Self.lines(matching: /m(?:un)?map\(|mprotect\(|madvise\(|_SC_PAGE|getpagesize/)
        for line in lines { #expect(line.file.hasPrefix("Capture/Camera/"), "\(line.testDescription)") }
        #expect(!lines.isEmpty)
    }

    /// A script that uses something of one processor finds out first on which it runs.
    @Test func `is built by scripts that ask for the machine's architecture`() throws {
        var asking: [String] = []
        for folder in ["script", "Tests/PackagingTests/machine", "Tests/CameraRig/rig", "packaging"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.path + "/" + folder).sorted() {
                let path = folder + "/" + name
                guard let text = try? String(contentsOfFile: root.path + "/" + path, encoding: .utf8),
                    text.hasPrefix("#!"), text.contains(/x86[-_]64|amd64/)
                else { continue }
                asking.append(path)
                #expect(text.contains(/uname -m|platform\.machine\(\)|dpkg --print-architecture/), "\(path)")
            }
        }
        #expect(asking.count >= 3, "\(asking)")
    }

    /// Names of calls that only x86-64 has, such as open or poll, would be ignored on arm64.
    @Test func `is confined by names of system calls that both have`() throws {
        let generic = try String(contentsOfFile: "/usr/include/asm-generic/unistd.h", encoding: .utf8)
        for unit in ["bookplate.service", "bookplate-backup.service", "bookplate-kiosk.service"] {
            let text = try String(contentsOf: root.appendingPathComponent("packaging/" + unit), encoding: .utf8)
            #expect(text.contains("\nSystemCallArchitectures=native\n"), "\(unit)")
            for names in text.matches(of: /(?m)^SystemCallFilter=~?(.*)$/) {
                for name in names.1.split(separator: " ") where !name.hasPrefix("@") {
                    // Groups have the names of every architecture (systemd.exec(5)).
                    #expect(generic.contains("__NR_\(name) "), "\(unit): \(name)")
                }
            }
        }
    }
}
