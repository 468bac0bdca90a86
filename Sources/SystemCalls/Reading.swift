import Glibc
import SystemPackage

/// Reads the beginning of a file.
///
/// - Parameter limit: the maximum number of bytes to read.
public func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: max(0, min(limit, 1 << 16)))
    do {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        try file.closeAfter {
            while bytes.count < limit {
                let room = min(buffer.count, limit - bytes.count)
                let count = try buffer.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[..<room])) }
                if count == 0 { break }
                bytes += buffer[..<count]
            }
        }
    } catch {
        throw FileError(path: path, errno: error as? Errno ?? .ioError)
    }
    return bytes
}

/// Returns the names in a folder, without "." and "..", in any order. Returns no names if the folder is missing or
/// cannot be read, such as the folder of another user's process.
public func fileNames(in folder: String) -> [String] {
    do throws(FileError) {
        return try storedNames(in: folder).map { String(decoding: $0, as: UTF8.self) }
    } catch {
        return []
    }
}

/// Returns the names in a folder, without "." and "..", in any order. They are the bytes that the file system stores,
/// which need not be valid text.
public func storedNames(in folder: FilePath) throws(FileError) -> [[UInt8]] {
    guard let stream = folder.withPlatformString({ opendir($0) }) else {
        throw FileError(path: folder.string, errno: .current)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 }) }
        if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { names.append(name) }
    }
    return names
}

/// Returns the names in a folder, without "." and "..", in any order, as the bytes that the file system stores.
public func storedNames(in folder: String) throws(FileError) -> [[UInt8]] { try storedNames(in: FilePath(folder)) }

extension FilePath {
    /// Creates a path from the bytes of a name, which need not be valid text. A zero byte ends the path.
    public init(bytes: some Sequence<UInt8>) {
        let terminated = Array(bytes) + [0]
        self = terminated.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CInterop.PlatformChar.self) { characters in
                characters.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
            }
        }
    }
}
