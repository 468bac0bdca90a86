/// Finds the bar codes of a picture.
public protocol SymbolDecoder {
    /// - Returns: every EAN-13 in reading order, each once, add-ons joined to the code they stand beside; empty when there is
    ///   none. Corners are in pixels of the upright full-size image.
    /// - Throws: the picture's own error when its data is damaged, or the decoder's when memory runs out.
    mutating func decode(_ picture: some Picture) throws -> [Symbol]
}
