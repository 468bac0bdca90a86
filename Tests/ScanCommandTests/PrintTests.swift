import Foundation
import Testing

/// Tests `--ocr` with a stand-in for tesseract that prints the given words.
@Suite struct `Numbers in print` {
    private static let blank = ScanProcess.samples.appendingPathComponent("photos/no-code-table.jpg").path
    private static let coded = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg").path
    private static let product = ScanProcess.samples.appendingPathComponent("photos/ean13-product.jpg").path

    /// - Parameter words: the words to print; `nil` to run without tesseract.
    private func withPrint(_ words: String?, _ body: (ScanProcess) throws -> Void) throws {
        guard let words else { return try withTesseract(nil, body) }
        let rows = words.split(separator: " ").enumerated().map { index, word in
            "5\t1\t1\t1\t1\t\(index + 1)\t0\t0\t9\t9\t90\t\(word)"
        }
        let header = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
        let table = ([header] + rows).joined(separator: "\n") + "\n"
        try withTesseract("cat > /dev/null; echo look >> \"${0%/*}/looks\"; cat <<'END'\n\(table)END", body)
    }

    private func withTesseract(_ script: String?, _ body: (ScanProcess) throws -> Void) throws {
        try withScan { original in
            var scan = original
            let folder = scan.home.appendingPathComponent("programs")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for tool in ["cat", "sleep"] {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.appendingPathComponent(tool).path, withDestinationPath: "/bin/\(tool)")
            }
            if let script {
                let program = folder.appendingPathComponent("tesseract")
                try Data("#!/bin/sh\n\(script)\n".utf8).write(to: program)
                try #require(chmod(program.path, 0o755) == 0)
            }
            scan.environment["PATH"] = folder.path
            try body(scan)
        }
    }

    @Test func `are listed by scan decode apart from the bar codes`() throws {
        try withPrint("SBN 441 47812 3 35p") { scan in
            let ending = try scan.run("decode", "--ocr", "--json", Self.blank, Self.product, Self.coded)
            let lines = try ending.objects()
            #expect(lines.allSatisfy { Set($0.keys) == ["image", "symbols", "printed", "error"] })
            for line in lines.prefix(2) {
                let printed = try #require((line["printed"] as? [[String: Any]])?.first)
                #expect(Set(printed.keys) == ["isbn13", "text", "corrected"])
                #expect(printed["isbn13"] as? String == "9780441478125")
                #expect(printed["text"] as? String == "0 441 47812 3")
                #expect(printed["corrected"] as? Bool == false)
            }
            #expect((lines[1]["symbols"] as? [[String: Any]])?.count == 1)
            // The bar code is a book's, so the print on this photo is not read.
            #expect((lines[2]["printed"] as? [Any])?.isEmpty == true)
            #expect(ending.status == 0)
            let looks = try String(contentsOf: scan.home.appendingPathComponent("programs/looks"), encoding: .utf8)
            #expect(looks == "look\nlook\n")

            let text = try scan.run("decode", "--ocr", Self.blank)
            #expect(text.lines == ["\(Self.blank): isbn 978-0-441-47812-5 (read from print: 0 441 47812 3)"])
        }
    }

    @Test func `are read only with --ocr`() throws {
        try withPrint("ISBN 0-441-47812-3") { scan in
            let ending = try scan.run("decode", Self.blank)
            #expect(ending.lines == ["\(Self.blank): no bar code found"])
            #expect(ending.status == 3)
            #expect(!FileManager.default.fileExists(atPath: scan.home.appendingPathComponent("programs/looks").path))
            #expect(try scan.run("--isbn", "9780441478125", "--ocr").status == 64)
        }
    }

    @Test func `that are invalid leave the photo without an ISBN`() throws {
        try withPrint("Tel. 0-441-47812-3 and ISBN 0-441-47812-4") { scan in
            let ending = try scan.run("decode", "--ocr", Self.blank)
            #expect(ending.lines == ["\(Self.blank): no bar code and no printed ISBN found"])
            #expect(ending.status == 3)
        }
    }

    @Test func `need tesseract, which is named if it is missing; bar codes are read all the same`() throws {
        try withPrint(nil) { scan in
            let coded = try scan.run("decode", "--ocr", Self.coded)
            #expect(coded.status == 0 && coded.err.isEmpty)
            let both = try scan.run("decode", "--ocr", "--json", Self.blank, Self.coded, Self.product)
            #expect(both.status == 69)
            #expect(
                both.err
                    == "scan: tesseract is not installed, so printed ISBNs cannot be read. To install it, run 'apt install tesseract-ocr'.\n"
            )
            let lines = try both.objects()
            #expect((lines[0]["error"] as? String)?.contains("apt install tesseract-ocr") == true)
            #expect((lines[1]["symbols"] as? [[String: Any]])?.first?["isbn13"] as? String == "9780441478125")
            #expect(lines[1]["error"] is NSNull)
            #expect(try scan.run("decode", "--ocr", Self.blank).lines == ["\(Self.blank): no bar code found"])
            let intake = try scan.run("--image", Self.blank, Self.coded, "--ocr", "--yes", "--json")
            #expect(intake.status == 69)
            #expect(try intake.events("saved").count == 1)
            #expect(
                try intake.events("refused").compactMap { $0["reason"] as? String }.first?.contains("tesseract") == true
            )
        }
    }

    @Test(arguments: ["kill -SEGV $$", "exit 1", "echo nothing here"])
    func `that could not be read are reported as such, not as "nothing found"`(script: String) throws {
        try withTesseract(script) { scan in
            let ending = try scan.run("decode", "--ocr", Self.blank, Self.coded)
            #expect(ending.lines == ["\(Self.coded): isbn 978-0-441-47812-5"])
            #expect(ending.err.contains("no-code-table.jpg: printed text was not read because "))
            #expect(ending.status == 69)
            let intake = try scan.run("--image", Self.product, "--ocr", "--yes")
            #expect(intake.out.contains("printed text was not read"))
            #expect(intake.status == 69)
        }
    }

    @Test func `are captured as typed, with their photo, and --yes saves none of them`() throws {
        try withPrint("ISBN 0-441-47812-3") { scan in
            let ending = try scan.run("--image", Self.blank, "--ocr", "--yes", "--json")
            #expect(try ending.objects().map { $0["event"] as? String } == ["captured", "found", "queued"])
            let queued = try #require(ending.events("queued").first)
            #expect(queued["origin"] as? String == "typed")
            #expect(queued["raw"] as? String == "0-441-47812-3")
            #expect(queued["image"] as? String == Self.blank)
            #expect(queued["reason"] as? String == "the number was read from print; compare it with the book")
            #expect(ending.status == 4)
            // The same applies when the whole queue is confirmed later.
            let later = try scan.run("intake", "confirm", "--yes")
            #expect(later.out.contains("the number was read from print; compare it with the book"))
            #expect(later.status == 4)
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            // A number that the user typed is saved.
            #expect(try scan.run("--isbn", "0-441-47812-3", "--yes").status == 0)
        }
    }

    @Test func `are shown as read from print, and saved when the user confirms each`() throws {
        try withPrint("ISBN 0-441-47812-3 and 0-441-01359-7") { scan in
            let terminal = try PseudoTerminal(scan, "--image \(Self.blank) --ocr")
            try terminal.wait(for: "[s] save")
            #expect(terminal.screen.contains("The number was read from print. Compare it with the book."))
            // Saving all books does not include books with numbers from print. The prompt asks about each of them.
            terminal.clear()
            terminal.type("a")
            terminal.type("s")
            try terminal.wait(for: "Dune")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            let books = try scan.run("library", "list", "--json", "--sort", "title").objects()
            #expect(books.compactMap { $0["title"] as? String } == ["Dune", "The Left Hand of Darkness"])
        }
    }
}
