import Async
import Bookplate
import Foundation
import Hub
import Library
import Lookup
import Station
import Terminal

/// A run of `scan --hub`. It captures books into an outbox, and a background task sends the content of the outbox to
/// the hub.
struct HubRun: Sendable {
    let hub: PairedHub
    let outbox: LibraryFile
    let link = HubLink()
    /// Receives the events from the hub.
    private let listener: SharedValue<@Sendable (HubEvent) -> Void>
    private let printer: HubEventPrinter
    private let sending = SharedValue<Task<Void, Never>?>(nil)
    private let client: HubClient
    private let sender: HubSender<ContinuousClock>
    let lookup: LookupChain
    /// The name of the reader for whom this station captures; `nil` for the hub's first reader.
    let reader: String?

    /// The longest time that a run waits for the hub before it ends.
    private static let patience: Duration = .seconds(8)

    init(_ hub: PairedHub, outbox: LibraryFile, lookup: LookupChain, reader: String?, wiring: Wiring) throws {
        let address = try HubAddress(hub.address)
        let hubs = wiring.hubs
        // The token is read from the file each time, so that a run can continue after the station was paired again.
        let token: HubToken = { () throws(PairedHubsError) in try hubs.hub(at: address)?.token }
        let printer = HubEventPrinter()
        let listener = SharedValue<@Sendable (HubEvent) -> Void>({ printer.show($0) })
        client = HubClient(
            address: address, userAgent: wiring.userAgent, certificateFile: wiring.settings[.caFile],
            authority: hub.authority, token: token)
        sender = HubSender(
            outbox: outbox, client: client, link: link, token: token, clock: ContinuousClock(),
            report: { listener.value($0) })
        (self.hub, self.outbox, self.listener, self.printer) = (hub, outbox, listener, printer)
        (self.lookup, self.reader) = (lookup, reader)
    }

    /// Returns the events from the hub, for a screen. They are not printed until ``printEvents()`` is called.
    func redirectEvents() -> AsyncStream<HubEvent> {
        let (events, continuation) = AsyncStream.makeStream(of: HubEvent.self)
        listener.withLock { $0 = { continuation.yield($0) } }
        return events
    }

    /// Prints the events from the hub as lines on standard error from now on, instead of sending them to a screen.
    func printEvents() {
        let printer = printer
        listener.withLock { $0 = { printer.show($0) } }
    }

    var flow: CaptureFlow {
        CaptureFlow(
            queue: outbox, shelf: HubShelf(outbox: outbox, client: client, link: link),
            lookup: HubLookup(client: client, link: link, own: lookup))
    }

    /// Starts sending the content of the outbox to the hub. Sending continues until ``finish()`` is called.
    func begin() {
        let sender = sender
        sending.withLock { $0 = Task { await sender.run() } }
    }

    /// Sends the rest of the outbox after the run, if the hub accepts it now, and prints how many captures still wait.
    ///
    /// - Returns: the reason why captures still wait; ``ExitStatus/success`` if the hub has all of them.
    func finish() async throws -> ExitStatus {
        sending.value?.cancel()
        await sending.value?.value
        let sender = sender
        // If sending is cut short, the next run continues it.
        let failure = await withTimeLimit(Self.patience) { await sender.flush() } ?? nil
        let waiting = try await outbox.undeliveredCount()
        guard waiting > 0 else { return .success }
        Output.shared.printNotice(
            "\(counted(waiting, "capture")) \(waiting == 1 ? "waits" : "wait") in \(outbox.path ?? "memory") for the hub at \(hub.address). "
                + "To send \(waiting == 1 ? "it" : "them"), run 'scan hub send', or scan with --hub again.")
        // A list of hubs or an outbox that this station cannot read is not the hub's fault.
        return switch failure {
        case HubError.noToken(let error)?: ExitStatus(error.kind)
        case let error as LibraryError: ExitStatus(error.kind)
        default: .unavailable
        }
    }
}

/// Prints the events from the hub if there is no full screen. Each change of the hub's status is printed once.
private final class HubEventPrinter: Sendable {
    private let last = SharedValue(HubStatus.unknown)

    func show(_ event: HubEvent) {
        switch event {
        case .waiting: break
        case .status(let status):
            guard status != last.value else { return }
            let before = last.value
            last.withLock { $0 = status }
            switch status {
            case .unknown: break
            case .up: if before != .unknown { Output.shared.printNotice("The hub is reachable again.") }
            case .away(let reason):
                Output.shared.printError("\(reason.printable). You can go on scanning; captures wait in the outbox.")
            case .unpaired: Output.shared.printError(HubMessages.unpaired)
            }
        case .news(let news):
            for message in news.compactMap(\.message) { Output.shared.printNotice(message) }
        case .error(let message): Output.shared.printError(message.printable)
        }
    }
}

extension Wiring {
    var hubs: PairedHubs { PairedHubs(path: settings.paths.hubsFile) }

    var userAgent: String { "Bookplate/\(productVersion) (+\(productURL))" }

    /// Returns the hub with this address.
    ///
    /// - Parameter text: the address; nil for the only hub.
    /// - Throws: ``CommandError`` if this station is not paired with the hub, or if no address is given and there is
    ///   more than one hub.
    func pairedHub(_ text: String?) throws -> PairedHub {
        let all = try hubs.all()
        guard let text else {
            // A hub that this station has left is used only if there is no other hub.
            let paired = all.filter { $0.token != nil }
            if paired.count == 1 { return paired[0] }
            if all.count == 1 { return all[0] }
            throw CommandError(
                .usage,
                all.isEmpty
                    ? "this station is not paired with a hub. To pair it, run 'scan hub pair ADDRESS'."
                    : "this station knows \(all.count) hubs. Give the address of one: \(all.map(\.address).joined(separator: ", "))."
            )
        }
        let address = try HubAddress(text)
        guard let hub = all.first(where: { $0.address == address.description }) else {
            throw CommandError(
                .configuration,
                "this station is not paired with \(address). To pair it, run 'scan hub pair \(text.printable)'.")
        }
        return hub
    }

    /// Returns the path of the hub's outbox, which is beside the station's own library.
    func outboxPath(of hub: PairedHub) throws -> String {
        guard let library = settings[.library] else {
            throw CommandError(
                .configuration,
                "no library is set, so there is no folder for the outbox. Give the path of a library with --library.")
        }
        let folder = URL(fileURLWithPath: library).deletingLastPathComponent().path
        return "\(folder)/outbox/\(try hub.outboxName())/library.sqlite"
    }

    func openHub(_ text: String?) async throws -> HubRun {
        let hub = try pairedHub(text)
        let outbox = try await LibraryFile.openOutbox(at: outboxPath(of: hub), hub: hub.address)
        // The answers of the station's own sources are stored in its library, or in the outbox if it has no library.
        // That library need not know the reader, who is one of the hub's.
        let own = try openExistingLibrary(for: nil)
        let readers = try await own?.readers() ?? []
        return try HubRun(
            hub, outbox: outbox, lookup: lookup(own ?? outbox),
            reader: settings[.reader] ?? (readers.count > 1 ? readers[0].name : nil), wiring: self)
    }
}
