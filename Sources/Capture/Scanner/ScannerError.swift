import Glibc

/// Why a handheld scanner cannot be used now.
enum ScannerError: Error, Equatable {
    case cannotOpen(path: String, errno: Int32)
    case notAnInputDevice(path: String)
    /// It has not the keys to type a number.
    case noKeyboard(path: String, name: String)
    /// Where the scanner was, something else is now.
    case another(path: String, name: String, wanted: String)
    /// Another program took it for itself.
    case busy(path: String, name: String)
    case unplugged(path: String)
    case failing(path: String, errno: Int32)
    /// Its keys cannot be awaited.
    case waiting(path: String, errno: Int32)

    /// Whether there is nothing at the path.
    var isMissing: Bool {
        if case .cannotOpen(_, let number) = self { [ENOENT, ENODEV, ENXIO].contains(number) } else { false }
    }
}

extension ScannerError: CustomStringConvertible {
    var description: String {
        switch self {
        case .cannotOpen(let path, EACCES), .cannotOpen(let path, EPERM):
            "cannot open \(path): permission denied. Add yourself to the group 'input' and sign in anew, or give udev a rule for "
                + "your scanner; udev/70-bookplate.rules has an example."
        case .cannotOpen(let path, _) where isMissing:
            "there is no \(path). Plug the scanner in, or see scan devices for its path; it is looked for every second."
        case .cannotOpen(let path, let number):
            "cannot open \(path): \(text(of: number)). See scan devices for the scanner's path; it is tried again every second."
        case .notAnInputDevice(let path):
            "\(path) is no input device. See scan devices for the scanner's path, such as /dev/input/by-id/…-event-kbd."
        case .noKeyboard(let path, let name):
            "\(path) (\(name)) has no digits and Enter to type. See scan devices for the scanner's path, and set the scanner to USB "
                + "keyboard (HID) mode."
        case .another(let path, let name, let wanted):
            "\(path) is \(name) now, which is left alone; \(wanted) is waited for. Name the scanner by its path below "
                + "/dev/input/by-id, which stays the same."
        case .busy(let path, let name):
            "cannot take \(path) (\(name)): another program has taken it for itself. "
                + (DeviceHolder.name(of: path).map { "It is open in \($0). " } ?? "")
                + "End that program; it is tried again every second."
        case .unplugged(let path):
            "the scanner at \(path) was unplugged. Plug it in again; it is looked for every second."
        case .failing(let path, let number):
            "\(path) fails: \(text(of: number)). Unplug the scanner and plug it in again; it is tried again every second."
        case .waiting(let path, let code):
            "cannot listen to \(path): \(text(of: code)). It is tried again every second."
        }
    }
}

private func text(of errno: Int32) -> String { String(cString: strerror(errno)) }
