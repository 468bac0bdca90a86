import CInput

/// One record of an input device, `struct input_event`.
struct KeyEvent: Equatable {
    /// `EV_KEY`, `EV_SYN` …
    var type: Int32
    /// `KEY_1`, `SYN_REPORT` …
    var code: Int32
    /// Of a key: 0 released, 1 pressed, 2 repeated because it is held.
    var value: Int32
    /// On the monotonic clock, where the device took ``InputDevice``'s wish.
    var time: Duration
}

/// Cuts what is read from an input device into its records. The kernel gives whole ones; a part at the end waits for its rest.
struct KeyEventReader {
    private var pending: [UInt8] = []

    mutating func take(_ bytes: some Collection<UInt8>) -> [KeyEvent] {
        pending.append(contentsOf: bytes)
        let size = MemoryLayout<input_event>.size
        let whole = pending.count / size
        defer { pending.removeFirst(whole * size) }
        return pending.withUnsafeBytes { bytes in
            (0..<whole).map { index in
                var record = bytes.loadUnaligned(fromByteOffset: index * size, as: input_event.self)
                let time = Duration.seconds(cinput_seconds(&record)) + .microseconds(cinput_microseconds(&record))
                return KeyEvent(type: Int32(record.type), code: Int32(record.code), value: record.value, time: time)
            }
        }
    }
}
