import Foundation
import FoundationXML
import Testing

@Suite struct `scan decode` {
    @Test func `prints exactly the documented JSON`() throws {
        try withScan { scan in
            let photo = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg").path
            let ending = try scan.run("decode", "--json", photo)
            let line = try #require(ending.objects().first)
            #expect(Set(line.keys) == ["image", "symbols", "printed", "error"])
            #expect(line["image"] as? String == photo)
            #expect((line["printed"] as? [Any])?.isEmpty == true)
            #expect(line["error"] is NSNull)
            let symbol = try #require((line["symbols"] as? [[String: Any]])?.first)
            #expect(Set(symbol.keys) == ["payload", "kind", "isbn13", "addon", "quality", "corners"])
            #expect(symbol["payload"] as? String == "9780441478125")
            #expect(symbol["kind"] as? String == "isbn")
            #expect((symbol["corners"] as? [[Double]])?.count == 4)
            #expect(ending.status == 0)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test func `explains which stage read a code`() throws {
        try withScan { scan in
            let photo = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg").path
            let ending = try scan.run("decode", "--explain", photo)
            #expect(ending.status == 0)
            #expect(ending.lines.first == "\(photo): isbn 978-0-441-47812-5")
            let steps = ending.lines.dropFirst()
            #expect(steps.first?.contains(" ms  regions (areas that look like bar codes), ") == true)
            #expect(steps.filter { $0.hasSuffix(": read 9780441478125") }.count == 1)
            #expect(try scan.run("decode", "--explain", "--json", photo).status == 64)
        }
    }

    @Test func `draws what it saw on the photo`() throws {
        try withScan { scan in
            let photo = ScanProcess.samples.appendingPathComponent("photos/six-books.jpg").path
            let picture = scan.home.appendingPathComponent("seen.svg").path
            #expect(try scan.run("decode", "--picture", picture, photo).status == 0)
            let svg = try XMLDocument(contentsOf: URL(fileURLWithPath: picture), options: [])
            let labels = try svg.nodes(forXPath: "//*[local-name()='text']").compactMap(\.stringValue)
            #expect(Self.sixBooks.allSatisfy(labels.contains) && labels.count { $0 == "lines" } == 6)
            #expect(labels.contains { $0.hasSuffix(" places: read 6 codes") })
            // The photo, at least one place per code, and the codes.
            #expect(try svg.nodes(forXPath: "//*[local-name()='image']").count == 1)
            #expect(try svg.nodes(forXPath: "//*[local-name()='path']").count >= 12)

            let again = try scan.run("decode", "--picture", picture, photo)
            #expect(again.status == 64 && again.err.contains("already exists. To replace it, use --force"))
            #expect(try scan.run("decode", "--picture", picture, "--force", photo).status == 0)
            let two = try scan.run("decode", "--picture", picture + "2", photo, photo)
            #expect(two.status == 64 && two.err.contains("there are 2 in") && two.err.contains("Give only one photo"))
            #expect(!FileManager.default.fileExists(atPath: picture + "2"))
        }
    }

    @Test func `never overwrites the photo with the drawing`() throws {
        try withScan { scan in
            let photo = scan.home.appendingPathComponent("own.jpg")
            let original = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg")
            try FileManager.default.copyItem(at: original, to: photo)
            let ending = try scan.run("decode", "--picture", photo.path, "--force", photo.path)
            #expect(ending.status == 64 && ending.err.contains("is the photo itself. Choose another file"))
            #expect(try Data(contentsOf: photo) == Data(contentsOf: original))
        }
    }

    private static let sixBooks = [
        "9780140449136", "9780141439556", "9780141439846", "9782070360420", "9783257228007", "9783518366752",
    ]

    @Test func `keeps the order of the arguments, and continues after an unreadable one`() throws {
        try withScan { scan in
            let photos = ScanProcess.samples.appendingPathComponent("photos")
            let names = ["six-books.jpg", "frontal.jpg", "missing.jpg", "no-code-table.jpg"].map {
                photos.appendingPathComponent($0).path
            }
            let ending = try scan.run(["decode", "--json"] + names)
            #expect(try ending.objects().map { $0["image"] as? String } == names)
            #expect(ending.status == 66)
        }
    }

    @Test(arguments: [("no-code-table.jpg", 3), ("periodical.jpg", 3), ("frontal.jpg", 0)])
    func `ends with 3 when there is no ISBN`(photo: String, status: Int32) throws {
        try withScan { scan in
            let path = ScanProcess.samples.appendingPathComponent("photos/\(photo)").path
            let ending = try scan.run("decode", path)
            #expect(ending.status == status)
        }
    }

    @Test(arguments: [
        "a folder without photos", "a FIFO", "/dev/zero", "nothing", "an empty file", "an unreadable file",
    ])
    func `prints one message and never hangs on`(what: String) throws {
        try withScan { scan in
            let path = scan.home.appendingPathComponent("input").path
            switch what {
            case "a folder without photos":
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            case "a FIFO": #expect(mkfifo(path, 0o600) == 0)
            case "/dev/zero": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            case "an empty file": try Data().write(to: URL(fileURLWithPath: path))
            case "an unreadable file":
                try Data("x".utf8).write(to: URL(fileURLWithPath: path))
                chmod(path, 0)
            default: break
            }
            let ending = try scan.run("decode", path)
            #expect(ending.status == (what.hasPrefix("a folder") ? 3 : 66))
            #expect(ending.err.split(separator: "\n").count == 1)
            #expect(ending.err.contains("input"))
        }
    }
}

/// Pins which sample photos this decoder reads, and how many there are.
@Suite struct `The samples` {
    /// The photos in which this decoder misses some or all codes.
    static let missed: Set = ["too-blurred.jpg"]

    @Test func `decode as their answers say, except for the known misses`() throws {
        try withScan { scan in
            let folder = ScanProcess.samples.appendingPathComponent("photos")
            let ending = try scan.run("decode", "--json", folder.path)
            let lines = try ending.objects()
            #expect(lines.count >= 24)
            var missed: Set<String> = []
            for line in lines {
                let photo = URL(fileURLWithPath: try #require(line["image"] as? String))
                let answer = try String(
                    contentsOf: photo.deletingPathExtension().appendingPathExtension("txt"), encoding: .utf8)
                let symbols = try #require(line["symbols"] as? [[String: Any]])
                let read = symbols.map { symbol in
                    let addon = (symbol["addon"] as? String).map { " +\($0)" } ?? ""
                    return "\(symbol["kind"] as? String ?? "") \(symbol["payload"] as? String ?? "")\(addon)"
                }
                let expected = answer.split(separator: "\n").map(String.init)
                #expect(Set(read).isSubset(of: expected), "\(photo.lastPathComponent) reads a code that is not there")
                if read != expected { missed.insert(photo.lastPathComponent) }
            }
            #expect(missed == Self.missed)
        }
    }

    @Test func `include the offline index that scan index build makes from their editions`() throws {
        try withScan { scan in
            let built = scan.home.appendingPathComponent("index.sqlite").path
            try scan.run(
                "index", "build", ScanProcess.samples.appendingPathComponent("editions.txt").path, "--out", built)
            let kept = ScanProcess.samples.appendingPathComponent("index.sqlite").path
            let numbers = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt"))
            let isbns = try scan.run("isbn", "-", "--json", input: numbers).objects().compactMap {
                $0["isbn13"] as? String
            }
            let answers = try [kept, built].map { try scan.run(["lookup", "--json", "--index", $0] + isbns) }
            #expect(answers[0].lines.count == 40)
            #expect(answers[0].lines == answers[1].lines)
            #expect(answers[0].status == 0)
        }
    }
}
