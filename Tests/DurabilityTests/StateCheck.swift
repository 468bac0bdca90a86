import Bookplate
import Foundation
import GRDB
import Library
import TestTools

/// Opens a state of the disk with the program, and finds what is wrong with it.
struct StateCheck: Sendable {
    let operation: Operation
    /// The books before the operation and after it, as the program lists them.
    let before: [String: String]
    let after: [String: String]

    /// Returns the same value for states of which it is enough to check one.
    static func hash(of tree: Tree, at moment: Operation.Moment) -> Int {
        var hasher = Hasher()
        hasher.combine(tree)
        hasher.combine(moment.printed)
        hasher.combine(moment.isOver)
        hasher.combine(moment.hasPostponed)
        return hasher.finalize()
    }

    /// - Returns: what is wrong; nothing if the state is sound, has everything that was acknowledged until the moment,
    ///   and has nothing half.
    func problems(of tree: Tree, at moment: Operation.Moment) async throws -> [String] {
        try await withMachine(tree) { machine in
            do {
                return try await problems(of: machine, at: moment)
            } catch {
                return ["\(error)"]
            }
        }
    }

    private func problems(of machine: Machine, at moment: Operation.Moment) async throws -> [String] {
        let books = try machine.books()
        var problems = try problems(with: books, at: moment)
        problems += try problemsOfFiles(machine)
        // What a hub is to have waits in the outbox, not in the library.
        if case .everyBook = operation.acknowledgement, !operation.arguments.contains("--hub") {
            let items = try await capturedItems(machine)
            for isbn in try moment.isbns("captured") where !items.contains(isbn) {
                problems.append("the captured \(isbn) is lost")
            }
        }
        problems += try await operation.findProblems(machine, moment)
        return problems
    }

    /// Returns the ISBNs in the library's queue; none if there is no library.
    private func capturedItems(_ machine: Machine) async throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: machine.library) else { return [] }
        let library = try LibraryFile.open(at: machine.library)
        let items = try await library.items(in: Set(QueueItem.State.allCases)).map(\.isbn.digits)
        try await library.close()
        return Set(items)
    }

    /// Every book is as it was before the operation or as it is after it; see ``Operation/Acknowledgement``.
    private func problems(with books: [String: String], at moment: Operation.Moment) throws -> [String] {
        var problems: [String] = []
        if case .text = operation.acknowledgement {
            if books != after, operation.isDone(at: moment) {
                return ["not done, although acknowledged: \(books.count) books"]
            }
            if books != after, books != before { return ["half done: \(books.count) books"] }
            return []
        }
        for (id, book) in books where before[id] != book && after[id] != book { problems.append("half there: \(book)") }
        for id in before.keys where books[id] == nil { problems.append("lost: \(id)") }
        let acknowledged = try moment.isOver ? Array(after.keys) : moment.isbns("saved")
        for id in acknowledged where after[id] != nil && books[id] != after[id] {
            problems.append("acknowledged, and lost: \(id)")
        }
        return problems
    }

    /// Every library file and backup is sound.
    private func problemsOfFiles(_ machine: Machine) throws -> [String] {
        let folder = LibraryFile.ownBackupFolder(of: machine.library)
        let backups = try LibraryFile.backups(in: folder)
        var problems = backups.compactMap { backup in backup.problem.map { "\(backup.path): \($0)" } }
        let exists = FileManager.default.fileExists(atPath: machine.library)
        for path in backups.map(\.path) + (exists ? [machine.library] : []) {
            let answers = try DatabaseQueue(path: path).read { db in
                try String.fetchAll(db, sql: "PRAGMA integrity_check")
                    + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "\($0)" }
            }
            if answers != ["ok"] { problems.append("\(path): \(answers.prefix(3))") }
        }
        return problems
    }
}
