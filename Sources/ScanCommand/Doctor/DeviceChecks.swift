import Capture

/// What of this machine's devices is a camera, and whether this account may open it.
struct DeviceChecks {
    let devices: [CameraDevice]
    let access: [DeviceAccess]

    /// As the machine and the account are now.
    static func ofThisMachine() -> DeviceChecks {
        let devices = CameraDevice.all()
        return DeviceChecks(devices: devices, access: devices.compactMap { DeviceAccess(path: $0.path) })
    }

    var all: [Check] { [cameras] + (permission.map { [$0] } ?? []) }

    var cameras: Check {
        let usable = devices.filter { $0.refusal == nil }
        let refused = devices.compactMap { device in
            device.refusal.map { "\(device.path) (\($0.brief))" }
        }
        guard !usable.isEmpty else {
            return refused.isEmpty
                ? Check("cameras", .attention, "none is connected", next: "Plug in a USB webcam; it needs no driver.")
                : Check(
                    "cameras", .attention, "none can be used: \(refused.joined(separator: ", "))",
                    next: "scan devices says more of each.")
        }
        let left = refused.isEmpty ? "" : "; not used: \(refused.joined(separator: ", "))"
        let names = usable.map { "\($0.path) \($0.name) (\($0.bus))" }.joined(separator: ", ")
        return Check("cameras", .ok, names + left)
    }

    /// - Returns: `nil` where there is nothing to open.
    var permission: Check? {
        guard !access.isEmpty else { return nil }
        if let open = access.first(where: \.isOpen) {
            return Check("permission", .ok, "this account may open \(open.path)")
        }
        return access[0].check
    }
}

extension DeviceAccess {
    /// For a device that may not be opened.
    var check: Check {
        let rule =
            "sudo cp udev/70-bookplate.rules /etc/udev/rules.d/ && sudo udevadm control --reload && sudo udevadm trigger"
        guard let group, isGroupEnough else {
            return Check(
                "permission", .broken, "\(path) may be opened by its owner alone",
                next: "Install the udev rule, which gives it to the group video: \(rule)")
        }
        if isMember, !isInSession {
            return Check(
                "permission", .broken,
                "\(path) is for the group \(group): this account is in it, but this session is older than that",
                next: "Log out and in again.")
        }
        guard !isMember else {
            return Check(
                "permission", .broken, "\(path) cannot be opened, although this account is in the group \(group)",
                next: "Something else forbids it: a container, or a security policy. dmesg may tell.")
        }
        return Check(
            "permission", .broken, "\(path) is for the group \(group), and this account is not in it",
            next: "sudo usermod -aG \(group) $USER, then log out and in again.")
    }
}

extension String {
    /// What is the matter, without what to do about it: a refusal up to its semicolon.
    var brief: String { split(separator: ";", maxSplits: 1).first.map(String.init) ?? self }
}
