import SystemCalls
import SystemPackage

/// Returns the beginning of one of the kernel's text files, or an empty text if the file cannot be read, for example
/// because it described a process that has ended.
func readTextFile(_ path: String, atMost limit: Int) -> String {
    do throws(FileError) { return String(decoding: try readFile(path, limit: limit), as: UTF8.self) } catch {
        return ""
    }
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
