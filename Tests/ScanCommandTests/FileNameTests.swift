import Foundation
import Testing

extension ScanProcess {
    /// Returns a program that gets these words after its other arguments. They are written as for printf(1), because an
    /// argument of `Process` is text: `caf\351.jpg` is "café.jpg" in ISO-8859-1.
    fileprivate func adding(_ words: String...) -> ScanProcess {
        var scan = self
        let added = words.map { #" "$(printf -- '\#($0)')""# }.joined()
        scan.prefix = ["/bin/sh", "-c", #"exec "$0" "$@""# + added]
        return scan
    }

    /// Copies a sample to a name of any bytes in the home folder.
    fileprivate func copy(_ sample: String, to name: [UInt8]) throws {
        let copy = home.appendingPathComponent("copy").path
        try FileManager.default.copyItem(atPath: Self.samples.appendingPathComponent(sample).path, toPath: copy)
        try rename(copy, to: name)
    }

    fileprivate func rename(_ path: String, to name: [UInt8]) throws {
        let new = Array((home.path + "/").utf8) + name + [0]
        try #require(Foundation.rename(path, new.map { CChar(truncatingIfNeeded: $0) }) == 0)
    }
}

@Suite struct `File names that are not UTF-8` {
    /// Returns the bytes of a text in ISO-8859-1.
    private static func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

    private static let frontal = "photos/frontal.jpg"
    private static let isbn = "9780441478125"

    @Test func `stay apart even if messages show them alike`() throws {
        try withScan { scan in
            try scan.copy(Self.frontal, to: Self.latin("café.jpg"))
            try scan.copy("photos/no-code-table.jpg", to: Array("caf\u{FFFD}.jpg".utf8))
            try scan.copy("photos/periodical.jpg", to: Self.latin("cafè.jpg"))
            let ending = try scan.adding(#"caf\350.jpg"#, #"caf\357\277\275.jpg"#, #"caf\351.jpg"#)
                .run("decode", "--json")
            let lines = try ending.objects()
            #expect(lines.map { $0["image"] as? String } == Array(repeating: "caf\u{FFFD}.jpg", count: 3))
            #expect(lines.allSatisfy { $0["error"] is NSNull })
            let kinds = lines.map { ($0["symbols"] as? [[String: Any]])?.compactMap { $0["kind"] as? String } }
            #expect(kinds == [["issn"], [], ["isbn"]])
            #expect(ending.status == 0)
        }
    }

    @Test func `are found in a folder`() throws {
        try withScan { scan in
            let photos = scan.home.appendingPathComponent("photos")
            try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: false)
            try scan.copy(Self.frontal, to: Array("photos/".utf8) + [0xFF] + Array(".jpg".utf8))
            try scan.rename(photos.path, to: Self.latin("fotós"))
            let ending = try scan.adding(#"fot\363s/"#).run("decode")
            #expect(ending.lines == ["fot\u{FFFD}s/\u{FFFD}.jpg: isbn 978-0-441-47812-5"])
            #expect(ending.status == 0 && ending.err.isEmpty)

            let folder = try scan.adding(#"fot\363s"#).run("find", "--image")
            #expect(folder.status == 64 && folder.err.contains("fot\u{FFFD}s is a folder. Give one photo"))
        }
    }

    @Test(arguments: [["--image", #"caf\351.jpg"#], [#"--image=caf\351.jpg"#]])
    func `are captured`(words: [String]) throws {
        try withScan { scan in
            try scan.copy(Self.frontal, to: Self.latin("café.jpg"))
            let program = words.count == 2 ? scan.adding(words[0], words[1]) : scan.adding(words[0])
            let ending = try program.run("--yes", "--json")
            let saved = try #require(try ending.events("saved").first)
            #expect(saved["isbn13"] as? String == Self.isbn)
            #expect(saved["image"] as? String == "caf\u{FFFD}.jpg")
            #expect(ending.status == 0)
        }
    }

    @Test func `are imported`() throws {
        try withScan { scan in
            try scan.copy("exports/goodreads.csv", to: Self.latin("Bücher.csv"))
            let ending = try scan.adding(#"B\374cher.csv"#).run("import")
            #expect(ending.err.contains("B\u{FFFD}cher.csv: Goodreads."))
            #expect(ending.status == 0)
            #expect(try !scan.run("library", "list", "--json").objects().isEmpty)
        }
    }

    @Test(arguments: [
        ("decode", "cannot open caf\u{FFFD}.jpg: there is no such file."),
        ("import", "cannot read caf\u{FFFD}.jpg: No such file"),
    ])
    func `are named if the file is missing`(command: String, message: String) throws {
        try withScan { scan in
            // A file with the name that is shown is not the one that was meant.
            try scan.copy(Self.frontal, to: Array("caf\u{FFFD}.jpg".utf8))
            let ending = try scan.adding(#"caf\351.jpg"#).run(command)
            #expect(ending.err.contains(message))
            #expect(ending.status == 66)
        }
    }
}
