import Async
import Bookplate
import Foundation
import Hub
import Library
import Lookup
import Station

/// A run of `scan --hub`: the outbox is the library that it captures into, and a task beside it brings what is there to the hub.
struct HubRun: Sendable {
    let hub: PairedHub
    let outbox: LibraryFile
    let link = HubLink()
    /// Takes what is told.
    private let listener: SharedValue<@Sendable (HubEvent) -> Void>
    private let lines: HubLines
    private let sending = SharedValue<Task<Void, Never>?>(nil)
    private let client: HubClient
    private let sender: HubSender<ContinuousClock>
    private let lookup: LookupChain

    /// So long the end of a run waits for the hub.
    private static let patience: Duration = .seconds(8)

    init(_ hub: PairedHub, outbox: LibraryFile, lookup: LookupChain, wiring: Wiring) throws {
        let address = try HubAddress(hub.address)
        let token = wiring.token(of: address)
        let lines = HubLines()
        let listener = SharedValue<@Sendable (HubEvent) -> Void>({ lines.show($0) })
        client = HubClient(
            address: address, userAgent: wiring.userAgent, certificateFile: wiring.settings[.caFile], token: token)
        sender = HubSender(
            outbox: outbox, client: client, link: link, token: token, clock: ContinuousClock(),
            report: { listener.value($0) })
        (self.hub, self.outbox, self.listener, self.lines, self.lookup) = (hub, outbox, listener, lines, lookup)
    }

    /// Redirects events to a screen, until ``printEvents()``.
    func redirectEvents() -> AsyncStream<HubEvent> {
        let (events, continuation) = AsyncStream.makeStream(of: HubEvent.self)
        listener.withLock { $0 = { continuation.yield($0) } }
        return events
    }

    /// Prints events as lines on standard error again.
    func printEvents() {
        let lines = lines
        listener.withLock { $0 = { lines.show($0) } }
    }

    var flow: CaptureFlow {
        CaptureFlow(
            intake: outbox, shelf: HubShelf(outbox: outbox, client: client, link: link),
            lookup: HubLookup(client: client, link: link, own: lookup))
    }

    /// Begins to bring the hub what comes into the outbox, until ``finish()``.
    func begin() {
        let sender = sender
        sending.withLock { $0 = Task { await sender.run() } }
    }

    /// After the run: sends the rest as far as the hub takes it now, and tells what waits.
    ///
    /// - Returns: whether the hub has all of it.
    func finish() async throws -> Bool {
        sending.value?.cancel()
        await sending.value?.value
        let sender = sender
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await sender.flush() }
            // Cut short, it is done again by the next run.
            group.addTask { try? await Task.sleep(for: Self.patience) }
            await group.next()
            group.cancelAll()
        }
        let waiting = try await outbox.undeliveredCount()
        if waiting > 0 {
            Output.shared.note(
                "\(waiting) \(waiting == 1 ? "waits" : "wait") for the hub at \(hub.address), safe in \(outbox.path ?? "memory"). "
                    + "scan hub send sends it; so does the next scan --hub.")
        }
        return waiting == 0
    }
}

/// What is told of the hub where there is no screen: each thing once.
private final class HubLines: Sendable {
    private let last = SharedValue(HubLink.Status.unknown)

    func show(_ event: HubEvent) {
        switch event {
        case .waiting: break
        case .status(let status):
            guard status != last.value else { return }
            let before = last.value
            last.withLock { $0 = status }
            switch status {
            case .unknown: break
            case .up: if before != .unknown { Output.shared.note("The hub is there again.") }
            case .away(let why):
                Output.shared.complain("\(why.printable). Going on; what is captured waits in the outbox.")
            case .unpaired: Output.shared.complain(HubWords.unpaired)
            }
        case .news(let news): for each in news { if let words = each.words { Output.shared.note(words) } }
        case .error(let words): Output.shared.complain(words.printable)
        }
    }
}

enum HubWords {
    static let unpaired =
        "the hub does not know this station any more. What is captured waits in the outbox until scan hub pair pairs it again."
}

extension HubNews {
    /// For a person, `nil` where it is no news.
    var words: String? {
        switch self {
        case .answered: nil
        case .owned(_, let reason): "It waits in the hub's intake: \(reason.printable)."
        case .kept(_, let reason): "Undone here alone: \(reason.printable)."
        case .refused(_, let reason): "The hub does not take it: \(reason.printable)."
        }
    }
}

extension Wiring {
    var hubs: PairedHubs { PairedHubs(path: settings.paths.hubsFile) }

    var userAgent: String { "Bookplate/\(productVersion) (+\(productURL))" }

    /// Looked up anew each time, so that a station that is paired again goes on.
    func token(of address: HubAddress) -> @Sendable () -> String? {
        let hubs = hubs
        return {
            do {
                return try hubs.hub(at: address)?.token
            } catch {
                Output.shared.complain("\(error)")
                return nil
            }
        }
    }

    /// The hub that a person means by its address or its name.
    ///
    /// - Parameter text: `nil` means the only one there is.
    /// - Throws: ``CommandError`` when this station is not paired with it.
    func pairedHub(_ text: String?) throws -> PairedHub {
        let all = try hubs.all()
        guard let text else {
            // One that was left is no longer meant, unless it is all there is.
            let paired = all.filter { $0.token != nil }
            if paired.count == 1 { return paired[0] }
            if all.count == 1 { return all[0] }
            throw CommandError(
                .usage,
                all.isEmpty
                    ? "this station is paired with no hub. scan hub pair ADDRESS pairs it."
                    : "there are \(all.count) hubs; name one: \(all.map(\.address).joined(separator: ", ")).")
        }
        let address = try HubAddress(text)
        guard let hub = all.first(where: { $0.address == address.description }) else {
            throw CommandError(
                .configuration, "this station is not paired with \(address). scan hub pair \(text.printable) pairs it.")
        }
        return hub
    }

    /// Where what is captured into a hub waits: beside the station's own library.
    func outboxPath(of hub: PairedHub) throws -> String {
        guard let library = settings[.library] else {
            throw CommandError(
                .configuration, "no library is set, beside which the outbox would be. Name one with --library.")
        }
        let folder = URL(fileURLWithPath: library).deletingLastPathComponent().path
        return "\(folder)/outbox/\(try HubAddress(hub.address).name)/library.sqlite"
    }

    func openHub(_ text: String?) async throws -> HubRun {
        let hub = try pairedHub(text)
        let outbox = try await LibraryFile.openOutbox(at: outboxPath(of: hub), hub: hub.address)
        // The station's own sources keep this machine's policy where it has a library, else the outbox remembers them.
        let lookup = lookup(try openExistingLibrary() ?? outbox)
        return try HubRun(hub, outbox: outbox, lookup: lookup, wiring: self)
    }
}
