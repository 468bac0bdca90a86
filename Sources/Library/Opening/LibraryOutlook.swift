import Glibc

extension LibraryFile {
    /// Whether a library could be made at a path where there is none; nothing is written.
    ///
    /// - Returns: the folder that it would be made in, or the nearest above it that exists.
    /// - Throws: ``LibraryError`` when that folder cannot be written, or lies on a network file system.
    public static func outlook(at path: String) throws(LibraryError) -> String {
        var parent = folder(of: realPath(path))
        while try fileFacts(parent) == nil, folder(of: parent) != parent { parent = folder(of: parent) }
        if let network = try FileSystemKind.network(at: parent) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        guard access(parent, W_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: parent) }
        return parent
    }
}
