import Bookplate
import Foundation
import Library
import Processes
import Synchronization
import Terminal

/// Runs a program after each save, with the book as JSON on its standard input: `scan --exec PROGRAM`.
///
/// The runs follow one another in the order of the saves, and nothing waits for them but the end of the command. What
/// the program prints goes to standard error. A failure is reported there, and changes nothing about the save.
final class SaveHook: Sendable {
    /// The time after which the program is killed.
    private static let timeLimit: Duration = .seconds(10)
    /// The number of bytes that the program may print before it is killed.
    private static let outputLimit = 1 << 20

    private let saved: AsyncStream<ID<Copy>>.Continuation
    private let running: Task<Void, Never>
    /// The copies for which the program was run. A save that is undone and redone is not another one.
    private let seen = Mutex<Set<ID<Copy>>>([])

    /// - Parameter program: a path, or a name that is looked for in the folders of PATH.
    /// - Throws: ``CommandError`` if there is no such program.
    init(
        _ program: String, library: LibraryFile, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let path = try Self.path(of: program, environment)
        let command = ChildProcess.Command(
            path: path, arguments: [program], environment: environment.map { "\($0.key)=\($0.value)" })
        let (stream, continuation) = AsyncStream.makeStream(of: ID<Copy>.self)
        saved = continuation
        running = Task {
            for await copy in stream {
                do {
                    guard let book = try await library.book(copy) else { continue }
                    try await Self.run(command, for: book)
                } catch {
                    Output.shared.printError("--exec \(program): \(error)")
                }
            }
        }
    }

    func add(_ copy: ID<Copy>) {
        if seen.withLock({ $0.insert(copy).inserted }) { saved.yield(copy) }
    }

    /// Waits until the program has ended for every book that was saved.
    func finish() async {
        saved.finish()
        await running.value
    }

    private static func run(_ command: ChildProcess.Command, for book: Book) async throws {
        let input = Array((book.json.text + "\n").utf8)
        let outcome: Result<ChildProcess.Outcome, ProcessError> = await withCheckedContinuation { continuation in
            // The call blocks, so it gets a thread of its own.
            Thread {
                continuation.resume(
                    returning: Result { () throws(ProcessError) in
                        try ChildProcess.run(command, input: input, within: timeLimit, limit: outputLimit)
                    })
            }.start()
        }
        switch try outcome.get() {
        case .answered(let printed, let standardError, let status):
            for bytes in [printed, standardError] {
                let text = String(decoding: bytes, as: UTF8.self)
                for line in text.split(whereSeparator: \.isNewline) {
                    Output.shared.printNotice(String(line).printable)
                }
            }
            switch status {
            case .exited(0): break
            case .exited(let code): throw Failure("ended with exit status \(code)", book)
            case .signalled(let signal): throw Failure("was ended by signal \(signal)", book)
            }
        case .tooLong: throw Failure("took longer than \(timeLimit.components.seconds) seconds and was killed", book)
        case .tooMuch: throw Failure("printed more than 1 MB and was killed", book)
        }
    }

    private static func path(of program: String, _ environment: [String: String]) throws -> String {
        let folders = program.contains("/") ? [""] : (environment["PATH"] ?? "").split(separator: ":").map { $0 + "/" }
        let paths = folders.map { $0 + program }
        guard let path = paths.first(where: { access($0, X_OK) == 0 && !isFolder($0) }) else {
            throw CommandError(
                .usage,
                "--exec: \"\(program.printable)\" is not a program that can be run. Give the path of an executable file."
            )
        }
        return path
    }

    /// The way in which the program failed for a book.
    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ book: Book) {
            description = "the program \(what). The book \(quoted([book.displayTitle])) is saved."
        }
    }
}
