import Foundation
import Glibc
import TestTools
import Testing

@Suite(.serialized) struct `A power cut` {
    /// The number of states of one operation that are opened.
    private static let states = isLong ? 1100 : 32

    @Test(.timeLimit(.minutes(60)))
    func `loses nothing that was acknowledged, and leaves nothing half, at any moment of any operation`() async throws {
        let operations = try Operations()
        let figures = await forEach(operations.all) { operation, _ in try await Self.cut(operation) }
        try operations.end()
        let count = figures.reduce(0) { $0 + $1.states }
        print("power cuts: \(count) states of \(figures.count) operations")
        #expect(count >= (isLong ? 10_000 : 300))
    }

    struct Figures {
        let name: String
        var calls = 0
        var syncs = 0
        var candidates = 0
        var states = 0
        var bad = 0

        func print() {
            Swift.print(
                "power cuts: \(name): \(calls) calls, \(syncs) syncs, \(candidates) candidates, \(states) states, "
                    + "\(bad) with problems")
            // The long tests take an hour or more, and what they have found so far should be seen.
            fflush(nil)
        }
    }

    private static func cut(_ operation: Operation) async throws -> Figures {
        let run = try await RecordedRun(operation)
        #expect(!run.recording.calls.isEmpty)
        var random = SplitMix(seed: 7)
        let cuts = try run.cuts(few: isLong ? 2 : 1, seed: 1)
        var figures = Figures(name: operation.name)
        figures.calls = run.recording.calls.count
        figures.syncs = run.recording.calls.count {
            switch $0 {
            case .synced, .dataSynced, .folderSynced: true
            default: false
            }
        }
        figures.candidates = cuts.count
        // What is left right after the end, and then any.
        let last = cuts.filter { $0.calls == run.recording.calls.count }
        let others = cuts.filter { $0.calls < run.recording.calls.count }.shuffled(using: &random)
        let chosen = Array((last.prefix(states / 4) + others).prefix(states))
        var seen: Set<Int> = []
        var report = ProblemReport(operation)
        try await run.forEachState(of: chosen) { cut, tree, moment in
            guard seen.insert(StateCheck.hash(of: tree, at: moment)).inserted else { return }
            figures.states += 1
            report.add(
                try await run.check.problems(of: tree, at: moment),
                "cut after call \(cut.calls) of \(figures.calls), \(cut.model)")
        }
        report.end()
        figures.bad = report.count
        figures.print()
        return figures
    }
}
