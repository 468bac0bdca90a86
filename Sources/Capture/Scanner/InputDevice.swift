import CInput
import Foundation
import Glibc
import SystemCalls
import SystemPackage

/// An open input device (/dev/input/eventN). Closing it releases the grab.
struct InputDevice: ~Copyable {
    /// The properties that distinguish two devices to which the kernel gave the same path at different times.
    struct Identity: Equatable {
        var bus: UInt16
        var vendor: UInt16
        var product: UInt16
        var name: String
    }

    let descriptor: FileDescriptor
    let identity: Identity
    private let path: String

    /// Opens the device for reading and identifies it, but does not grab it.
    ///
    /// - Throws: ``ScannerError`` if the device cannot be opened or cannot type a number.
    init(path: String) throws(ScannerError) {
        guard let resolved = realpath(path, nil) else { throw .cannotOpen(path: path, errno: .current) }
        defer { free(resolved) }
        guard String(cString: resolved).hasPrefix("/dev/input/") else { throw .notAnInputDevice(path: path) }
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor.open(
                resolved, .readOnly, options: [.nonBlocking, .closeOnExec, .init(rawValue: O_NOCTTY)])
        } catch {
            throw .cannotOpen(path: path, errno: error as? Errno ?? .ioError)
        }
        do {
            (self.identity, self.descriptor, self.path) =
                (try Self.identify(descriptor.rawValue, path), descriptor, path)
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    deinit { try? descriptor.close() }

    private static func identify(_ descriptor: Int32, _ path: String) throws(ScannerError) -> Identity {
        var version: Int32 = 0
        guard cinput_get_version(descriptor, &version) == 0 else {
            throw errno == ENODEV ? .unplugged(path: path) : .notAnInputDevice(path: path)
        }
        var id = input_id()
        var name = [UInt8](repeating: 0, count: 256)
        var keys = [UInt8](repeating: 0, count: KeySet.byteCount)
        guard cinput_get_id(descriptor, &id) == 0 else { throw .failing(path: path, errno: .current) }
        // The call fails with ENOENT if the device has no name.
        let length = name.withUnsafeMutableBytes {
            cinput_get_name(descriptor, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard length >= 0 || errno == ENOENT else { throw .failing(path: path, errno: .current) }
        guard cinput_get_keys(descriptor, &keys, keys.count) >= 0 else { throw .failing(path: path, errno: .current) }
        let identity = Identity(
            bus: id.bustype, vendor: id.vendor, product: id.product,
            name: String(decoding: name.prefix(max(0, Int(length))).prefix { $0 != 0 }, as: UTF8.self).withoutControls)
        guard KeyLayout.typesNumbers(KeySet(bytes: keys)) else { throw .noKeyboard(path: path, name: identity.name) }
        return identity
    }

    /// Returns true if a key is down now. The corresponding ioctl is EVIOCGKEY.
    func hasPressedKey() throws(ScannerError) -> Bool {
        var keys = [UInt8](repeating: 0, count: KeySet.byteCount)
        guard cinput_get_pressed(descriptor.rawValue, &keys, keys.count) >= 0 else { throw error(.current) }
        return !KeySet(bytes: keys).isEmpty
    }

    /// Grabs the device, so that no other program receives its keys, and switches the time stamps of its events to the
    /// monotonic clock. The corresponding ioctls are EVIOCGRAB and EVIOCSCLOCKID.
    func grab() throws(ScannerError) {
        guard cinput_grab(descriptor.rawValue, 1) == 0 else {
            throw errno == EBUSY ? .busy(path: path, name: identity.name) : error(.current)
        }
        guard cinput_set_clock(descriptor.rawValue, CLOCK_MONOTONIC) == 0 else { throw error(.current) }
    }

    /// Reads the bytes of the pending records. Returns no bytes if no records are pending.
    func read(into buffer: inout [UInt8]) throws(ScannerError) -> ArraySlice<UInt8> {
        let count: Int
        do {
            count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
        } catch Errno.resourceTemporarilyUnavailable {
            return []
        } catch {
            throw self.error(error as? Errno ?? .ioError)
        }
        guard count > 0 else { throw .unplugged(path: path) }
        return buffer[0..<count]
    }

    private func error(_ error: Errno) -> ScannerError {
        error == .operationNotSupportedByDevice ? .unplugged(path: path) : .failing(path: path, errno: error)
    }
}

/// An input device that may be a handheld scanner, in the list that `scan devices` prints.
public struct ScannerDevice: Sendable, Equatable {
    /// The path, such as /dev/input/event5.
    public var path: String
    public var name: String
    /// The path in /dev/input/by-id; `nil` if udev created no such link.
    public var byID: String?
    /// True if the device's name or maker suggests a scanner. Any other device in the list is a keyboard that could be
    /// a scanner.
    public var isLikely: Bool
    /// The reason why the device cannot be opened; `nil` if it can be opened.
    public var refusal: String?

    public init(path: String, name: String, byID: String?, isLikely: Bool, refusal: String?) {
        self.path = path
        self.name = name
        self.byID = byID
        self.isLikely = isLikely
        self.refusal = refusal
    }

    /// Returns the input devices with the keys that a scanner types (digits and Enter), likely scanners first.
    ///
    /// No device is opened for this. The kernel's list in /proc/bus/input/devices can be read by every account.
    public static func all() -> [ScannerDevice] {
        let links = byIDLinks()
        // The file is empty if the kernel has no input devices at all.
        return listed(in: readTextFile("/proc/bus/input/devices", atMost: 1 << 20)).map { device in
            var device = device
            device.byID = links[device.path]
            if access(device.path, R_OK) != 0 {
                device.refusal = ScannerError.cannotOpen(path: device.path, errno: .current).description
            }
            return device
        }
    }

    /// Parses the kernel's list, and returns likely scanners first, each group sorted by number.
    static func listed(in listing: String) -> [ScannerDevice] {
        let devices = listing.components(separatedBy: "\n\n").compactMap { InputListing($0) }
            .sorted { ($0.isLikelyScanner ? 0 : 1, $0.number) < ($1.isLikelyScanner ? 0 : 1, $1.number) }
        return devices.map {
            ScannerDevice(
                path: "/dev/input/event\($0.number)", name: $0.name, byID: nil, isLikely: $0.isLikelyScanner,
                refusal: nil)
        }
    }

    /// Returns the by-id link of each device: /dev/input/event5 → /dev/input/by-id/usb-…-event-kbd.
    private static func byIDLinks() -> [String: String] {
        let folder = "/dev/input/by-id"
        var links: [String: String] = [:]
        for name in fileNames(in: folder).sorted(by: >) {
            let link = "\(folder)/\(name)"
            links[URL(fileURLWithPath: link).resolvingSymlinksInPath().path] = link
        }
        return links
    }
}

/// A device that can type a number, as described in one paragraph of /proc/bus/input/devices.
private struct InputListing {
    let number: Int
    let name: String
    let isLikelyScanner: Bool

    /// - Returns: `nil` for a device that cannot type a number.
    init?(_ paragraph: String) {
        var (name, vendor, number): (String, Int?, Int?) = ("", nil, nil)
        var keys: KeySet?
        for line in paragraph.split(separator: "\n") {
            // I: Bus=0003 Vendor=05e0 Product=1200 Version=0110
            if line.hasPrefix("I: ") {
                vendor = line.split(separator: " ").first { $0.hasPrefix("Vendor=") }
                    .flatMap { Int($0.dropFirst(7), radix: 16) }
            } else if line.hasPrefix("N: Name=") {
                name = line.dropFirst(8).trimmingCharacters(in: ["\""]).withoutControls
            } else if line.hasPrefix("H: Handlers=") {
                number = line.dropFirst(12).split(separator: " ").first { $0.hasPrefix("event") }
                    .flatMap { Int($0.dropFirst(5)) }
            } else if line.hasPrefix("B: KEY=") {
                keys = KeySet(words: line.dropFirst(7))
            }
        }
        guard let number, let keys, KeyLayout.typesNumbers(keys) else { return nil }
        (self.name, self.number) = (name, number)
        let lowercased = name.lowercased()
        isLikelyScanner = Self.words.contains { lowercased.contains($0) } || Self.makers.contains(vendor ?? 0)
    }

    /// Words that occur in the names of scanners, and the names of companies that make few other devices.
    private static let words = [
        "scanner", "barcode", "bar code", "honeywell", "metrologic", "zebra", "symbol", "datalogic", "newland",
        "opticon",
        "netum", "inateck", "tera", "eyoyo",
    ]
    /// The USB vendor numbers of Hand Held Products, Symbol, PSC (Datalogic), Opticon, Metrologic and Newland. Source:
    /// usb.ids
    private static let makers: Set<Int> = [0x0536, 0x05E0, 0x05F9, 0x065A, 0x0C2E, 0x1EAB]
}
