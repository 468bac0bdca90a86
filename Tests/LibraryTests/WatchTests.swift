import Bookplate
import Foundation
import GRDB
import Library
import Synchronization
import TestTools
import Testing

@Suite(.timeLimit(.minutes(minutes(5)))) struct `The watch on the library` {
    @Test func `reports commits of this process and of another one`() async throws {
        let file = WatchedFile()
        let (mine, other) = (try LibraryFile.open(at: file.path), try LibraryFile.open(at: file.path))
        var changes = mine.changes { Issue.record($0) }.makeAsyncIterator()
        #expect(await changes.next() == 1)
        try await mine.addBook()
        #expect(await changes.next() == 2)
        try await other.addBook()
        #expect(await changes.next() == 3)
    }

    @Test func `follows a file that replaces the old one`() async throws {
        let file = WatchedFile()
        let mine = try LibraryFile.open(at: file.path)
        var changes = mine.changes { Issue.record($0) }.makeAsyncIterator()
        _ = await changes.next()
        let report = try await mine.backup(to: file.folder("copy.sqlite"))
        #expect(rename(report.path, file.path) == 0)
        #expect(await changes.next() == 2)
    }

    @Test func `reports once that the file is missing, and continues when it is back`() async throws {
        let file = WatchedFile()
        let mine = try LibraryFile.open(at: file.path)
        let reported = ReportedErrors()
        var changes = mine.changes { reported.add($0) }.makeAsyncIterator()
        _ = await changes.next()
        #expect(rename(file.path, file.path + ".away") == 0)
        var errors = reported.stream.makeAsyncIterator()
        #expect(await errors.next()?.contains("library.sqlite") == true)
        #expect(rename(file.path + ".away", file.path) == 0)
        #expect(await changes.next() == 2)
        #expect(reported.count == 1)
    }

    @Test func `never reports a library in memory`() async throws {
        let library = try LibraryFile.inMemory()
        let changes = library.changes { Issue.record($0) }
        try await library.addBook()
        let task = Task { await changes.first { _ in true } }
        task.cancel()
        #expect(await task.value == nil)
    }
}

private final class ReportedErrors: Sendable {
    let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let counter = Atomic(0)
    var count: Int { counter.load(ordering: .relaxed) }

    init() { (stream, continuation) = AsyncStream.makeStream(of: String.self) }

    func add(_ error: any Error) {
        counter.add(1, ordering: .relaxed)
        continuation.yield("\(error)")
    }
}

private struct WatchedFile {
    let folder = Folder()
    var path: String { folder("library.sqlite") }
}

extension LibraryFile {
    fileprivate func addBook() async throws {
        var metadata = Metadata()
        metadata.title = "A Book"
        _ = try await add([Confirmed(enteredBy: .form, isbn: nil, metadata: metadata)], at: .now)
    }
}
