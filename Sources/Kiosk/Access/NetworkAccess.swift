import Bookplate
import FoundationEssentials
import Glibc
import Hummingbird

/// Sets the access code, and chooses the addresses on which other devices reach the service.
///
/// The first code is set only from this machine, where nobody needs a code, and the addresses are chosen only there. A
/// code that is set is changed only by somebody who knows it.
struct NetworkAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/network", for: .household, show),
            Route(.put, "/api/network", for: .household, choose),
            Route(.put, "/api/access-code", for: .household, setCode),
        ]
    }

    private func show(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(try await parts.networkState(context).json)
    }

    private func choose(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["listen"])
        let choice = try sent.text("listen")
        guard choice != .keep else { throw RequestRefusal(.missingField, "The request must contain \"listen\".") }
        guard context.isAtMachine else { throw RequestRefusal.onlyAtMachine }
        guard let network = parts.ports.network else {
            throw RequestRefusal(
                .fixed, "The addresses are set with \(parts.addressSource).", values: ["by": parts.addressSource])
        }
        if let address = choice.value {
            guard try await context.library.hasAccessCode() else { throw RequestRefusal.noCode }
            guard
                NetworkChoice.isGroup(address)
                    || parts.configuration.ownAddresses().contains(where: { $0.text == address })
            else {
                throw RequestRefusal(.noAddress, "This machine has no such address. Choose one of those listed.")
            }
        }
        try network.store(choice.value)
        await parts.listeners.update()
        return JSONResponse(try await parts.networkState(context).json)
    }

    private func setCode(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["code", "old"])
        let code = try sent.text("code").required(as: "code")
        let (old, now) = (try sent.text("old").value, parts.ports.now())
        if let old {
            let device = DeviceName.describe(request.headers[.userAgent] ?? "")
            parts.connections.forget(context.connection)
            let check = try await context.library.changeAccessCode(
                from: old, to: code, from: context.address, device: device, at: now)
            // Not 401: whoever gives a wrong code here is signed in already.
            if check == .wrong { throw RequestRefusal(.wrongOldCode, "That is not the present access code.") }
            if let refusal = RequestRefusal(of: check) { throw refusal }
            // Whoever knew only the old code may have made one.
            parts.invitations.endAll()
        } else {
            guard context.isAtMachine else { throw RequestRefusal.onlyAtMachine }
            guard try await context.library.setFirstAccessCode(code, at: now) else {
                throw RequestRefusal(.wrongOldCode, "An access code is set already. Enter it to change it.")
            }
        }
        await parts.listeners.update()
        return JSONResponse(["code": .bool(true)])
    }
}

extension RequestRefusal {
    fileprivate static let onlyAtMachine = RequestRefusal(
        .elsewhere,
        "This can be changed only at the station itself, in a browser that opens the page at 127.0.0.1 or localhost.")
}

/// The ways in which other devices reach the service, or could.
struct NetworkState: Sendable {
    var hasCode: Bool
    /// True if the caller may change the choice.
    var mayChange: Bool
    /// The option or variable that determines the address; `nil` if it is chosen on a page.
    var fixedBy: String?
    /// The stored choice (``NetworkChoice/stored``).
    var choice: String?
    var ports: ListeningPorts
    /// The machine's addresses, the usual one first.
    var own: [MachineAddress]
    /// The state of each address on which the service should listen.
    var outcomes: [String: NetworkListeners.Outcome]

    /// The addresses at which other devices reach the service, the best one first.
    var open: [String] { own.map(\.text).filter { outcomes[$0] == .listening } }

    /// The port at which other devices reach the service.
    var port: Int { ports.https ?? ports.http }

    func url(_ host: String) -> String {
        let scheme = ports.https == nil ? "http" : "https"
        return "\(scheme)://\(HostNames.bracketed(host)):\(port)/"
    }

    var json: JSONValue {
        [
            "code": .bool(hasCode), "changeable": .bool(mayChange), "fixedBy": JSONValue(fixedBy),
            "listen": JSONValue(choice),
            "addresses": .array(
                own.map { address in
                    [
                        "address": .string(address.text), "interface": .string(address.interface),
                        "private": .bool(address.isPrivate), "url": .string(url(address.text)),
                        "state": .string(state(of: address.text)),
                    ]
                }),
        ]
    }

    private func state(of address: String) -> String {
        switch outcomes[address] {
        case .listening: "listening"
        case .failed: "failed"
        case nil: "closed"
        }
    }
}

extension KioskParts {
    func networkState(_ context: KioskContext) async throws -> NetworkState {
        let usual = MachineAddress.usual()
        func rank(_ address: MachineAddress) -> Int {
            address.text == usual ? 0 : address.isIPv6 ? 3 : address.isPrivate ? 1 : 2
        }
        let own = configuration.ownAddresses().enumerated().sorted {
            (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
        }.map(\.element)
        var outcomes = listeners.outcomes
        // The address with which the service was started.
        for address in own where NetworkChoice.includes(address, in: configuration.address) {
            outcomes[address.text] = .listening
        }
        return NetworkState(
            hasCode: try await context.library.hasAccessCode(),
            mayChange: context.isAtMachine && ports.network != nil, fixedBy: ports.network == nil ? addressSource : nil,
            choice: try ports.network?.stored(),
            ports: listeners.listening ?? ListeningPorts(http: configuration.port, https: configuration.tls?.port),
            own: own,
            outcomes: outcomes)
    }

    /// Returns the beginning of the service's addresses for other devices. It is that of the page itself, unless every
    /// machine means itself with this name. Behind a proxy, and with a certificate from elsewhere, it is the configured
    /// name.
    func address(for request: Request, _ context: KioskContext) async throws -> String {
        // CrossSite has checked that the Origin is one of the service's own.
        let origin = request.headers[.origin]?.lowercased() ?? ""
        let name = HostNames.parts(of: origin.split(separator: "/").last.map(String.init) ?? "")?.name ?? ""
        if HostNames.isLoopback(name) {
            let state = try await networkState(context)
            let isProxied = configuration.isBehindProxy
            if let name = configuration.names.first, isProxied || configuration.tls?.authority == nil {
                if isProxied { return "https://\(name)" }
                if let port = state.ports.https { return "https://\(name):\(port)" }
            }
            if let best = state.open.first { return String(state.url(best).dropLast()) }
        }
        return origin
    }

    /// The option or variable that determines the addresses.
    fileprivate var addressSource: String { configuration.addressSource ?? "--listen" }

    /// Returns the values of the template `other-devices`, which shows on which addresses other devices reach the
    /// service, with a QR code, and lets people at this machine change it.
    func otherDevices(_ context: KioskContext) async throws -> View {
        let (state, texts) = (try await networkState(context), pages.texts(context))
        var view: View = [
            "hasCode": state.hasCode, "isAtMachine": context.isAtMachine, "mayChoose": state.mayChange && state.hasCode,
            "shortest": String(AccessCodeRefusal.shortest), "isOpen": !state.open.isEmpty,
        ]
        if let by = state.fixedBy { view["fixed"] = texts("network.fixed", ["by": by]) }
        if let best = state.open.first {
            let address = state.url(best)
            view["address"] = address
            if state.ports.https == nil {
                view["isPlain"] = true
            } else if let authority = try configuration.tls?.authority?() {
                // The page that explains the warning comes before it, and therefore over plain http.
                let plain = "http://\(HostNames.bracketed(best)):\(state.ports.http)/trust"
                view["encrypted"] = texts("network.encrypted", ["link": plain])
                view["fingerprint"] = texts("network.fingerprint", ["words": authority.words])
                view["hash"] = authority.fingerprint
            }
            view["others"] = state.open.dropFirst().map(state.url) + names.map(state.url)
            view["code"] = QRCode(address)?.view(texts("network.qrCode", ["address": address]))
        }
        view["problems"] = state.outcomes.sorted { $0.key < $1.key }.compactMap { address, outcome -> String? in
            guard case .failed(let code) = outcome else { return nil }
            let reason = texts(code == EADDRINUSE ? "network.inUse" : "network.notPossible")
            return texts("network.failed", ["address": address, "port": String(state.port), "reason": reason])
        }
        if let choice = state.choice, !NetworkChoice.isGroup(choice), !state.own.contains(where: { $0.text == choice })
        {
            view["missing"] = texts("network.missing", ["address": choice])
        }
        view["choices"] = choices(state, texts)
        return view
    }

    /// Returns the choices: nobody else, all networks, and each address.
    private func choices(_ state: NetworkState, _ texts: Texts) -> [View] {
        var choices: [(value: String, label: String)] = [("", texts("network.none"))]
        choices.append((NetworkChoice.allIPv4, texts("network.all")))
        choices += state.own.map { address in
            let label = address.isPrivate ? "network.one" : "network.public"
            return (address.text, texts(label, ["address": address.text, "interface": address.interface]))
        }
        if let choice = state.choice, !choices.contains(where: { $0.value == choice }) {
            choices.append((choice, choice == NetworkChoice.all ? texts("network.all") + " (IPv6)" : choice))
        }
        return choices.map { ["value": $0.value, "label": $0.label, "isChosen": $0.value == state.choice ?? ""] }
    }

    /// The names by which browsers may call the service: the configured ones, and that of the machine if a service
    /// announces it in the network (RFC 6762).
    private var names: [String] {
        let announced = access("/run/avahi-daemon/socket", F_OK) == 0 ? [MachineAddress.hostName() + ".local"] : []
        return announced + configuration.names
    }
}
