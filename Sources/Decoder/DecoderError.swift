/// Why no code can be looked for at all. A picture without a code is not an error.
public enum DecoderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// zbar could not be set up.
    case outOfMemory

    public var description: String {
        "cannot start the bar code decoder: out of memory. Close other programs and try again."
    }
}
