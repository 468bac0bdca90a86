import Bookplate
import Foundation

/// Sends the items in the outbox to the hub, in order and exactly once. It also fetches the answers that people have
/// given at the hub to items that were waiting there.
///
/// All requests are idempotent, so an interrupted request is simply sent again.
public struct HubSender<Time: Clock<Duration>>: Sendable {
    private let outbox: any Outbox
    private let client: any HubAPI
    private let link: HubLink
    private let token: HubToken
    private let clock: Time
    private let jitter: @Sendable () -> Double
    private let report: @Sendable (HubEvent) -> Void

    /// The interval at which the answers to the items that wait at the hub are requested.
    static var pollInterval: Duration { .seconds(5) }
    /// The interval at which the outbox is checked for new items.
    static var outboxPollInterval: Duration { .milliseconds(250) }
    static var longestPause: Duration { .seconds(60) }

    /// - Parameters:
    ///   - token: returns the current token. After a token has been revoked, nothing is sent until there is a
    ///     different token.
    ///   - jitter: returns a random factor for the pauses, so that stations do not all send at the same time.
    public init(
        outbox: any Outbox, client: any HubAPI, link: HubLink, token: @escaping HubToken, clock: Time,
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

    /// Returns the pause after this number of failures in a row: 1 s after the first, then twice as long each time, up
    /// to 60 s.
    static func pause(after failures: Int) -> Duration {
        min(longestPause, .seconds(1 << min(6, max(0, failures - 1))))
    }

    /// Sends new items from the outbox until the task is cancelled.
    public func run() async {
        var failures = 0
        var isReported = false
        while !Task.isCancelled {
            do {
                let usedToken = try token()
                do {
                    try await round()
                } catch HubError.revoked {
                    set(.unpaired)
                    try await waitForToken(otherThan: usedToken)
                    continue
                }
                (failures, isReported) = (0, false)
                try await waitForWork()
            } catch {
                if Task.isCancelled { return }
                // If the hub answers but fails to handle some items, it is polled as often as usual, and the failure is
                // reported only once.
                let answers = error is PartialDeliveryError
                if !answers || !isReported { reportFailure(error) }
                isReported = answers
                failures += 1
                await sleep(
                    min(Self.pause(after: failures), answers ? Self.pollInterval : Self.longestPause) * jitter())
            }
        }
    }

    /// Sends all waiting items at the end of a run.
    ///
    /// - Returns: the error that has ended it, which is also reported; `nil` if the hub has received everything.
    public func flush() async -> (any Error)? {
        do {
            try await round()
            return nil
        } catch {
            if !Task.isCancelled { reportFailure(error) }
            return error
        }
    }

    private func reportFailure(_ error: any Error) {
        let error = (error as? PairedHubsError).map { HubError.noToken($0) } ?? error
        if let error = error as? HubError {
            link.record(error)
            report(.status(link.status))
        } else {
            report(.error("\(error)"))
        }
    }

    private func set(_ status: HubStatus) {
        link.set(status)
        report(.status(status))
    }

    // MARK: Sending

    private func round() async throws {
        try await reportWaiting()
        var failure = try await sendDeliveries()
        let hasLost = try await fetchAnswers(besides: failure == nil ? 0 : outbox.undeliveredCount())
        if hasLost, failure == nil { failure = try await sendDeliveries() }
        try await sendThumbnails()
        set(.up)
        if let failure { throw PartialDeliveryError(failure: failure) }
    }

    /// Sends all waiting items.
    ///
    /// - Returns: the error if the hub has failed to handle the remaining items; `nil` if all items were sent. The
    ///   error is not thrown, so that answers and pictures for the other items do not have to wait.
    private func sendDeliveries() async throws -> HubError? {
        while let batch = try await nextBatch() {
            let answer: HubAnswer
            do throws(HubError) {
                answer = try await deliver(batch)
            } catch {
                guard case .failed = error else { throw error }
                return error
            }
            reportNews(try await outbox.apply(answer, of: batch))
            set(.up)
            try await reportWaiting()
        }
        return nil
    }

    private func reportNews(_ news: [HubNews]) { if !news.isEmpty { report(.news(news)) } }

    private func reportWaiting() async throws { report(.waiting(try await outbox.undeliveredCount())) }

    /// Returns as many waiting items as fit into one request; `nil` if no item is waiting.
    private func nextBatch() async throws -> [HubDelivery]? {
        let waiting = try await outbox.undelivered(limit: HubDelivery.mostAtOnce).map(\.fitting)
        var bytes = 0
        let batch = waiting.prefix { delivery in
            bytes += delivery.bytes + 1
            return bytes <= HubClient.byteLimit
        }
        return waiting.isEmpty ? nil : Array(batch.isEmpty ? waiting.prefix(1) : batch)
    }

    /// Delivers items in one request. If the hub refuses the request or fails, each item is delivered separately, so
    /// that one item does not block the others.
    private func deliver(_ batch: [HubDelivery]) async throws(HubError) -> HubAnswer {
        do throws(HubError) {
            let answer = try await client.deliver(batch)
            guard answer.receipts.count == batch.count else { throw .notAHub("its answer leaves out some items") }
            return answer
        } catch {
            switch error {
            case .refused(let why) where batch.count == 1:
                let one = batch[0]
                let receipt = HubReceipt(
                    id: one.id, revision: one.revision, state: one.state, outcome: .refused, reason: why)
                return HubAnswer([receipt], from: HubInstance(library: nil, opening: nil))
            case .refused where batch.count > 1, .failed where batch.count > 1: return try await deliverEach(batch)
            default: throw error
            }
        }
    }

    /// Delivers items one by one.
    ///
    /// - Returns: the receipts for the items that the hub has accepted. The other items are tried again in the next
    ///   round.
    private func deliverEach(_ batch: [HubDelivery]) async throws(HubError) -> HubAnswer {
        var all = HubAnswer([], from: HubInstance(library: nil, opening: nil))
        var failures: [HubError] = []
        for delivery in batch {
            do throws(HubError) {
                let answer = try await deliver([delivery])
                all.receipts += answer.receipts
                if answer.hub.library != nil { all.hub = answer.hub }
            } catch {
                failures.append(error)
                // If more items fail than the limit allows, the cause must be the hub, not the items.
                guard case .failed = error, failures.count <= Self.failureLimit else { throw error }
            }
        }
        if all.receipts.isEmpty, let first = failures.first { throw first }
        return all
    }

    private static var failureLimit: Int { 3 }

    private func sendThumbnails() async throws {
        while let (item, jpeg) = try await outbox.nextThumbnail() {
            do throws(HubError) {
                try await client.keep(thumbnail: jpeg, of: item)
            } catch {
                // A picture is not essential. If the hub refuses it or no longer has its item, the picture is left out.
                switch error {
                case .refused, .turnedAway, .failed: break
                default: throw error
                }
            }
            try await outbox.markThumbnailDelivered(of: item)
        }
    }

    /// Fetches the answers to items that wait at the hub. If the hub has opened its library since it was last asked, it
    /// may have been restored to an older state. It is then asked about all items that it has received, and what it no
    /// longer has is queued for delivery again.
    ///
    /// - Parameter stuckCount: the number of items in the outbox that the hub has just failed to handle.
    /// - Returns: true if the hub has lost items.
    private func fetchAnswers(besides stuckCount: Int) async throws -> Bool {
        // The first request has no items. It shows that the hub answers, and which library it serves.
        let hub = try await client.status(of: []).hub
        if hub != link.checked, let library = hub.library, let news = try await outbox.connect(toLibrary: library) {
            reportNews([news])
        }
        var open = try await outbox.delivered(to: hub.library, onlyWaiting: hub == link.checked)[...]
        var lostCount = 0
        while !open.isEmpty {
            let before = try await outbox.undeliveredCount()
            // New items in the outbox are sent first, and the remaining answers are fetched in the next round.
            if before > stuckCount + lostCount { return lostCount > 0 }
            let batch = Array(open.prefix(HubDelivery.mostAtOnce))
            open = open.dropFirst(batch.count)
            let answer = try await client.status(of: batch)
            // The hub has been restarted meanwhile, so the next round begins again.
            guard answer.hub == hub else { return lostCount > 0 }
            let known = Set(answer.receipts.map(\.id))
            let lost = batch.filter { !known.contains($0) }
            if !lost.isEmpty { try await outbox.deliverAgain(lost) }
            reportNews(try await outbox.apply(answer, of: []))
            lostCount += max(0, try await outbox.undeliveredCount() - before)
        }
        link.checked = hub
        return lostCount > 0
    }

    // MARK: Waiting

    private func sleep(_ duration: Duration) async {
        // The caller's loop ends if the task was cancelled.
        try? await clock.sleep(for: duration)
    }

    private func waitForToken(otherThan used: String?) async throws {
        while !Task.isCancelled {
            if let token = try token(), token != used { return }
            await sleep(Self.pollInterval)
        }
    }

    /// Waits until there is something to send, or until the hub has to be polled. Checking the outbox is cheap, because
    /// the index of undelivered items is empty while nothing waits.
    private func waitForWork() async throws {
        let end = clock.now.advanced(by: Self.pollInterval)
        while !Task.isCancelled, clock.now < end, try await outbox.undeliveredCount() == 0 {
            await sleep(Self.outboxPollInterval)
        }
    }
}

/// The error that is thrown if the hub answers, but fails to handle some items. These items are tried again.
private struct PartialDeliveryError: Error, CustomStringConvertible {
    let failure: HubError

    var description: String {
        "\(failure). The items that the hub did not accept stay in the outbox and will be sent again."
    }
}

extension HubDelivery {
    /// The size of the delivery as JSON, in bytes.
    fileprivate var bytes: Int {
        // A delivery that cannot be encoded is refused when it is sent.
        (try? JSONEncoder().encode(self).count) ?? 0
    }

    /// The delivery, small enough for a request. If it is too large, long metadata that can be looked up again is left
    /// out.
    fileprivate var fitting: HubDelivery {
        guard bytes > HubClient.byteLimit else { return self }
        var delivery = self
        delivery.metadata?.description = nil
        delivery.metadata?.subjects = []
        delivery.metadata?.identifiers = [:]
        return delivery
    }
}
