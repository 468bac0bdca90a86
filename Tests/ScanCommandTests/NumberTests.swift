import Foundation
import Testing

@Suite struct `scan isbn` {
    @Test func `prints exactly the documented JSON`() throws {
        try withScan { scan in
            let ending = try scan.run("isbn", "--json", "0-441-47812-3", "979-10-323-0569-0", "9780441478126")
            #expect(
                ending.lines == [
                    #"{"input":"0-441-47812-3","isbn13":"9780441478125","isbn10":"0441478123","hyphenated":"978-0-441-47812-5","error":null}"#,
                    #"{"input":"979-10-323-0569-0","isbn13":"9791032305690","isbn10":null,"hyphenated":"979-10-323-0569-0","error":null}"#,
                    #"{"input":"9780441478126","isbn13":null,"isbn10":null,"hyphenated":null,"error":"the last digit of this ISBN-13 should be 5, not 6; one of the digits is wrong"}"#,
                ])
            #expect(ending.status == 3)
        }
    }

    @Test func `reads lines with -, and ends with 0 if all are valid`() throws {
        try withScan { scan in
            let ending = try scan.run("isbn", "-", input: Data("9780441478125\n0441478123\n".utf8))
            #expect(ending.lines.count == 2)
            #expect(ending.status == 0)
        }
    }

    @Test func `creates no library`() throws {
        try withScan { scan in
            try scan.run("isbn", "9780441478125")
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }
}

@Suite struct `The command line` {
    @Test(arguments: [
        ["--image"], ["--nonsense"], ["--isbn", "9780441478125", "--stdin"], ["--frames", "camera.mjpeg"],
        ["library", "list", "--sort", "colour"],
        ["library", "list", "--limit", "0"], ["library", "edit", "x"], ["--isbn", "9780441478125", "--another-copy"],
        ["--isbn", "9780441478125", "--status", "eaten"], ["settings", "set", "nonsense", "1"],
        ["--isbn", "9780441478125", "--shelf", "", "--yes"], ["libary", "list"],
    ])
    func `answers wrong usage with 64 and a message`(arguments: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(arguments)
            #expect(ending.status == 64)
            #expect(!ending.err.isEmpty)
            #expect(ending.out.isEmpty)
        }
    }

    @Test(arguments: [
        [], ["capture"], ["decode"], ["isbn"], ["lookup"], ["intake"], ["intake", "confirm"], ["library"],
        ["library", "add"],
        ["undo"], ["redo"], ["backup"], ["restore"], ["index"], ["index", "build"], ["settings"],
    ])
    func `has help for every command`(arguments: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(arguments + ["--help"])
            #expect(ending.status == 0)
            #expect(ending.out.contains("USAGE"))
        }
    }
}
