import Bookplate
import Capture
import Foundation
import Library
import Lookup
import Processes
import Testing

@testable import ScanCommand

/// Tests the checks, which turn measurements into messages.
@Suite struct `The doctor's check` {
    private static let format = CaptureFormat(width: 1280, height: 720, pixelFormat: .mjpg, framesPerSecond: 30)

    /// Five seconds of a good camera, with the changes of the case.
    private static func camera(_ change: (inout CameraFindings) -> Void = { _ in }) -> CameraFindings {
        var findings = CameraFindings()
        (findings.name, findings.format) = ("HD Webcam", format)
        (findings.counts.delivered, findings.elapsed, findings.latency) = (149, .seconds(5), .milliseconds(12))
        findings.light = FrameResult.Light(mean: 112, clipped: 0.02)
        findings.meter = CameraFindings.Meter(sharpness: 0.41, pixelsPerModule: 2.3)
        findings.codes = ["9780441478125"]
        change(&findings)
        return findings
    }

    @Test(
        arguments: [
            (.init(landlock: 2, hasSeccomp: true), .ok, "under Landlock 2 and seccomp"),
            (.init(landlock: nil, hasSeccomp: true), .ok, "under seccomp; no Landlock"),
            (.init(landlock: 7, hasSeccomp: false), .ok, "under Landlock 7; no seccomp"),
            (.init(landlock: nil, hasSeccomp: false), .attention, "limits on memory and time alone"),
        ] as [(Confinement.Support, Check.State, String)])
    func `says how the kernel confines the process that reads photos`(
        support: Confinement.Support, state: Check.State, words: String
    ) {
        let check = StationChecks.confinement(support)
        #expect(check.name == "confinement" && check.state == state)
        #expect(check.fact.hasSuffix(words))
    }

    @Test func `finds nothing wrong with a good camera`() {
        let checks = CameraChecks(findings: Self.camera()).all
        #expect(checks.map(\.name) == ["camera", "format", "rate", "decoding", "light", "book"])
        #expect(checks.map(\.state) == Array(repeating: .ok, count: 6), "\(checks)")
        #expect(checks.allSatisfy { $0.next == nil })
        #expect(checks[0].fact == "HD Webcam delivers 1280x720 MJPG, 30 fps")
        #expect(checks[2].fact == "29.8 frames per second; the camera announced 30.0")
        #expect(checks[5].fact == "read 9780441478125, sharpness 0.41, 2.3 px per narrowest bar")
    }

    typealias Case = (what: String, findings: CameraFindings, check: String, state: Check.State, word: String)

    static let cameras: [Case] = [
        (
            "no camera", camera { ($0.name, $0.format, $0.counts.delivered, $0.elapsed) = (nil, nil, 0, .zero) },
            "camera", .broken, "Unplug"
        ),
        (
            "busy",
            camera { findings in
                (findings.name, findings.format, findings.counts.delivered, findings.elapsed) = (nil, nil, 0, .zero)
                findings.error = CameraError(.busy, "/dev/video0 is in use by cheese (process 812). Close it.")
            }, "camera", .broken, "cheese (process 812)"
        ),
        (
            "pulled out", camera { $0.error = CameraError(.unplugged, "the camera is gone. Plug it in again.") },
            "camera", .broken, "gone"
        ),
        ("streams nothing", camera { $0.counts.delivered = 0 }, "camera", .broken, "no frames arrived"),
        (
            "smaller than asked", camera { $0.format?.width = 640 }, "format", .attention,
            "requested 1280x720, got 640x720"
        ),
        ("converted", camera { $0.format?.isConverted = true }, "format", .attention, "converted by libv4l"),
        (
            "half the rate", camera { $0.counts.delivered = 70 }, "rate", .attention,
            "14.0 frames per second; the camera announced 30.0"
        ),
        (
            "half the rate in the dark",
            camera {
                $0.counts.delivered = 70
                $0.light.mean = 50
            }, "rate", .attention, "Add light"
        ),
        ("skipped frames count as frames of the camera", camera { $0.counts.skipped = 20 }, "rate", .ok, "33.8"),
        ("a rate that was not announced", camera { $0.format?.framesPerSecond = nil }, "rate", .ok, "29.8"),
        ("a blink", camera { $0.elapsed = .milliseconds(900) }, "rate", .unknown, "too few"),
        ("damaged frames", camera { $0.counts.dropped = 30 }, "decoding", .attention, "30 damaged"),
        ("restarted", camera { $0.counts.restarts = 2 }, "decoding", .attention, "restarted 2 times"),
        ("slow", camera { $0.latency = .milliseconds(400) }, "decoding", .attention, "busy or slow"),
        ("skips most", camera { $0.counts.skipped = 500 }, "decoding", .attention, "500 skipped"),
        ("another clock", camera { $0.latency = .seconds(1_700_000_000) }, "decoding", .attention, "another clock"),
        ("dark", camera { $0.light.mean = 30 }, "light", .attention, "Add light"),
        ("glare", camera { $0.light.clipped = 0.6 }, "light", .attention, "Reduce the light"),
        ("too far", camera { $0.meter.pixelsPerModule = 1.2 }, "book", .attention, "closer"),
        ("blurred", camera { $0.meter.sharpness = 0.1 }, "book", .attention, "still"),
        ("not read", camera { $0.codes = [] }, "book", .attention, "not read"),
        (
            "no book held up",
            camera {
                $0.codes = []
                $0.meter = CameraFindings.Meter()
            }, "book", .unknown, "no book was shown to the camera"
        ),
    ]

    @Test(arguments: cameras)
    func `of the camera`(of example: Case) throws {
        let check = try #require(CameraChecks(findings: example.findings).all.first { $0.name == example.check })
        #expect(check.state == example.state, "\(example.what): \(check)")
        #expect("\(check.fact) \(check.next ?? "")".contains(example.word), "\(example.what): \(check)")
        #expect(check.state == .ok || check.next != nil, "has no advice: \(check)")
    }

    static let accounts: [(String, DeviceAccess, Check.State, String)] = [
        ("may open it", access(isOpen: true), .ok, "may open /dev/video0"),
        ("is not in the group", access(), .broken, "usermod -aG video"),
        ("came into the group later", access(isMember: true), .broken, "Log out and in"),
        ("is kept out by something else", access(isMember: true, isInSession: true), .broken, "container"),
        ("has a node without a group", access(isGroupEnough: false), .broken, "udev"),
    ]

    private static func access(
        isOpen: Bool = false, isGroupEnough: Bool = true, isMember: Bool = false, isInSession: Bool = false
    ) -> DeviceAccess {
        DeviceAccess(
            path: "/dev/video0", isOpen: isOpen, group: "video", isGroupEnough: isGroupEnough, isMember: isMember,
            isInSession: isInSession)
    }

    @Test(arguments: accounts)
    func `of an account that`(does what: String, access: DeviceAccess, state: Check.State, word: String) throws {
        let check = try #require(DeviceChecks(devices: [], access: [access]).permission)
        #expect(check.state == state, "\(what)")
        #expect("\(check.fact) \(check.next ?? "")".contains(word), "\(check)")
    }

    @Test func `of devices lists the cameras, and briefly why the others are not`() {
        func device(_ path: String, refusal: String? = nil) -> CameraDevice {
            CameraDevice(
                path: path, name: "HD Webcam", driver: "uvcvideo", bus: "usb-1", byID: nil, modes: [], refusal: refusal)
        }
        let both = [device("/dev/video0"), device("/dev/video1", refusal: "metadata node, no pictures")]
        let check = DeviceChecks(devices: both, access: []).cameras
        #expect(check.state == .ok)
        #expect(check.fact == "/dev/video0 HD Webcam (usb-1); not used: /dev/video1 (metadata node, no pictures)")
        #expect(DeviceChecks(devices: [], access: []).cameras.fact == "none connected")
        #expect(DeviceChecks(devices: [both[1]], access: []).cameras.fact.hasPrefix("none can be used: /dev/video1"))
    }

    static let libraries: [(String, LibraryFacts, String, Check.State, String)] = [
        ("new", facts(.missing), "library", .ok, "first scan"),
        ("open", facts(.open(books: 1, waiting: 2)), "library", .ok, "1 book, 2 waiting"),
        ("locked", facts(.failed(.locked(path: "/l"))), "library", .broken, "Try again when that process has finished"),
        ("not writable", facts(.failed(.permission(path: "/l", errno: 13))), "library", .broken, "permission denied"),
        ("on a network", facts(.failed(.networkFileSystem(path: "/l", type: "nfs4"))), "library", .broken, "nfs4"),
        ("on a disk that hangs", facts(.unfinished), "library", .attention, "still being checked"),
        ("on a small disk", facts(.missing, free: 400_000_000), "disk", .attention, "400 MB free"),
        ("on a full disk", facts(.missing, free: 19_000_000), "disk", .broken, "Free some space"),
        ("on a disk of unknown size", facts(.missing, free: nil), "disk", .unknown, "cannot be determined"),
        ("never backed up", facts(.open(books: 9, waiting: 0)), "backup", .unknown, "scan backup"),
        ("backed up", facts(.open(books: 9, waiting: 0), backup: -86_400), "backup", .ok, "2026-11-17"),
        (
            "missing beside its backups", facts(.missing, otherBackup: lost), "library", .attention,
            "has backups, the newest of 2026-11-17 with 7 books. To put the newest backup in place, run 'scan restore'"
        ),
        (
            "new beside the backups of another", facts(.open(books: 9, waiting: 0), backup: -60, otherBackup: lost),
            "backup", .attention, "run 'scan restore library-1.sqlite'"
        ),
        (
            "backed up by a damaged file",
            facts(
                .open(books: 9, waiting: 0), backup: -60,
                comparisonError: "cannot read /b: it is damaged (x). To put a backup in its place, run 'scan restore'."),
            "backup", .attention,
            "compared with its backups: cannot read /b: it is damaged (x). If a backup is damaged, move"
        ),
        (
            "backed up long ago", facts(.open(books: 9, waiting: 0), backup: -86_400 * 40), "backup", .attention,
            "40 days"
        ),
    ]

    private static let now = Date(timeIntervalSince1970: 1_795_000_000)  // 2026-11-18

    private static let lost = StoredBackup(
        path: "/backups/library-1.sqlite", at: now.addingTimeInterval(-86_400), bytes: 1, books: 7, library: "lost")

    private static func facts(
        _ status: LibraryFacts.Status, free: Int64? = 80_000_000_000, backup: TimeInterval? = nil,
        otherBackup: StoredBackup? = nil, comparisonError: String? = nil
    ) -> LibraryFacts {
        var facts = LibraryFacts(
            path: "/l", status: status, free: free, backup: backup.map { now.addingTimeInterval($0) },
            otherBackup: otherBackup)
        facts.comparisonError = comparisonError
        return facts
    }

    @Test(arguments: libraries)
    func `of a library that is`(what: String, facts: LibraryFacts, name: String, state: Check.State, word: String)
        throws
    {
        let check = try #require(LibraryChecks(facts: facts, now: Self.now).all.first { $0.name == name })
        #expect(check.state == state, "\(what): \(check)")
        #expect("\(check.fact). \(check.next ?? "")".contains(word), "\(what): \(check)")
    }

    static let clocks: [(String, TimeInterval, [Int], Check.State, String)] = [
        ("of a machine without a battery", 0, [], .attention, "1970-01-01"),
        ("alone", 1_795_000_000, [], .ok, "no online source to compare"),
        ("like the others", 1_795_000_000, [2, -3], .ok, "which agrees with the online sources' clocks"),
        ("an hour slow", 1_795_000_000, [3600], .attention, "60 minutes behind"),
        ("ten minutes fast", 1_795_000_000, [-601], .attention, "10 minutes ahead"),
        (
            "right, unlike one of the others", 1_795_000_000, [0, 7200], .ok,
            "which agrees with the online sources' clocks"
        ),
    ]

    @Test(arguments: clocks)
    func `of a clock`(what: String, now: TimeInterval, leads: [Int], state: Check.State, word: String) {
        let check = ClockCheck.check(
            now: Date(timeIntervalSince1970: now), leads: leads.map { .seconds($0) })
        #expect(check.state == state, "\(what): \(check)")
        #expect(check.fact.contains(word), "\(what): \(check)")
    }

    @Test func `of an index accepts none online, but warns of books without titles offline`() {
        #expect(SourceChecks.index(nil, isOffline: false).state == .ok)
        #expect(SourceChecks.index(nil, isOffline: true).state == .attention)
        #expect(SourceChecks.index(.failure(.foreign(path: "/i")), isOffline: false).state == .attention)
    }

    @Test func `of a locale, a player of sounds and handheld scanners`() {
        #expect(StationChecks.locale(["LC_ALL": "", "LANG": "de_DE.UTF-8"]) == "de_DE.UTF-8")
        #expect(StationChecks.terminal(size: (80, 24), hasColour: true, locale: "de_DE.utf8").state == .ok)
        #expect(StationChecks.terminal(size: (80, 24), hasColour: true, locale: "C").state == .attention)
        #expect(StationChecks.sound(player: nil).fact.contains("bell"))
        #expect(StationChecks.sound(player: "/usr/bin/pw-play").fact == "/usr/bin/pw-play")
        let scanner = ScannerDevice(
            path: "/dev/input/event5", name: "USB Scanner", byID: nil, isLikely: true, refusal: "permission denied; x")
        #expect(StationChecks.scanners([scanner]).fact == "/dev/input/event5 USB Scanner (permission denied)")
    }

    @Test(arguments: [
        (
            "cannot open /dev/video0: denied. Join the group. Log in again.", "cannot open /dev/video0: denied",
            "Join the group. Log in again."
        ),
        ("the library.sqlite is gone.", "the library.sqlite is gone", nil),
    ])
    func `splits a message into the fact and the advice`(message: String, fact: String, next: String?) {
        #expect(Check("x", .broken, message: message) == Check("x", .broken, fact, next: next))
    }

    @Test(arguments: [(29.84, 1, "29.8"), (0.05, 1, "0.1"), (0, 0, "0"), (-0.456, 2, "-0.46"), (.nan, 1, "0.0")])
    func `formats numbers with few digits`(value: Double, digits: Int, text: String) {
        #expect(value.rounded(to: digits) == text)
    }
}
