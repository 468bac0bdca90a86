import Bookplate
import FoundationEssentials
import GRDB
import Synchronization
import Testing

@testable import Library

/// A library that another process keeps locked.
@Suite(.timeLimit(.minutes(5))) struct `A locked library` {
    let folder = Folder()

    /// Takes the lock that one writer has at a time.
    private func locker() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder("library.sqlite"), configuration: configuration)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return other
    }

    @Test func `lets in whom it knows, though nobody can note it, and says so once`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), patience: .milliseconds(20))
        let reported = Mutex(0)
        library.onUnwrittenUse { _ in reported.withLock { $0 += 1 } }
        try await library.setAccessCode("kumquat 7", at: noon)
        guard
            case .signedIn(let signIn, let token) = try await library.signIn(
                code: "kumquat 7", from: "10.0.0.1", device: "phone", at: noon)
        else { throw CancellationError() }
        let station = try await library.pair(ID(), named: "kitchen", at: noon)
        let later = noon.addingTimeInterval(7200)

        let other = try locker()
        for _ in 0..<3 {
            #expect(try await library.signIn(ofToken: token, at: later)?.id == signIn.id)
            #expect(try await library.pairedStation(withToken: station.token, at: later)?.id == station.station.id)
        }
        #expect(reported.withLock(\.self) == 1)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
    }

    @Test func `is not waited for any longer when there is no time`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), patience: .seconds(3600))
        let other = try locker()
        let change = Task { try await library.set("guestView", to: "1", at: noon) }
        library.hurry(within: .milliseconds(50))
        await #expect(throws: LibraryError.self) { try await change.value }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        _ = try await library.set("guestView", to: "1", at: noon)
    }
}
