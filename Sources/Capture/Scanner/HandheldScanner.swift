import CInput
import Foundation
import Glibc
import SystemPackage

/// A handheld USB scanner, used as an exclusive input device (evdev): its keys reach no window.
public final class HandheldScanner: Sendable {
    public enum Event: Sendable, Equatable {
        /// A scanned line, without its Enter.
        case line(String)
        /// The scanner cannot be used now, or a line was lost; it is retried automatically. The message says what
        /// happened, where and what to do, and is sent once.
        case trouble(String)
        /// The scanner is ready (again).
        case ready(name: String)
    }

    private let path: String

    /// - Parameter path: a path below /dev/input. Nothing else is ever opened.
    public init(path: String) { self.path = path }

    /// Grabs the device and reads it on its own thread. The device is released when the stream is no longer iterated.
    public func events() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
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
    /// The pause between two checks of a key that is down. After five seconds the key counts as stuck; grabbing the
    /// device then helps whatever program it types into.
    private static let releasePause: Duration = .milliseconds(100)
    private static let maxReleasePauses = 50

    let path: String
    let stopSignal: StopSignal
    let send: (HandheldScanner.Event) -> Void
    private var reported: ScannerError?
    /// The device that was at the path when it first worked. A keyboard that gets the number of an unplugged scanner is
    /// not grabbed.
    private var known: InputDevice.Identity?

    init(path: String, stopSignal: StopSignal, send: @escaping (HandheldScanner.Event) -> Void) {
        (self.path, self.stopSignal, self.send) = (path, stopSignal, send)
    }

    mutating func run() {
        repeat {
            do throws(ScannerError) {
                try listen()
                return
            } catch {
                // Once "unplugged" is reported, "missing" adds nothing.
                if error != reported, !(error.isMissing && reported == .unplugged(path: path)) {
                    send(.trouble(error.description))
                    reported = error
                }
            }
            stopSignal.pause(Self.retryPause)
        } while !stopSignal.isStopped
    }

    /// Waits until the device has events, at most for the given time.
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
        // Events up to now reached other programs as well.
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
                    send(.trouble(loss.explanation(name: name)))
                    send(.ready(name: name))
                case nil: break
                }
            }
        }
    }

    /// Waits until no key is down, such as the Enter that started this program from the same keyboard. A program that
    /// saw the press but, because of the grab, never the release, would repeat the key.
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
            "\(name): a line of more than \(KeyLine.maxLength) characters is not an ISBN. Scan the code again."
        case .noEnter(let text):
            "\(name): \"\(text)\" came without Enter and was dropped. Set the scanner to end with Enter (suffix CR); its manual has "
                + "a code for that."
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
    /// Waiting for its keys failed.
    case waiting(path: String, errno: Errno)

    /// True if there is nothing at the path.
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
            "there is no \(path). Plug the scanner in, or see scan devices for its path; Bookplate looks for it every second."
        case .cannotOpen(let path, let error):
            "cannot open \(path): \(error). See scan devices for the scanner's path; Bookplate retries every second."
        case .notAnInputDevice(let path):
            "\(path) is not an input device. See scan devices for the scanner's path, such as /dev/input/by-id/…-event-kbd."
        case .noKeyboard(let path, let name):
            "\(path) (\(name)) cannot type digits and Enter. See scan devices for the scanner's path, and set the scanner to USB "
                + "keyboard (HID) mode."
        case .another(let path, let name, let wanted):
            "\(path) is now \(name), which Bookplate leaves alone; it waits for \(wanted). Give the scanner's path below "
                + "/dev/input/by-id, which stays the same."
        case .busy(let path, let name):
            "cannot use \(path) (\(name)): another program has grabbed it. "
                + (DeviceHolder.name(of: path).map { "It is open in \($0). " } ?? "")
                + "End that program; Bookplate retries every second."
        case .unplugged(let path):
            "the scanner at \(path) was unplugged. Plug it in again; Bookplate looks for it every second."
        case .failing(let path, let error):
            "\(path) fails: \(error). Unplug the scanner and plug it in again; Bookplate retries every second."
        case .waiting(let path, let error):
            "cannot listen to \(path): \(error). Bookplate retries every second."
        }
    }
}
