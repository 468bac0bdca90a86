import FoundationEssentials

/// The identity of something that the library stores: a UUID in lower case, made here and never copied from another
/// system.
public struct ID<Entity>: Hashable, Sendable, RawRepresentable, Codable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an identity whose text sorts by its time of creation (UUID version 7, RFC 9562, 5.7).
    public init() {
        let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        var bytes = withUnsafeBytes(of: UUID().uuid) { Array($0) }
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index)) }
        bytes[6] = bytes[6] & 0x0F | 0x70
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        rawValue = uuid.uuidString.lowercased()
    }

    public var description: String { rawValue }
}
