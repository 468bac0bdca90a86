import CInput
import Foundation
import Glibc

/// An open input device (/dev/input/eventN). Closing it gives it back where it was taken.
struct InputDevice: ~Copyable {
    /// What tells one device from another that the kernel puts at the same path.
    struct Identity: Equatable {
        var bus: UInt16
        var vendor: UInt16
        var product: UInt16
        var name: String
    }

    let descriptor: Int32
    let identity: Identity
    private let path: String

    /// Opens the device to read, and sees what it is; nothing is taken from anybody yet.
    ///
    /// - Throws: ``ScannerError`` when it cannot be opened, or could not type a number.
    init(path: String) throws(ScannerError) {
        guard let resolved = realpath(path, nil) else { throw .cannotOpen(path: path, errno: errno) }
        defer { free(resolved) }
        guard String(cString: resolved).hasPrefix("/dev/input/") else { throw .notAnInputDevice(path: path) }
        let descriptor = open(resolved, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, errno: errno) }
        do {
            (self.identity, self.descriptor, self.path) = (try Self.identify(descriptor, path), descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private static func identify(_ descriptor: Int32, _ path: String) throws(ScannerError) -> Identity {
        var version: Int32 = 0
        guard cinput_get_version(descriptor, &version) == 0 else {
            throw errno == ENODEV ? .unplugged(path: path) : .notAnInputDevice(path: path)
        }
        var id = input_id()
        var name = [UInt8](repeating: 0, count: 256)
        var keys = [UInt8](repeating: 0, count: KeySet.byteCount)
        guard cinput_get_id(descriptor, &id) == 0 else { throw .failing(path: path, errno: errno) }
        // A device without a name answers ENOENT.
        let length = name.withUnsafeMutableBytes {
            cinput_get_name(descriptor, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard length >= 0 || errno == ENOENT else { throw .failing(path: path, errno: errno) }
        guard cinput_get_keys(descriptor, &keys, keys.count) >= 0 else { throw .failing(path: path, errno: errno) }
        let identity = Identity(
            bus: id.bustype, vendor: id.vendor, product: id.product,
            name: String(decoding: name.prefix(max(0, Int(length))).prefix { $0 != 0 }, as: UTF8.self).withoutControls)
        guard KeyLayout.typesNumbers(KeySet(bytes: keys)) else { throw .noKeyboard(path: path, name: identity.name) }
        return identity
    }

    /// Whether a key is down now. The corresponding ioctl is EVIOCGKEY.
    func hasPressedKey() throws(ScannerError) -> Bool {
        var keys = [UInt8](repeating: 0, count: KeySet.byteCount)
        guard cinput_get_pressed(descriptor, &keys, keys.count) >= 0 else { throw failure(errno) }
        return !KeySet(bytes: keys).isEmpty
    }

    /// From now on nobody else gets its keys, and its events are stamped by a clock that nobody sets. EVIOCGRAB, EVIOCSCLOCKID.
    func grab() throws(ScannerError) {
        guard cinput_grab(descriptor, 1) == 0 else {
            throw errno == EBUSY ? .busy(path: path, name: identity.name) : failure(errno)
        }
        guard cinput_set_clock(descriptor, CLOCK_MONOTONIC) == 0 else { throw failure(errno) }
    }

    /// The bytes of the records that have come, empty when there are none now.
    func read(into buffer: inout [UInt8]) throws(ScannerError) -> ArraySlice<UInt8> {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count > 0 { return buffer[0..<count] }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        throw count == 0 ? .unplugged(path: path) : failure(errno)
    }

    private func failure(_ number: Int32) -> ScannerError {
        number == ENODEV ? .unplugged(path: path) : .failing(path: path, errno: number)
    }
}

/// An input device that may be a handheld scanner, as `scan devices` lists it.
public struct ScannerDevice: Sendable, Equatable {
    /// /dev/input/event5
    public var path: String
    public var name: String
    /// Below /dev/input/by-id, `nil` where udev gives none.
    public var byID: String?
    /// Whether its name or maker says scanner; else it is a keyboard that could be one.
    public var isLikely: Bool
    /// Why it cannot be opened, `nil` when it can.
    public var refusal: String?

    public init(path: String, name: String, byID: String?, isLikely: Bool, refusal: String?) {
        self.path = path
        self.name = name
        self.byID = byID
        self.isLikely = isLikely
        self.refusal = refusal
    }

    /// Input devices with the keys that a scanner types (digits and Enter), the likely ones first.
    ///
    /// None is opened: the kernel lists them for everybody in /proc/bus/input/devices.
    public static func all() -> [ScannerDevice] {
        let links = byIDLinks()
        // Empty where the kernel has no input devices at all.
        return listed(in: textFile("/proc/bus/input/devices", atMost: 1 << 20)).map { device in
            var device = device
            device.byID = links[device.path]
            if access(device.path, R_OK) != 0 {
                device.refusal = ScannerError.cannotOpen(path: device.path, errno: errno).description
            }
            return device
        }
    }

    /// What the kernel's list says, the likely ones first, in the order of their numbers.
    static func listed(in listing: String) -> [ScannerDevice] {
        let devices = listing.components(separatedBy: "\n\n").compactMap { InputListing($0) }
            .sorted { ($0.isLikelyScanner ? 0 : 1, $0.number) < ($1.isLikelyScanner ? 0 : 1, $1.number) }
        return devices.map {
            ScannerDevice(
                path: "/dev/input/event\($0.number)", name: $0.name, byID: nil, isLikely: $0.isLikelyScanner,
                refusal: nil)
        }
    }

    /// /dev/input/event5 → /dev/input/by-id/usb-…-event-kbd
    private static func byIDLinks() -> [String: String] {
        let folder = "/dev/input/by-id"
        var links: [String: String] = [:]
        for name in entries(of: folder).sorted(by: >) {
            let link = "\(folder)/\(name)"
            links[URL(fileURLWithPath: link).resolvingSymlinksInPath().path] = link
        }
        return links
    }
}

/// One paragraph of /proc/bus/input/devices: what could type a number.
private struct InputListing {
    let number: Int
    let name: String
    let isLikelyScanner: Bool

    /// - Returns: nil for a device that could not.
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

    /// What scanners and those who make little else call themselves.
    private static let words = [
        "scanner", "barcode", "bar code", "honeywell", "metrologic", "zebra", "symbol", "datalogic", "newland",
        "opticon",
        "netum", "inateck", "tera", "eyoyo",
    ]
    /// USB vendor numbers: Hand Held Products, Symbol, PSC (Datalogic), Opticon, Metrologic, Newland. Source: usb.ids
    private static let makers: Set<Int> = [0x0536, 0x05E0, 0x05F9, 0x065A, 0x0C2E, 0x1EAB]
}
