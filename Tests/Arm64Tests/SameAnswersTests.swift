import Foundation
import TestTools
import Testing

/// The program for arm64 that `script/test --arm64` has built.
private enum Arm64 {
    private static let value =
        ProcessInfo.processInfo.environment["BOOKPLATE_ARM64"]
        ?? "builds the program for arm64 and emulates a processor: script/test --arm64"
    /// The folder of the program; `nil` if there is none.
    static let folder: URL? = value.hasPrefix("/") ? URL(fileURLWithPath: value) : nil
    /// The reason why there is none.
    static let reason: Comment = "\(value)"
}

/// Runs the same commands with the program of this machine and with the one for arm64, which QEMU emulates.
@Suite(.serialized, .enabled(if: Arm64.folder != nil, Arm64.reason)) struct `The program for arm64` {
    /// The program for this machine.
    private let native: ScanProcess
    /// The program for arm64, in a Debian for arm64. It has a home folder of its own.
    private let emulated: ScanProcess

    init() throws {
        let folder = try #require(Arm64.folder)
        native = try ScanProcess.offline(in: folder)
        var other = try ScanProcess.offline(in: folder)
        other.executable = folder.appendingPathComponent("scan")
        let variables = other.environment.map { "\($0)=\($1)" }.sorted()
        other.prefix = [ScanProcess.root.appendingPathComponent("script/arm64").path, "run", "sdk", "env"] + variables
        other.environment = ProcessInfo.processInfo.environment
        emulated = other
    }

    private func both(_ arguments: String..., input: Data = Data()) throws -> (
        native: ScanProcess.Ending, emulated: ScanProcess.Ending
    ) {
        (try native.run(arguments, input: input), try emulated.run(arguments, input: input))
    }

    @Test(.timeLimit(.minutes(60)))
    func `reads the same codes at the same places of every photo in samples`() throws {
        let (here, there) = try both("decode", "--json", ScanProcess.samples.appendingPathComponent("photos").path)
        #expect(there.status == here.status && there.err == here.err)
        var differences = Differences()
        let photos = (try here.objects(), try there.objects())
        try #require(photos.0.count == photos.1.count && photos.0.count > 30)
        for (one, other) in zip(photos.0, photos.1) {
            differences.compare(one, other, at: (one["image"] as? String ?? "").split(separator: "/").last ?? "")
        }
        print("arm64: \(photos.0.count) photos; \(differences.description)")
        #expect(differences.others.isEmpty)
        #expect(differences.largest < 1e-9)
    }

    @Test(.timeLimit(.minutes(60)), arguments: ["desk-1280x720", "shelf-1920x1080"])
    func `captures the same books of recorded frames, in the same order`(_ recording: String) throws {
        let frames = ScanProcess.samples.appendingPathComponent("frames/\(recording).mjpeg")
        let (here, there) = try both("--frames", "-", "--json", "--yes", input: Data(contentsOf: frames))
        #expect(there.status == here.status)
        func captured(_ ending: ScanProcess.Ending) throws -> [String?] {
            try ending.events("captured").map { $0["raw"] as? String }
        }
        #expect(try captured(there) == captured(here))
        #expect(try !captured(here).isEmpty)
        #expect(
            try Set(there.events("saved").compactMap { $0["isbn13"] as? String })
                == Set(here.events("saved").compactMap { $0["isbn13"] as? String }))
    }

    /// Pictures may differ where a sine or a rounding does; then the codes that are read in them have to be the same.
    @Test(.timeLimit(.minutes(60)))
    func `accepts the same codes of 200 sequences of hard frames`() throws {
        func answers(_ scan: ScanProcess, _ bench: URL) throws -> [[Substring]] {
            var scan = scan
            scan.executable = bench
            let ending = try scan.run("--answers", "0-200")
            try #require(ending.status == 0, "\(ending.err)")
            return ending.lines.map { $0.split(separator: " ") }
        }
        let beside = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let here = try answers(native, beside.appendingPathComponent("DecodeBench"))
        let there = try answers(emulated, try #require(Arm64.folder).appendingPathComponent("DecodeBench"))
        try #require(here.count == 200 && there.count == 200)
        let drawn = zip(here, there).count { $0[1] == $1[1] }
        print("arm64: the pictures of \(drawn) of 200 sequences are equal; \(here.count { $0.count > 2 }) were read")
        #expect(here.map { $0.dropFirst(2) } == there.map { $0.dropFirst(2) })
    }

    @Test(.timeLimit(.minutes(60)))
    func `takes books from photo to library, and back, with the same words`() throws {
        let samples = ScanProcess.samples.path
        let commands: [[String]] = [
            [
                "--image", "\(samples)/photos/frontal.jpg", "\(samples)/photos/dim-light.jpg", "--yes", "--shelf",
                "Attic",
            ],
            ["--isbn", "0-14-044913-2", "97804414781I5"],
            ["library", "list", "--json"], ["library", "search", "guin"], ["intake", "list", "--json"],
            ["lookup", "9783150000014", "--json"], ["isbn", "3-15-000001-4", "--json"],
            ["reading", "start", "left hand", "--on", "2026-02-01"], ["reading", "page", "left hand", "120"],
            ["library", "edit", "left hand", "--rating", "4.25"], ["note", "add", "left hand", "Gethen, in winter"],
            ["import", "\(samples)/exports/goodreads.csv"], ["stats", "--json"], ["stats"], ["home"],
            ["export", "csv"], ["export", "json"], ["undo"], ["redo"], ["backup"],
            ["library", "search", "STANISŁAW"], ["library", "list", "--sort", "author"],
        ]
        for command in commands {
            let (here, there) = (try native.run(command), try emulated.run(command))
            let name = command.joined(separator: " ")
            #expect(there.status == here.status, "\(name): \(there.err)")
            #expect(Self.plain(there.out, emulated) == Self.plain(here.out, native), "\(name)")
            #expect(Self.plain(there.err, emulated) == Self.plain(here.err, native), "\(name)")
        }
        let count = try native.run("library", "list", "--json").lines.count
        #expect(count > 2, "the commands did something")
    }

    /// Returns a text without what differs between two homes: ids, times and folders.
    private static func plain(_ text: String, _ scan: ScanProcess) -> [String] {
        text.replacingOccurrences(of: scan.home.path, with: "HOME")
            .replacing(/[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}/, with: "ID")
            // The ends of ids: of a book or change in a list, and of a note.
            .replacing(/(?m)^[0-9a-f]{6,}(?=  )/, with: "ID").replacing(/(?m): [0-9a-f]{6}$/, with: ": ID")
            .replacing(/\d{4}-\d\d-\d\d[T -]\d\d:?\d\d(:?\d\d)?(\.\d+)?Z?/, with: "TIME")
            // Exports are in the order of ids, and only their last book has no comma.
            .split(whereSeparator: \.isNewline).map { String($0.last == "," ? $0.dropLast() : $0) }.sorted()
    }
}

/// The differences between two JSON values.
private struct Differences: CustomStringConvertible {
    /// The largest relative difference of two numbers.
    private(set) var largest = 0.0
    private(set) var numbers: [String] = []
    /// The places where something else than a number differs.
    private(set) var others: [String] = []

    mutating func compare(_ one: Any, _ other: Any, at place: some StringProtocol) {
        switch (one, other) {
        case (let one as [String: Any], let other as [String: Any]) where Set(one.keys) == Set(other.keys):
            for (key, value) in one { compare(value, other[key] ?? NSNull(), at: "\(place).\(key)") }
        case (let one as [Any], let other as [Any]) where one.count == other.count:
            for (index, pair) in zip(one, other).enumerated() { compare(pair.0, pair.1, at: "\(place)[\(index)]") }
        case (let one as NSNumber, let other as NSNumber):
            guard one != other else { return }
            largest = max(largest, abs(one.doubleValue - other.doubleValue) / max(1, abs(one.doubleValue)))
            numbers.append("\(place): \(one), \(other)")
        default:
            if "\(one)" != "\(other)" { others.append("\(place): \(one), \(other)") }
        }
    }

    var description: String {
        numbers.isEmpty
            ? "all figures are equal"
            : "\(numbers.count) figures differ by up to \(largest): \(numbers.prefix(20).joined(separator: "; "))"
    }
}
