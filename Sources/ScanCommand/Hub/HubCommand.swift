import ArgumentParser
import Bookplate
import Certificates
import Foundation
import Hub
import Library
import Terminal

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Add scanned books to another station's library, and let other stations add to this one.",
        discussion: """
            A hub is a station whose library 'scan kiosk' serves. Pair this station with
            the hub once, using the hub's access code. Then 'scan --hub ADDRESS' adds
            scanned books to the hub's library. They are first stored on this device,
            and sent to the hub when it can be reached. Over the internet, use https;
            at home, http is enough.

              scan hub pair 192.168.0.20            on the station
              scan --hub 192.168.0.20 --shelf Attic
              scan hub status                       the hubs, and their waiting books
              scan hub send                         send the waiting books now
              scan hub leave
              scan hub stations                     on the hub: the stations that may add
              scan hub revoke kitchen-pi
            """,
        subcommands: [
            HubPairCommand.self, HubStatusCommand.self, HubSendCommand.self, HubLeaveCommand.self,
            HubStationsCommand.self, HubRevokeCommand.self,
        ])
}

/// The hub to use, if this station is paired with several.
struct NamedHub: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The hub's address; not needed if this station has only one hub.", valueName: "address"),
        completion: .values(.hub))
    var address: String?
}

struct HubPairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Pair this station with a hub, using the hub's access code.",
        discussion: """
            Asks for the code without showing it. Without a terminal, it reads one line
            from standard input. The token that the hub returns is stored beside the
            settings file, in hub.json, which only you can read. Pairing again replaces
            the token.

            A hub with a certificate of its own (scan kiosk --tls) shows words in its
            Settings, under "Use it on other devices". Compare them with those that this
            command shows; without a terminal, give them with --words. If the hub was
            paired at another address so far, add --replaces: the books that wait for it
            move over.

              scan hub pair 192.168.0.20
              scan hub pair https://192.168.0.20:8279 --replaces 192.168.0.20
            """)

    @Argument(help: ArgumentHelp("The hub's address: https://books.example, or 192.168.0.20.", valueName: "address"))
    var address: String
    @Option(
        help: ArgumentHelp(
            "The name under which the hub lists this station (default: the host name).", valueName: "name"))
    var name: String?
    @Option(
        help: ArgumentHelp(
            "The address at which this station was paired with the same hub so far.", valueName: "address"),
        completion: .values(.hub))
    var replaces: String?
    @Option(
        help: ArgumentHelp(
            "The words that the hub shows for its certificate authority; instead of the question.",
            valueName: "words"))
    var words: String?
    @OptionGroup var paths: PathOptions

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        let address = try HubAddress(address)
        let earlier = try replaces.map { try wiring.pairedHub($0) }
        let known = try wiring.hubs.hub(at: address)
        let outbox = known?.outboxAddress ?? earlier.map { $0.outboxAddress ?? $0.address }
        let outboxName = try HubAddress(outbox ?? address.description).name
        let others = try wiring.hubs.all().filter { ![known?.address, earlier?.address].contains($0.address) }
        if let other = try others.first(where: { try $0.outboxName() == outboxName }) {
            throw CommandError(
                .usage,
                "the outbox for \(address) is that of \(other.address), with which this station is paired. If it is the same hub, add --replaces \(other.address)."
            )
        }
        if let earlier, known != nil {
            throw CommandError(
                .usage,
                "this station is already paired with \(address), so that cannot replace \(earlier.address). Leave out --replaces."
            )
        }
        let name = try (name ?? ProcessInfo.processInfo.hostName).checked(
            as: "station name", limit: PairedStation.longestName)
        let station = (known ?? earlier)?.station ?? ID()
        let authority = try await trustedAuthority(of: address, known: known?.authority, wiring)
        guard let code = SecretLine.read("Access code for \(address): "), !code.isEmpty else {
            throw CommandError(.usage, "no access code was given.")
        }
        let client = HubClient(
            address: address, userAgent: wiring.userAgent, certificateFile: wiring.settings[.caFile],
            authority: authority, token: { nil })
        let paired = try await client.pair(code: code, name: name, station: station)
        try wiring.hubs.save(
            PairedHub(
                address: address.description, token: paired.token, name: paired.name, station: station,
                authority: authority, outboxAddress: outbox),
            replacing: try earlier.map { try HubAddress($0.address) })
        Output.shared.printNotice(
            "Paired with \(address) as \"\(paired.name.printable)\". To add scanned books to its library, run 'scan --hub \(self.address)'."
        )
    }
}

extension HubPairCommand {
    /// Returns the hub's own certificate authority, if its certificate comes from one that this station does not know
    /// otherwise. A person has compared it.
    ///
    /// - Parameter known: the authority of an earlier pairing, in PEM.
    /// - Returns: `nil` if the hub needs none.
    private func trustedAuthority(
        of address: HubAddress, known: String?, _ wiring: Wiring
    ) async throws -> String? {
        // A hub without an authority of its own, or that has one no longer, needs none.
        for authority in known == nil ? [nil] : [known, nil] {
            let client = HubClient(
                address: address, userAgent: wiring.userAgent, certificateFile: wiring.settings[.caFile],
                authority: authority, token: { nil })
            do throws(HubError) {
                try await client.connect()
                return authority
            } catch {
                guard error == .unknownAuthority else { throw error }
            }
        }
        let client = HubClient(
            address: address, userAgent: wiring.userAgent, certificateFile: nil, token: { nil })
        let read = try await client.readAuthority(userAgent: wiring.userAgent)
        let authority: AuthorityCertificate
        do { authority = try AuthorityCertificate(der: read) } catch {
            throw HubError.notAHub("its certificate authority is not a certificate: \(error)")
        }
        if let words {
            let given = words.lowercased().split { !$0.isLetter }.joined(separator: " ")
            guard given == authority.words else { throw Self.imitated(address) }
            return authority.pem
        }
        Output.shared.printNotice(
            """
            The certificate of \(address) comes from an authority of its own:

                \(authority.words)

            Compare these words with those in the hub's Settings, under "Use it on other devices".
            """)
        let mayGoOn = try Asking.mayGoOn(
            "Are they the same?", yes: false, json: false,
            .choice(
                "somebody has to compare the words of the hub's certificate authority. Without a terminal, give those that the hub shows with --words."
            ))
        guard mayGoOn else { throw Self.imitated(address) }
        return authority.pem
    }

    private static func imitated(_ address: HubAddress) -> CommandError {
        CommandError(
            .permission,
            "the words are not those of the server that answers at \(address), so nothing was sent: another machine may be imitating the hub."
        )
    }
}

struct HubStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the hubs of this station, and how many captured books wait for each.",
        discussion: "  scan hub status")

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        var hasHub = false
        for hub in try wiring.hubs.all() {
            let waiting = try await waiting(for: hub, wiring)
            // A hub that this station has left is listed only if captures still wait for it.
            if hub.token == nil, waiting == 0 { continue }
            hasHub = true
            let status = try await status(of: hub, wiring)
            if output.json {
                let line: JSONValue = [
                    "address": .string(hub.address), "name": .string(hub.name), "standing": .string(status.word),
                    "waiting": .integer(waiting),
                ]
                Output.shared.printLine(line.text)
            } else {
                let backlog = waiting == 0 ? "nothing waiting" : "\(waiting) waiting"
                Output.shared.printLine("\(hub.address)  \(status.text)  \(backlog)")
            }
        }
        if !hasHub, !output.json { Output.shared.printNotice("This station is not paired with a hub.") }
    }

    private func status(of hub: PairedHub, _ wiring: Wiring) async throws -> (word: String, text: String) {
        guard hub.token != nil else { return ("unpaired", "no longer paired") }
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: wiring.userAgent,
            certificateFile: wiring.settings[.caFile], authority: hub.authority, token: { hub.token })
        do throws(HubError) {
            _ = try await client.status(of: [])
            return ("up", "connected as \"\(hub.name.printable)\"")
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
        commandName: "send", abstract: "Send the waiting books to a hub now.",
        discussion: """
            If the hub was restored to an older backup, this also sends what the backup
            lacks, from the last 30 days. A hub that has another library than before gets
            only what waits, unless you add --all.

              scan hub send
            """)

    @OptionGroup var hub: NamedHub
    @Flag(help: "Also send what the hub received with an earlier library, in the last 30 days.") var all = false
    @OptionGroup var paths: PathOptions

    func run() async throws {
        let run = try await Wiring(settings: paths.settings()).openHub(hub.address)
        if all {
            // First the hub is asked which library it has now.
            _ = try await run.finish()
            try await run.outbox.deliverToPresentLibrary()
        }
        // If the hub no longer knows this station, it cannot have received everything, even if nothing waits.
        let status = try await run.finish().and(run.link.status == .unpaired ? .unavailable : .success)
        guard status == .success else { throw ExitCode(status.rawValue) }
        Output.shared.printNotice("The hub has received everything.")
    }
}

struct HubLeaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "End the pairing with a hub, and delete this station's token.",
        discussion: """
            Books that wait in the outbox stay there, and are sent when you pair again.
            If the hub cannot be reached, the token is deleted only on this station. To
            revoke it at the hub, run 'scan hub revoke' there.

              scan hub leave
            """)

    @OptionGroup var hub: NamedHub
    @OptionGroup var paths: PathOptions

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        var hub = try wiring.pairedHub(hub.address)
        let token = hub.token
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: wiring.userAgent,
            certificateFile: wiring.settings[.caFile], authority: hub.authority, token: { token })
        do throws(HubError) {
            if token != nil { try await client.leave() }
        } catch {
            if error != .revoked {
                Output.shared.printError(
                    "\("\(error)".printable). The token was deleted only on this station. To revoke it at the hub, run 'scan hub revoke \"\(hub.name.printable)\"' there."
                )
            }
        }
        hub.token = nil
        try wiring.hubs.save(hub)
        Output.shared.printNotice("Left \(hub.address).")
    }
}

struct HubStationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations", abstract: "List the stations that may add books to this library.",
        discussion: "  scan hub stations")

    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let stations =
            try await Wiring(settings: paths.settings(), isForAllReaders: true).openExistingLibrary()?.pairedStations()
            ?? []
        if stations.isEmpty, !output.json {
            Output.shared.printNotice(
                "No station is paired with this library. To pair a station, run 'scan hub pair ADDRESS' on it.")
        }
        for station in stations {
            if output.json {
                Output.shared.printLine(station.json)
                continue
            }
            let localTime = LocalTime.current
            let used = station.lastUsed.map { "last seen \(localTime.dateTime($0))" } ?? "not seen since"
            let status = station.revoked.map { "revoked \(localTime.dateTime($0))" } ?? used
            Output.shared.printLine(
                "\(station.name.oneLine)  paired \(localTime.dateTime(station.created))  \(status)")
        }
    }
}

struct HubRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a station's token, but keep the books that it sent.",
        discussion: "  scan hub revoke kitchen-pi")

    @Argument(
        help: ArgumentHelp("The station, as 'scan hub stations' lists it.", valueName: "name"),
        completion: .values(.station)) var name: String
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings(), isForAllReaders: true).requireLibrary()
        let stations = try await library.pairedStations()
        guard let station = stations.first(where: { $0.name == name || $0.id.rawValue == name }) else {
            let near = name.nearest(among: stations.map(\.name))
            throw CommandError(
                .nothing,
                "there is no station \"\(name.prefix(80).printable)\". "
                    + (near.isEmpty
                        ? "To list the stations, run 'scan hub stations'."
                        : "Did you mean \(near.joined(separator: ", ").printable)?"))
        }
        let revoked = try await library.revoke(station.id, at: Date())
        if output.json {
            Output.shared.printLine(revoked.json)
        } else {
            Output.shared.printNotice("The station \"\(name.printable)\" can no longer send books to this library.")
        }
    }
}
