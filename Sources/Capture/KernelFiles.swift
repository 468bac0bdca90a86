import Glibc
import SystemPackage

/// Returns the names in a folder, without "." and ".."; empty if it is missing or unreadable, as other users' processes
/// are.
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

/// Reads the beginning of one of the kernel's text files; empty if it cannot be read.
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
        // A process that ends while its files are read leaves what was read so far.
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension Errno {
    /// The error of the last C call of this thread.
    static var current: Errno { Errno(rawValue: errno) }

    /// True if a device is not there, or no longer there.
    var isDeviceGone: Bool {
        [.operationNotSupportedByDevice, .noSuchAddressOrDevice, .noSuchFileOrDirectory].contains(self)
    }
}

/// Makes a C call, again if a signal interrupts it.
///
/// SystemPackage does this for its own calls; this is for the ones it does not have, such as ioctl().
///
/// - Returns: the error; `nil` if the call succeeded.
func retryOnInterrupt(_ call: () -> Int32) -> Errno? {
    while call() < 0 {
        let error = Errno.current
        if error != .interrupted { return error }
    }
    return nil
}

extension String {
    /// The text without control characters, as one line. A device or driver can put anything into its name, and names
    /// are printed to terminals.
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
