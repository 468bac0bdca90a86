import FoundationEssentials

/// Another device that may capture into this library.
public struct PairedStation: Sendable, Equatable {
    /// Made by the station itself, and the same when it pairs again: what it sent before stays its own.
    public var id: ID<PairedStation>
    /// One line, no two of a library alike.
    public var name: String
    public var created: Date
    /// To the minute; `nil` before the first request.
    public var lastUsed: Date?
    /// When its token was taken back; `nil` while it may send.
    public var revoked: Date?

    public init(id: ID<PairedStation>, name: String, created: Date, lastUsed: Date? = nil, revoked: Date? = nil) {
        self.id = id
        self.name = name
        self.created = created
        self.lastUsed = lastUsed
        self.revoked = revoked
    }

    /// One line of `scan hub stations --json`.
    public var json: JSONValue {
        [
            "id": .string(id.rawValue), "name": .string(name), "created": .string(created.rfc3339),
            "lastUsed": JSONValue(lastUsed?.rfc3339), "revoked": JSONValue(revoked?.rfc3339),
        ]
    }

    /// The longest name, in characters.
    public static let longestName = 64
}

/// The stations that may capture into this library, each by a token of 256 random bits of which only a hash is kept.
public protocol PairedStations: Sendable {
    /// Lets a station in, with a new token; an earlier one of the same station ends. A name that another station has gets a number.
    ///
    /// - Returns: the token as text, told this once.
    /// - Throws: ``StationRefusal``, ``TextRefusal`` for the name.
    func pair(
        _ id: ID<PairedStation>, named name: String, at now: Date
    ) async throws -> (station: PairedStation, token: String)
    /// - Parameter token: anything at all, as it came over the network.
    /// - Returns: whose it is; `nil` when it is nobody's, or was revoked.
    func pairedStation(withToken token: String, at now: Date) async throws -> PairedStation?
    /// The latest paired first, revoked ones among them.
    func pairedStations() async throws -> [PairedStation]
    /// Takes a station's token back. What it sent stays.
    ///
    /// - Throws: ``StationRefusal/none``.
    func revoke(_ id: ID<PairedStation>, at now: Date) async throws -> PairedStation
}

/// Why a station is not let in, or cannot be revoked.
public enum StationRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Its id is no UUID.
    case badID
    case none
    /// There are so many that something is wrong.
    case tooMany(limit: Int)

    public var description: String {
        switch self {
        case .badID: "the station's id is no UUID"
        case .none: "there is no such station"
        case .tooMany(let limit): "there are \(limit) stations already; revoke those that are gone"
        }
    }
}
