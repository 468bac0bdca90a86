import Foundation
import Testing

/// Runs `scan` against real V4L2 and evdev drivers: camera-rig boots a kernel in QEMU, creates the cameras there, and
/// runs one of the scripts of guest/, with this machine's files visible, or those of a Debian for arm64.
struct Rig {
    /// "1" if script/test --all, --long or script/camera-test has prepared the rig; else the reason why it is not
    /// ready.
    private static let announced = ProcessInfo.processInfo.environment["BOOKPLATE_CAMERA_RIG"]
    static let isReady = announced == "1"
    static let reason: Comment = "\(announced ?? "needs QEMU: script/camera-test or script/test --all")"

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let guest = folder.appendingPathComponent("guest")
    static let root = folder.deletingLastPathComponent().deletingLastPathComponent()
    private static let samples = root.appendingPathComponent("samples")
    /// The program beside the tests' own executable.
    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("scan").path

    /// The cameras in the syntax of camera-rig, such as `uvc:PICTURE:640x480:10:MJPG`, with pictures of samples/photos.
    /// Several pictures, as in `uvc:ONE+TWO:640x480:10:MJPG`, are pages: the guest shows the next one with `rigctl
    /// next`.
    var cameras: [String] = []
    /// True to run udev with the project's rule.
    var hasUdev = false
    var environment: [String: String] = [:]
    /// The kernel and files of an arm64 machine; `nil` for those of this machine.
    var arm64: Arm64?
    /// The time limit in seconds, much more than is needed: the processor is emulated, and other work may run at the
    /// same time.
    var limit = 240

    /// An arm64 machine, which is emulated on others. It runs a release build.
    struct Arm64 {
        /// The program's path, or the reason why there is none.
        private static let announced =
            ProcessInfo.processInfo.environment["BOOKPLATE_ARM64_RIG"]
            ?? "builds the program for arm64 and emulates a machine: script/test --arm64"
        static let isReady = announced.hasPrefix("/")
        static let reason: Comment = "\(announced)"

        /// The folder of the Debian whose kernel and files the machine has.
        var root: String
        /// The package of the kernel.
        var kernel: String
        /// The processor, by QEMU's name for it.
        var processor: String

        /// - Parameter variable: the environment variable with the folder of the Debian.
        init(root variable: String, kernel: String, processor: String) throws {
            root = try #require(ProcessInfo.processInfo.environment[variable], "\(variable) names no folder")
            (self.kernel, self.processor) = (kernel, processor)
        }

        fileprivate var program: String { Self.announced }
        fileprivate var arguments: [String] {
            // The machine has no other files of this project.
            let folders = [URL(fileURLWithPath: program).deletingLastPathComponent(), Rig.guest, Rig.samples]
            return [
                "--arch", "arm64", "--root", root, "--kernel", kernel, "--cpu", processor, "--boot-timeout", "600",
            ] + folders.flatMap { ["--read", $0.path] }
        }
    }

    struct Ending {
        let status: Int32
        /// The values that the script reported with `fact`.
        let facts: [String: String]
        /// All of the script's standard output and error.
        let out: String
        let err: String
        /// The files in the shared folder, by name.
        let files: [String: String]

        /// Returns each line of NAME.out as a JSON object.
        func events(of name: String) throws -> [[String: Any]] {
            try files["\(name).out", default: ""].split(separator: "\n").map {
                try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
            }
        }

        /// Returns the ISBNs of the events of one kind, in order.
        func isbns(of name: String, _ event: String) throws -> [String] {
            try events(of: name).filter { $0["event"] as? String == event }.map { $0["isbn13"] as? String ?? "none" }
        }

        /// Returns the lines of NAME on standard error, without its message on being interrupted.
        func lines(of name: String) -> [String] {
            files["\(name).err", default: ""].split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("Interrupted.") }
        }
    }

    /// Boots, runs guest/SCRIPT.sh to its end, and fails the test if the script fails.
    func run(_ script: String) throws -> Ending {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("rig-\(UUID().uuidString)")
        let share = home.appendingPathComponent("share")
        try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }

        let process = Process()
        process.executableURL = Self.folder.appendingPathComponent("rig/camera-rig")
        var arguments = [
            "run", "--no-prepare", "--cwd", "/tmp", "--share", share.path, "--timeout", "\(limit)", "--page-seconds",
            "0",
        ]
        if let arm64 { arguments += arm64.arguments }
        for (number, camera) in cameras.enumerated() {
            arguments += ["--camera", try Self.named(camera, pages: home.appendingPathComponent("pages-\(number)"))]
        }
        if hasUdev { arguments += ["--rules", Self.root.appendingPathComponent("udev/70-bookplate.rules").path] }
        let inside = [
            "SCAN": arm64?.program ?? Self.program, "GUEST": Self.guest.path, "OUT": share.path, "HOME": "/tmp",
            "BOOKPLATE_OFFLINE": "1", "BOOKPLATE_INDEX": Self.samples.appendingPathComponent("index.sqlite").path,
        ].merging(environment) { $1 }
        for (name, value) in inside.sorted(by: { $0.key < $1.key }) { arguments += ["--env", "\(name)=\(value)"] }
        process.arguments =
            arguments + ["--", "/bin/sh", Self.guest.appendingPathComponent("\(script).sh").path]
        let (out, err) = (home.appendingPathComponent("out"), home.appendingPathComponent("err"))
        for file in [out, err] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        try process.run()
        process.waitUntilExit()

        let ending = Ending(
            status: process.terminationStatus, facts: try Self.facts(in: Self.text(of: out)),
            out: try Self.text(of: out),
            err: try Self.text(of: err), files: try Self.files(in: share))
        try #require(
            ending.status == 0, "\(script).sh ended with \(ending.status):\n\(ending.out)\(ending.err)\(ending.files)")
        return ending
    }

    /// The camera with the whole path of its picture, or of a folder of pages made for it.
    private static func named(_ camera: String, pages: URL) throws -> String {
        let parts = camera.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return camera }
        let photos = parts[1].split(separator: "+").map { samples.appendingPathComponent("photos/\($0)") }
        guard photos.count > 1 else { return "\(parts[0]):\(photos[0].path):\(parts[2])" }
        try FileManager.default.createDirectory(at: pages, withIntermediateDirectories: true)
        for (number, photo) in photos.enumerated() {
            let page = pages.appendingPathComponent("\(number).\(photo.pathExtension)")
            try FileManager.default.createSymbolicLink(at: page, withDestinationURL: photo)
        }
        return "\(parts[0]):\(pages.path):\(parts[2])"
    }

    private static func text(of file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    private static func facts(in text: String) -> [String: String] {
        var facts: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
        }
        return facts
    }

    private static func files(in folder: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = try text(of: folder.appendingPathComponent(name))
        }
        return files
    }
}

/// Tests that need real drivers. They run one at a time, so that each boot has the machine to itself.
@Suite(.serialized) enum CameraRig {}
