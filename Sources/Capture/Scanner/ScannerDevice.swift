import Foundation

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
