import FoundationEssentials

/// Another device that may capture into this library.
public struct PairedStation: Sendable, Equatable {
    /// The id that the station has assigned. It stays the same when the station is paired again, so that earlier
    /// deliveries still belong to this station.
    public var id: ID<PairedStation>
    /// The name of the station: one line, unique within a library.
    public var name: String
    public var created: Date
    /// The time of the last request, to the minute; `nil` before the first request.
    public var lastUsed: Date?
    /// The time at which the station's token was revoked; `nil` while the station may deliver.
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

    /// The maximum length of a name, in characters.
    public static let longestName = 64
}

/// The stations that may capture into this library, each with a token of 256 random bits, which is stored only as a
/// hash.
public protocol PairedStations: Sendable {
    /// Pairs a station and gives it a new token, which replaces any earlier token. If another station has the same
    /// name, a number is added to the name.
    ///
    /// - Returns: the station and its token, which cannot be read again later.
    /// - Throws: ``StationRefusal``, or ``TextRefusal`` for the name.
    func pair(
        _ id: ID<PairedStation>, named name: String, at now: Date
    ) async throws -> (station: PairedStation, token: String)
    /// Finds the station that a token belongs to.
    ///
    /// - Parameter token: untrusted text from the network.
    /// - Returns: `nil` if the token is unknown or revoked.
    func pairedStation(withToken token: String, at now: Date) async throws -> PairedStation?
    /// Returns all stations, including revoked stations, latest paired first.
    func pairedStations() async throws -> [PairedStation]
    /// Revokes a station's token. Everything that the station has delivered is kept.
    ///
    /// - Throws: ``StationRefusal/none`` if there is no such station.
    func revoke(_ id: ID<PairedStation>, at now: Date) async throws -> PairedStation
}

/// The reason why a station cannot be paired or revoked.
public enum StationRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The id is not a UUID.
    case badID
    case none
    /// There are more stations than any household has, so something is wrong.
    case tooMany(limit: Int)

    public var description: String {
        switch self {
        case .badID: "the station's id is not a UUID"
        case .none: "there is no such station"
        case .tooMany(let limit): "there are already \(limit) stations; revoke stations that you no longer use"
        }
    }
}
