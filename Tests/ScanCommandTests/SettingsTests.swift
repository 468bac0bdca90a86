import Foundation
import TestTools
import Testing

@testable import ScanCommand

@Suite struct `The settings` {
    private func value(_ name: String, _ scan: ScanProcess, _ flags: [String] = []) throws -> (String?, String?) {
        let lines = try scan.run(["settings", "show", "--json"] + flags).objects()
        let line = lines.first { $0["name"] as? String == name }
        return (line?["value"] as? String, line?["origin"] as? String)
    }

    @Test func `come from the flag, the environment, the file or the default, in this order`() throws {
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        scan.environment["BOOKPLATE_LIBRARY"] = nil
        #expect(try value("library", scan) == (scan.home.path + "/.local/share/bookplate/library.sqlite", "default"))
        try scan.run("settings", "set", "library", "/tmp/of-the-file.sqlite")
        #expect(try value("library", scan) == ("/tmp/of-the-file.sqlite", "file"))
        scan.environment["BOOKPLATE_LIBRARY"] = "/tmp/of-the-environment.sqlite"
        #expect(try value("library", scan) == ("/tmp/of-the-environment.sqlite", "environment"))
        #expect(
            try value("library", scan, ["--library", "/tmp/of-the-flag.sqlite"]) == ("/tmp/of-the-flag.sqlite", "flag"))
        try scan.run("settings", "unset", "library")
        scan.environment["BOOKPLATE_LIBRARY"] = nil
        #expect(try value("library", scan).1 == "default")
    }

    @Test func `are all kept when several are changed at the same moment`() async throws {
        let scratch = try Scratch()
        let file = SettingsFile(path: scratch.file("settings.json"))
        let wanted: [Setting: String] = [
            .contact: "me@example.org", .camera: "c920", .cameraSize: "640x480", .googleBooksKey: "key", .offline: "1",
        ]
        for _ in 0..<20 {
            for setting in wanted.keys { try file.change(setting, to: nil) }
            try await withThrowingTaskGroup { tasks in
                for (setting, value) in wanted { tasks.addTask { try file.change(setting, to: value) } }
                try await tasks.waitForAll()
            }
            #expect(try file.read() == wanted)
        }
    }

    @Test func `are printed alone, one by one`() throws {
        try withScan { scan in
            #expect(try scan.run("settings", "get", "cameraSize").out == "1280x720\n")
            #expect(try scan.run("settings", "get", "automaticDates").out == "1\n")
            #expect(!FileManager.default.fileExists(atPath: scan.library), "asking for one creates no library")
            for name in ["contact", "yearlyGoal"] {
                let unset = try scan.run("settings", "get", name)
                #expect(unset.status == 3 && unset.out.isEmpty && unset.err.isEmpty, "\(unset.err)")
            }
            try scan.run("settings", "set", "yearlyGoal", "50")
            #expect(try scan.run("settings", "get", "yearlyGoal").out == "50\n")
            let json = try #require(try scan.run("settings", "get", "yearlyGoal", "--json").objects().first)
            #expect(json["name"] as? String == "yearlyGoal" && json["origin"] as? String == "library")
            let unset = try scan.run("settings", "get", "contact", "--json")
            #expect(try unset.status == 3 && unset.objects().first?["value"] is NSNull)
            try scan.run("settings", "set", "googleBooksKey", "AIzaSySecretSecretSecret1234")
            #expect(try scan.run("settings", "get", "googleBooksKey").out == "••••••••1234\n")
            let wrong = try scan.run("settings", "get", "colour")
            #expect(wrong.status == 64 && wrong.err.contains("yearlyGoal"))
        }
    }

    @Test(arguments: [
        ("sort", "colour", "one of added, started, finished, title, author, rating"), ("limit", "0", "1 or more"),
        ("limit", "many", "1 or more"), ("columns", "title, author", "Did you mean authors"),
    ])
    func `for lists refuse what no list could do`(name: String, value: String, words: String) throws {
        try withScan { (scan: ScanProcess) throws in
            let ending = try scan.run("settings", "set", name, value)
            #expect(ending.status == 78 && ending.err.contains(words), "\(ending.err)")
            #expect(try scan.run("settings", "get", name).status == 3)
            for (name, value) in [("sort", "title"), ("limit", "20"), ("columns", "title, authors")] {
                #expect(try scan.run("settings", "set", name, value).status == 0)
                #expect(try scan.run("settings", "get", name).out == "\(value)\n")
            }
        }
    }

    @Test func `mask the key, and make the file readable by its owner only`() throws {
        try withScan { scan in
            try scan.run("settings", "set", "googleBooksKey", "-", input: Data("AIzaSySecretSecretSecret1234\n".utf8))
            let shown = try scan.run("settings")
            #expect(!shown.out.contains("Secret"))
            #expect(shown.out.contains("••••••••1234"))
            let path = scan.home.path + "/.config/bookplate/settings.json"
            let mode = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0)
        }
    }

    @Test(arguments: [
        ("{", "are not a JSON object"), ("[]", "are not a JSON object"),
        (#"{"library": 7}"#, #"the value of "library" is not a string"#), (#"{"colour": "red"}"#, "colour"),
    ])
    func `that are invalid are refused with 78, and the file and what is wrong are named`(text: String, words: String)
        throws
    {
        try withScan { scan in
            let folder = scan.home.appendingPathComponent(".config/bookplate")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appendingPathComponent("settings.json"))
            let ending = try scan.run("library", "list")
            #expect(ending.status == 78)
            #expect(ending.err.contains("settings.json") && ending.err.contains(words), "\(ending.err)")
        }
    }

    @Test(arguments: ["http://openlibrary.example", "ftp://x", "nonsense", "https://"])
    func `refuse an invalid or unsafe address`(address: String) throws {
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        #expect(try scan.run("settings", "set", "openLibraryURL", address).status == 78)
        scan.environment["BOOKPLATE_OPENLIBRARY_URL"] = address
        #expect(try scan.run("lookup", "9780441478125").status == 78)
    }

    @Test func `of the library are stored in it, shown with their origin, and undone like any change`() throws {
        try withScan { (scan: ScanProcess) throws in
            #expect(try value("automaticDates", scan) == ("1", "default"))
            #expect(try value("yearlyGoal", scan) == (nil, "default"))
            #expect(!FileManager.default.fileExists(atPath: scan.library), "showing them creates no library")
            #expect(try scan.run("settings").err.contains("There is no library yet"))
            #expect(try scan.run("settings", "unset", "yearlyGoal").status == 3)

            #expect(try scan.run("settings", "set", "yearlyGoal", "50").status == 0)
            #expect(try scan.run("settings", "set", "automaticDates", "off").status == 0)
            #expect(try value("yearlyGoal", scan) == ("50", "library"))
            #expect(try value("automaticDates", scan) == ("0", "library"))
            #expect(!FileManager.default.fileExists(atPath: scan.home.path + "/.config/bookplate/settings.json"))
            #expect(try scan.run("undo").out.contains("automaticDates"))
            #expect(try value("automaticDates", scan) == ("1", "default"))
            #expect(try scan.run("settings", "unset", "yearlyGoal").status == 0)
            #expect(try value("yearlyGoal", scan) == (nil, "default"))
        }
    }

    @Test(arguments: [
        ("yearlyGoal", "0"), ("yearlyGoal", "-1"), ("yearlyGoal", "many"), ("yearlyGoal", "1.5"),
        ("dailyGoal", "100001"), ("dailyGoal", "99999999999999999999"), ("automaticDates", "perhaps"),
        ("automaticDates", "2"), ("dailyGoal", " "),
    ])
    func `of the library refuse invalid values, and say what is allowed`(name: String, text: String) throws {
        try withScan { scan in
            let ending = try scan.run("settings", "set", "--", name, text)
            #expect(ending.status == (text == " " ? 64 : 78), "\(ending.err)")
            #expect(text == " " || ending.err.contains(name == "automaticDates" ? "1 or 0" : "1 to 100,000"))
            #expect(try value(name, scan).1 == "default")
        }
    }

    @Test func `are shown as far as possible if the library is damaged`() throws {
        try withScan { scan in
            try Data("Dear diary".utf8).write(to: URL(fileURLWithPath: scan.library))
            let ending = try scan.run("settings", "show", "--json")
            #expect(ending.status == 65)
            #expect(ending.out.contains("openLibraryURL") && ending.out.contains("dailyGoal"))
        }
    }

    @Test func `that do not exist are refused with the names of those that do`() throws {
        try withScan { scan in
            let ending = try scan.run("settings", "set", "goal", "1")
            #expect(ending.status == 64)
            #expect(ending.err.contains("yearlyGoal") && ending.err.contains("backupFolder"))
        }
    }
}
