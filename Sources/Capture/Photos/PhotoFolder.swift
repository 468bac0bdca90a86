import Glibc
import SystemCalls
import SystemPackage

/// The photos in a folder and its subfolders, up to ``PhotoLimit/folderDepth`` levels.
public struct PhotoFolder: Sendable {
    /// The paths of the photos, sorted by their bytes so that the order is always the same.
    public private(set) var photos: [String] = []
    /// The errors for subfolders that could not be opened and for files whose names are not valid UTF-8.
    public private(set) var problems: [PhotoError] = []

    /// The file name extensions of photos. Letter case does not matter. A file that the user names directly may have
    /// any extension.
    public static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp", "heic", "heif"]

    /// Searches a folder for photos. Skips hidden files and folders, pipes, sockets and devices. Follows links to files
    /// but not to folders, so that the search cannot loop.
    ///
    /// - Throws: ``PhotoError/cannotOpen(photo:errno:)`` if the folder itself cannot be read.
    public init(below path: String) throws(PhotoError) {
        let root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try walk(root, depth: 0)
        photos.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns true if `path` is a folder.
    public static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func walk(_ folder: String, depth: Int) throws(PhotoError) {
        let names: [[UInt8]]
        do throws(FileError) { names = try storedNames(in: folder) } catch {
            throw .cannotOpen(photo: folder, errno: error.errno)
        }
        var folders: [String] = []
        for bytes in names where bytes.first != UInt8(ascii: ".") {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                // The name is not valid text, so no later message could show it. Report the error here.
                problems.append(
                    .cannotOpen(
                        photo: folder + "/" + String(decoding: bytes, as: UTF8.self), errno: .illegalByteSequence))
                continue
            }
            let path = folder == "/" ? "/" + name : folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            if isLink, stat(path, &status) != 0 { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where !isLink && depth < PhotoLimit.folderDepth: folders.append(path)
            case S_IFREG where Self.extensions.contains(Self.fileExtension(of: name)): photos.append(path)
            default: break
            }
        }
        for folder in folders {
            do throws(PhotoError) { try walk(folder, depth: depth + 1) } catch { problems.append(error) }
        }
    }

    private static func fileExtension(of name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }
}
