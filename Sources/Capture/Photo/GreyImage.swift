import Bookplate

/// One format's way to grey levels. ``PhotoFile`` asks it, keeps what it gave and scales that down.
protocol GreyImage {
    /// Size as stored, before EXIF turns it.
    var width: Int { get }
    var height: Int { get }
    var orientation: Orientation { get }

    /// The whole picture in grey, the long side at least `longSide` where the picture has that much; larger where the format
    /// cannot scale.
    func decode(longSide: Int) throws(PhotoError) -> Decoded
}

/// Grey levels, and whether something was missing.
struct Decoded {
    var frame: Frame
    /// The decoder went on over missing or wrong data; what it did not have is grey or white.
    var isDamaged: Bool
}
