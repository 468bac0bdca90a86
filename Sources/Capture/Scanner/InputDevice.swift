import CInput
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
