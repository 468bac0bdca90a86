import CZBar
import Glibc

/// zbar's shared library. The archive that Decoder is linked with contains the image scanner too, but that needs D-Bus.
struct ZBarLibrary {
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
        // RTLD_DEEPBIND prefers the library's own symbols to the archive's of the same names.
        guard let library = dlopen("libzbar.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) else {
            throw PeerError(what: "libzbar.so.0 is not installed: script/install bench")
        }
        func symbol<Function>(_ name: String, as type: Function.Type) throws -> Function {
            guard let address = dlsym(library, name) else { throw PeerError(what: "libzbar.so.0 has no \(name)") }
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
