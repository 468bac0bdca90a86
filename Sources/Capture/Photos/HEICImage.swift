import Bookplate
import CHeif
import Glibc

/// Decodes HEIC with libheif, if it is installed. libheif turns the picture upright (the `irot` and `imir` properties),
/// so the orientation is always `.up`.
struct HEICImage: GreyImage {
    let width: Int
    let height: Int
    let orientation = Orientation.up
    private let bytes: [UInt8]
    private let name: String
    private let libheif: Libheif

    init(_ bytes: [UInt8], name: String, libheif: Libheif? = .installed) throws(PhotoError) {
        guard let libheif else { throw .needsLibheif(photo: name) }
        (self.bytes, self.name, self.libheif) = (bytes, name, libheif)
        (width, height) = try libheif.withPrimaryImage(of: bytes, name: name) { handle throws(PhotoError) in
            let (width, height) = (Int(libheif.handleWidth(handle)), Int(libheif.handleHeight(handle)))
            guard width > 0, height > 0 else {
                throw .damaged(photo: name, format: .heic, reason: "it does not state the size of the picture")
            }
            try PhotoLimit.check(width: width, height: height, photo: name)
            return (width, height)
        }
    }

    func decode(longSide: Int) throws(PhotoError) -> GreyPicture {
        let frame = try libheif.withPrimaryImage(of: bytes, name: name) { handle throws(PhotoError) in
            var image: UnsafeMutableRawPointer?
            try libheif.check(
                libheif.decodeImage(handle, &image, Int32(cheif_colorspace_ycbcr), Int32(cheif_chroma_420), nil), name)
            guard let image else { throw .damaged(photo: name, format: .heic, reason: "it contains no picture") }
            defer { libheif.imageRelease(image) }
            return try luma(of: image)
        }
        return GreyPicture(frame: frame, isDamaged: false)
    }

    private func luma(of image: UnsafeMutableRawPointer) throws(PhotoError) -> Frame {
        let channel = Int32(cheif_channel_y)
        var stride: Int32 = 0
        let bits = Int(libheif.imageBits(image, channel))
        guard let plane = libheif.imagePlane(image, channel, &stride), (8...16).contains(bits),
            Int(libheif.imageWidth(image, channel)) == width, Int(libheif.imageHeight(image, channel)) == height,
            Int(stride) >= width * (bits > 8 ? 2 : 1)
        else {
            throw .damaged(photo: name, format: .heic, reason: "the picture's size differs from the size in the header")
        }
        var frame = Frame(width: width, height: height)
        frame.withMutableLuma { luma in
            for y in 0..<height {
                let row = UnsafeRawPointer(plane) + y * Int(stride)
                for x in 0..<width {
                    luma[y * width + x] =
                        bits == 8
                        ? row.load(fromByteOffset: x, as: UInt8.self)
                        : UInt8(
                            truncatingIfNeeded: row.loadUnaligned(fromByteOffset: x * 2, as: UInt16.self) >> (bits - 8))
                }
            }
        }
        return frame
    }
}

extension Libheif {
    /// Calls `body` with the handle of the file's primary picture.
    fileprivate func withPrimaryImage<Result>(
        of bytes: [UInt8], name: String, _ body: (UnsafeMutableRawPointer) throws(PhotoError) -> Result
    ) throws(PhotoError) -> Result {
        guard let context = contextAlloc() else { throw .outOfMemory(photo: name) }
        defer { contextFree(context) }
        // libheif keeps reading from the bytes, so they must stay in place as long as the context exists.
        let result = bytes.withUnsafeBytes { data -> Swift.Result<Result, PhotoError> in
            do throws(PhotoError) {
                try check(readFromMemory(context, data.baseAddress, data.count, nil), name)
                var handle: UnsafeMutableRawPointer?
                try check(primaryHandle(context, &handle), name)
                guard let handle else { throw .damaged(photo: name, format: .heic, reason: "it has no picture") }
                defer { handleRelease(handle) }
                return .success(try body(handle))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    fileprivate func check(_ error: heif_error, _ name: String) throws(PhotoError) {
        guard error.code != 0 else { return }
        // libheif uses the same error code for a picture that exceeds its own limits.
        if error.code == Int32(cheif_error_memory), error.subcode != Int32(cheif_suberror_security_limit) {
            throw .outOfMemory(photo: name)
        }
        let reason = error.message.map { String(cString: $0) } ?? "error \(error.code)"
        throw .damaged(photo: name, format: .heic, reason: reason)
    }
}

/// The functions of libheif, which is loaded when the first HEIC photo is read. The library is not linked, because most
/// stations do not need it, and it takes up 31 MB with its codecs.
struct Libheif: Sendable {
    let contextAlloc: cheif_context_alloc
    let contextFree: cheif_context_free
    let readFromMemory: cheif_context_read_from_memory_without_copy
    let primaryHandle: cheif_context_get_primary_image_handle
    let handleRelease: cheif_image_handle_release
    let handleWidth: cheif_image_handle_get_width
    let handleHeight: cheif_image_handle_get_height
    let decodeImage: cheif_decode_image
    let imageRelease: cheif_image_release
    let imageWidth: cheif_image_get_width
    let imageHeight: cheif_image_get_height
    let imageBits: cheif_image_get_bits_per_pixel_range
    let imagePlane: cheif_image_get_plane_readonly
    /// `nil` for a version whose decoders are part of the library.
    let initialise: cheif_init?

    /// The installed library, which is loaded only once; `nil` if it is not installed.
    static let installed = Libheif(library: "libheif.so.1")

    /// - Returns: `nil` if the library or one of its functions is missing.
    init?(library: String) {
        guard let library = dlopen(library, RTLD_NOW | RTLD_LOCAL) else { return nil }
        func function<Function>(_ name: String, as _: Function.Type = Function.self) -> Function? {
            // A symbol's address is the function's address; the types match the declarations in libheif/heif.h.
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let contextAlloc: cheif_context_alloc = function("heif_context_alloc"),
            let contextFree: cheif_context_free = function("heif_context_free"),
            let readFromMemory: cheif_context_read_from_memory_without_copy =
                function("heif_context_read_from_memory_without_copy"),
            let primaryHandle: cheif_context_get_primary_image_handle =
                function("heif_context_get_primary_image_handle"),
            let handleRelease: cheif_image_handle_release = function("heif_image_handle_release"),
            let handleWidth: cheif_image_handle_get_width = function("heif_image_handle_get_width"),
            let handleHeight: cheif_image_handle_get_height = function("heif_image_handle_get_height"),
            let decodeImage: cheif_decode_image = function("heif_decode_image"),
            let imageRelease: cheif_image_release = function("heif_image_release"),
            let imageWidth: cheif_image_get_width = function("heif_image_get_width"),
            let imageHeight: cheif_image_get_height = function("heif_image_get_height"),
            let imageBits: cheif_image_get_bits_per_pixel_range = function("heif_image_get_bits_per_pixel_range"),
            let imagePlane: cheif_image_get_plane_readonly = function("heif_image_get_plane_readonly")
        else {
            dlclose(library)
            return nil
        }
        (self.contextAlloc, self.contextFree, self.readFromMemory) = (contextAlloc, contextFree, readFromMemory)
        (self.primaryHandle, self.handleRelease) = (primaryHandle, handleRelease)
        (self.handleWidth, self.handleHeight) = (handleWidth, handleHeight)
        (self.decodeImage, self.imageRelease) = (decodeImage, imageRelease)
        (self.imageWidth, self.imageHeight) = (imageWidth, imageHeight)
        (self.imageBits, self.imagePlane) = (imageBits, imagePlane)
        initialise = function("heif_init")
    }
}
