import CHeif
import Glibc

/// libheif's functions, found when the first HEIC photo comes. It is never linked: it and its codecs are 31 MB that most stations
/// do not need.
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

    /// nil where it is not installed. Looked for once.
    static let installed = Libheif(library: "libheif.so.1")

    /// - Returns: nil when the library or one of the functions is not there.
    init?(library: String) {
        guard let library = dlopen(library, RTLD_NOW | RTLD_LOCAL) else { return nil }
        func function<Function>(_ name: String, as _: Function.Type = Function.self) -> Function? {
            // A symbol's address is the function's address; the types are those of libheif/heif.h.
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
    }
}
