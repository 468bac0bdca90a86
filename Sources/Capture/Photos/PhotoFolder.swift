import Glibc
import SystemCalls
import SystemPackage

/// The photos in a folder and its subfolders, up to ``PhotoLimit/folderDepth`` levels.
public struct PhotoFolder: Sendable {
    /// The paths of the photos, sorted by their bytes so that the order is always the same. They need not be valid
    /// text.
    public private(set) var photos: [FilePath] = []
    /// The errors for subfolders that could not be opened.
    public private(set) var problems: [PhotoError] = []

    /// The file name extensions of photos. Letter case does not matter. A file that the user names directly may have
    /// any extension.
    public static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp", "heic", "heif"]

    /// Searches a folder for photos. Skips hidden files and folders, pipes, sockets and devices. Follows links to files
    /// but not to folders, so that the search cannot loop.
    ///
    /// - Throws: ``PhotoError/cannotOpen(photo:errno:)`` if the folder itself cannot be read.
    public init(below path: FilePath) throws(PhotoError) {
        try walk(path, depth: 0)
        photos.sort { one, other in
            one.withPlatformString { one in other.withPlatformString { strcmp(one, $0) < 0 } }
        }
    }

    /// Returns true if `path` is a folder. If nothing is there, or it cannot be examined, it is opened as a photo, and
    /// the error gives the reason.
    public static func isFolder(_ path: FilePath) -> Bool { (try? path.stat())?.type == .directory }

    private mutating func walk(_ folder: FilePath, depth: Int) throws(PhotoError) {
        let names: [[UInt8]]
        do throws(FileError) { names = try storedNames(in: folder) } catch {
            throw .cannotOpen(photo: folder.string, errno: error.errno)
        }
        var folders: [FilePath] = []
        for name in names where name.first != UInt8(ascii: ".") {
            let path = folder.appending(FilePath(bytes: name).components)
            // A file that was removed meanwhile is skipped, and so is a link that leads nowhere.
            guard let own = try? path.stat(followTargetSymlink: false),
                let facts = own.type == .symbolicLink ? try? path.stat() : own
            else { continue }
            switch facts.type {
            case .directory where own.type == .directory && depth < PhotoLimit.folderDepth: folders.append(path)
            case .regular where Self.extensions.contains(path.extension?.lowercased() ?? ""): photos.append(path)
            default: break
            }
        }
        for folder in folders {
            do throws(PhotoError) { try walk(folder, depth: depth + 1) } catch { problems.append(error) }
        }
    }
}
