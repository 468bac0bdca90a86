import Foundation
import Processes
import Testing

private let kernel = Confinement.Support.ofThisKernel

/// Starts Tests/ConfinementProbe, a program that confines itself and then tries to break out.
@Suite struct `A confined process` {
    /// Returns the outcome of each attempt.
    private func outcomes(_ mechanisms: String...) throws -> [String: String] {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let probe = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("ConfinementProbe")
        let outcome = try ChildProcess.run(
            ChildProcess.Command(path: probe.path, arguments: ["probe"] + mechanisms), input: [], within: .seconds(60),
            limit: 4096)
        guard case .answered(let answer, let errors, .exited(0)) = outcome else {
            Issue.record("\(outcome)")
            return [:]
        }
        #expect(errors.isEmpty)
        return Dictionary(
            uniqueKeysWithValues: String(decoding: answer, as: UTF8.self).split(separator: "\n").map { line in
                let colon = line.range(of: ": ")!
                return (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
            })
    }

    private let work: Set = ["allocate memory", "start a thread"]

    @Test(.enabled(if: kernel.hasSeccomp, "this kernel cannot filter system calls"))
    func `can compute, and nothing else`() throws {
        let outcomes = try outcomes("landlock", "seccomp")
        #expect(outcomes.count == 12)
        for (attempt, outcome) in outcomes {
            #expect(outcome == (work.contains(attempt) ? "done" : "refused"), "\(attempt)")
        }
    }

    @Test(.enabled(if: kernel.landlock != nil, "this kernel has no Landlock"))
    func `cannot use files with Landlock alone, nor TCP if the kernel can deny it`() throws {
        let outcomes = try outcomes("landlock")
        for attempt in ["read a file", "write a file", "list a folder", "create a file", "start a program"] {
            #expect(outcomes[attempt] == "refused", "\(attempt)")
        }
        if let version = kernel.landlock, version >= 4 { #expect(outcomes["connect"] == "refused") }
        for attempt in work { #expect(outcomes[attempt] == "done", "\(attempt)") }
    }

    @Test func `runs without either, on a kernel that has neither`() throws {
        let outcomes = try outcomes()
        #expect(outcomes["read a file"] == "done" && outcomes["start a program"] == "done")
        #expect(outcomes["connect"] == "errno \(ECONNREFUSED)")
    }
}
