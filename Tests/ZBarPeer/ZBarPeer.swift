import CZBar

/// zbar's own image scanner from its shared library, as other programs use it, with every row and column, and only one
/// kind of code.
///
/// Not for two threads at once.
public struct ZBarPeer {
    private let zbar: ZBarLibrary
    private let scanner: OpaquePointer
    private let image: OpaquePointer

    /// - Parameter readsQRCodes: true to read QR codes, false to read EAN-13.
    /// - Throws: ``PeerError`` if the library is not installed.
    public init(readsQRCodes: Bool = false) throws {
        zbar = try ZBarLibrary()
        guard let scanner = zbar.createScanner(), let image = zbar.createImage()
        else { throw PeerError(what: "the peer does not start") }
        (self.scanner, self.image) = (scanner, image)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        _ = zbar.setConfig(scanner, readsQRCodes ? ZBAR_QRCODE : ZBAR_EAN13, ZBAR_CFG_ENABLE, 1)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_X_DENSITY, 1)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_Y_DENSITY, 1)
        zbar.enableCache(scanner, 0)
        // "Y800", its first letter in the lowest byte (zbar_fourcc).
        zbar.setFormat(image, "Y800".utf8.reversed().reduce(0) { $0 << 8 | UInt($1) })
    }

    /// - Parameter luma: `height` rows of `width` bytes.
    public func read(_ luma: UnsafeBufferPointer<UInt8>, width: Int, height: Int) throws -> [String] {
        zbar.setSize(image, UInt32(width), UInt32(height))
        zbar.setData(image, luma.baseAddress, UInt(luma.count), nil)
        guard zbar.scan(scanner, image) >= 0 else { throw PeerError(what: "zbar_scan_image failed") }
        var codes: [String] = []
        var symbol = zbar.firstSymbol(image)
        while let found = symbol {
            if let data = zbar.data(found) { codes.append(String(cString: data)) }
            symbol = zbar.nextSymbol(found)
        }
        return codes
    }
}

public struct PeerError: Error {
    public var what: String
}
