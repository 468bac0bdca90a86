import Bookplate
import Foundation
import Glibc
import TestTools
import Testing

/// Every operation is repeated with the n-th of its calls failing, for each n; in the ordinary run, for some.
@Suite(.serialized) struct `A disk that fails` {
    /// A way in which calls fail.
    struct Way: Sendable {
        let name: String
        let kinds: Fault.Kinds
        let errno: Int32
        let mode: Fault.Mode

        static let all: [Way] = [
            Way(
                name: "EIO", kinds: [.opening, .creating, .reading, .writing, .resizing, .naming, .removing],
                errno: EIO, mode: .once),
            Way(name: "EIO of fsync", kinds: .syncing, errno: EIO, mode: .once),
            Way(name: "EIO of every later fsync", kinds: .syncing, errno: EIO, mode: .on),
            Way(
                name: "ENOSPC", kinds: [.creating, .writing, .resizing, .naming], errno: ENOSPC, mode: .full),
            Way(name: "EMFILE", kinds: [.opening, .creating], errno: EMFILE, mode: .once),
            Way(name: "EMFILE of every later call", kinds: [.opening, .creating], errno: EMFILE, mode: .on),
            Way(name: "short write", kinds: .writing, errno: 0, mode: .short),
        ]
    }

    struct Figures {
        let name: String
        var faults: [String: Int] = [:]
        var endings: [Int32: Int] = [:]
        var bad = 0

        var count: Int { faults.values.reduce(0, +) }

        func print() {
            let ways = Way.all.map { "\(faults[$0.name, default: 0]) \($0.name)" }.joined(separator: ", ")
            let endings = endings.sorted { $0.key < $1.key }.map { "\($0.value)x \($0.key)" }.joined(separator: ", ")
            Swift.print("disk faults: \(name): \(ways); ended with \(endings); \(bad) with problems")
            // The long tests take an hour or more, and what they have found so far should be seen.
            fflush(nil)
        }
    }

    @Test(.timeLimit(.minutes(180)))
    func `is reported, loses nothing that was acknowledged, and leaves a library that opens`() async throws {
        let operations = try Operations()
        let figures = await forEach(operations.all) { try await Self.fail($0, at: $1) }
        try operations.end()
        print("disk faults: \(figures.reduce(0) { $0 + $1.count }) faults of \(figures.count) operations")
        #expect(figures.allSatisfy { $0.count >= 2 })
    }

    /// - Parameter position: the position of the operation. In the ordinary run, neighbours fail in different ways.
    private static func fail(_ operation: Operation, at position: Int) async throws -> Figures {
        let run = try await RecordedRun(operation)
        var figures = Figures(name: operation.name)
        var report = ProblemReport(operation)
        // Most faults before the first write leave the same state, which is opened once.
        var known: [Int: [String]] = [:]
        // On a full disk, the program may wait two minutes for room. The first such wait of an operation runs to its
        // end; the later ones are ended.
        var isPatient = isLong
        // In the ordinary run, EIO and EMFILE are tried with every operation.
        for (index, way) in Way.all.enumerated()
        where isLong || (index + position) % 2 == 0 || way.mode == .once && way.kinds.contains(.opening) {
            // The recorder counts the calls that could fail.
            let count = try await withMachine(run.start, environment: operation.environment) { machine in
                try Recorder.shared.get().run(
                    machine.scan, operation.arguments, input: operation.input, disk: machine.disk,
                    fault: Fault(kinds: way.kinds, number: 0, errno: way.errno, mode: way.mode)
                ).matching
            }
            var random = SplitMix(seed: 3)
            var numbers = count == 0 ? [] : isLong ? Array(1...count) : [1 + random.below(count)]
            // These read two databases, and an error in either must be recognised.
            if !isLong, way.name == "EIO", ["backup", "restore"].contains(operation.name) {
                numbers = Array(stride(from: 1, through: count, by: max(1, count / 12)))
            }
            // A transaction whose sync failed may be there at the next start, and then its picture has to be there,
            // too.
            if !isLong, way.kinds == .syncing, operation.name == "cover" { numbers = Array(1...count) }
            // While a library is created, SQLite and GRDB go on after some errors: SQLite if it could not open a folder
            // to sync it, and GRDB if the library could not be switched to a write-ahead log.
            if !isLong, ["EIO", "EMFILE"].contains(way.name), operation.arguments.contains("--hub") {
                numbers = Array(1...min(count, 60))
            }
            // At its end, a station reads the outbox to deliver the rest.
            if !isLong, way.name == "EIO", operation.name == "delivery to a hub" {
                numbers += Array(stride(from: max(61, count - 45), through: count, by: 3))
            }
            for number in numbers {
                let fault = Fault(kinds: way.kinds, number: number, errno: way.errno, mode: way.mode)
                // What the program does after a fault may need fewer calls.
                guard let outcome = try await inject(fault, way, run, isPatient: isPatient) else { continue }
                if outcome.ending.err.contains(Recording.waiting) { isPatient = false }
                var problems = outcome.problems
                for (when, tree) in outcome.states {
                    let state = StateCheck.hash(of: tree, at: outcome.moment)
                    if known[state] == nil { known[state] = try await run.check.problems(of: tree, at: outcome.moment) }
                    problems += known[state]?.map { "\(when): \($0)" } ?? []
                }
                if !problems.isEmpty { problems.append("it said: \(outcome.ending.err)\(outcome.moment.printed)") }
                figures.faults[way.name, default: 0] += 1
                figures.endings[outcome.ending.status, default: 0] += 1
                report.add(problems, "\(way.name) at call \(number) of \(count), ended with \(outcome.ending.status)")
            }
        }
        report.end()
        figures.bad = report.count
        figures.print()
        return figures
    }

    private struct Outcome {
        var ending: ScanProcess.Ending
        var problems: [String]
        var moment: Operation.Moment
        /// The disk that the next start finds, and the disk after a power cut, if that is a different one.
        var states: [(when: String, tree: Tree)]
    }

    /// Runs the operation with a fault.
    ///
    /// - Returns: `nil` if the run did not come to the call that was to fail.
    private static func inject(_ fault: Fault, _ way: Way, _ run: RecordedRun, isPatient: Bool) async throws -> Outcome?
    {
        let operation = run.operation
        return try await withMachine(run.start, environment: operation.environment) { machine in
            let recorder = try Recorder.shared.get()
            let recording = try recorder.run(
                machine.scan, operation.arguments, input: operation.input, disk: machine.disk, fault: fault,
                isPatient: isPatient)
            guard recording.failed > 0 else { return nil }
            var moment = Operation.Moment()
            for case .printed(let text) in recording.calls { moment.printed += text }
            moment.isOver = recording.ending.status == operation.status
            moment.hasPostponed = recording.ending.err.contains("will be fetched later")
            var disk = Disk(.strict, run.start)
            for call in recording.calls { try disk.apply(call) }
            var states = [(when: "then", tree: try machine.tree())]
            if disk.leastState != states[0].tree { states.append(("after a power cut", disk.leastState)) }
            var problems = problems(of: recording.ending, printed: moment.printed, way, operation)
            if way.kinds == .syncing, way.mode == .once {
                problems += try await problemsOfNextCapture(machine, disk)
            }
            return Outcome(ending: recording.ending, problems: problems, moment: moment, states: states)
        }
    }

    /// Finds what is wrong with the end of a run: it has to report the error, and of which kind the error was.
    private static func problems(
        of ending: ScanProcess.Ending, printed: String, _ way: Way, _ operation: Operation
    ) -> [String] {
        let wasEnded = ending.status == SIGINT && ending.err.contains(Recording.waiting)
        guard ending.status != operation.status else { return [] }
        // No source is asked if the request cannot be counted. The book is captured, and its line says why it waits.
        let isUncounted = ending.status == 69 && printed.contains("rate limits cannot be saved")
        var problems: [String] = []
        if ending.status != 74, !wasEnded, !isUncounted { problems.append("it ended with \(ending.status)") }
        let says = ["These ISBNs were not captured", "Run the same command again to import the rest"]
        if wasEnded, !says.contains(where: ending.err.contains) {
            problems.append("it does not say what was not captured or imported")
        }
        if !ending.err.contains("scan: "), !isUncounted { problems.append("no error was printed") }
        let text = (ending.err + printed).lowercased()
        if way.errno == EIO {
            if text.contains("permission") { problems.append("EIO is reported as a permission") }
            if text.contains("is full") || text.contains("no space") {
                problems.append("EIO is reported as a full disk")
            }
            if text.contains("damaged") { problems.append("EIO is reported as damage") }
        }
        if way.errno == ENOSPC, !text.contains("full"), !text.contains("space") {
            problems.append("a full disk is not reported")
        }
        if way.errno == EMFILE, text.contains("permission") || text.contains("damaged") {
            problems.append("EMFILE is reported as something else")
        }
        return problems
    }

    /// After a failed sync, the kernel holds pages that it will never write. The next book that is acknowledged must
    /// not depend on them: it is saved, and then the power is cut.
    private static func problemsOfNextCapture(_ machine: Machine, _ disk: Disk) async throws -> [String] {
        var (scan, disk) = (machine.scan, disk)
        scan.environment["BOOKPLATE_OFFLINE"] = "1"
        scan.environment["BOOKPLATE_INDEX"] = ScanProcess.samples.appendingPathComponent("index.sqlite").path
        let next = try Recorder.shared.get().run(
            scan, ["--isbn", "9780141439471", "--yes", "--json"], disk: machine.disk)
        guard next.ending.status == 0 else {
            return ["the next capture ended with \(next.ending.status): \(next.ending.err)"]
        }
        var moment = Operation.Moment()
        for call in next.calls {
            try disk.apply(call)
            if case .printed(let text) = call { moment.printed += text }
        }
        let saved = try moment.isbns("saved")
        return try await withMachine(disk.leastState) { machine in
            let books = try machine.books()
            return saved.count == 1 && books[saved[0]] != nil ? [] : ["the next book is lost after a power cut"]
        }
    }
}
