/// What a photo may be. All are looked at before memory is taken for the picture: a JPEG of 294 bytes can ask for 8 GB.
public enum PhotoLimit {
    /// Bytes of the file.
    public static let bytes = 32 << 20
    public static let pixels = 50_000_000
    /// Pixels of the longer side.
    public static let side = 12_000
    /// Scans of a progressive JPEG. Encoders write about ten; each costs a pass over the whole picture.
    public static let scans = 100
    /// Folders below the one that is walked.
    public static let folderDepth = 32

    /// - Throws: ``PhotoError/tooManyPixels(photo:width:height:)``.
    static func check(width: Int, height: Int, photo: String) throws(PhotoError) {
        guard width <= side, height <= side, width * height <= pixels else {
            throw .tooManyPixels(photo: photo, width: width, height: height)
        }
    }
}
