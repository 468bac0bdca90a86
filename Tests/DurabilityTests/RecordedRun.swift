import Foundation
import TestTools
import Testing

/// An operation that was recorded from a known content of the disk, and its result.
struct RecordedRun: Sendable {
    let operation: Operation
    let start: Tree
    let recording: Recording
    /// The content of the disk after the run.
    let end: Tree
    let check: StateCheck

    init(_ operation: Operation) async throws {
        self.operation = operation
        let start = try await withMachine(Tree()) { machine in
            try operation.prepare(machine)
            return try machine.tree()
        }
        self.start = start
        (recording, end) = try await withMachine(start, environment: operation.environment) { machine in
            let recording = try Recorder.shared.get().run(
                machine.scan, operation.arguments, input: operation.input, disk: machine.disk)
            return (recording, try machine.tree())
        }
        guard recording.ending.status == operation.status else {
            throw Problem("\(operation.name) ended with \(recording.ending.status): \(recording.ending.err)")
        }
        let before = try await withMachine(start) { try $0.books() }
        let after = try await withMachine(end) { try $0.books() }
        check = StateCheck(operation: operation, before: before, after: after)
    }

    /// A state that a power cut can leave.
    struct Cut: Sendable {
        /// The number of calls before the power cut.
        let calls: Int
        let model: Disk.Model
        let choice: Disk.Choice
    }

    /// Returns states of every moment, without those that are equal because nothing changed between two moments.
    ///
    /// - Parameter few: how many states of each kind to choose at random; see ``Disk/choices(few:_:)``.
    func cuts(few: Int, seed: UInt64) throws -> [Cut] {
        var random = SplitMix(seed: seed)
        var cuts: [Cut] = []
        var keys: Set<[Int]> = []
        for model in Disk.Model.allCases {
            var disk = Disk(model, start)
            var said = 0
            for moment in 0...recording.calls.count {
                if moment > 0 {
                    try disk.apply(recording.calls[moment - 1])
                    if case .printed = recording.calls[moment - 1] { said += 1 }
                }
                let isOver = moment == recording.calls.count ? 1 : 0
                for choice in disk.choices(few: few, &random) {
                    let key = disk.key(choice)
                    guard keys.insert([key, said, isOver]).inserted else { continue }
                    cuts.append(Cut(calls: moment, model: model, choice: choice))
                }
            }
        }
        return cuts
    }

    /// Calls the body with the state of each cut and the moment of the cut, in the order of the moments.
    func forEachState(
        of cuts: [Cut], _ body: (Cut, Tree, Operation.Moment) async throws -> Void
    ) async throws {
        for model in Disk.Model.allCases {
            var disk = Disk(model, start)
            var moment = Operation.Moment()
            var next = 0
            for cut in cuts.filter({ $0.model == model }).sorted(by: { $0.calls < $1.calls }) {
                while next < cut.calls {
                    try disk.apply(recording.calls[next])
                    if case .printed(let text) = recording.calls[next] { moment.printed += text }
                    next += 1
                }
                moment.isOver = cut.calls == recording.calls.count
                try await body(cut, disk.state(cut.choice), moment)
            }
        }
    }
}

/// Reports what is wrong after the cuts or faults of one operation: the first four cases in full, all by their number.
struct ProblemReport {
    let operation: String
    /// The number of cases with problems.
    private(set) var count = 0

    init(_ operation: Operation) { self.operation = operation.name }

    /// - Parameter place: the place in the operation, such as "cut after call 7".
    mutating func add(_ problems: [String], _ place: String) {
        guard !problems.isEmpty else { return }
        count += 1
        guard count <= 4 else { return }
        Issue.record("\(operation), \(place): \(problems.joined(separator: "; ").prefix(800))")
    }

    func end() { if count > 4 { Issue.record("\(operation): \(count) cases with problems") } }
}

/// Runs the body for every operation and its position, two at a time. Records an issue for each one that throws.
///
/// - Returns: the results, in the order of the operations.
func forEach<Result: Sendable>(
    _ operations: [Operation], _ body: @Sendable @escaping (Operation, Int) async throws -> Result
) async -> [Result] {
    await withTaskGroup(of: (Int, Result?).self) { group in
        var waiting = Array(operations.enumerated())[...]
        func startNext() {
            guard let (index, operation) = waiting.popFirst() else { return }
            group.addTask {
                do { return (index, try await body(operation, index)) } catch {
                    Issue.record("\(operation.name): \(error)")
                    return (index, nil)
                }
            }
        }
        startNext()
        startNext()
        var results: [(index: Int, result: Result)] = []
        while let (index, result) = await group.next() {
            if let result { results.append((index, result)) }
            startNext()
        }
        return results.sorted { $0.index < $1.index }.map(\.result)
    }
}
