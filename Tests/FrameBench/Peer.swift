import CTurboJPEG
import CZBar
import Foundation

/// libjpeg-turbo to grey and zbar's own image scanner, from its shared library: what other programs use.
struct Peer {
    private let jpeg: tjhandle
    private let zbar: ZBarLibrary
    private let scanner: OpaquePointer
    private let image: OpaquePointer
    private var luma: [UInt8] = []

    init() throws {
        zbar = try ZBarLibrary()
        guard let jpeg = tjInitDecompress(), let scanner = zbar.createScanner(), let image = zbar.createImage()
        else { throw BenchError(what: "the peer does not start") }
        (self.jpeg, self.scanner, self.image) = (jpeg, scanner, image)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
        _ = zbar.setConfig(scanner, ZBAR_EAN13, ZBAR_CFG_ENABLE, 1)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_X_DENSITY, 1)
        _ = zbar.setConfig(scanner, ZBAR_NONE, ZBAR_CFG_Y_DENSITY, 1)
        zbar.enableCache(scanner, 0)
        // "Y800", its first letter lowest (zbar_fourcc).
        zbar.setFormat(image, "Y800".utf8.reversed().reduce(0) { $0 << 8 | UInt($1) })
    }

    mutating func read(_ buffer: Buffer) throws -> [String] {
        let (width, height) = (buffer.width, buffer.height)
        if luma.count != width * height { luma = [UInt8](repeating: 0, count: width * height) }
        let (jpeg, zbar, scanner, image) = (jpeg, zbar, scanner, image)
        return try luma.withUnsafeMutableBufferPointer { luma in
            switch buffer.packing {
            case .mjpg:
                let status = buffer.bytes.withUnsafeBufferPointer {
                    tjDecompress2(
                        jpeg, $0.baseAddress, UInt($0.count), luma.baseAddress, Int32(width), Int32(width),
                        Int32(height),
                        Int32(TJPF_GRAY.rawValue), 0)
                }
                guard status == 0 else { throw BenchError(what: "a frame of the recording is damaged") }
            case .yuyv:
                buffer.copyLuma(to: luma)
            }
            zbar.setSize(image, UInt32(width), UInt32(height))
            zbar.setData(image, luma.baseAddress, UInt(luma.count), nil)
            guard zbar.scan(scanner, image) >= 0 else { throw BenchError(what: "zbar_scan_image failed") }
            var codes: [String] = []
            var symbol = zbar.firstSymbol(image)
            while let found = symbol {
                if let data = zbar.data(found) { codes.append(String(cString: data)) }
                symbol = zbar.nextSymbol(found)
            }
            return codes
        }
    }
}

/// zbar's shared library. The archive that Decoder is linked with has the image scanner too, but that needs D-Bus.
private struct ZBarLibrary {
    typealias Create = @convention(c) () -> OpaquePointer?
    typealias SetConfig = @convention(c) (OpaquePointer, zbar_symbol_type_t, zbar_config_t, Int32) -> Int32
    typealias EnableCache = @convention(c) (OpaquePointer, Int32) -> Void
    typealias SetFormat = @convention(c) (OpaquePointer, UInt) -> Void
    typealias SetSize = @convention(c) (OpaquePointer, UInt32, UInt32) -> Void
    typealias SetData = @convention(c) (OpaquePointer, UnsafeRawPointer?, UInt, UnsafeRawPointer?) -> Void
    typealias Scan = @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    typealias Symbol = @convention(c) (OpaquePointer) -> OpaquePointer?
    typealias Text = @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?

    let createScanner: Create
    let createImage: Create
    let setConfig: SetConfig
    let enableCache: EnableCache
    let setFormat: SetFormat
    let setSize: SetSize
    let setData: SetData
    let scan: Scan
    let firstSymbol: Symbol
    let nextSymbol: Symbol
    let data: Text

    init() throws {
        // Its own symbols before the archive's of the same names.
        guard let library = dlopen("libzbar.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) else {
            throw BenchError(what: "libzbar.so.0 is not installed: script/install bench")
        }
        func symbol<Function>(_ name: String, as type: Function.Type) throws -> Function {
            guard let address = dlsym(library, name) else { throw BenchError(what: "libzbar.so.0 has no \(name)") }
            return unsafeBitCast(address, to: type)
        }
        createScanner = try symbol("zbar_image_scanner_create", as: Create.self)
        createImage = try symbol("zbar_image_create", as: Create.self)
        setConfig = try symbol("zbar_image_scanner_set_config", as: SetConfig.self)
        enableCache = try symbol("zbar_image_scanner_enable_cache", as: EnableCache.self)
        setFormat = try symbol("zbar_image_set_format", as: SetFormat.self)
        setSize = try symbol("zbar_image_set_size", as: SetSize.self)
        setData = try symbol("zbar_image_set_data", as: SetData.self)
        scan = try symbol("zbar_scan_image", as: Scan.self)
        firstSymbol = try symbol("zbar_image_first_symbol", as: Symbol.self)
        nextSymbol = try symbol("zbar_symbol_next", as: Symbol.self)
        data = try symbol("zbar_symbol_get_data", as: Text.self)
    }
}
