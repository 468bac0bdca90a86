import Foundation
import Glibc
import TestTools

/// The program with a home folder of its own, whose content is `disk`.
struct Machine: Sendable {
    var scan: ScanProcess
    let disk: String

    /// A folder in memory, if there is one with room: thousands of states are written and opened.
    private static let folder: URL = {
        var facts = statvfs()
        let isRoomy = statvfs("/dev/shm", &facts) == 0 && UInt64(facts.f_bavail) * UInt64(facts.f_frsize) > 512 << 20
        let isWritable = access("/dev/shm", W_OK | X_OK) == 0
        return isRoomy && isWritable ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory
    }()

    /// - Parameter tree: the content of the home folder.
    init(_ tree: Tree, environment: [String: String] = [:]) throws {
        scan = try ScanProcess.offline(in: Self.folder)
        guard let path = realpath(scan.home.path, nil) else { throw Problem("cannot find \(scan.home.path)") }
        defer { free(path) }
        disk = String(cString: path) + "/disk"
        scan.environment["HOME"] = disk
        scan.environment["BOOKPLATE_LIBRARY"] = disk + "/" + Self.library
        for (name, value) in environment { scan.environment[name] = value.isEmpty ? nil : value }
        try tree.write(to: disk)
    }

    /// The path of the library in the home folder: the program's default.
    static let library = ".local/share/bookplate/library.sqlite"

    var library: String { disk + "/" + Self.library }

    func remove() throws { try scan.remove() }

    func tree() throws -> Tree { try Tree(of: disk) }

    /// Runs the program, which must succeed.
    @discardableResult
    func run(_ arguments: String..., input: String = "") throws -> ScanProcess.Ending {
        let ending = try scan.run(arguments, input: Data(input.utf8))
        guard ending.status == 0 else {
            throw Problem("scan \(arguments.joined(separator: " ")) ended with \(ending.status): \(ending.err)")
        }
        return ending
    }

    /// Returns the books that the program lists, as JSON, by their ISBN or else by their title. Left out are the values
    /// that differ when the same book is added again: ids and the time.
    func books() throws -> [String: String] {
        let ending = try run("library", "list", "--json")
        let keys = try ending.objects().map { $0["isbn13"] as? String ?? $0["title"] as? String ?? "" }
        let lines = ending.lines.map {
            $0.replacingOccurrences(of: #""(id|editionId|added)":"[^"]*",?"#, with: "", options: .regularExpression)
        }
        return Dictionary(zip(keys, lines)) { first, second in first + second }
    }
}

/// Runs the body with a machine that is removed afterwards.
func withMachine<Result>(
    _ tree: Tree, environment: [String: String] = [:], _ body: (Machine) async throws -> Result
) async throws -> Result {
    let machine = try Machine(tree, environment: environment)
    do {
        let result = try await body(machine)
        try machine.remove()
        return result
    } catch {
        try machine.remove()
        throw error
    }
}

/// A hub: the program as a kiosk, on a free port.
final class HubProcess {
    static let code = "kumquat 7"
    let scan: ScanProcess
    let address: String
    private let running: ScanProcess.Running

    init() throws {
        scan = try ScanProcess.offline()
        guard try scan.run("kiosk", "code", input: Data("\(Self.code)\n".utf8)).status == 0 else {
            throw Problem("the hub has no access code")
        }
        // As long as the longest test.
        let running = try scan.start(["kiosk", "--no-camera", "--port", "0"], atMost: .seconds(180 * 60))
        self.running = running
        try waitBlocking(for: "the hub") { try running.error().contains("The kiosk is at http://127.0.0.1:") }
        let text = try running.error()
        let start = text.range(of: "http://127.0.0.1:").map { text[$0.lowerBound...] } ?? ""
        address = "http://" + start.dropFirst("http://".count).prefix { $0 != "/" && $0 != "\n" }
    }

    func end() throws {
        killProgram(below: running.process.processIdentifier, by: SIGTERM)
        _ = try running.wait()
        try scan.remove()
    }
}
