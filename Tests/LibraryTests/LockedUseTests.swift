import Bookplate
import FoundationEssentials
import GRDB
import Synchronization
import TestTools
import Testing

@testable import Library

/// A library that another process has locked.
@Suite(.timeLimit(.minutes(minutes(5)))) struct `A locked library` {
    let folder = Folder()

    /// Acquires the lock that only one writer can have at a time, and returns the connection that has it.
    private func locker() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder("library.sqlite"), configuration: configuration)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return other
    }

    @Test func `accepts known sign-ins, although their use cannot be recorded, and reports that once`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), lockTimeout: .milliseconds(20))
        let reported = Mutex(0)
        library.onError { _ in reported.withLock { $0 += 1 } }
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

    @Test func `is not waited for beyond a shortened timeout`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), lockTimeout: .seconds(3600))
        let other = try locker()
        let change = Task { try await library.set("guestView", to: "1", at: noon) }
        library.shortenLockTimeout(to: .milliseconds(50))
        await #expect(throws: LibraryError.self) { try await change.value }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        _ = try await library.set("guestView", to: "1", at: noon)
    }
}
