/// What a photo came to that somebody else has read for this program: in a process of its own, with limits.
public struct PhotoReading: Sendable, Equatable {
    /// In reading order.
    public var symbols: [Symbol]
    /// A small upright JPEG of the whole photo; `nil` where none could be made.
    public var thumbnail: [UInt8]?

    public init(symbols: [Symbol], thumbnail: [UInt8]? = nil) {
        self.symbols = symbols
        self.thumbnail = thumbnail
    }
}
