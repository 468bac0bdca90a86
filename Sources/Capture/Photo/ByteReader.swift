/// Numbers at places of untrusted bytes: every read is checked, nothing traps.
struct ByteReader {
    let bytes: ArraySlice<UInt8>
    var bigEndian = true

    init(_ bytes: ArraySlice<UInt8>, bigEndian: Bool = true) {
        self.bytes = bytes
        self.bigEndian = bigEndian
    }

    var count: Int { bytes.count }

    /// - Returns: nil when it does not lie within the bytes.
    func slice(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + count)]
    }

    func uint8(at offset: Int) -> Int? { number(at: offset, size: 1) }
    func uint16(at offset: Int) -> Int? { number(at: offset, size: 2) }
    func uint32(at offset: Int) -> Int? { number(at: offset, size: 4) }

    private func number(at offset: Int, size: Int) -> Int? {
        guard let field = slice(at: offset, count: size) else { return nil }
        return bigEndian
            ? field.reduce(0) { $0 << 8 | Int($1) }
            : field.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
