import Bookplate
import CInput
import Foundation
import Glibc
import SystemPackage

/// A handheld USB scanner. It is grabbed as an input device (evdev), so that no other program receives its keys.
public final class HandheldScanner: Sendable {
    private let path: String

    /// - Parameter path: a path that leads to a device in /dev/input. No file elsewhere is opened.
    public init(path: String) { self.path = path }

    /// Grabs the device and reads it on a separate thread. The device is released when nobody iterates over the stream
    /// any more.
    public func events() -> AsyncStream<ScannerEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ScannerEvent.self)
        let stopSignal = StopSignal()
        continuation.onTermination = { _ in stopSignal.stop() }
        let thread = Thread { [path] in
            var listener = Listener(path: path, stopSignal: stopSignal) { continuation.yield($0) }
            listener.run()
            continuation.finish()
        }
        thread.name = "scanner"
        thread.start()
        return stream
    }
}

/// The work of the scanner's thread: opens the device, reads it, and opens it again after an error.
private struct Listener {
    private static let retryPause: Duration = .seconds(1)
    /// The pause between two checks for keys that are down. After five seconds, a key counts as stuck, and the device
    /// is grabbed anyway, so that the key no longer types into another program.
    private static let releasePause: Duration = .milliseconds(100)
    private static let maxReleasePauses = 50

    let path: String
    let stopSignal: StopSignal
    let send: (ScannerEvent) -> Void
    private var reported: ScannerError?
    /// The identity of the device that was first read at the path. If the scanner is unplugged and a keyboard then gets
    /// the same path, the keyboard is not grabbed.
    private var known: InputDevice.Identity?

    init(path: String, stopSignal: StopSignal, send: @escaping (ScannerEvent) -> Void) {
        (self.path, self.stopSignal, self.send) = (path, stopSignal, send)
    }

    mutating func run() {
        repeat {
            do throws(ScannerError) {
                try listen()
                return
            } catch {
                // After "unplugged" was reported, "missing" would add nothing.
                if error != reported, !(error.isMissing && reported == .unplugged(path: path)) {
                    send(.failed(error.description))
                    reported = error
                }
            }
            stopSignal.pause(Self.retryPause)
        } while !stopSignal.isStopped
    }

    /// Waits until the device has events, for at most the given time.
    ///
    /// - Returns: false if the listener was stopped.
    private func wait(for device: borrowing InputDevice, atMost time: Duration) throws(ScannerError) -> Bool {
        if case .failed(let error) = stopSignal.wait(for: device.descriptor, atMost: time) {
            throw .waiting(path: path, errno: error)
        }
        return !stopSignal.isStopped
    }

    /// Reads lines until the listener is stopped.
    private mutating func listen() throws(ScannerError) {
        let device = try InputDevice(path: path)
        let name = device.identity.name.isEmpty ? path : device.identity.name
        if let known, known != device.identity { throw .another(path: path, name: name, wanted: known.name) }
        var buffer = [UInt8](repeating: 0, count: 64 * MemoryLayout<input_event>.size)
        guard try awaitRelease(of: device, &buffer) else { return }
        try device.grab()
        // Drop the events up to now, because other programs have received them as well.
        while try !device.read(into: &buffer).isEmpty {}
        (known, reported) = (device.identity, nil)
        send(.ready(name: name))

        var parser = KeyEventParser()
        var line = KeyLine()
        while try wait(for: device, atMost: .seconds(60)) {
            for event in parser.parse(try device.read(into: &buffer)) {
                switch line.consume(event) {
                case .line(let text): send(.line(text))
                case .lost(let loss):
                    send(.failed(loss.explanation(name: name)))
                    send(.ready(name: name))
                case nil: break
                }
            }
        }
    }

    /// Waits until no key is down, such as the Enter key that started this program. Otherwise, another program might
    /// receive the press of a key but not its release, because the device is grabbed in between, and would then repeat
    /// the key.
    ///
    /// - Returns: false if the listener was stopped.
    private func awaitRelease(of device: borrowing InputDevice, _ buffer: inout [UInt8]) throws(ScannerError) -> Bool {
        for _ in 0..<Self.maxReleasePauses {
            guard try device.hasPressedKey() else { return true }
            guard try wait(for: device, atMost: Self.releasePause) else { return false }
            while try !device.read(into: &buffer).isEmpty {}
        }
        return true
    }
}

extension KeyLine.Loss {
    fileprivate func explanation(name: String) -> String {
        switch self {
        case .dropped: "\(name): keys were lost because the computer was too busy. Scan the last code again."
        case .tooLong:
            "\(name): a line of more than \(KeyLine.maxLength) characters was dropped, because it cannot be an ISBN. Scan the code again."
        case .noEnter(let text):
            "\(name): \"\(text)\" was dropped because it did not end with Enter. Set the scanner to add Enter (suffix CR); its manual "
                + "has a code for this setting."
        }
    }
}

/// The reason why a handheld scanner cannot be used now.
enum ScannerError: Error, Equatable {
    case cannotOpen(path: String, errno: Errno)
    case notAnInputDevice(path: String)
    /// The device lacks the keys to type a number.
    case noKeyboard(path: String, name: String)
    /// Another device is now at the scanner's path.
    case another(path: String, name: String, wanted: String)
    /// Another program has grabbed the device.
    case busy(path: String, name: String)
    case unplugged(path: String)
    case failing(path: String, errno: Errno)
    /// Waiting for the scanner's keys failed.
    case waiting(path: String, errno: Errno)

    /// True if there is no device at the path.
    var isMissing: Bool {
        if case .cannotOpen(_, let error) = self { error.isDeviceGone } else { false }
    }
}

extension ScannerError: CustomStringConvertible {
    var description: String {
        switch self {
        case .cannotOpen(let path, .permissionDenied), .cannotOpen(let path, .notPermitted):
            "cannot open \(path): permission denied. Add yourself to the group 'input' and sign in again, or add a udev rule for "
                + "your scanner; udev/70-bookplate.rules has an example."
        case .cannotOpen(let path, _) where isMissing:
            "there is no \(path). Plug the scanner in, or run 'scan devices' to see its path. Bookplate looks for it every second."
        case .cannotOpen(let path, let error):
            "cannot open \(path): \(error). Bookplate retries every second. To see the scanner's path, run 'scan devices'."
        case .notAnInputDevice(let path):
            "\(path) is not an input device. To see the scanner's path, such as /dev/input/by-id/…-event-kbd, run 'scan devices'."
        case .noKeyboard(let path, let name):
            "\(path) (\(name)) cannot type digits and Enter. To see the scanner's path, run 'scan devices'. If this is the "
                + "scanner, set it to USB keyboard (HID) mode."
        case .another(let path, let name, let wanted):
            "the device at \(path) is now \(name) and not \(wanted), for which Bookplate is waiting. Give the scanner's path in "
                + "/dev/input/by-id instead, which stays the same."
        case .busy(let path, let name):
            "cannot use \(path) (\(name)): another program has grabbed it. "
                + (DeviceHolder.name(of: path).map { "It is open in \($0). " } ?? "")
                + "Close that program; Bookplate retries every second."
        case .unplugged(let path):
            "the scanner at \(path) was unplugged. Plug it in again; Bookplate looks for it every second."
        case .failing(let path, let error):
            "\(path) fails: \(error). Unplug the scanner and plug it in again; Bookplate retries every second."
        case .waiting(let path, let error):
            "cannot wait for input from \(path): \(error). Bookplate retries every second."
        }
    }
}
