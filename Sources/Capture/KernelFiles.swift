import Glibc
import SystemPackage

/// Returns the names in a folder, without "." and "..". Returns no names if the folder is missing or cannot be read,
/// such as the folder of another user's process.
func entries(of folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { names.append(name) }
    }
    return names
}

/// Returns the beginning of one of the kernel's text files; an empty text if it cannot be read.
func readTextFile(_ path: String, atMost limit: Int) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(limit, 64 << 10))
    do {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        try file.closeAfter {
            while bytes.count < limit {
                let room = min(chunk.count, limit - bytes.count)
                let count = try chunk.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[..<room])) }
                if count == 0 { break }
                bytes.append(contentsOf: chunk[..<count])
            }
        }
    } catch {
        // If a process ends while its files are read, return the part that was read so far.
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension Errno {
    /// True if the error means that a device does not exist, or no longer exists.
    var isDeviceGone: Bool {
        [.operationNotSupportedByDevice, .noSuchAddressOrDevice, .noSuchFileOrDirectory].contains(self)
    }
}

extension String {
    /// The text as one line without control characters. Names of devices are printed to terminals, and a device or
    /// driver can put any characters into its name.
    var withoutControls: String {
        let scalars = unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
