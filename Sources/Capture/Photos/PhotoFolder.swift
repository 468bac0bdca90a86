import Glibc

/// The photos of a folder and of the folders in it, to ``PhotoLimit/folderDepth`` levels.
public struct PhotoFolder: Sendable {
    /// Paths, sorted by their bytes, so that two walks give the same order.
    public private(set) var photos: [String] = []
    /// Folders in it that could not be opened.
    public private(set) var problems: [PhotoError] = []

    /// What counts as a photo here: the name's ending, in any case. Files named by a person are judged by their bytes alone.
    public static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp", "heic", "heif"]

    /// Walks the folder. Hidden names are left out. A link to a file is followed and a link to a folder is not, so no loop is
    /// possible; pipes, sockets and devices are passed over.
    ///
    /// - Throws: ``PhotoError/cannotOpen(photo:errno:)`` when the folder itself cannot be read.
    public init(below path: String) throws(PhotoError) {
        let root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try walk(root, depth: 0)
        photos.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether `path` is a folder, so that a command knows which of the two it was given.
    public static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func walk(_ folder: String, depth: Int) throws(PhotoError) {
        guard let stream = opendir(folder) else { throw .cannotOpen(photo: folder, errno: errno) }
        var folders: [String] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { raw in Array(raw.prefix { $0 != 0 }) }
            if bytes.first == UInt8(ascii: ".") { continue }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                // Such a name cannot be written as text, so no message could name the photo: told instead of passed over.
                problems.append(
                    .cannotOpen(photo: folder + "/" + String(decoding: bytes, as: UTF8.self), errno: EILSEQ))
                continue
            }
            let path = folder == "/" ? "/" + name : folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            if isLink, stat(path, &status) != 0 { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where !isLink && depth < PhotoLimit.folderDepth: folders.append(path)
            case S_IFREG where Self.extensions.contains(Self.ending(of: name)): photos.append(path)
            default: break
            }
        }
        // Closed before going down: one descriptor, however deep it goes.
        closedir(stream)
        for folder in folders {
            do throws(PhotoError) { try walk(folder, depth: depth + 1) } catch { problems.append(error) }
        }
    }

    private static func ending(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }
}
