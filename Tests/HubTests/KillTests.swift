import Bookplate
import FaultServer
import Foundation
import Glibc
import Hub
import Library
import Synchronization
import TestTools
import Testing

/// The station is killed (SIGKILL) at every request, before the hub receives the request and after the hub has
/// processed it.
@Suite(.serialized) struct `A station that is killed` {
    private static let books = ["9780441478125", "9780316769488", "9780385474542", "9780262510875"]

    private enum Moment: CaseIterable, Sendable { case beforeTheHubHasIt, afterTheHubHasDoneIt }

    @Test(.timeLimit(.minutes(15)))
    func `loses nothing that it acknowledged, and duplicates nothing`() async throws {
        var killed = 0
        // At each request, alternately in one of the two moments, or in both, until a run ends before that request.
        loop: while true {
            switch try await run(killedAt: killed, Moment.allCases[killed % 2]) {
            case .finished: break loop
            case .late: continue
            case .killed: break
            }
            if isLong { _ = try await run(killedAt: killed, Moment.allCases[(killed + 1) % 2]) }
            killed += 1
        }
        #expect(killed >= 3)
    }

    private enum Ending {
        case killed
        /// The run has delivered everything in fewer requests.
        case finished
        /// The hub took longer than the program waits, as it may on a busy machine.
        case late
    }

    private func run(killedAt number: Int, _ moment: Moment) async throws -> Ending {
        let hub = try await RunningHub()
        let program = try ScanProgram()
        let victim = Mutex<pid_t>(0)
        let isKilled = Mutex(false)
        let strike: @Sendable (Int) -> Void = { request in
            guard request == number else { return }
            isKilled.withLock { $0 = true }
            // Only while it runs, because another process may have its id afterwards.
            victim.withLock { if $0 > 0 { kill($0, SIGKILL) } }
        }
        let proxy = try CutProxy(
            to: hub.port,
            plan: { request, _ in
                guard moment == .beforeTheHubHasIt, request == number, victim.withLock({ $0 > 0 })
                else { return nil }
                strike(request)
                return .beforeRequest
            }, answered: { if moment == .afterTheHubHasDoneIt { strike($0) } })
        let (station, token) = try await hub.library.pair(ID(), named: "kitchen", at: Date())
        try program.pair(with: proxy.address, token: token, as: station)
        let running = try victim.withLock { pid in
            let running = try program.start("--hub", proxy.address, "--stdin", "--yes", "--json")
            pid = running.process.processIdentifier
            return running
        }
        // Input that it has not read when it is killed is lost.
        try? running.say(Self.books.map { $0 + "\n" }.joined())
        let status = try await running.end()
        victim.withLock { $0 = 0 }
        let (captured, saved) = (running.isbns("captured"), running.isbns("saved"))
        let wasKilled = isKilled.withLock { $0 }
        if !wasKilled { #expect(saved.count == 4, "\(running.complaints)") }
        let sent = try await program.deliver()
        #expect(sent.status == 0, "\(sent.err)")
        let atHub = try await hub.library.books(matching: BookQuery()).books.compactMap(\.edition.isbn?.digits)
        #expect(Set(saved).isSubset(of: atHub), "killed at request \(number): saved \(saved), there \(atHub)")
        #expect(Set(atHub).count == atHub.count)
        let items = try await hub.library.items(in: Set(QueueItem.State.allCases)).map(\.isbn.digits)
        #expect(Set(captured).isSubset(of: items) && Set(items).count == items.count)
        try program.remove()
        try await hub.stop()
        return wasKilled ? .killed : status == 0 ? .finished : .late
    }
}
