import Glibc

/// Who has a device open, as far as this account may see.
enum DeviceHolder {
    /// - Returns: such as "zoom (process 1234)"; of several those that have its buffers mapped, since session managers keep
    ///   every camera open without using it. `nil` when none can be seen.
    static func name(of path: String) -> String? {
        var device = stat()
        guard stat(path, &device) == 0, device.st_rdev != 0 else { return nil }
        let holders = entries(of: "/proc").filter { Int($0) != nil && holds($0, device.st_rdev) }
        let using = holders.filter { textFile("/proc/\($0)/maps", atMost: 4 << 20).contains(path + "\n") }
        let named = (using.isEmpty ? holders : using).prefix(3).map { process in
            let name = textFile("/proc/\(process)/comm", atMost: 64).filter { !$0.isNewline }
            return "\(name.isEmpty ? "a program" : name) (process \(process))"
        }
        return named.isEmpty ? nil : named.joined(separator: ", ")
    }

    private static func holds(_ process: String, _ device: dev_t) -> Bool {
        entries(of: "/proc/\(process)/fd").contains { descriptor in
            var file = stat()
            return stat("/proc/\(process)/fd/\(descriptor)", &file) == 0 && file.st_rdev == device
                && file.st_mode & S_IFMT == S_IFCHR
        }
    }
}
