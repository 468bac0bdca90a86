import Bookplate
import SystemCalls
import Foundation

/// A hub that this station is paired with.
public struct PairedHub: Sendable, Equatable, Codable {
    /// The address in the form of ``HubAddress/description``.
    public var address: String
    /// The token; `nil` if the station has left the hub, or if its token was revoked.
    public var token: String?
    /// The name under which the hub lists this station.
    public var name: String
    /// The id of this station at the hub. It is kept when the station leaves the hub, so that earlier items still
    /// belong to the station after it has been paired again.
    public var station: ID<PairedStation>

    /// The hub's own certificate authority in PEM, after a person has compared it; `nil` if the hub has none.
    public var authority: String?
    /// The address with which the outbox was begun, if it was another one; see ``HubAddress/name``.
    public var outboxAddress: String?

    public init(
        address: String, token: String?, name: String, station: ID<PairedStation>, authority: String? = nil,
        outboxAddress: String? = nil
    ) {
        (self.address, self.token, self.name, self.station) = (address, token, name, station)
        (self.authority, self.outboxAddress) = (authority, outboxAddress)
    }
}

extension PairedHub {
    /// The name of the hub's outbox, a folder; see ``HubAddress/name``.
    ///
    /// - Throws: ``HubError/badAddress(_:)`` if the stored address is damaged.
    public func outboxName() throws(HubError) -> String { try HubAddress(outboxAddress ?? address).name }
}

/// The file with the hubs of a station and their tokens. Only the owner of the file can read it.
public struct PairedHubs: Sendable {
    private let path: String

    /// - Parameter path: the path of the file, usually `$XDG_CONFIG_HOME/bookplate/hub.json`.
    public init(path: String) { self.path = path }

    private struct Content: Codable { var hubs: [PairedHub] }

    /// The size in bytes up to which the file is read. A hub needs some 200.
    private static let sizeLimit = 1 << 20

    /// Returns the hubs in the order in which they were paired; an empty list if there is no file.
    ///
    /// - Throws: ``PairedHubsError`` if the file cannot be read.
    public func all() throws(PairedHubsError) -> [PairedHub] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readFile(path, limit: Self.sizeLimit)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return [] }
            throw .unreadable(error)
        }
        do { return try JSONDecoder().decode(Content.self, from: Data(bytes)).hubs } catch {
            throw .garbled(path: path)
        }
    }

    public func hub(at address: HubAddress) throws(PairedHubsError) -> PairedHub? {
        try all().first { $0.address == address.description }
    }

    /// Saves a hub. It replaces an earlier hub at the same address.
    ///
    /// - Parameter earlier: the address at which the same hub was paired so far, which is then forgotten.
    public func save(_ hub: PairedHub, replacing earlier: HubAddress? = nil) throws(PairedHubsError) {
        var hubs = try all()
        let replaced = earlier?.description ?? hub.address
        if let index = hubs.firstIndex(where: { $0.address == replaced }) {
            hubs[index] = hub
        } else {
            hubs.append(hub)
        }
        do {
            try write(hubs)
        } catch {
            throw .unwritable(error as? FileError ?? FileError(path: path, errno: .invalidArgument))
        }
    }

    /// Writes the file. If writing fails, the temporary file is removed, so that no token is left behind in a file that
    /// nobody would look for.
    private func write(_ hubs: [PairedHub]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(Content(hubs: hubs)) + Data("\n".utf8)
        try createFolder(folder(of: path))
        try replaceFile(path, with: data, mode: 0o600)
    }
}

/// The reason why the file with the hubs cannot be read or written.
public enum PairedHubsError: Error, Sendable, Equatable, CustomStringConvertible {
    case garbled(path: String)
    case unreadable(FileError)
    case unwritable(FileError)

    public var description: String {
        switch self {
        case .garbled(let path):
            "cannot read the list of hubs in \(path): the file is damaged. Delete it, and pair again with 'scan hub pair'"
        case .unreadable(let error): "cannot read the list of hubs in \(error)"
        case .unwritable(let error): "cannot write the list of hubs to \(error)"
        }
    }
}

extension PairedHubsError: Refusal {
    public var kind: RefusalKind {
        switch self {
        case .garbled: .configuration
        case .unreadable(let error), .unwritable(let error): error.isAboutPath ? .configuration : .inputOutput
        }
    }

    public var namesFile: Bool { true }

    public var code: String {
        switch self {
        case .garbled: "hubsGarbled"
        case .unreadable: "hubsUnreadable"
        case .unwritable: "hubsUnwritable"
        }
    }
}
