import CInput
import Foundation
import Glibc

/// A handheld USB scanner as an exclusive input device (evdev): it types, but no window gets it.
public final class HandheldScanner: Sendable {
    public enum Event: Sendable, Equatable {
        /// What was scanned, up to its Enter.
        case line(String)
        /// It cannot be used now, or a line was lost, and it is tried again by itself: what, where, what next. Told once.
        case trouble(String)
        /// It is there (again).
        case ready(name: String)
    }

    private let path: String

    /// - Parameter path: below /dev/input. Nothing else is ever opened.
    public init(path: String) { self.path = path }

    /// Grabs the device and reads it on a thread of its own; who stops listening gives it back.
    public func events() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let wake = Wake()
        continuation.onTermination = { _ in wake.stop() }
        let thread = Thread { [path] in
            var listener = Listener(path: path, wake: wake) { continuation.yield($0) }
            listener.run()
            continuation.finish()
        }
        thread.name = "scanner"
        thread.start()
        return stream
    }
}

/// What the thread does: opens, reads, and opens again.
private struct Listener {
    private static let retry: Duration = .seconds(1)
    /// How often a key that is down is looked at again. After five seconds it is stuck, and taking the device helps whoever it
    /// types at.
    private static let pressPause: Duration = .milliseconds(100)
    private static let mostPressPauses = 50

    let path: String
    let wake: Wake
    let tell: (HandheldScanner.Event) -> Void
    private var told: ScannerError?
    /// What was at the path when it first worked: a keyboard that gets the number of a scanner that was unplugged stays free.
    private var known: InputDevice.Identity?

    init(path: String, wake: Wake, tell: @escaping (HandheldScanner.Event) -> Void) {
        (self.path, self.wake, self.tell) = (path, wake, tell)
    }

    mutating func run() {
        repeat {
            do throws(ScannerError) {
                try listen()
                return
            } catch {
                // That it is not there is no news of what was unplugged.
                if error != told, !(error.isMissing && told == .unplugged(path: path)) {
                    tell(.trouble(error.description))
                    told = error
                }
            }
            wake.pause(Self.retry)
        } while !wake.isStopped
    }

    /// Waits until the device has something to say, or for the time.
    ///
    /// - Returns: false when it is to end.
    private func wait(for device: borrowing InputDevice, atMost time: Duration) throws(ScannerError) -> Bool {
        if case .failed(let code) = wake.wait(for: device.descriptor, atMost: time) {
            throw .waiting(path: path, errno: code)
        }
        return !wake.isStopped
    }

    /// Returns when it is to end.
    private mutating func listen() throws(ScannerError) {
        let device = try InputDevice(path: path)
        let name = device.identity.name.isEmpty ? path : device.identity.name
        if let known, known != device.identity { throw .another(path: path, name: name, wanted: known.name) }
        var buffer = [UInt8](repeating: 0, count: 64 * MemoryLayout<input_event>.size)
        guard try awaitRelease(of: device, &buffer) else { return }
        try device.grab()
        // What came until now was typed at others as well.
        while try !device.read(into: &buffer).isEmpty {}
        (known, told) = (device.identity, nil)
        tell(.ready(name: name))

        var reader = KeyEventReader()
        var line = KeyLine()
        while try wait(for: device, atMost: .seconds(60)) {
            for event in reader.take(try device.read(into: &buffer)) {
                switch line.take(event) {
                case .line(let text): tell(.line(text))
                case .lost(let loss):
                    tell(.trouble(loss.explanation(name: name)))
                    tell(.ready(name: name))
                case nil: break
                }
            }
        }
    }

    /// Lets a key up first, such as the Enter that started this program on the same keyboard: who saw it go down would never see it
    /// come up, and repeat it.
    ///
    /// - Returns: false when it is to end.
    private func awaitRelease(of device: borrowing InputDevice, _ buffer: inout [UInt8]) throws(ScannerError) -> Bool {
        for _ in 0..<Self.mostPressPauses {
            guard try device.hasPressedKey() else { return true }
            guard try wait(for: device, atMost: Self.pressPause) else { return false }
            while try !device.read(into: &buffer).isEmpty {}
        }
        return true
    }
}

extension KeyLine.Loss {
    fileprivate func explanation(name: String) -> String {
        switch self {
        case .dropped: "\(name): keys were lost because the computer was too busy. Scan the last code again."
        case .tooLong: "\(name): a line of more than \(KeyLine.longest) characters is no number. Scan the code again."
        case .noEnter(let begun):
            "\(name): \"\(begun)\" came without Enter and was dropped. Set the scanner to end with Enter (suffix CR); its manual has "
                + "a code for that."
        }
    }
}

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
