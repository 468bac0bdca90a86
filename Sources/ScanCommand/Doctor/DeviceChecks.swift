import Capture
import Foundation

/// Judges which of this machine's devices are usable cameras, and whether this account may open them.
struct DeviceChecks {
    let devices: [CameraDevice]
    let access: [DeviceAccess]

    /// Examines this machine and this account.
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
                ? Check("cameras", .attention, "none connected", next: "Plug in a USB webcam; it needs no driver.")
                : Check(
                    "cameras", .attention, "none can be used: \(refused.joined(separator: ", "))",
                    next: "To see details of each, run 'scan devices'.")
        }
        let left = refused.isEmpty ? "" : "; not used: \(refused.joined(separator: ", "))"
        let names = usable.map { "\($0.path) \($0.name) (\($0.bus))" }.joined(separator: ", ")
        return Check("cameras", .ok, names + left)
    }

    /// The check of the permission to open a camera; `nil` if there is no camera to open.
    var permission: Check? {
        guard !access.isEmpty else { return nil }
        if let open = access.first(where: \.isOpen) {
            return Check("permission", .ok, "this account may open \(open.path)")
        }
        return access[0].check
    }
}

extension DeviceAccess {
    /// The check of a device that this account may not open.
    var check: Check {
        let rule =
            "sudo cp udev/70-bookplate.rules /etc/udev/rules.d/ && sudo udevadm control --reload && sudo udevadm trigger"
        guard let group, isGroupEnough else {
            return Check(
                "permission", .broken, "only the owner of \(path) may open it",
                next: "Install the udev rule, which gives the group \"video\" access: \(rule)")
        }
        if isMember, !isInSession {
            return Check(
                "permission", .broken,
                "the group \"\(group)\" may open \(path), but this account joined the group after this session began",
                next: "Log out and in again.")
        }
        guard !isMember else {
            return Check(
                "permission", .broken, "\(path) cannot be opened, although this account is in the group \"\(group)\"",
                next:
                    "Something else denies access, such as a container or a security policy. The kernel log (dmesg) may show the reason."
            )
        }
        return Check(
            "permission", .broken,
            "the group \"\(group)\" may open \(path), but this account is not in the group",
            next: "Run 'sudo usermod -aG \(group) $USER', then log out and in again.")
    }
}

extension String {
    /// The reason in a refusal, without the advice: the text before the first semicolon.
    var brief: String { split(separator: ";", maxSplits: 1).first.map(String.init) ?? self }
}

/// The permission of this process to open a device, with the facts that explain a missing permission.
struct DeviceAccess: Equatable {
    var path: String
    var isOpen: Bool
    /// The name of the group that the device belongs to; `nil` if the group has no name.
    var group: String?
    /// True if the device's group may read and write the device.
    var isGroupEnough: Bool
    /// True if the account belongs to the device's group according to the machine's group file. A change in that file
    /// takes effect at the next log-in.
    var isMember: Bool
    /// True if this process belongs to the device's group.
    var isInSession: Bool

    init(path: String, isOpen: Bool, group: String?, isGroupEnough: Bool, isMember: Bool, isInSession: Bool) {
        (self.path, self.isOpen, self.group) = (path, isOpen, group)
        (self.isGroupEnough, self.isMember, self.isInSession) = (isGroupEnough, isMember, isInSession)
    }

    /// Examines a device.
    ///
    /// - Returns: `nil` if there is no such device.
    init?(path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        let group = groupName(facts.st_gid)
        self.init(
            path: path, isOpen: access(path, R_OK | W_OK) == 0, group: group,
            isGroupEnough: facts.st_mode & (S_IRGRP | S_IWGRP) == S_IRGRP | S_IWGRP,
            isMember: accountGroups().contains(facts.st_gid), isInSession: sessionGroups().contains(facts.st_gid))
    }
}

/// Returns the name of a group, with getgrgid_r(3).
private func groupName(_ id: gid_t) -> String? {
    var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
    // The buffer is large enough for a group with a thousand members.
    var buffer = [CChar](repeating: 0, count: 64 << 10)
    guard getgrgid_r(id, &entry, &buffer, buffer.count, &found) == 0, let found else { return nil }
    return String(cString: found.pointee.gr_name)
}

/// Returns the groups of this process. The effective group is added, because getgroups(2) may leave it out.
private func sessionGroups() -> Set<gid_t> {
    var groups = [gid_t](repeating: 0, count: 65_536)
    let count = getgroups(Int32(groups.count), &groups)
    return Set(groups.prefix(max(0, Int(count)))).union([getegid()])
}

/// Returns the groups that a new session of this account would have, with getgrouplist(3).
private func accountGroups() -> Set<gid_t> {
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    var buffer = [CChar](repeating: 0, count: 64 << 10)
    guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, let found else { return [] }
    var groups = [gid_t](repeating: 0, count: 4096)
    var count = Int32(groups.count)
    guard getgrouplist(found.pointee.pw_name, found.pointee.pw_gid, &groups, &count) >= 0 else { return [] }
    return Set(groups.prefix(Int(count)))
}
