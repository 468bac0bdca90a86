import Bookplate
import Foundation

/// What a sender tells while it works.
public enum HubEvent: Sendable, Equatable {
    case status(HubLink.Status)
    /// How many items the hub does not have as they are.
    case waiting(Int)
    case news([HubNews])
    /// The outbox itself cannot be read or written, or the hub is there and fails over something of what waits.
    case trouble(String)
}

/// Brings what waits in the outbox to the hub, in order and exactly once, and fetches what was answered there.
///
/// Every call is one that can be made again: what was interrupted, here or there, at whatever point, is done once more.
public struct HubSender<Time: Clock<Duration>>: Sendable {
    private let outbox: any Outbox
    private let client: any HubCalls
    private let link: HubLink
    private let token: @Sendable () -> String?
    private let clock: Time
    private let jitter: @Sendable () -> Double
    private let report: @Sendable (HubEvent) -> Void

    /// How often the hub is asked what became of what waits there.
    static var glance: Duration { .seconds(5) }
    /// How long something new waits at the most before it is sent.
    static var blink: Duration { .milliseconds(250) }
    static var longestPause: Duration { .seconds(60) }

    /// - Parameters:
    ///   - token: the one in force; a revoked one is not tried again before it is another.
    ///   - jitter: stretches the pauses, so that stations do not march in step.
    public init(
        outbox: any Outbox, client: any HubCalls, link: HubLink, token: @escaping @Sendable () -> String?, clock: Time,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0.75...1.25) },
        report: @escaping @Sendable (HubEvent) -> Void = { _ in }
    ) {
        self.outbox = outbox
        self.client = client
        self.link = link
        self.token = token
        self.clock = clock
        self.jitter = jitter
        self.report = report
    }

    /// The pause after so many failures in a row: 1 s, doubled up to 60 s.
    static func pause(after failures: Int) -> Duration {
        min(longestPause, .seconds(1 << min(6, max(0, failures - 1))))
    }

    /// Sends what comes into the outbox until the task is cancelled.
    public func run() async {
        var failures = 0
        var isTold = false
        while !Task.isCancelled {
            let usedToken = token()
            do {
                try await round()
                (failures, isTold) = (0, false)
                try await waitForWork()
            } catch HubError.revoked {
                set(.unpaired)
                while !Task.isCancelled, token() == usedToken || token() == nil { await sleep(Self.glance) }
            } catch {
                if Task.isCancelled { return }
                // A hub that is there is looked at as often as ever, and what it breaks over is told once.
                let isThere = error is PartlyTaken
                if !isThere || !isTold { note(error) }
                isTold = isThere
                failures += 1
                await sleep(min(Self.pause(after: failures), isThere ? Self.glance : Self.longestPause) * jitter())
            }
        }
    }

    /// Sends everything that waits, and tells how the rest stands. For the end of a run.
    ///
    /// - Returns: whether the hub has all of it.
    public func flush() async -> Bool {
        do {
            try await round()
        } catch {
            if !Task.isCancelled { note(error) }
        }
        do {
            return try await outbox.undeliveredCount() == 0
        } catch {
            if !Task.isCancelled { report(.trouble("\(error)")) }
            return false
        }
    }

    private func note(_ error: any Error) {
        if let trouble = error as? HubError {
            link.note(trouble)
            report(.status(link.status))
        } else {
            report(.trouble("\(error)"))
        }
    }

    private func set(_ status: HubLink.Status) {
        link.set(status)
        report(.status(status))
    }

    // MARK: One round

    private func round() async throws {
        try await tellWaiting()
        let failure = try await sendWhatWaits()
        try await askWhatWaits(besides: failure == nil ? 0 : outbox.undeliveredCount())
        try await sendThumbnails()
        set(.up)
        if let failure { throw PartlyTaken(failure: failure) }
    }

    /// - Returns: the failure where the hub breaks over what is left. Answers and pictures of all else do not wait for that.
    private func sendWhatWaits() async throws -> HubError? {
        while let pile = try await nextPile() {
            let receipts: [HubReceipt]
            do throws(HubError) {
                receipts = try await deliver(pile)
            } catch {
                guard case .failed = error else { throw error }
                return error
            }
            tell(try await outbox.apply(receipts, of: pile))
            set(.up)
            try await tellWaiting()
        }
        return nil
    }

    private func tell(_ news: [HubNews]) { if !news.isEmpty { report(.news(news)) } }

    private func tellWaiting() async throws { report(.waiting(try await outbox.undeliveredCount())) }

    /// As much of what waits as one request holds.
    private func nextPile() async throws -> [HubDelivery]? {
        let waiting = try await outbox.undelivered(limit: HubDelivery.mostAtOnce).map(\.fitting)
        var bytes = 0
        let pile = waiting.prefix { delivery in
            bytes += delivery.bytes + 1
            return bytes <= HubClient.mostBytes
        }
        return waiting.isEmpty ? nil : Array(pile.isEmpty ? waiting.prefix(1) : pile)
    }

    /// What the hub does not take as a whole, or breaks over, must not hold up the others: then each goes by itself.
    private func deliver(_ pile: [HubDelivery]) async throws(HubError) -> [HubReceipt] {
        do throws(HubError) {
            let receipts = try await client.deliver(pile)
            guard receipts.count == pile.count else { throw .notAHub("it leaves items out") }
            return receipts
        } catch {
            switch error {
            case .refused(let why) where pile.count == 1:
                let one = pile[0]
                return [
                    HubReceipt(id: one.id, revision: one.revision, state: one.state, outcome: .refused, reason: why)
                ]
            case .refused where pile.count > 1, .failed where pile.count > 1: return try await deliverEach(pile)
            default: throw error
            }
        }
    }

    /// - Returns: the receipts of what it took; the rest is tried again in the next round.
    private func deliverEach(_ pile: [HubDelivery]) async throws(HubError) -> [HubReceipt] {
        var receipts: [HubReceipt] = []
        var failures: [HubError] = []
        for delivery in pile {
            do throws(HubError) {
                receipts += try await deliver([delivery])
            } catch {
                failures.append(error)
                // So many are not the items' fault.
                guard case .failed = error, failures.count <= Self.mostFailures else { throw error }
            }
        }
        if receipts.isEmpty, let first = failures.first { throw first }
        return receipts
    }

    private static var mostFailures: Int { 3 }

    private func sendThumbnails() async throws {
        while let (item, jpeg) = try await outbox.nextThumbnail() {
            do throws(HubError) {
                try await client.keep(thumbnail: jpeg, of: item)
            } catch {
                // A picture is a help to the eye; one that is not taken, or whose item is gone there, is done without.
                switch error {
                case .refused, .turnedAway, .failed: break
                default: throw error
                }
            }
            try await outbox.markThumbnailDelivered(of: item)
        }
    }

    /// What waits at the hub may have been answered there; a hub that was put back to an older state has to get it again.
    ///
    /// - Parameter stuckCount: how many items the hub just broke over.
    private func askWhatWaits(besides stuckCount: Int) async throws {
        var (open, lostCount) = (try await outbox.openAtHub()[...], 0)
        // With nothing open too: whether the hub is there is seen by it. What comes into the outbox meanwhile goes first; the rest is
        // asked for in the next round.
        while true {
            let asked = Array(open.prefix(HubDelivery.mostAtOnce))
            open = open.dropFirst(asked.count)
            let receipts = try await client.status(of: asked)
            let known = Set(receipts.map(\.id))
            let lost = asked.filter { !known.contains($0) }
            if !lost.isEmpty { try await outbox.deliverAgain(lost) }
            lostCount += lost.count
            tell(try await outbox.apply(receipts, of: []))
            guard !open.isEmpty, try await outbox.undeliveredCount() <= stuckCount + lostCount else { return }
        }
    }

    // MARK: Waiting

    private func sleep(_ duration: Duration) async {
        // Cancelled is what ends the loop; there is nothing else to learn from it.
        try? await clock.sleep(for: duration)
    }

    /// Until there is something to send, or it is time to look at the hub again. Cheap: an index of what waits is looked at, which
    /// is empty.
    private func waitForWork() async throws {
        let end = clock.now.advanced(by: Self.glance)
        while !Task.isCancelled, clock.now < end, try await outbox.undeliveredCount() == 0 {
            await sleep(Self.blink)
        }
    }
}

/// The hub is there and took what it could; the rest is tried again.
private struct PartlyTaken: Error, CustomStringConvertible {
    let failure: HubError

    var description: String { "\(failure). What it fails over waits here and is tried again." }
}

extension HubDelivery {
    /// In JSON.
    fileprivate var bytes: Int {
        // What cannot be encoded is refused when it is sent.
        (try? JSONEncoder().encode(self).count) ?? 0
    }

    /// Without what is long and can be looked up again, where it would not fit into a request.
    fileprivate var fitting: HubDelivery {
        guard bytes > HubClient.mostBytes else { return self }
        var delivery = self
        delivery.metadata?.description = nil
        delivery.metadata?.subjects = []
        delivery.metadata?.identifiers = [:]
        return delivery
    }
}
