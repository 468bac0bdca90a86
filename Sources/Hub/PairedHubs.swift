import Bookplate
import Foundation

/// A hub that this station is paired with.
public struct PairedHub: Sendable, Equatable, Codable {
    /// As ``HubAddress/description`` writes it.
    public var address: String
    /// `nil` once it was left, or known to be revoked.
    public var token: String?
    /// Under which name the hub lists this station.
    public var name: String
    /// Who this station is to the hub: kept when it leaves, so that what it sent stays its own when it pairs again.
    public var station: ID<PairedStation>

    public init(address: String, token: String?, name: String, station: ID<PairedStation>) {
        self.address = address
        self.token = token
        self.name = name
        self.station = station
    }
}

/// The file in which a station keeps its hubs and their tokens: readable by its owner alone.
public struct PairedHubs: Sendable {
    private let path: String

    /// - Parameter path: `$XDG_CONFIG_HOME/bookplate/hub.json`
    public init(path: String) { self.path = path }

    private struct Content: Codable { var hubs: [PairedHub] }

    /// In the order of pairing; none where there is no file.
    ///
    /// - Throws: ``PairedHubsError``.
    public func all() throws(PairedHubsError) -> [PairedHub] {
        do {
            return try JSONDecoder().decode(Content.self, from: Data(contentsOf: URL(fileURLWithPath: path))).hubs
        } catch CocoaError.fileReadNoSuchFile {
            return []
        } catch is DecodingError {
            throw .garbled(path: path)
        } catch {
            throw .unreadable(path: path, why: error.localizedDescription)
        }
    }

    public func hub(at address: HubAddress) throws(PairedHubsError) -> PairedHub? {
        try all().first { $0.address == address.description }
    }

    /// Puts a hub in, in the place of an earlier one at the address.
    public func keep(_ hub: PairedHub) throws(PairedHubsError) {
        var hubs = try all()
        if let place = hubs.firstIndex(where: { $0.address == hub.address }) {
            hubs[place] = hub
        } else {
            hubs.append(hub)
        }
        do { try write(hubs) } catch { throw .unwritable(path: path, why: error.localizedDescription) }
    }

    /// Replaces the file whole: written beside it with its rights from the start, synced, renamed, and its folder synced (rename(2)
    /// alone does not survive a power cut).
    private func write(_ hubs: [PairedHub]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(Content(hubs: hubs)) + Data("\n".utf8)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let temporary = folder.appendingPathComponent(".hub-\(UUID().uuidString).json").path
        do {
            guard
                FileManager.default.createFile(atPath: temporary, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteNoPermission) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary))
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
            guard rename(temporary, path) == 0 else { throw Self.failure(errno) }
        } catch {
            // No token stays behind where nobody would look for it.
            unlink(temporary)
            throw error
        }
        try Self.sync(folder.path)
    }

    private static func sync(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        // File systems that cannot sync a folder say so; there the names go to the disk by themselves.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure(errno) }
    }

    private static func failure(_ code: Int32) -> NSError { NSError(domain: NSPOSIXErrorDomain, code: Int(code)) }
}

/// What can go wrong with the file of hubs.
public enum PairedHubsError: Error, Sendable, Equatable, CustomStringConvertible {
    case garbled(path: String)
    case unreadable(path: String, why: String)
    case unwritable(path: String, why: String)

    public var description: String {
        switch self {
        case .garbled(let path): "the hubs in \(path) make no sense. Delete the file and pair again with scan hub pair"
        case .unreadable(let path, let why): "cannot read the hubs in \(path): \(why)"
        case .unwritable(let path, let why): "cannot write the hubs to \(path): \(why)"
        }
    }
}

extension PairedHubsError: Refusal {
    public var kind: RefusalKind { .configuration }
    public var namesFile: Bool { true }

    public var code: String {
        switch self {
        case .garbled: "hubsGarbled"
        case .unreadable: "hubsUnreadable"
        case .unwritable: "hubsUnwritable"
        }
    }
}
