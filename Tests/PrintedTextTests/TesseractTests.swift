import Bookplate
import Capture
import Foundation
import TestTools
import Testing

@testable import PrintedText

private let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("samples/photos")
private let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
private let isInstalled = folders.split(separator: ":").contains { access("\($0)/tesseract", X_OK) == 0 }

/// A blank white picture.
private struct Sheet: Picture {
    var width = 64
    var height = 48
    var orientation = Orientation.up

    func luma(atLeast longSide: Int) -> Frame {
        var frame = Frame(width: width, height: height, bytesPerLine: width + 5)
        frame.withMutableLuma { $0.update(repeating: 255) }
        return frame
    }
}

/// The real program, on pictures of `samples/`.
@Suite(.enabled(if: isInstalled, "tesseract-ocr is not installed"), .serialized) struct `The real tesseract` {
    /// The photos, and the numbers printed in them.
    static let printed: [String] = ["printed-imprint", "printed-back-sideways"]

    @Test(arguments: printed) func `reads the number of a book from before bar codes`(name: String) throws {
        let photo = try PhotoFile(path: samples.appendingPathComponent("\(name).jpg").path)
        let answer = try String(contentsOf: samples.appendingPathComponent("\(name).print.txt"), encoding: .utf8)
        let found = try Tesseract(inFolders: folders).read(OCRImage(photo)).isbns
        // The positions of the spaces cannot be recognised in every typeface.
        #expect(found.map(\.isbn.digits) == [String(answer.prefix(13))])
    }

    @Test(arguments: [Orientation.right, .down, .left, .mirrored])
    func `reads a page in any orientation of the photo`(orientation: Orientation) throws {
        let photo = try PhotoFile(path: samples.appendingPathComponent("printed-imprint.jpg").path)
        let page = OCRImage(try photo.luma(atLeast: 2400), longSide: 2400)
        let found = try Tesseract(inFolders: folders).read(OCRImage(Stored(page: page, orientation: orientation))).isbns
        #expect(found.map(\.isbn.digits) == ["9780140449136"])
    }

    @Test func `reads the title, which is printed in the largest letters`() throws {
        let back = try PhotoFile(path: samples.appendingPathComponent("printed-back-sideways.jpg").path)
        #expect(try Tesseract(inFolders: folders).read(OCRImage(back)).title == "The Left Hand of Darkness")
    }

    @Test(arguments: ["no-code-table.jpg", "no-code-spines.jpg", "no-code-front-cover.jpg"])
    func `finds none where none is printed`(photo: String) throws {
        let file = try PhotoFile(path: samples.appendingPathComponent(photo).path)
        #expect(try Tesseract(inFolders: folders).read(OCRImage(file)).isbns.isEmpty)
    }
}

/// A page as stored by a camera that was held in another orientation.
private struct Stored: Picture {
    let page: OCRImage
    let orientation: Orientation
    private var stored: OCRImage {
        page.turned(by: orientation == .right ? .left : orientation == .left ? .right : orientation)
    }
    var width: Int { stored.width }
    var height: Int { stored.height }

    init(page: OCRImage, orientation: Orientation) { (self.page, self.orientation) = (page, orientation) }

    func luma(atLeast longSide: Int) -> Frame {
        let stored = stored
        var frame = Frame(width: stored.width, height: stored.height)
        let grey = stored.pgm.suffix(stored.width * stored.height)
        frame.withMutableLuma { luma in for (index, value) in grey.enumerated() { luma[index] = value } }
        return frame
    }
}

/// Programs that stand in for tesseract, and their failures.
@Suite struct `A program called tesseract` {
    private static let header =
        #"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"#
    private static let page = #"1\t1\t0\t0\t0\t0\t0\t0\t64\t48\t-1\t\n"#

    /// Installs a script as tesseract in a folder.
    private func install(_ script: String, in folder: Scratch, timeout: Duration = .seconds(60)) throws -> Tesseract {
        let path = try folder.write(Array("#!/bin/sh\n\(script)\n".utf8), to: "tesseract")
        try #require(chmod(path, 0o755) == 0)
        return try Tesseract(inFolders: "relative:/nowhere:\(folder.path)", timeout: timeout)
    }

    private func error(of script: String, timeout: Duration = .seconds(60)) throws -> TesseractError {
        let folder = try Scratch()
        let tesseract = try install(script, in: folder, timeout: timeout)
        // The input is larger than any buffer between two programs, so that a program that does not read it is noticed.
        return try #require(throws: TesseractError.self) {
            try tesseract.read(OCRImage(Sheet(width: 2000, height: 2000))).isbns
        }
    }

    @Test func `is missing if none of the folders has it, and the message says what to install`() throws {
        let folder = try Scratch()
        try folder.write([], to: "tesseract")
        for folders in ["", ":", "/nowhere", "relative", folder.path] {
            let error = try #require(throws: TesseractError.self) { try Tesseract(inFolders: folders) }
            #expect(error == .notInstalled)
            #expect(error.description.contains("apt install tesseract-ocr"))
        }
    }

    @Test func `is given the picture upright, then turned, as a page and as sparse text, until it finds an ISBN`()
        throws
    {
        let folder = try Scratch()
        let tesseract = try install(
            """
            echo "$4" >> '\(folder.file("modes"))'
            head -c 9 | tr '\\n' ' ' >> '\(folder.file("looks"))'; cat > /dev/null
            printf '\(Self.header)\(Self.page)'
            test $(wc -c < '\(folder.file("looks"))') -ge 27 || exit 0
            printf '5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t95.5\\tISBN\\n5\\t1\\t1\\t1\\t1\\t2\\t9\\t0\\t9\\t9\\t9\\t0-14-\\n'
            printf '5\\t1\\t1\\t1\\t2\\t1\\t0\\t0\\t9\\t9\\t95.5\\t044926-4\\n'
            """, in: folder)
        let found = try tesseract.read(OCRImage(Sheet(orientation: .left))).isbns
        #expect(found == [PrintedISBN(isbn: try ISBN("0-14-044926-4"), text: "0-14-044926-4")])
        let looks = try String(contentsOfFile: folder.file("looks"), encoding: .utf8)
        #expect(looks == "P5 48 64 P5 64 48 P5 48 64 ")
        #expect(try String(contentsOfFile: folder.file("modes"), encoding: .utf8) == "3\n3\n12\n")
    }

    @Test func `that crashes, fails or answers nonsense is reported as such, never as "nothing found"`() throws {
        #expect(try error(of: "kill -SEGV $$") == .crashed(signal: SIGSEGV))
        #expect(try error(of: "cat > /dev/null; kill -KILL $$") == .crashed(signal: SIGKILL))
        #expect(try error(of: "printf '\(Self.header)'; exit 1") == .failed(status: 1, standardError: ""))
        let failed = try error(of: "cat > /dev/null; echo one >&2; echo 'no language eng' >&2; exit 3")
        #expect(failed == .failed(status: 3, standardError: "no language eng"))
        #expect(failed.description.contains("ended with exit code 3: no language eng"))
        for nonsense in [
            "exit 0", "cat", "echo ISBN 0-14-044926-4", "printf '\\377\\376'", "head -c 100000 /dev/urandom",
            "printf '\(Self.header)5\\t1\\n'",
            "printf '\(Self.header)5\\t1\\t1\\t1\\t1\\tx\\t0\\t0\\t9\\t9\\t9\\tISBN\\n'",
        ] {
            #expect(try error(of: nonsense) == .malformedAnswer, "\(nonsense)")
        }
    }

    @Test func `that hangs or never ends is stopped, and its answer so far is discarded`() throws {
        #expect(try error(of: "exec sleep 600", timeout: .milliseconds(300)) == .tooLong(.milliseconds(300)))
        #expect(
            try error(of: "printf '\(Self.header)'; exec sleep 600", timeout: .milliseconds(300)).description
                == "printed text was not read because tesseract took longer than 0.3 s and was stopped")
        #expect(try error(of: "yes") == .tooMuch(limit: 4 << 20))
        #expect(try error(of: "yes standardError >&2", timeout: .milliseconds(300)) == .tooLong(.milliseconds(300)))
    }

    @Test func `that is not a program cannot be started`() throws {
        let folder = try Scratch()
        let path = try folder.write([0x7F, 0x45, 0x4C, 0x46, 0], to: "tesseract")
        try #require(chmod(path, 0o755) == 0)
        let error = try #require(throws: TesseractError.self) {
            try Tesseract(inFolders: folder.path).read(OCRImage(Sheet())).isbns
        }
        guard case .cannotStart = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `works on one picture at a time, with one thread`() async throws {
        let folder = try Scratch()
        let tesseract = try install(
            """
            test "$OMP_THREAD_LIMIT" = 1 || exit 1
            mkdir '\(folder.file("busy"))' || exit 2
            cat > /dev/null; printf '\(Self.header)'
            rmdir '\(folder.file("busy"))'
            """, in: folder)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    #expect(throws: Never.self) { try tesseract.read(OCRImage(Sheet())).isbns }
                }
            }
        }
    }
}

@Suite struct `A page` {
    private func frame(_ width: Int, _ height: Int, _ grey: (Int, Int) -> UInt8) -> Frame {
        var frame = Frame(width: width, height: height, bytesPerLine: width + 3)
        frame.withMutableLuma { luma in
            for y in 0..<height { for x in 0..<width { luma[y * (width + 3) + x] = grey(x, y) } }
        }
        return frame
    }

    @Test(arguments: [
        (4032, 3024, 2400, 1800), (3024, 4032, 1800, 2400), (2400, 10, 2400, 10), (12_000, 1, 2400, 1), (1, 1, 1, 1),
    ])
    func `is no larger than necessary`(width: Int, height: Int, pageWidth: Int, pageHeight: Int) {
        let page = OCRImage(frame(width, height) { _, _ in 77 }, longSide: 2400)
        #expect(page.width == pageWidth && page.height == pageHeight)
        #expect(page.pgm.suffix(pageWidth * pageHeight).allSatisfy { $0 == 77 })
    }

    @Test func `keeps thin lines as grey when it is made smaller`() {
        // Two black columns of eight.
        let page = OCRImage(frame(800, 8) { x, _ in x % 8 < 2 ? 0 : 200 }, longSide: 100)
        #expect(page.pgm.suffix(page.width * page.height).allSatisfy { (140...160).contains($0) })
        let finer = OCRImage(frame(150, 6) { x, _ in x % 3 == 0 ? 0 : 200 }, longSide: 100)
        #expect(finer.pgm.suffix(finer.width * finer.height).contains { $0 < 120 })
    }

    @Test func `is a greymap, and turns by quarters`() {
        let page = OCRImage(frame(3, 2) { x, y in UInt8(10 * y + x) }, longSide: 100)
        #expect(page.pgm == Array("P5\n3 2\n255\n".utf8) + [0, 1, 2, 10, 11, 12])
        #expect(OCRImage(pgm: page.pgm) == page)
        #expect(page.turned(by: .right).pgm == Array("P5\n2 3\n255\n".utf8) + [10, 0, 11, 1, 12, 2])
        #expect(page.turned(by: .left).pgm == Array("P5\n2 3\n255\n".utf8) + [2, 12, 1, 11, 0, 10])
        #expect(page.turned(by: .down).pgm == Array("P5\n3 2\n255\n".utf8) + [12, 11, 10, 2, 1, 0])
    }
}

@Suite struct `The title of a page` {
    private func title(_ lines: (String, Int)...) -> String {
        PrintedPage(lines: lines.map { PrintedLine(text: $0.0, height: $0.1) }).title
    }

    @Test func `is what is printed in the largest letters`() {
        #expect(title() == "")
        #expect(title(("Stanisław Lem", 30), ("Solaris", 80), ("Roman", 20)) == "Solaris")
        #expect(title(("Die Welt", 80), ("von Gestern", 75), ("Stefan Zweig", 40)) == "Die Welt von Gestern")
        #expect(title(("The", 60), ("by", 20), ("Odyssey", 80)) == "Odyssey", "only lines beside each other")
        #expect(title((String(repeating: "word ", count: 40), 80)).split(separator: " ").count == 12)
    }

    @Test func `leaves the other lines, which may name the author`() {
        let page = PrintedPage(lines: [
            PrintedLine(text: "Roman", height: 20), PrintedLine(text: "Solaris", height: 80),
            PrintedLine(text: "Stanisław Lem", height: 30),
        ])
        #expect(page.otherLines == ["Stanisław Lem", "Roman"])
    }

    @Test func `consists of words that were read with confidence`() throws {
        let header =
            "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
        let rows = [
            "5\t1\t1\t1\t1\t1\t0\t0\t9\t40\t96.5\tDie", "5\t1\t1\t1\t1\t2\t0\t0\t9\t42\t91\tWelt",
            "5\t1\t1\t1\t1\t3\t0\t0\t9\t90\t12\tWWW", "5\t1\t1\t1\t2\t1\t0\t0\t9\t80\t95\t||",
        ]
        let words = try WordTable.words(Array((header + rows.joined(separator: "\n")).utf8))
        #expect(words.printedLines == [PrintedLine(text: "Die Welt", height: 42)])
        #expect(words.text == "Die Welt WWW\n||")
    }
}
