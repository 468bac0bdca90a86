import ArgumentParser
import Bookplate
import Foundation
import Hub
import Library

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Capture into another station's library, and let others capture into this one.",
        discussion: """
            A hub is a library that scan kiosk serves. Pair with it once, by its access
            code; then scan --hub ADDRESS captures into it. What is captured is kept on
            this device's own disk first and brought to the hub, once, when it is there.
            Over the internet a hub is reached by https; within the house http will do.

              scan hub pair 192.168.0.20            on the station
              scan --hub 192.168.0.20 --shelf Attic
              scan hub status                       is it there, does anything wait
              scan hub send                         now, what waits
              scan hub leave
              scan hub stations                     on the hub: who may capture
              scan hub revoke kitchen-pi
            """,
        subcommands: [
            HubPairCommand.self, HubStatusCommand.self, HubSendCommand.self, HubLeaveCommand.self,
            HubStationsCommand.self, HubRevokeCommand.self,
        ])
}

/// Which hub, where this station is paired with several.
struct NamedHub: ParsableArguments {
    @Argument(help: ArgumentHelp("The hub's address; not needed where there is one.", valueName: "address"))
    var address: String?
}

struct HubPairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Pair this station with a hub, by the hub's access code.",
        discussion: """
            Asks for the code without showing it, or reads one line of standard input.
            The token that the hub gives is kept in hub.json beside the settings, for
            you alone to read. Pairing again replaces it.
            """)

    @Argument(help: ArgumentHelp("https://books.example, or 192.168.0.20.", valueName: "address")) var address: String
    @Option(help: ArgumentHelp("How the hub lists this station; the host name unless told.", valueName: "name"))
    var name: String?
    @OptionGroup var places: PathOptions

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        let address = try HubAddress(address)
        let name = try (name ?? ProcessInfo.processInfo.hostName).checked(
            as: "name of the station", limit: PairedStation.longestName)
        let station = try wiring.hubs.hub(at: address)?.station ?? ID()
        guard let code = SecretLine.read("Access code of \(address): "), !code.isEmpty else {
            throw CommandError(.usage, "no access code was given.")
        }
        let client = HubClient(
            address: address, userAgent: wiring.userAgent, certificateFile: wiring.settings[.caFile], token: { nil })
        let paired = try await client.pair(code: code, name: name, station: station)
        try wiring.hubs.save(
            PairedHub(address: address.description, token: paired.token, name: paired.name, station: station))
        Output.shared.note(
            "Paired with \(address) as \"\(paired.name.printable)\". scan --hub \(self.address) captures into it.")
    }
}

struct HubStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the hubs of this station, and what waits for them.")

    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        var isAny = false
        for hub in try wiring.hubs.all() {
            let waiting = try await waiting(for: hub, wiring)
            // Nothing is left to tell of a hub that was left.
            if hub.token == nil, waiting == 0 { continue }
            isAny = true
            let status = try await status(of: hub, wiring)
            if output.json {
                let line: JSONValue = [
                    "address": .string(hub.address), "name": .string(hub.name), "standing": .string(status.word),
                    "waiting": .integer(waiting),
                ]
                Output.shared.line(line.text)
            } else {
                let words =
                    waiting == 0 ? "nothing waits for it" : "\(waiting) \(waiting == 1 ? "waits" : "wait") for it"
                Output.shared.line("\(hub.address)  \(status.sentence)  \(words)")
            }
        }
        if !isAny, !output.json { Output.shared.note("This station is paired with no hub.") }
    }

    private func status(of hub: PairedHub, _ wiring: Wiring) async throws -> (word: String, sentence: String) {
        guard hub.token != nil else { return ("unpaired", "not paired any more") }
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: wiring.userAgent,
            certificateFile: wiring.settings[.caFile], token: { hub.token })
        do throws(HubError) {
            _ = try await client.status(of: [])
            return ("up", "there, as \"\(hub.name.printable)\"")
        } catch {
            return (error == .revoked ? "unpaired" : "away", "\(error)".printable)
        }
    }

    private func waiting(for hub: PairedHub, _ wiring: Wiring) async throws -> Int {
        let path = try wiring.outboxPath(of: hub)
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try await LibraryFile.openOutbox(at: path, hub: hub.address).undeliveredCount()
    }
}

struct HubSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send what waits for a hub now.")

    @OptionGroup var hub: NamedHub
    @OptionGroup var places: PathOptions

    func run() async throws {
        let run = try await Wiring(settings: places.settings()).openHub(hub.address)
        // A hub that does not know this station is no hub of which to say so, though nothing waits.
        let hasAll = try await run.finish()
        guard hasAll, run.link.status != .unpaired else { throw ExitCode(ExitStatus.unavailable.rawValue) }
        Output.shared.note("The hub has everything.")
    }
}

struct HubLeaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Give this station's token back and forget it.",
        discussion: """
            What waits in the outbox stays there; pairing again sends it. Where the hub
            is away the token is forgotten here, and scan hub revoke ends it there.
            """)

    @OptionGroup var hub: NamedHub
    @OptionGroup var places: PathOptions

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        var hub = try wiring.pairedHub(hub.address)
        let token = hub.token
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: wiring.userAgent,
            certificateFile: wiring.settings[.caFile], token: { token })
        do throws(HubError) {
            if token != nil { try await client.leave() }
        } catch {
            if error != .revoked {
                Output.shared.complain(
                    "\("\(error)".printable). The token is forgotten here; scan hub revoke \"\(hub.name.printable)\" ends it at the hub."
                )
            }
        }
        hub.token = nil
        try wiring.hubs.save(hub)
        Output.shared.note("Left \(hub.address).")
    }
}

struct HubStationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations", abstract: "List the stations that may capture into this library.")

    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let stations = try await Wiring(settings: places.settings()).openExistingLibrary()?.pairedStations() ?? []
        if stations.isEmpty, !output.json {
            Output.shared.note("No station is paired with this library. On the station: scan hub pair ADDRESS.")
        }
        for station in stations {
            let used = station.lastUsed.map { "last here \($0.rfc3339)" } ?? "never here since"
            let status = station.revoked.map { "revoked \($0.rfc3339)" } ?? used
            Output.shared.line(
                output.json
                    ? station.json.text
                    : "\(station.name.oneLine)  paired \(station.created.rfc3339)  \(status)")
        }
    }
}

struct HubRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a station's token back; what it sent stays.")

    @Argument(help: ArgumentHelp("The station, as scan hub stations lists it.", valueName: "name")) var name: String
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let stations = try await library.pairedStations()
        guard let station = stations.first(where: { $0.name == name || $0.id.rawValue == name }) else {
            let near = name.nearest(among: stations.map(\.name))
            throw CommandError(
                .nothing,
                "there is no station \"\(name.prefix(80).printable)\". "
                    + (near.isEmpty
                        ? "scan hub stations lists them." : "Near: \(near.joined(separator: ", ").printable)."))
        }
        let revoked = try await library.revoke(station.id, at: Date())
        if output.json {
            Output.shared.line(revoked.json.text)
        } else {
            Output.shared.note("\(name.printable) may not send any more.")
        }
    }
}
